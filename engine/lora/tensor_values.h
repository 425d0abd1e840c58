// SPDX-License-Identifier: Apache-2.0
// Values of 16 and 32 bit floating-point tensors as fp32 (exact) and back.
#pragma once

#include "engine/files/tensor_source.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace engine {

/// True for F32, F16 and BF16.
bool isFloatType(TensorType type);

/// Expands raw little-endian bytes; bytes.size() == out.size() * size of `type`.
void expandToFloats(TensorType type, std::span<const std::byte> bytes, std::span<float> out);

/// Rounds to nearest even into raw bytes.
void roundFromFloats(TensorType type, std::span<const float> values, std::span<std::byte> out);

/// Elements [first, first + out.size()) of a stored tensor as fp32.
Result<void> readFloatRange(const TensorSource& source,
                            const TensorInfo& tensor,
                            uint64_t first,
                            std::span<float> out);

} // namespace engine
