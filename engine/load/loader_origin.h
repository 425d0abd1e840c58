// SPDX-License-Identifier: Apache-2.0
// Where one tensor's values come from in a checkpoint, whatever form they have there (dense,
// bitsandbytes 4-bit, LLM.int8(), GGUF's blocks, W4A16), and reads of any range of them. Private to
// the loader and the tensor store.
#pragma once

#include "engine/load/tensor_store.h"
#include "engine/quant/quant_state.h"
#include "engine/quant/w4a16.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct WeightOrigin {
    std::string name; ///< Canonical, for messages.
    StoredAs kind = StoredAs::Absent;
    const TensorInfo* info = nullptr;         ///< Dense values, packed codes or int8 values.
    PackedWeight packed;                      ///< Packed4Bit.
    Int8Weight int8;                          ///< Int8Rows.
    W4A16Weight w4a16;                        ///< W4A16.
    TensorType value_type = TensorType::BF16; ///< Type of the values readValues() gives.
    std::vector<int64_t> shape;
    int64_t rows = 0, cols = 0;

    [[nodiscard]] int64_t numElements() const { return rows * cols; }
    /// Format of the bytes as stored (int8 rows count as Bf16).
    [[nodiscard]] Format storedFormat() const;
    /// What it is in memory when the plan says `format`.
    [[nodiscard]] DeviceTensor::Layout layoutFor(Format format,
                                                 int32_t block_size = kBlockSize) const;
    /// True when `layout` holds what is stored: the bytes, of W4A16 rearranged without loss.
    [[nodiscard]] bool isSameAs(const DeviceTensor::Layout& layout) const;
    /// True when making `layout` costs arithmetic worth caching (a quantized format from another).
    /// W4A16 in its own layout is not: the cached bytes would be as many as those of the files, and
    /// turning the nibbles of a byte round costs less than reading it.
    [[nodiscard]] bool isDerived(const DeviceTensor::Layout& layout) const;
    /// Bytes of part `part` of a layout that isSameAs(); 0 when that part is empty or (nested_code)
    /// not one tensor of the file. They are read by readStored().
    [[nodiscard]] uint64_t storedBytes(int part) const;
    /// What of a stored part belongs together and is read and checked together, in bytes.
    [[nodiscard]] uint64_t partUnit() const;
};

/// What openOrigin() would refuse as far as the headers tell: nothing is read. For planning.
Result<void> checkOriginHeaders(const TensorSource& source,
                                std::string_view file_name,
                                const ExpectedTensor& tensor);

/// Finds and checks one weight. `file_name`: as spelled in the source; `shape`: the module's.
/// Errors: InvalidFile (shape, quantized key sets), Unsupported (element type).
Result<WeightOrigin> openOrigin(const TensorSource& source,
                                std::string_view file_name,
                                std::string_view canonical_name,
                                const std::vector<int64_t>& shape);

/// Elements [first, first + count) as value_type into `out` (count * size bytes). Thread-safe.
Result<void> readValues(const TensorSource& source,
                        const WeightOrigin& origin,
                        int64_t first,
                        int64_t count,
                        std::byte* out);

/// Bytes [offset, offset + out.size()) of part `part` of a layout that isSameAs(), as they are in
/// memory: whole units (partUnit()), but for the last one of a part. Errors: InvalidFile for scales
/// and statistics that are not finite or, of bitsandbytes, negative. Thread-safe.
Result<void> readStored(const TensorSource& source,
                        const WeightOrigin& origin,
                        int part,
                        uint64_t offset,
                        std::span<std::byte> out);

/// Reads bytes of one part of a tensor: from memory, a device, a cache file or the checkpoint.
using PartReader = std::function<Result<void>(int part, uint64_t offset, std::span<std::byte> out)>;

/// Elements [first, first + count) of a tensor in `layout` as fp32, reading only the bytes needed.
/// `nested_code`: 256 entries for nested layouts (may be empty: then read as part NestedCode).
Result<void> expandThrough(const PartReader& read,
                           const DeviceTensor::Layout& layout,
                           std::span<const float> nested_code,
                           float nested_offset,
                           int64_t first,
                           int64_t count,
                           float* out);

} // namespace engine
