// SPDX-License-Identifier: Apache-2.0
// The dot policy (dot.h) of 4-bit codes with a scale per 32 of them, as W4A16 files have, or per
// another multiple of 32. The 16 values that a block's codes stand for are made once per block,
// with the rounding that the file asks for, and looked up: the products are those of the expanded
// row.
#pragma once

#include "kernels/cpu/code_tables.h"
#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/expand.h"

namespace kernels::cpu {

template <class Vec>
class SmallBlockDot : public DotPolicy {
public:
    using V = Vec;
    using F = typename V::F;
    using X = float;
    static constexpr int64_t kStep = 32;

    /// Blocks do not cross rows, and their scales stand in memory.
    static bool canServe(const WeightView& w) {
        return w.absmax != nullptr && w.block_size % kStep == 0 && w.cols % w.block_size == 0;
    }

    bool open(const WeightView& w, ScratchSlot /*slot*/ = ScratchSlot::Scales) {
        weight_ = w;
        codes_ = codeValues(w.format);
        return true;
    }

    /// The even ones of each 32 columns, then the odd ones.
    static void convert(const float* x, int64_t cols, float* out) {
        for (int64_t k = 0; k < cols; k += kStep) {
            for (int64_t i = 0; i < kStep / 2; ++i) {
                out[k + i] = x[k + 2 * i];
                out[k + kStep / 2 + i] = x[k + 2 * i + 1];
            }
        }
    }

    template <int R, int T>
    KERNELS_INLINE void rows(DotRows<X> at, F (&sums)[R][T]) const {
        static_assert(R == 1);
        constexpr int64_t kHalf = kStep / 2;
        F acc[2][T];
        setZero(acc);
        const uint8_t* const codes = codesOf(at.row);
        const float* scale = weight_.absmax + at.row * (weight_.cols / weight_.block_size);
        for (int64_t k = 0; k < weight_.cols; ++scale) {
            F values[16 / V::kWidth];
            for (int64_t i = 0; i < 16 / V::kWidth; ++i) {
                values[i] = Expand<V>::roundTo(
                    weight_.expand_type,
                    V::mul(V::load(codes_.value + i * V::kWidth), V::set1(*scale)));
            }
            for (const int64_t end = k + weight_.block_size; k < end; k += kStep) {
                _mm_prefetch(codes + k / 2 + kBytesAhead, _MM_HINT_T0);
#pragma GCC unroll 2
                for (int64_t i = 0; i < kHalf; i += V::kWidth) {
                    F even;
                    F odd;
                    V::lookUpPairs(codes + k / 2 + i, values, even, odd);
#pragma GCC unroll 8
                    for (int t = 0; t < T; ++t) {
                        const float* const x = at.x + t * at.x_stride + k + i;
                        acc[0][t] = V::fma(even, V::load(x), acc[0][t]);
                        acc[1][t] = V::fma(odd, V::load(x + kHalf), acc[1][t]);
                    }
                }
            }
        }
        for (int t = 0; t < T; ++t) {
            sums[0][t] = V::add(acc[0][t], acc[1][t]);
        }
    }

private:
    static constexpr int64_t kBytesAhead = 4096;

    CodeValues codes_{};
};

} // namespace kernels::cpu
