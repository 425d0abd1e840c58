// SPDX-License-Identifier: Apache-2.0
// Expansion of stored weights to fp32, exactly as the formats define it (views.h). Written to be
// read; the SIMD tables use it only where speed does not matter.
#pragma once

#include "kernels/views.h"

namespace kernels::cpu {

/// absmax of a 4-bit block, plain or nested (two fp32 roundings).
float blockScale(const WeightView& weight, int64_t block);

/// out[j] = nested_code[absmax_q[first_block + j]], the first factor of a nested absmax.
void lookUpNestedCodes(const WeightView& weight, int64_t first_block, int64_t count, float* out);

/// out[0..count) = values [col_begin, col_begin + count) of one row, in fp32.
void expandRow(const WeightView& weight, int64_t row, int64_t col_begin, int64_t count, float* out);

} // namespace kernels::cpu
