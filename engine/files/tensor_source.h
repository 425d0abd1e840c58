// SPDX-License-Identifier: Apache-2.0
// What the engine needs of a checkpoint: a list of named tensors and positioned reads. Behind it:
// safetensors files (engine/files/safetensors.h, sharded or not) or generated random weights
// (benchmarks). A read never maps memory, so a truncated file is an error, not a signal.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/file_stamp.h"
#include "engine/base/result.h"
#include "kernels/views.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// Element types of safetensors and GGUF files that Belfry names; Other = listed but not readable.
enum class TensorType : uint8_t {
    Bool = 1,
    U8,
    I8,
    I16,
    U16,
    F16,
    BF16,
    I32,
    U32,
    F32,
    F64,
    I64,
    U64,
    // Blocks of GGUF files, in the order of kernels::WeightFormat.
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2_K,
    Q3_K,
    Q4_K,
    Q5_K,
    Q6_K,
    IQ4_NL,
    IQ4_XS,
    MXFP4,
    Q2_0,
    Other
};

/// Bytes per element; 0 for blocks and Other.
size_t tensorTypeSize(TensorType type);
/// "BF16", "Q4_K", ...; the files' spelling.
std::string_view tensorTypeName(TensorType type);
/// How kernels call a type of blocks; nullopt for the other types.
std::optional<kernels::WeightFormat> blockFormatOf(TensorType type);

struct TensorInfo {
    std::string name; ///< As spelled in the file.
    TensorType type = TensorType::Other;
    std::vector<int64_t> shape; ///< Empty = scalar.
    uint64_t size_bytes = 0;
    int file_index = 0;       ///< Into TensorSource::fileNames().
    uint64_t file_offset = 0; ///< Absolute offset in that file.
};

class TensorSource {
public:
    virtual ~TensorSource() = default;
    TensorSource() = default;
    TensorSource(const TensorSource&) = delete;
    TensorSource& operator=(const TensorSource&) = delete;

    /// Sorted by name. Valid while *this lives.
    [[nodiscard]] virtual const std::vector<TensorInfo>& tensors() const = 0;
    /// nullptr when there is none.
    [[nodiscard]] virtual const TensorInfo* find(std::string_view name) const = 0;
    /// File names for messages (no folder).
    [[nodiscard]] virtual const std::vector<std::string>& fileNames() const = 0;
    /// Reads bytes [offset, offset + out.size()) of the tensor. Thread-safe.
    /// Errors: InvalidFile (range outside the tensor, file shorter than its header said, changed
    /// since it was opened).
    [[nodiscard]] virtual Result<void>
    read(const TensorInfo& tensor, uint64_t offset, std::span<std::byte> out) const = 0;
    /// True when the data is absent (headers or config only): plan works, load does not.
    [[nodiscard]] virtual bool isHeaderOnly() const { return false; }
    /// Stamp of file `file_index` now: while it stays the same, so does every byte of its tensors.
    /// nullopt when only reading them can tell.
    [[nodiscard]] virtual std::optional<FileStamp> fileStamp(int /*file_index*/) const {
        return std::nullopt;
    }
    /// Why the files that there are cannot be opened, where none of them is needed; also a warning.
    [[nodiscard]] virtual Sentence whyUnread() const { return {}; }
    /// Unusual but accepted things met while opening, for the load report.
    [[nodiscard]] virtual std::vector<Sentence> warnings() const { return {}; }
    /// `__metadata__` of the file ("format" = "pt", ...); empty for a sharded folder.
    [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> metadata() const {
        return {};
    }
};

} // namespace engine
