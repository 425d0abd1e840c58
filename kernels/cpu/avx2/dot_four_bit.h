// SPDX-License-Identifier: Apache-2.0
// Decode products of 4-bit rows with AVX2: VPSHUFB looks 32 codes up in two tables of 16 bytes, the
// low and the high byte of the code's bf16 value; unpacking the two planes gives bf16, and
// unpacking that with zeros below gives fp32. Activations are brought into the order that the
// unpacking leaves. The scale is applied once per 64 products. The code values are rounded to
// bf16, sums and activations are fp32.
#pragma once

#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/vec_avx2.h"

namespace kernels::cpu {

class FourBitAvx2Dot {
public:
    using V = Avx2;
    using F = V::F;
    using X = float;
    static constexpr int64_t kStep = 64;

    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        data_ = static_cast<const uint8_t*>(w.data);
        cols_ = w.cols;
        const CodeValues codes = codeValues(w.format);
        alignas(16) uint16_t bits[16];
        V::storeBf16(bits, V::load(codes.value));
        V::storeBf16(bits + 8, V::load(codes.value + 8));
        alignas(16) uint8_t low[16];
        alignas(16) uint8_t high[16];
        for (int i = 0; i < 16; ++i) {
            low[i] = static_cast<uint8_t>(bits[i] & 0xffU);
            high[i] = static_cast<uint8_t>(bits[i] >> 8);
        }
        low_ = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(low)));
        high_ = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(high)));
        return scales_.open(w, slot);
    }

    [[nodiscard]] int64_t cols() const { return cols_; }

    /// Vector (nibble n, byte half b, word half h) holds, in lane 4 L + j, the element of byte
    /// 16 L + 8 b + 4 h + j.
    static void convert(const float* x, int64_t cols, float* out) {
        for (int64_t k = 0; k < cols; k += kStep) {
            for (int64_t i = 0; i < kStep; ++i) {
                const int64_t n = i / 32;
                const int64_t half = i / 8 % 4; // 2 b + h
                const int64_t lane = i % 8;
                const int64_t byte = 16 * (lane / 4) + 4 * half + lane % 4;
                out[k + i] = x[k + 2 * byte + n];
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
        for (; k < end; k += kStep) {
            const __m256i packed =
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + k / 2));
            const __m256i nibble = _mm256_set1_epi8(15);
            const __m256i even = _mm256_and_si256(_mm256_srli_epi16(packed, 4), nibble);
            const __m256i odd = _mm256_and_si256(packed, nibble);
            F dot[T];
            for (int t = 0; t < T; ++t) {
                dot[t] = V::zero();
            }
            multiply<T>(even, x + k, x_stride, dot);
            multiply<T>(odd, x + k + 32, x_stride, dot);
            const F scale = V::set1(scales[k / kScaleStep]);
            for (int t = 0; t < T; ++t) {
                sums[t] = V::fma(dot[t], scale, sums[t]);
            }
        }
    }

private:
    template <int T>
    KERNELS_INLINE void
    multiply(__m256i index, const float* x, int64_t x_stride, F (&dot)[T]) const {
        const __m256i low = _mm256_shuffle_epi8(low_, index);
        const __m256i high = _mm256_shuffle_epi8(high_, index);
        const __m256i halves[2] = {_mm256_unpacklo_epi8(low, high),
                                   _mm256_unpackhi_epi8(low, high)};
        const __m256i zero = _mm256_setzero_si256();
#pragma GCC unroll 2
        for (int b = 0; b < 2; ++b) {
            const F first = _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, halves[b]));
            const F second = _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, halves[b]));
#pragma GCC unroll 8
            for (int t = 0; t < T; ++t) {
                const float* xt = x + t * x_stride + b * 16;
                dot[t] = V::fma(first, V::load(xt), dot[t]);
                dot[t] = V::fma(second, V::load(xt + 8), dot[t]);
            }
        }
    }

    const uint8_t* data_ = nullptr;
    int64_t cols_ = 0;
    __m256i low_{};
    __m256i high_{};
    BlockScales<Avx2> scales_;
};

} // namespace kernels::cpu
