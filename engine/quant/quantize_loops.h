// SPDX-License-Identifier: Apache-2.0
// Loops that every instruction set compiles for itself: plain C++, inlined into functions with
// their own target attribute and vectorised there. Private to engine/quant.
#pragma once

#include "engine/quant/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace engine::quant_kernels {

#if defined(__GNUC__)
#define QUANT_INLINE inline __attribute__((always_inline))
#else
#define QUANT_INLINE inline
#endif

/// Midpoints between neighbours of the dynamic map, fp32; a value on a midpoint takes the lower.
const std::array<float, 255>& dynamicMidpoints();

QUANT_INLINE float
nestLoop(const float* absmax, int64_t count, float offset, const float* midpoints, uint8_t* codes) {
    float difference[kNestedBlockSize];
    float largest = 0.0F;
    for (int64_t i = 0; i < count; ++i) {
        difference[i] = absmax[i] - offset;
        largest = std::max(largest, std::fabs(difference[i]));
    }
    if (largest == 0.0F) { // all equal to the offset: any code decodes to it; take that of 0.0
        std::fill(codes, codes + count, uint8_t{127});
        return 0.0F;
    }
    const float reciprocal = 1.0F / largest;
    for (int64_t i = 0; i < count; ++i) {
        const float value = difference[i] * reciprocal;
        int32_t index = 0;
        for (int32_t step = 128; step > 0; step /= 2) {
            index += value > midpoints[index + step - 1] ? step : 0;
        }
        codes[i] = static_cast<uint8_t>(index);
    }
    return largest;
}

QUANT_INLINE void rowInt8Loop(const float* values, int64_t count, float scale, int8_t* q) {
    // Adding and subtracting 1.5 * 2^23 rounds to nearest even for |x| < 2^22; |x| is at most 127
    // and a little, because scale = absmax / 127.
    constexpr float kRound = 12582912.0F;
    for (int64_t i = 0; i < count; ++i) {
        const float rounded = (values[i] / scale + kRound) - kRound;
        q[i] = static_cast<int8_t>(static_cast<int32_t>(rounded));
    }
}

} // namespace engine::quant_kernels
