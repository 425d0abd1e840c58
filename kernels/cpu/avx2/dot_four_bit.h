// SPDX-License-Identifier: Apache-2.0
// Products of 4-bit rows with AVX2 (simd/dot_four_bit.h): VPSHUFB looks 32 codes up in two tables
// of 16 bytes, the low and the high byte of the code's bf16 value; unpacking the two planes gives
// bf16, and unpacking that with zeros below gives fp32. Activations are brought into the order that
// the unpacking leaves. The code values are rounded to bf16, sums and activations are fp32.
#pragma once

#include "kernels/cpu/simd/dot_four_bit.h"

namespace kernels::cpu {

class FourBitAvx2 {
public:
    using V = Avx2;
    using F = V::F;
    using Elements = WidenedElements<V, WeightFormat::F32>;
    using Scales = BlockScales<V>;

    void open(const CodeValues& codes) {
        alignas(16) uint16_t bits[16];
        V::storeBf16(bits, V::load(codes.value));
        V::storeBf16(bits + 8, V::load(codes.value + 8));
        alignas(16) uint8_t low[16];
        alignas(16) uint8_t high[16];
        for (int i = 0; i < 16; ++i) {
            low[i] = static_cast<uint8_t>(bits[i] & 0xffU);
            high[i] = static_cast<uint8_t>(bits[i] >> 8);
        }
        low_ = V::repeat16(low);
        high_ = V::repeat16(high);
    }

    /// Vector (nibble n, byte half b, word half h) holds, in lane 4 L + j, the element of byte
    /// 16 L + 8 b + 4 h + j.
    static void convert(const float* x, int64_t cols, float* out) {
        constexpr int64_t kStep = 64;
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

    template <typename Fn>
    KERNELS_INLINE void each(__m256i packed, Fn fn) const {
        const __m256i nibble = _mm256_set1_epi8(15);
        eachOf(_mm256_and_si256(_mm256_srli_epi16(packed, 4), nibble), 0, fn);
        eachOf(_mm256_and_si256(packed, nibble), 32, fn);
    }

private:
    template <typename Fn>
    KERNELS_INLINE void eachOf(__m256i index, int64_t at, Fn fn) const {
        const __m256i low = _mm256_shuffle_epi8(low_, index);
        const __m256i high = _mm256_shuffle_epi8(high_, index);
        const __m256i halves[2] = {_mm256_unpacklo_epi8(low, high),
                                   _mm256_unpackhi_epi8(low, high)};
        const __m256i zero = _mm256_setzero_si256();
#pragma GCC unroll 2
        for (int b = 0; b < 2; ++b) {
            const F first = _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, halves[b]));
            const F second = _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, halves[b]));
            fn(first, at + 16 * b);
            fn(second, at + 16 * b + 8);
        }
    }

    __m256i low_{};
    __m256i high_{};
};

} // namespace kernels::cpu
