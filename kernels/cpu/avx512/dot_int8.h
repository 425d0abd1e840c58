// SPDX-License-Identifier: Apache-2.0
// Products of int8 rows with activations of 16 bits: weights widen to 16 bits, pairs of products
// are summed exactly in 32 bits, and once per 512 columns the sum is brought to fp32 with the
// piece's activation scale. The only rounding is that of the activations, to 1/65534 of the largest
// of their piece. Half the instructions of the fp32 way: one core reads the head at memory speed.
#pragma once

#include "kernels/cpu/simd/dot_integers.h"
#include "kernels/cpu/simd/lanes.h"
#include "kernels/cpu/simd/vec_avx512.h"

#include <algorithm>
#include <cstring>

namespace kernels::cpu {

template <class Vec>
class Int8Dot : public DotPolicy {
public:
    using V = Vec;
    using F = typename V::F;
    using X = int16_t;
    /// Columns that share a scale. 16 sums of two products of 7 and 15 bits fit 32 bits.
    static constexpr int64_t kStep = 512;
    static constexpr int64_t kScaleSlots = 32; ///< The scale stands behind its piece, in a line.

    /// X elements of one converted row.
    static int64_t strideOf(int64_t cols) {
        return (cols + kStep - 1) / kStep * (kStep + kScaleSlots);
    }

    static void convert(const float* x, int64_t cols, int16_t* out) {
        for (int64_t first = 0; first < cols; first += kStep, out += kStep + kScaleSlots) {
            const auto levels = Levels<V>::of(x + first, std::min(kStep, cols - first), 32767.0F);
            for (int64_t i = 0; i < kStep; i += 2 * V::kWidth) {
                V::storeLanes(out + i, levels.words(x + first + i, cols - first - i));
            }
            std::memcpy(out + kStep, &levels.scale, sizeof levels.scale);
        }
    }

    static constexpr int kTogether(int tokens) { return tokens == 2 ? 2 : 1; }

    template <int R, int T>
    KERNELS_INLINE void rows(DotRows<X> at, F (&sums)[R][T]) const {
        setZero(sums);
        const int64_t cols = weight_.cols;
        const int8_t* w = static_cast<const int8_t*>(weight_.data) + at.row * cols + at.k;
        const int16_t* x = at.x;
        for (int64_t left = at.end - at.k; left > 0; left -= kStep, w += kStep) {
            const int64_t count = std::min(left, kStep);
            __m512i acc[R][T];
            setZero(acc);
            int64_t i = 0;
            for (; i + 64 <= count; i += 64) {
#pragma GCC unroll 2
                for (int r = 0; r < R; ++r) {
                    const int8_t* from = w + r * cols + i;
                    if (asks_) {
                        _mm_prefetch(from + kBytesAhead, _MM_HINT_T0);
                    }
                    accumulate<T>(widen(from), x + i, at.x_stride, acc[r]);
                    accumulate<T>(widen(from + 32), x + i + 32, at.x_stride, acc[r]);
                }
            }
            for (; i < count; i += 32) {
                const auto mask =
                    count - i >= 32 ? ~__mmask32{0} : (__mmask32{1} << (count - i)) - 1U;
                for (int r = 0; r < R; ++r) {
                    const __m256i bytes = _mm256_maskz_loadu_epi8(mask, w + r * cols + i);
                    accumulate<T>(_mm512_cvtepi8_epi16(bytes), x + i, at.x_stride, acc[r]);
                }
            }
            for (int t = 0; t < T; ++t) {
                float scale = 0.0F;
                std::memcpy(&scale, x + t * at.x_stride + kStep, sizeof scale);
                for (int r = 0; r < R; ++r) {
                    sums[r][t] = V::fma(V::toFloat(acc[r][t]), V::set1(scale), sums[r][t]);
                }
            }
            x += kStep + kScaleSlots;
        }
    }

private:
    static constexpr int64_t kBytesAhead = 4096;

    /// Zen 4's own prediction reads 29 GB/s, with requests of ours 25 (one thread, 31 GB/s plain);
    /// Intel's needs them.
    static bool asksAhead() {
        static const bool asks = __builtin_cpu_is("amd") == 0;
        return asks;
    }
    static KERNELS_INLINE __m512i widen(const int8_t* p) {
        return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
    template <int T>
    static KERNELS_INLINE void
    accumulate(__m512i weights, const int16_t* x, int64_t x_stride, __m512i (&acc)[T]) {
#pragma GCC unroll 8
        for (int t = 0; t < T; ++t) {
            const __m512i xt = _mm512_loadu_si512(x + t * x_stride);
            acc[t] = _mm512_add_epi32(acc[t], _mm512_madd_epi16(weights, xt));
        }
    }

    bool asks_ = asksAhead();
};

} // namespace kernels::cpu
