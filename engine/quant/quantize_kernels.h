// SPDX-License-Identifier: Apache-2.0
// The inner loops behind quantizeValues(): one table of functions per instruction set. Private to
// engine/quant. All tables give the same bytes; scalar is the one that is written to be read.
#pragma once

#include "engine/quant/quantize.h"

#include <cstdint>

namespace engine::quant_kernels {

/// Thresholds between neighbouring codes; entry i lies between magnitude order i and i + 1.
/// NF4: fp32 midpoints of the code book. FP4: the constants of bitsandbytes' CUDA kernel.
extern const float kNf4Thresholds[15];
extern const float kFp4Thresholds[7];
/// FP4 magnitude codes in ascending order of value.
extern const uint8_t kFp4Order[8];

/// Reciprocal that scales a block: 1/absmax correctly rounded; for FP4 corrected by the last bit
/// to what the GPU's approximate reciprocal gives, where absmax is a BF16 number (NF4.md).
float blockReciprocal(kernels::WeightFormat book, float absmax);

struct Kernels {
    const char* name;
    /// Largest |value| of `count` values as fp32 bits (>= 0x7f800000: not finite), and the values
    /// as fp32 into `out`.
    uint32_t (*load)(TensorType type, const std::byte* values, int64_t count, float* out);
    /// Codes of `count` (even) finite values times `reciprocal`, packed into count/2 bytes.
    void (*encode)(kernels::WeightFormat book,
                   const float* values,
                   int64_t count,
                   float reciprocal,
                   uint8_t* codes);
    /// 8-bit codes of absmax - offset, one nested block (at most 256 values); returns its scale.
    float (*nest)(const float* absmax, int64_t count, float offset, uint8_t* codes);
    /// int8 codes of one row of finite values; scale > 0.
    void (*rowInt8)(const float* values, int64_t count, float scale, int8_t* q);
};

const Kernels& scalarKernels();
const Kernels* avx2Kernels();   ///< nullptr where this machine or build lacks it.
const Kernels* avx512Kernels(); ///< likewise.

/// The table in use.
const Kernels& current();

} // namespace engine::quant_kernels
