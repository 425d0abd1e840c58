// SPDX-License-Identifier: Apache-2.0
// The vector layer of this folder: AVX-512 under a name of its own, with its look-ups of bytes.
// Templates instantiated for it get symbols of their own, so the linker cannot put code compiled
// with BF16 and VBMI into the other AVX-512 tables.
#pragma once

#include "kernels/cpu/simd/vec_avx512.h"

#include <cstddef>
#include <cstdint>

namespace kernels::cpu {

/// 256 values rounded to bf16 as two tables of bytes: VBMI looks 128 bytes up at once.
class NestedByteTable {
public:
    static constexpr size_t kFloats = 128; ///< Room that open() fills.

    void open(const float* values, float* room) {
        planes_ = reinterpret_cast<uint8_t*>(room);
        for (int i = 0; i < 256; i += 16) {
            const __m256i bits = (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(values + i));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(planes_ + i), _mm256_cvtepi16_epi8(bits));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(planes_ + 256 + i),
                             _mm256_cvtepi16_epi8(_mm256_srli_epi16(bits, 8)));
        }
        // Where the unpacks below want each code: lane L of vector j gets codes 16 j + 4 L ...
        alignas(64) uint8_t order[64];
        for (int lane = 0; lane < 4; ++lane) {
            for (int j = 0; j < 4; ++j) {
                for (int i = 0; i < 4; ++i) {
                    order[16 * lane + 4 * j + i] = static_cast<uint8_t>(16 * j + 4 * lane + i);
                }
            }
        }
        order_ = _mm512_load_si512(order);
    }

    /// The values of 64 codes, in order.
    KERNELS_INLINE void lookUp(__m512i in_order, __m512 (&values)[4]) const {
        const __m512i codes = _mm512_permutexvar_epi8(order_, in_order);
        const __mmask64 is_upper = _mm512_movepi8_mask(codes);
        __m512i plane[2];
        for (int64_t p = 0; p < 2; ++p) {
            const uint8_t* table = planes_ + 256 * p;
            const __m512i lower = _mm512_permutex2var_epi8(_mm512_loadu_si512(table), codes,
                                                           _mm512_loadu_si512(table + 64));
            const __m512i upper = _mm512_permutex2var_epi8(_mm512_loadu_si512(table + 128), codes,
                                                           _mm512_loadu_si512(table + 192));
            plane[p] = _mm512_mask_blend_epi8(is_upper, lower, upper);
        }
        const __m512i low = _mm512_unpacklo_epi8(plane[0], plane[1]);
        const __m512i high = _mm512_unpackhi_epi8(plane[0], plane[1]);
        const __m512i zero = _mm512_setzero_si512();
        values[0] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, low));
        values[1] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, low));
        values[2] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, high));
        values[3] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, high));
    }

private:
    uint8_t* planes_ = nullptr;
    __m512i order_{};
};

struct Avx512Bf16 : Avx512 {
    using NestedTable = NestedByteTable;

    /// Entries of the codes of even columns (the high nibbles). VPERMB reads the low 6 bits of each
    /// byte; with the 16 entries stored four times the upper two do not matter.
    static KERNELS_INLINE __m512i entriesOfEven(__m512i codes, __m512i table) {
        return _mm512_permutexvar_epi8(_mm512_srli_epi16(codes, 4), table);
    }
    static KERNELS_INLINE __m512i entriesOfOdd(__m512i codes, __m512i table) {
        return _mm512_permutexvar_epi8(codes, table);
    }
};

} // namespace kernels::cpu
