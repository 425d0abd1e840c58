// SPDX-License-Identifier: Apache-2.0
// Decode products of 4-bit rows in fp32: VPERMPS looks 16 codes up in a table of 16 fp32 values. It
// reads the low 4 bits of each 32-bit lane, so shifts by 0, 4, ..., 28 turn one vector of packed
// bytes into eight index vectors; activations are brought into that order (stride 8) beforehand.
// The scale is applied once per 64 products.
#pragma once

#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/vec_avx512.h"

namespace kernels::cpu {

template <class Vec>
class FourBitAvx512Dot {
public:
    using V = Vec;
    using F = typename V::F;
    using X = float;
    static constexpr int64_t kStep = 128;

    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        data_ = static_cast<const uint8_t*>(w.data);
        cols_ = w.cols;
        table_ = _mm512_loadu_ps(codeValues(w.format).value);
        return scales_.open(w, slot);
    }

    [[nodiscard]] int64_t cols() const { return cols_; }

    /// Per 128 elements: those at 8i, then 8i + 1, ... 8i + 7.
    static void convert(const float* x, int64_t cols, float* out) {
        for (int64_t k = 0; k < cols; k += kStep) {
            for (int64_t r = 0; r < 8; ++r) {
                for (int64_t i = 0; i < 16; ++i) {
                    const int64_t source = k + 8 * i + r;
                    out[k + r * 16 + i] = source < cols ? x[source] : 0.0F;
                }
            }
        }
    }

    static constexpr int kTogether(int /*tokens*/) { return 1; }
    static constexpr bool hasPieces(int tokens) { return tokens >= 3; }

    template <int R, int T>
    KERNELS_INLINE void rows(int64_t row,
                             int64_t k,
                             int64_t end,
                             const float* x,
                             int64_t x_stride,
                             F (&row_sums)[R][T]) const {
        static_assert(R == 1);
        F(&sums)[T] = row_sums[0];
        // Counted from the row's first scale, like k.
        const float* scales = scales_.ofRow(row, k, end, 0) - k / kScaleStep;
        const uint8_t* codes = data_ + row * cols_ / 2;
        for (int t = 0; t < T; ++t) {
            sums[t] = V::zero();
        }
        for (; k + kStep <= end; k += kStep) {
            const int64_t s = k / kScaleStep;
            const F scale = _mm512_mask_blend_ps(0xff00, _mm512_set1_ps(scales[s]),
                                                 _mm512_set1_ps(scales[s + 1]));
            multiply<T>(_mm512_loadu_si512(codes + k / 2), scale, x + k, x_stride, sums);
        }
        if (k < end) { // half a step; the activations are zero above
            const __m512i half = _mm512_zextsi256_si512(
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + k / 2)));
            multiply<T>(half, _mm512_set1_ps(scales[k / kScaleStep]), x + k, x_stride, sums);
        }
    }

private:
    template <int T>
    KERNELS_INLINE void
    multiply(__m512i codes, F scale, const float* x, int64_t x_stride, F (&sums)[T]) const {
        F dot[T];
        for (int t = 0; t < T; ++t) {
            dot[t] = V::zero();
        }
#pragma GCC unroll 8
        for (unsigned r = 0; r < 8; ++r) {
            // Elements 8i + r: byte r / 2 of the lane, high nibble for even r.
            const unsigned shift = 8 * (r / 2) + (r % 2 == 0 ? 4 : 0);
            const F w = _mm512_permutexvar_ps(_mm512_srli_epi32(codes, shift), table_);
#pragma GCC unroll 8
            for (int t = 0; t < T; ++t) {
                dot[t] = V::fma(w, V::load(x + t * x_stride + r * 16), dot[t]);
            }
        }
        for (int t = 0; t < T; ++t) {
            sums[t] = V::fma(dot[t], scale, sums[t]);
        }
    }

    const uint8_t* data_ = nullptr;
    int64_t cols_ = 0;
    F table_{};
    BlockScales<V> scales_;
};

} // namespace kernels::cpu
