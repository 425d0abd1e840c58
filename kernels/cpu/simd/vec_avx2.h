// SPDX-License-Identifier: Apache-2.0
// The vector layer for AVX2 + FMA + F16C: 8 fp32 lanes. Same functions as vec_avx512.h.
#pragma once

#include <immintrin.h>

#include <cstdint>

#ifndef KERNELS_INLINE
#define KERNELS_INLINE inline __attribute__((always_inline))
#endif

namespace kernels::cpu {

struct Avx2 {
    using F = __m256;  ///< 8 fp32 lanes.
    using I = __m256i; ///< 8 int32 lanes.
    using M = __m256i; ///< All bits of a lane set or clear.
    static constexpr int64_t kWidth = 8;

    static KERNELS_INLINE M firstLanes(int64_t n) {
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int32_t>(n)),
                                  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
    static KERNELS_INLINE F zero() { return _mm256_setzero_ps(); }
    static KERNELS_INLINE F set1(float v) { return _mm256_set1_ps(v); }
    static KERNELS_INLINE F load(const float* p) { return _mm256_loadu_ps(p); }
    static KERNELS_INLINE void store(float* p, F v) { _mm256_storeu_ps(p, v); }
    static KERNELS_INLINE F loadPart(const float* p, int64_t n) {
        return _mm256_maskload_ps(p, firstLanes(n));
    }
    static KERNELS_INLINE void storePart(float* p, F v, int64_t n) {
        _mm256_maskstore_ps(p, firstLanes(n), v);
    }

    static KERNELS_INLINE F add(F a, F b) { return _mm256_add_ps(a, b); }
    static KERNELS_INLINE F sub(F a, F b) { return _mm256_sub_ps(a, b); }
    static KERNELS_INLINE F mul(F a, F b) { return _mm256_mul_ps(a, b); }
    static KERNELS_INLINE F div(F a, F b) { return _mm256_div_ps(a, b); }
    static KERNELS_INLINE F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
    static KERNELS_INLINE F fnma(F a, F b, F c) { return _mm256_fnmadd_ps(a, b, c); }
    static KERNELS_INLINE F max(F a, F b) { return _mm256_max_ps(a, b); }
    static KERNELS_INLINE F min(F a, F b) { return _mm256_min_ps(a, b); }
    static KERNELS_INLINE float sum(F v) {
        __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
        s = _mm_add_ps(s, _mm_movehl_ps(s, s));
        return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
    }
    static KERNELS_INLINE float maxOf(F v) {
        __m128 s = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
        s = _mm_max_ps(s, _mm_movehl_ps(s, s));
        return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
    }
    static KERNELS_INLINE F abs(F v) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), v); }
    static KERNELS_INLINE F copySign(F magnitude, F sign) {
        const F mask = _mm256_set1_ps(-0.0F);
        return _mm256_or_ps(_mm256_and_ps(mask, sign), _mm256_andnot_ps(mask, magnitude));
    }

    static KERNELS_INLINE F fraction(F x) {
        // The clamp only changes values whose power of two is 0 or infinite anyway. In this order:
        // of NaN and a number the instructions return the second.
        const F bounded = _mm256_min_ps(set1(1000.0F), _mm256_max_ps(set1(-1000.0F), x));
        return _mm256_sub_ps(bounded, _mm256_floor_ps(bounded));
    }
    /// Two factors of about half the exponent reach 0 (through subnormals) and infinity.
    static KERNELS_INLINE F scaleByFloor(F p, F x) {
        const F bounded = _mm256_min_ps(set1(252.0F), _mm256_max_ps(set1(-252.0F), x));
        const __m256i n = _mm256_cvtps_epi32(_mm256_floor_ps(bounded));
        const __m256i half = _mm256_srai_epi32(n, 1);
        const __m256i rest = _mm256_sub_epi32(n, half);
        const __m256i bias = _mm256_set1_epi32(127);
        const F first = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
        const F second = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23));
        return _mm256_mul_ps(_mm256_mul_ps(p, first), second);
    }
    static KERNELS_INLINE F roundToInt(F x) {
        return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    static KERNELS_INLINE I toInt(F x) { return _mm256_cvtps_epi32(x); }
    static KERNELS_INLINE F toFloat(I x) { return _mm256_cvtepi32_ps(x); }

    static KERNELS_INLINE I iset1(int32_t v) { return _mm256_set1_epi32(v); }
    static KERNELS_INLINE I iload(const int32_t* p) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    static KERNELS_INLINE I iadd(I a, I b) { return _mm256_add_epi32(a, b); }
    static KERNELS_INLINE I iand(I a, I b) { return _mm256_and_si256(a, b); }
    static KERNELS_INLINE M iequal(I a, I b) { return _mm256_cmpeq_epi32(a, b); }
    static KERNELS_INLINE M igreater(I a, I b) { return _mm256_cmpgt_epi32(a, b); }
    static KERNELS_INLINE M less(F a, F b) {
        return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
    }
    static KERNELS_INLINE M isNan(F v) {
        return _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    }
    static KERNELS_INLINE bool any(M a) { return _mm256_movemask_ps(_mm256_castsi256_ps(a)) != 0; }
    static KERNELS_INLINE M mand(M a, M b) { return _mm256_and_si256(a, b); }
    static KERNELS_INLINE M mnot(M a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }
    static KERNELS_INLINE M mor(M a, M b) { return _mm256_or_si256(a, b); }
    static KERNELS_INLINE F select(M mask, F yes, F no) {
        return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(mask));
    }
    static KERNELS_INLINE F changeSignWhere(M mask, F v) {
        return _mm256_xor_ps(v, _mm256_and_ps(_mm256_castsi256_ps(mask), set1(-0.0F)));
    }

    /// Lane r = sum of the lanes of v[slotOfRow(r)].
    static KERNELS_INLINE F transposeSum(const F* v) {
        const F a = _mm256_hadd_ps(_mm256_hadd_ps(v[0], v[1]), _mm256_hadd_ps(v[2], v[3]));
        const F b = _mm256_hadd_ps(_mm256_hadd_ps(v[4], v[5]), _mm256_hadd_ps(v[6], v[7]));
        return add(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
    }
    static KERNELS_INLINE int64_t slotOfRow(int64_t r) { return r; }
    /// 8 x 8 transpose of 32-bit lanes, in place.
    static KERNELS_INLINE void transpose(I* rows) {
        I t[8];
        for (int i = 0; i < 8; i += 4) {
            const I a = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
            const I b = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
            const I c = _mm256_unpacklo_epi32(rows[i + 2], rows[i + 3]);
            const I d = _mm256_unpackhi_epi32(rows[i + 2], rows[i + 3]);
            t[i] = _mm256_unpacklo_epi64(a, c);
            t[i + 1] = _mm256_unpackhi_epi64(a, c);
            t[i + 2] = _mm256_unpacklo_epi64(b, d);
            t[i + 3] = _mm256_unpackhi_epi64(b, d);
        }
        for (int i = 0; i < 4; ++i) {
            rows[i] = _mm256_permute2x128_si256(t[i], t[i + 4], 0x20);
            rows[i + 4] = _mm256_permute2x128_si256(t[i], t[i + 4], 0x31);
        }
    }
    static KERNELS_INLINE I loadLanes(const void* p) {
        return _mm256_loadu_si256(static_cast<const __m256i*>(p));
    }
    static KERNELS_INLINE I loadLanesPart(const void* p, int64_t n) {
        return _mm256_maskload_epi32(static_cast<const int*>(p), firstLanes(n));
    }
    static KERNELS_INLINE void storeLanes(void* p, I v) {
        _mm256_storeu_si256(static_cast<__m256i*>(p), v);
    }
    static KERNELS_INLINE I repeat16(const void* p) {
        return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    }
    static KERNELS_INLINE I narrow16(I a, I b) {
        return _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
    }
    static KERNELS_INLINE F blockScales(const float* scales) { return set1(scales[0]); }

    /// 8 code values in order, from 4 bytes (even element in the high nibble).
    static KERNELS_INLINE F lookUpNibbles(const uint8_t* bytes, const float* table) {
        const uint32_t four =
            static_cast<uint32_t>(bytes[0]) | static_cast<uint32_t>(bytes[1]) << 8 |
            static_cast<uint32_t>(bytes[2]) << 16 | static_cast<uint32_t>(bytes[3]) << 24;
        const __m256i wide = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(static_cast<int32_t>(four)));
        const __m256i both = _mm256_or_si256(wide, _mm256_slli_epi64(wide, 32));
        const __m256i index = _mm256_srlv_epi32(both, _mm256_set1_epi64x(4));
        // vpermps reads 3 bits of the index; bit 3, moved to the sign, picks the half.
        const F low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), index);
        const F high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), index);
        return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
    }
    static KERNELS_INLINE void lookUpPairs(const uint8_t* bytes, const F* table, F& high, F& low) {
        const I wide =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
        // As above: bit 3 of the index picks the half of the table.
        const auto lookUp = [table](I index) __attribute__((always_inline)) {
            return _mm256_blendv_ps(_mm256_permutevar8x32_ps(table[0], index),
                                    _mm256_permutevar8x32_ps(table[1], index),
                                    _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
        };
        high = lookUp(_mm256_srli_epi32(wide, 4));
        low = lookUp(wide);
    }

    /// n < 8 elements of 16 bits, zeros above; reads nothing behind them.
    static KERNELS_INLINE __m128i load16Part(const uint16_t* p, int64_t n) {
        alignas(16) uint16_t lanes[8] = {};
        for (int64_t i = 0; i < n; ++i) {
            lanes[i] = p[i];
        }
        return _mm_load_si128(reinterpret_cast<const __m128i*>(lanes));
    }
    static KERNELS_INLINE void store16Part(uint16_t* p, __m128i v, int64_t n) {
        alignas(16) uint16_t lanes[8];
        _mm_store_si128(reinterpret_cast<__m128i*>(lanes), v);
        for (int64_t i = 0; i < n; ++i) {
            p[i] = lanes[i];
        }
    }
    static KERNELS_INLINE F widenBf16(__m128i bits) {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
    }
    static KERNELS_INLINE F loadBf16(const uint16_t* p) {
        return widenBf16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
    static KERNELS_INLINE F loadBf16Part(const uint16_t* p, int64_t n) {
        return widenBf16(load16Part(p, n));
    }
    static KERNELS_INLINE F widenF16(__m128i bits) { return _mm256_cvtph_ps(bits); }
    static KERNELS_INLINE F loadF16(const uint16_t* p) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
    static KERNELS_INLINE F loadF16Part(const uint16_t* p, int64_t n) {
        return _mm256_cvtph_ps(load16Part(p, n));
    }
    static KERNELS_INLINE F loadI8(const int8_t* p) {
        return _mm256_cvtepi32_ps(
            _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
    }
    static KERNELS_INLINE F loadI8Part(const int8_t* p, int64_t n) {
        alignas(8) int8_t lanes[8] = {};
        for (int64_t i = 0; i < n; ++i) {
            lanes[i] = p[i];
        }
        return loadI8(lanes);
    }
    static KERNELS_INLINE __m128i narrowBf16(F v) {
        const __m256i bits = _mm256_castps_si256(v);
        const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
        const F is_nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
        const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
        rounded =
            _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(is_nan)), 16);
        return _mm_packus_epi32(_mm256_castsi256_si128(rounded),
                                _mm256_extracti128_si256(rounded, 1));
    }
    static KERNELS_INLINE F roundBf16(F v) { return widenBf16(narrowBf16(v)); }
    static KERNELS_INLINE void storeBf16(uint16_t* p, F v) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrowBf16(v));
    }
    static KERNELS_INLINE void storeBf16Part(uint16_t* p, F v, int64_t n) {
        store16Part(p, narrowBf16(v), n);
    }
    static KERNELS_INLINE __m128i narrowF16(F v) {
        return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    static KERNELS_INLINE void storeF16(uint16_t* p, F v) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrowF16(v));
    }
    static KERNELS_INLINE void storeF16Part(uint16_t* p, F v, int64_t n) {
        store16Part(p, narrowF16(v), n);
    }
};

} // namespace kernels::cpu
