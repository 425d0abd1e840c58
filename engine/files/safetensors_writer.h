// SPDX-License-Identifier: Apache-2.0
// Writes safetensors files and sharded folders: to a temporary file in the target folder, flushed
// to disk, then renamed, so that a reader sees either nothing or a complete file. Tensor data is
// pulled in pieces, so that a whole model never has to be in memory. Format:
// engine/files/SAFETENSORS.md.
#pragma once

#include "engine/base/file_writer.h"
#include "engine/files/tensor_source.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// Fills `out` with bytes [offset, offset + out.size()) of a tensor. Called with ascending,
/// contiguous offsets; every piece but the last of a tensor is kSafetensorsPieceBytes long.
using TensorFill = std::function<Result<void>(uint64_t offset, std::span<std::byte> out)>;

constexpr size_t kSafetensorsPieceBytes = size_t{4} << 20;

struct TensorToWrite {
    std::string name;
    TensorType type = TensorType::F32; ///< Not Other.
    std::vector<int64_t> shape;        ///< Empty = scalar.
    TensorFill fill;
    /// Bytes behind `fill` where that is known; compared with shape and type before writing.
    std::optional<uint64_t> data_bytes = std::nullopt;
};

/// A tensor whose bytes (row-major, little-endian) are already in memory.
TensorToWrite tensorFromBytes(std::string name,
                              TensorType type,
                              std::vector<int64_t> shape,
                              std::vector<std::byte> bytes);

struct WriteOptions {
    /// false: an existing file is never replaced (rule ST09: it could be in use as a model).
    bool is_replacing_allowed = false;
    NoPlainFile no_plain_file = NoPlainFile::Refuse; ///< Where the file's name is a pipe or device.
    std::vector<std::pair<std::string, std::string>> metadata = {{"format", "pt"}};
    std::stop_token stop;                           ///< Looked at per piece; error Cancelled.
    std::function<void(uint64_t)> on_bytes_written; ///< Bytes of this call so far; may be empty.
};

/// Writes one file. Tensors are stored by descending element size, then name; the order given does
/// not matter. On any error nothing is left behind.
/// Errors: InvalidRequest (duplicate or unusable name, file exists, byte count mismatch),
/// InvalidFile (the disk refused: full, read-only), Cancelled, or what `fill` returned.
Result<void> writeSafetensorsFile(const std::filesystem::path& file,
                                  const std::vector<TensorToWrite>& tensors,
                                  const WriteOptions& options = {});

/// Writes model.safetensors, or model-0000i-of-0000n.safetensors plus model.safetensors.index.json
/// when the tensors need more than max_shard_bytes. Tensors are put into shards in the order given
/// (a tensor larger than the limit gets a shard of its own). The index is written last.
/// Returns the file names written.
Result<std::vector<std::string>>
writeSafetensorsFolder(const std::filesystem::path& folder,
                       const std::vector<TensorToWrite>& tensors,
                       uint64_t max_shard_bytes = uint64_t{5'000'000'000},
                       const WriteOptions& options = {});

} // namespace engine
