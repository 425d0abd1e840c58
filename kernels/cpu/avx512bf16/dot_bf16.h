// SPDX-License-Identifier: Apache-2.0
// Decode products with VDPBF16PS: activations are rounded to bf16 once per call; sums are fp32.
//
// 4-bit rows: VPERMW looks 32 codes up at once in a table of their bf16 values. It reads the low 5
// bits of each 16-bit lane; with the 16 entries stored twice the fifth bit does not matter, so a
// vector of packed bytes needs only shifts by 0, 4, 8 and 12 to be four index vectors, and the
// activations are brought into that order (stride 4) beforehand. The code's rounding to bf16 takes
// the place of the product's.
#pragma once

#include "kernels/cpu/avx512/row_scales.h"
#include "kernels/cpu/avx512bf16/vec_bf16.h"
#include "kernels/cpu/simd/dot_dense.h"
#include "kernels/cpu/simd/dot_four_bit.h"

namespace kernels::cpu {

KERNELS_INLINE __m512i narrowPair(__m512 low, __m512 high) {
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

KERNELS_INLINE __m512 dotPairs(__m512 acc, __m512i a, __m512i b) {
    return _mm512_dpbf16_ps(acc, (__m512bh)a, (__m512bh)b);
}

/// 32 activations from x[k..), zeros from `cols` on.
KERNELS_INLINE __m512i narrowAt(const float* x, int64_t k, int64_t cols) {
    const int64_t left = cols - k;
    if (left >= 32) {
        return narrowPair(_mm512_loadu_ps(x + k), _mm512_loadu_ps(x + k + 16));
    }
    const int64_t low = left >= 16 ? 16 : (left > 0 ? left : 0);
    const int64_t high = left > 16 ? left - 16 : 0;
    return narrowPair(Avx512Bf16::loadPart(x + k, low),
                      high > 0 ? Avx512Bf16::loadPart(x + k + 16, high) : _mm512_setzero_ps());
}

/// bf16 as stored, two products in each lane. Nothing is asked for ahead: on Zen 4, whose own
/// prediction is good, requests cost a sixth to a quarter.
struct Bf16Elements {
    using V = Avx512Bf16;
    using F = V::F;
    using X = uint16_t;
    static constexpr int64_t kStep = 32;
    static constexpr int64_t kBytes = 2;

    static KERNELS_INLINE __m512i load(const void* data, int64_t index) {
        return _mm512_loadu_si512(static_cast<const uint16_t*>(data) + index);
    }
    static KERNELS_INLINE __m512i loadPart(const void* data, int64_t index, int64_t n) {
        const auto lanes = static_cast<__mmask32>((1U << static_cast<unsigned>(n)) - 1U);
        return _mm512_maskz_loadu_epi16(lanes, static_cast<const uint16_t*>(data) + index);
    }
    static KERNELS_INLINE __m512i activations(const uint16_t* x) { return _mm512_loadu_si512(x); }
    static KERNELS_INLINE __m512i repeated(const uint16_t* x) {
        int32_t pair = 0;
        __builtin_memcpy(&pair, x, sizeof(pair));
        return _mm512_set1_epi32(pair);
    }
    static KERNELS_INLINE F multiply(F sum, __m512i w, __m512i x) { return dotPairs(sum, w, x); }
    static KERNELS_INLINE void askAhead(const void* /*data*/, int64_t /*index*/) {}

    static void convert(const float* x, int64_t cols, uint16_t* out) {
        for (int64_t k = 0; k < cols; k += kStep) {
            _mm512_storeu_si512(out + k, narrowAt(x, k, cols));
        }
    }
};

class Bf16Dot : public DenseDot<Bf16Elements> {
public:
    static constexpr int kTogether(int tokens) { return tokens == 1 ? 1 : (tokens <= 5 ? 4 : 2); }
    /// The activations of very wide rows do not stay in the first cache beside the weights: four
    /// rows share each load of them.
    static constexpr int kTogetherWide(int tokens) { return tokens == 1 ? 4 : kTogether(tokens); }
    static constexpr int64_t kWideColumns = 8192;
};

/// 4-bit codes, looked up as bf16.
class FourBitBf16 {
public:
    using V = Avx512Bf16;
    using Elements = Bf16Elements;
    using Scales = RowScales<V>;
    /// Into the second cache. Without it reading and computing take turns: 15 cycles per 64 bytes
    /// instead of 11 (10 when the codes come from the cache). Asking for lines in the first cache
    /// as well gains nothing for one thread and costs a sixth where two share a slow memory.
    static constexpr int64_t kBytesAhead = 8192;

    void open(const CodeValues& codes) {
        const V::F once = V::load(codes.value);
        table_ = narrowPair(once, once);
    }

    /// Per 128 elements: those at 4i, then 4i + 1, 4i + 2, 4i + 3.
    static void convert(const float* x, int64_t cols, uint16_t* out) {
        alignas(64) uint16_t first[32];
        alignas(64) uint16_t second[32];
        for (int i = 0; i < 16; ++i) {
            first[i] = static_cast<uint16_t>(4 * i);
            first[16 + i] = static_cast<uint16_t>(4 * i + 1);
            second[i] = static_cast<uint16_t>(4 * i + 2);
            second[16 + i] = static_cast<uint16_t>(4 * i + 3);
        }
        const __m512i pick01 = _mm512_load_si512(first);
        const __m512i pick23 = _mm512_load_si512(second);
        for (int64_t k = 0; k < cols; k += 128) {
            const __m512i a = narrowAt(x, k, cols);
            const __m512i b = narrowAt(x, k + 32, cols);
            const __m512i c = narrowAt(x, k + 64, cols);
            const __m512i d = narrowAt(x, k + 96, cols);
            const __m512i low01 = _mm512_permutex2var_epi16(a, pick01, b);
            const __m512i high01 = _mm512_permutex2var_epi16(c, pick01, d);
            const __m512i low23 = _mm512_permutex2var_epi16(a, pick23, b);
            const __m512i high23 = _mm512_permutex2var_epi16(c, pick23, d);
            _mm512_storeu_si512(out + k, _mm512_shuffle_i64x2(low01, high01, 0x44));
            _mm512_storeu_si512(out + k + 32, _mm512_shuffle_i64x2(low01, high01, 0xee));
            _mm512_storeu_si512(out + k + 64, _mm512_shuffle_i64x2(low23, high23, 0x44));
            _mm512_storeu_si512(out + k + 96, _mm512_shuffle_i64x2(low23, high23, 0xee));
        }
    }

    template <typename Fn>
    KERNELS_INLINE void each(__m512i packed, Fn fn) const {
        // High nibble of a byte = even element.
        fn(_mm512_permutexvar_epi16(_mm512_srli_epi16(packed, 4), table_), 0);
        fn(_mm512_permutexvar_epi16(packed, table_), 32);
        fn(_mm512_permutexvar_epi16(_mm512_srli_epi16(packed, 12), table_), 64);
        fn(_mm512_permutexvar_epi16(_mm512_srli_epi16(packed, 8), table_), 96);
    }

private:
    __m512i table_{};
};

} // namespace kernels::cpu
