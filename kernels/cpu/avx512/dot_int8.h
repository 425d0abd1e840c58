// SPDX-License-Identifier: Apache-2.0
// Products of int8 rows with activations of 16 bits: weights widen to 16 bits, pairs of products
// are summed exactly in 32 bits, and once per 512 columns the sum is brought to fp32 with the
// piece's activation scale. The only rounding is that of the activations, to 1/65534 of the largest
// of their piece. Half the instructions of the fp32 way: one core reads the head at memory speed.
#pragma once

#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/vec_avx512.h"

#include <cstring>
#include <limits>

namespace kernels::cpu {

template <class Vec>
class Int8Dot {
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

    bool open(const WeightView& w) {
        data_ = static_cast<const int8_t*>(w.data);
        cols_ = w.cols;
        asks_ = asksAhead();
        return true;
    }

    [[nodiscard]] int64_t cols() const { return cols_; }

    static void convert(const float* x, int64_t cols, int16_t* out) {
        for (int64_t first = 0; first < cols; first += kStep, out += kStep + kScaleSlots) {
            const int64_t count = cols - first < kStep ? cols - first : kStep;
            F most = V::zero();
            __mmask16 is_nan = 0;
            for (int64_t i = 0; i < count; i += V::kWidth) {
                const F v = load(x + first + i, count - i);
                most = V::max(most, V::abs(v));
                is_nan |= _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
            }
            const float largest = V::maxOf(most);
            constexpr float kLevels = 32767.0F;
            const float scale =
                is_nan != 0 ? std::numeric_limits<float>::quiet_NaN() : largest / kLevels;
            const F inverse = V::set1(scale > 0.0F ? kLevels / largest : 0.0F);
            for (int64_t i = 0; i < kStep; i += V::kWidth) {
                const F v = i < count ? load(x + first + i, count - i) : V::zero();
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                                    _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(V::mul(v, inverse))));
            }
            std::memcpy(out + kStep, &scale, sizeof scale);
        }
    }

    static constexpr int kTogether(int tokens) { return tokens == 2 ? 2 : 1; }
    static constexpr bool hasPieces(int /*tokens*/) { return false; }

    template <int R, int T>
    KERNELS_INLINE void rows(int64_t row,
                             int64_t k,
                             int64_t end,
                             const int16_t* x,
                             int64_t x_stride,
                             F (&sums)[R][T]) const {
        for (int r = 0; r < R; ++r) {
            for (int t = 0; t < T; ++t) {
                sums[r][t] = V::zero();
            }
        }
        const int8_t* w = data_ + row * cols_;
        for (; k < end; k += kStep, x += kStep + kScaleSlots) {
            const int64_t count = end - k < kStep ? end - k : kStep;
            __m512i acc[R][T];
            for (int r = 0; r < R; ++r) {
                for (int t = 0; t < T; ++t) {
                    acc[r][t] = _mm512_setzero_si512();
                }
            }
            int64_t i = 0;
            for (; i + 64 <= count; i += 64) {
#pragma GCC unroll 2
                for (int r = 0; r < R; ++r) {
                    const int8_t* at = w + r * cols_ + k + i;
                    if (asks_) {
                        _mm_prefetch(at + kBytesAhead, _MM_HINT_T0);
                    }
                    accumulate<T>(widen(at), x + i, x_stride, acc[r]);
                    accumulate<T>(widen(at + 32), x + i + 32, x_stride, acc[r]);
                }
            }
            for (; i < count; i += 32) {
                const int64_t left = count - i;
                const auto mask =
                    left >= 32 ? ~__mmask32{0}
                               : static_cast<__mmask32>((1U << static_cast<unsigned>(left)) - 1U);
                for (int r = 0; r < R; ++r) {
                    const __m256i bytes = _mm256_maskz_loadu_epi8(mask, w + r * cols_ + k + i);
                    accumulate<T>(_mm512_cvtepi8_epi16(bytes), x + i, x_stride, acc[r]);
                }
            }
            for (int t = 0; t < T; ++t) {
                float scale = 0.0F;
                std::memcpy(&scale, x + t * x_stride + kStep, sizeof scale);
                for (int r = 0; r < R; ++r) {
                    sums[r][t] = V::fma(_mm512_cvtepi32_ps(acc[r][t]), V::set1(scale), sums[r][t]);
                }
            }
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
    static KERNELS_INLINE F load(const float* p, int64_t left) {
        return left >= V::kWidth ? V::load(p) : V::loadPart(p, left);
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

    const int8_t* data_ = nullptr;
    int64_t cols_ = 0;
    bool asks_ = false;
};

} // namespace kernels::cpu
