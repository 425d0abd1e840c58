// SPDX-License-Identifier: Apache-2.0
// What the codes of a format stand for, as products of floats and of integers read it.
#pragma once

#include "kernels/weight_formats.h"

#include <cstdint>

namespace kernels::cpu {

/// The values of codes 0 to 15 as fp32; zeros for a format without codes.
struct CodeValues {
    float value[16];
};
/// Out of line: this header is also read by files with other instruction sets.
CodeValues codeValues(WeightFormat format);

/// The same as bytes, for products of integers: entry = value * step + zero, rounded.
struct CodeBytes {
    uint8_t entry[16] = {};
    float step = 0.0F;
    float zero = 0.0F;
};
CodeBytes codeBytes(WeightFormat format);

} // namespace kernels::cpu
