// SPDX-License-Identifier: Apache-2.0
// The derived cache of quantized weights: one file per (model content, format) that makes
// the second load fast. Everything in it can be made again from the model files, so a missing,
// truncated or damaged cache is only a note. Format: engine/load/WEIGHT_CACHE.md. Not shared
// between machines of different byte order; little-endian only.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"
#include "engine/files/tensor_source.h"
#include "engine/load/content_hash.h"
#include "engine/quant/quantize.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Tells models apart, so that each has files of its own: names, types and shapes of all tensors,
/// and 4 KiB samples of some. Whether a cached tensor is made from what the model files hold now is
/// another question: CachedTensor::content. Errors: those of TensorSource::read.
Result<uint64_t> modelKey(const TensorSource& source);

/// Parts of one tensor in the order of DeviceTensor::Part: data, scales, absmax_q, nested_absmax,
/// nested_code (256 fp32 + offset).
inline constexpr int kCacheParts = 5;
struct CachedTensor {
    std::string name;
    Format format = Format::AsStored;
    int32_t block_size = kBlockSize;
    TensorType dtype = TensorType::BF16;
    int64_t rows = 0, cols = 0;
    uint64_t content = 0; ///< Hash of the values it was made from, by PieceHasher.
    std::array<uint64_t, kCacheParts> offset{}; ///< In the file, 64-byte aligned.
    std::array<uint64_t, kCacheParts> bytes{};
    std::array<std::vector<uint64_t>, kCacheParts> checksums; ///< From a PieceHasher, by part.
};

/// Key of the file that holds tensors of one format of a model; `block_size`: of formats with
/// blocks.
uint64_t cacheKey(uint64_t model_key, Format format, int32_t block_size = kBlockSize);
/// "<16 hex digits>.belfry-weights"
std::string cacheFileName(uint64_t key);

/// Cache files of one folder may take this much together before the oldest go.
inline constexpr uint64_t kMaxCacheFolderBytes = uint64_t{64} << 30;

/// Removes the cache files that were written longest ago until all of `folder` together have at
/// most `max_bytes`; the file of `kept_key` always stays. Other files are never touched. Returns
/// the names removed. A file in use elsewhere stays readable there.
std::vector<std::string>
trimWeightCaches(const std::filesystem::path& folder, uint64_t max_bytes, uint64_t kept_key);

/// A complete cache file, opened for positioned reads.
class WeightCache {
public:
    ~WeightCache();
    WeightCache(const WeightCache&) = delete;
    WeightCache& operator=(const WeightCache&) = delete;

    /// Opens folder/<key>.belfry-weights. nullptr (and a note in `note`) when it is missing, of
    /// another version, of another key, truncated, or its directory fails its checksum.
    static std::unique_ptr<WeightCache>
    open(const std::filesystem::path& folder, uint64_t key, std::optional<Sentence>& note);

    /// In the order of the file.
    [[nodiscard]] const std::vector<CachedTensor>& tensors() const;
    /// nullptr when absent.
    [[nodiscard]] const CachedTensor* find(std::string_view tensor) const;
    /// Reads part bytes [offset, offset + out.size()) and nothing wrong: every piece that they
    /// touch is read whole and compared with its checksum, each time. Thread-safe. Errors:
    /// InvalidFile (damaged, cut, changed meanwhile); `out` then holds anything.
    Result<void>
    read(const CachedTensor& tensor, int part, uint64_t offset, std::span<std::byte> out) const;
    [[nodiscard]] uint64_t sizeBytes() const;
    /// Takes the file out of the folder, so that the next load makes it anew; what has it open
    /// reads on. Nothing where that is not allowed.
    void remove() const;

private:
    WeightCache();
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Writes a cache file: to a temporary name, renamed by finish(). Without finish() nothing stays.
class WeightCacheWriter {
public:
    ~WeightCacheWriter();
    WeightCacheWriter(const WeightCacheWriter&) = delete;
    WeightCacheWriter& operator=(const WeightCacheWriter&) = delete;

    /// `tensors`: name, format, shape and bytes of all parts; offsets and checksums are filled in,
    /// `content` may follow (setContent).
    /// Errors: InvalidRequest (folder cannot be created, or its disk lacks room), InvalidFile
    /// (cannot be written).
    static Result<std::unique_ptr<WeightCacheWriter>>
    create(const std::filesystem::path& folder, uint64_t key, std::vector<CachedTensor> tensors);
    /// Bytes of one part in ascending order of offset, any piece size. Tensors in the order given
    /// to create(); parts of one tensor may be interleaved (later ones wait in memory).
    Result<void> write(size_t tensor, int part, std::span<const std::byte> bytes);
    /// Known once all values have been read. Before finish().
    void setContent(size_t tensor, uint64_t content);
    /// Checks that every part is complete, writes the directory, renames (without waiting for
    /// the disk).
    Result<void> finish();

private:
    WeightCacheWriter();
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace engine
