// SPDX-License-Identifier: Apache-2.0
// W4A16 weights as compressed-tensors writes them (format "pack-quantized", 4 bits, symmetric,
// groups of 32): codes, bf16 scales and the shape are three tensors that stand in place of
// NAME.weight. The value is code * scale rounded to bf16. That is the grid of the in-memory format
// below with other bytes, so a load repacks and never quantizes. Layout and rules: NF4.md. Other
// forms of compressed-tensors are refused by name.
#pragma once

#include "engine/api/formats.h"
#include "engine/base/result.h"
#include "engine/files/tensor_source.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace engine {

/// What a W4A16 weight is in memory: code / 8 times eight scales, rounded to bf16.
inline constexpr Format kW4A16Format = Format::Int4;
inline constexpr int32_t kW4A16Group = formatRow(kW4A16Format).block_size;

/// True for NAME.weight_packed. `weight` receives NAME.weight.
bool isW4A16Codes(std::string_view name, std::string* weight = nullptr);
/// True for the tensors that stand beside the codes of a weight, also those of forms that are
/// refused (NAME.weight_scale, weight_shape, weight_zero_point, ...). `weight`: as above.
bool isW4A16Helper(std::string_view name, std::string* weight = nullptr);

/// One weight [rows, cols]: headers checked, codes and scales still in the file.
struct W4A16Weight {
    const TensorInfo* codes = nullptr;  ///< I32 [rows, cols / 8].
    const TensorInfo* scales = nullptr; ///< BF16 [rows, cols / 32].
};

/// Checks what the headers alone tell of the weight whose codes are the tensor `packed`, a module
/// of the logical shape [rows, cols]. Errors, one per rule of NF4.md, naming the tensor (details:
/// layer, rule, expected, found): Unsupported for other forms, InvalidFile for broken ones.
Result<W4A16Weight>
checkW4A16Headers(const TensorSource& source, std::string_view packed, int64_t rows, int64_t cols);
/// Likewise, and reads the stored shape. Scales are checked as they are read.
Result<W4A16Weight>
openW4A16(const TensorSource& source, std::string_view packed, int64_t rows, int64_t cols);

/// Bytes [offset, offset + out.size()) of the codes as they are in memory. Thread-safe.
Result<void> readW4A16Codes(const TensorSource& source,
                            const W4A16Weight& weight,
                            uint64_t offset,
                            std::span<std::byte> out);
/// The in-memory scales of groups [first, first + out.size() / 4) into `out`, of any alignment.
/// Errors: InvalidFile for a scale that is not finite. Thread-safe.
Result<void> readW4A16Scales(const TensorSource& source,
                             const W4A16Weight& weight,
                             int64_t first,
                             std::span<std::byte> out);

} // namespace engine
