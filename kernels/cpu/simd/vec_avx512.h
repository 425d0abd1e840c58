// SPDX-License-Identifier: Apache-2.0
// The vector layer for AVX-512 F/BW/VL/DQ: 16 fp32 lanes. The templates of this folder are written
// against these static functions; vec_avx2.h has the same set. Everything is forced inline, so
// that no function compiled for this instruction set can be linked into portable code.
#pragma once

#include <immintrin.h>

#include <cstdint>

#define KERNELS_INLINE inline __attribute__((always_inline))

namespace kernels::cpu {

struct Avx512 {
    using F = __m512;  ///< 16 fp32 lanes.
    using I = __m512i; ///< 16 int32 lanes.
    using M = __mmask16;
    static constexpr int64_t kWidth = 16;

    static KERNELS_INLINE M firstLanes(int64_t n) {
        return static_cast<M>((1U << static_cast<unsigned>(n)) - 1U);
    }
    static KERNELS_INLINE F zero() { return _mm512_setzero_ps(); }
    static KERNELS_INLINE F set1(float v) { return _mm512_set1_ps(v); }
    static KERNELS_INLINE F load(const float* p) { return _mm512_loadu_ps(p); }
    static KERNELS_INLINE void store(float* p, F v) { _mm512_storeu_ps(p, v); }
    /// The first n < 16 lanes from memory, zeros above. Reads nothing behind them.
    static KERNELS_INLINE F loadPart(const float* p, int64_t n) {
        return _mm512_maskz_loadu_ps(firstLanes(n), p);
    }
    static KERNELS_INLINE void storePart(float* p, F v, int64_t n) {
        _mm512_mask_storeu_ps(p, firstLanes(n), v);
    }

    static KERNELS_INLINE F add(F a, F b) { return _mm512_add_ps(a, b); }
    static KERNELS_INLINE F sub(F a, F b) { return _mm512_sub_ps(a, b); }
    static KERNELS_INLINE F mul(F a, F b) { return _mm512_mul_ps(a, b); }
    static KERNELS_INLINE F div(F a, F b) { return _mm512_div_ps(a, b); }
    static KERNELS_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
    static KERNELS_INLINE F fnma(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }
    /// b where either is NaN.
    static KERNELS_INLINE F max(F a, F b) { return _mm512_max_ps(a, b); }
    static KERNELS_INLINE F min(F a, F b) { return _mm512_min_ps(a, b); }
    static KERNELS_INLINE float sum(F v) { return _mm512_reduce_add_ps(v); }
    static KERNELS_INLINE float maxOf(F v) { return _mm512_reduce_max_ps(v); }
    static KERNELS_INLINE F abs(F v) { return _mm512_abs_ps(v); }
    /// |magnitude| with the sign of `sign`.
    static KERNELS_INLINE F copySign(F magnitude, F sign) {
        const __m512i mask = _mm512_set1_epi32(INT32_MIN);
        return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(mask, _mm512_castps_si512(sign),
                                                             _mm512_castps_si512(magnitude), 0xca));
    }

    /// x - floor(x); 0 for infinities.
    static KERNELS_INLINE F fraction(F x) {
        return _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    }
    /// p * 2^floor(x), with the right limits: 0 for large negative x, infinity for large x.
    static KERNELS_INLINE F scaleByFloor(F p, F x) { return _mm512_scalef_ps(p, x); }
    static KERNELS_INLINE F roundToInt(F x) {
        return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    static KERNELS_INLINE I toInt(F x) { return _mm512_cvtps_epi32(x); }
    static KERNELS_INLINE F toFloat(I x) { return _mm512_cvtepi32_ps(x); }

    static KERNELS_INLINE I iset1(int32_t v) { return _mm512_set1_epi32(v); }
    static KERNELS_INLINE I iload(const int32_t* p) { return _mm512_loadu_si512(p); }
    static KERNELS_INLINE I iadd(I a, I b) { return _mm512_add_epi32(a, b); }
    static KERNELS_INLINE I iand(I a, I b) { return _mm512_and_si512(a, b); }
    static KERNELS_INLINE M iequal(I a, I b) { return _mm512_cmpeq_epi32_mask(a, b); }
    static KERNELS_INLINE M igreater(I a, I b) { return _mm512_cmpgt_epi32_mask(a, b); }
    static KERNELS_INLINE M less(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
    static KERNELS_INLINE M isNan(F v) { return _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q); }
    static KERNELS_INLINE bool any(M a) { return a != 0; }
    static KERNELS_INLINE M mand(M a, M b) { return static_cast<M>(a & b); }
    static KERNELS_INLINE M mnot(M a) { return static_cast<M>(~a); }
    static KERNELS_INLINE M mor(M a, M b) { return static_cast<M>(a | b); }
    /// Lanes of `yes` where the mask is set, else of `no`.
    static KERNELS_INLINE F select(M mask, F yes, F no) {
        return _mm512_mask_blend_ps(mask, no, yes);
    }
    static KERNELS_INLINE F changeSignWhere(M mask, F v) {
        return _mm512_mask_xor_ps(v, mask, v, _mm512_set1_ps(-0.0F));
    }

    /// Lane r = sum of the lanes of v[slotOfRow(r)].
    static KERNELS_INLINE F transposeSum(const F* v) {
        F half[8];
        for (int i = 0; i < 8; ++i) {
            half[i] = add(_mm512_shuffle_f32x4(v[i], v[i + 8], 0x44),
                          _mm512_shuffle_f32x4(v[i], v[i + 8], 0xee));
        }
        F quarter[4];
        for (int i = 0; i < 4; ++i) {
            quarter[i] = add(_mm512_shuffle_f32x4(half[i], half[i + 4], 0x88),
                             _mm512_shuffle_f32x4(half[i], half[i + 4], 0xdd));
        }
        F eighth[2];
        for (int i = 0; i < 2; ++i) {
            const __m512d a = _mm512_castps_pd(quarter[i]);
            const __m512d b = _mm512_castps_pd(quarter[i + 2]);
            eighth[i] = add(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
                            _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
        }
        return add(_mm512_shuffle_ps(eighth[0], eighth[1], 0x88),
                   _mm512_shuffle_ps(eighth[0], eighth[1], 0xdd));
    }
    /// Where transposeSum() expects the vector of row r.
    static KERNELS_INLINE int64_t slotOfRow(int64_t r) {
        constexpr int8_t kSlots[16] = {0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15};
        return kSlots[r];
    }
    /// 16 x 16 transpose of 32-bit lanes, in place.
    static KERNELS_INLINE void transpose(I* rows) {
        I t[16];
        for (int i = 0; i < 16; i += 4) { // 4x4 blocks inside the 128-bit lanes
            const I a = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
            const I b = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
            const I c = _mm512_unpacklo_epi32(rows[i + 2], rows[i + 3]);
            const I d = _mm512_unpackhi_epi32(rows[i + 2], rows[i + 3]);
            t[i] = _mm512_unpacklo_epi64(a, c);
            t[i + 1] = _mm512_unpackhi_epi64(a, c);
            t[i + 2] = _mm512_unpacklo_epi64(b, d);
            t[i + 3] = _mm512_unpackhi_epi64(b, d);
        }
        for (int i = 0; i < 4; ++i) { // then the 4x4 arrangement of the lanes themselves
            const I a = _mm512_shuffle_i32x4(t[i], t[i + 4], 0x88);
            const I b = _mm512_shuffle_i32x4(t[i + 8], t[i + 12], 0x88);
            const I c = _mm512_shuffle_i32x4(t[i], t[i + 4], 0xdd);
            const I d = _mm512_shuffle_i32x4(t[i + 8], t[i + 12], 0xdd);
            rows[i] = _mm512_shuffle_i32x4(a, b, 0x88);
            rows[i + 8] = _mm512_shuffle_i32x4(a, b, 0xdd);
            rows[i + 4] = _mm512_shuffle_i32x4(c, d, 0x88);
            rows[i + 12] = _mm512_shuffle_i32x4(c, d, 0xdd);
        }
    }
    static KERNELS_INLINE I loadLanes(const void* p) { return _mm512_loadu_si512(p); }
    static KERNELS_INLINE I loadLanesPart(const void* p, int64_t n) {
        return _mm512_maskz_loadu_epi32(firstLanes(n), p);
    }
    static KERNELS_INLINE void storeLanes(void* p, I v) { _mm512_storeu_si512(p, v); }
    /// 32 bytes, zeros above.
    static KERNELS_INLINE I loadLanesHalf(const void* p) {
        return _mm512_zextsi256_si512(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
    }
    /// The same 16 bytes in each 128-bit lane.
    static KERNELS_INLINE I repeat16(const void* p) {
        return _mm512_broadcast_i32x4(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    }
    /// Two vectors as int16, a before b. Packing takes 16 bytes of each in turns.
    static KERNELS_INLINE I narrow16(I a, I b) {
        return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
                                        _mm512_packs_epi32(a, b));
    }
    /// The scales of a vector of 4-bit codes, one per 64 of them, where their products are.
    static KERNELS_INLINE F blockScales(const float* scales) {
        return _mm512_mask_blend_ps(0xff00, set1(scales[0]), set1(scales[1]));
    }

    /// 16 code values in order, from 8 bytes (even element in the high nibble).
    static KERNELS_INLINE F lookUpNibbles(const uint8_t* bytes, const float* table) {
        const __m512i wide =
            _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
        // Each 64-bit lane: low half byte >> 4, high half byte; only 4 bits count as an index.
        const __m512i both = _mm512_or_si512(wide, _mm512_slli_epi64(wide, 32));
        const __m512i shift = _mm512_set1_epi64(4);
        return _mm512_permutexvar_ps(_mm512_srlv_epi32(both, shift), _mm512_loadu_ps(table));
    }

    /// The values of the codes in kWidth bytes, high nibbles and low ones; `table` holds 16 values.
    static KERNELS_INLINE void lookUpPairs(const uint8_t* bytes, const F* table, F& high, F& low) {
        const I wide =
            _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
        high = _mm512_permutexvar_ps(_mm512_srli_epi32(wide, 4), table[0]);
        low = _mm512_permutexvar_ps(wide, table[0]);
    }

    static KERNELS_INLINE F widenBf16(__m256i bits) {
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
    }
    static KERNELS_INLINE F loadBf16(const uint16_t* p) {
        return widenBf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
    static KERNELS_INLINE F loadBf16Part(const uint16_t* p, int64_t n) {
        return widenBf16(_mm256_maskz_loadu_epi16(firstLanes(n), p));
    }
    static KERNELS_INLINE F widenF16(__m256i bits) { return _mm512_cvtph_ps(bits); }
    static KERNELS_INLINE F loadF16(const uint16_t* p) {
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
    static KERNELS_INLINE F loadF16Part(const uint16_t* p, int64_t n) {
        return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(firstLanes(n), p));
    }
    static KERNELS_INLINE F loadI8(const int8_t* p) {
        return _mm512_cvtepi32_ps(
            _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
    }
    static KERNELS_INLINE F loadI8Part(const int8_t* p, int64_t n) {
        return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(firstLanes(n), p)));
    }
    /// Round to nearest even; NaN stays a quiet NaN, subnormals are kept.
    static KERNELS_INLINE __m256i narrowBf16(F v) {
        const __m512i bits = _mm512_castps_si512(v);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
        const __mmask16 is_nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
        rounded = _mm512_mask_or_epi32(rounded, is_nan, bits, _mm512_set1_epi32(0x400000));
        return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
    }
    /// widenBf16(narrowBf16(v)), without moving lanes; the payload of a NaN stays.
    static KERNELS_INLINE F roundBf16(F v) {
        const __m512i bits = _mm512_castps_si512(v);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        const __m512i sum =
            _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
        const F rounded = _mm512_castsi512_ps(
            _mm512_and_si512(sum, _mm512_set1_epi32(static_cast<int32_t>(0xffff0000U))));
        return select(isNan(v), v, rounded);
    }
    static KERNELS_INLINE void storeBf16(uint16_t* p, F v) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrowBf16(v));
    }
    static KERNELS_INLINE void storeBf16Part(uint16_t* p, F v, int64_t n) {
        _mm256_mask_storeu_epi16(p, firstLanes(n), narrowBf16(v));
    }
    static KERNELS_INLINE __m256i narrowF16(F v) {
        return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    static KERNELS_INLINE void storeF16(uint16_t* p, F v) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrowF16(v));
    }
    static KERNELS_INLINE void storeF16Part(uint16_t* p, F v, int64_t n) {
        _mm256_mask_storeu_epi16(p, firstLanes(n), narrowF16(v));
    }
};

} // namespace kernels::cpu
