// SPDX-License-Identifier: Apache-2.0
// The vector layer of this folder: AVX-512 under a name of its own (see avx512bf16/vec_bf16.h) for
// processors that multiply bytes (VNNI) and do not look bytes up across a whole vector (VBMI).
#pragma once

#include "kernels/cpu/simd/vec_avx512.h"

#include <cstddef>
#include <cstdint>

namespace kernels::cpu {

/// 256 values rounded to bf16: VPERMT2W looks 64 words up at once, so four of them and three
/// selections serve 32 codes.
class NestedWordTable {
public:
    static constexpr size_t kFloats = 128; ///< Room that open() fills.

    void open(const float* values, float* room) {
        words_ = reinterpret_cast<uint16_t*>(room);
        for (int i = 0; i < 256; i += 16) {
            Avx512::storeBf16(words_ + i, Avx512::load(values + i));
        }
    }

    /// The values of 64 codes, in order.
    KERNELS_INLINE void lookUp(__m512i codes, __m512 (&values)[4]) const {
        half(_mm512_castsi512_si256(codes), values[0], values[1]);
        half(_mm512_extracti64x4_epi64(codes, 1), values[2], values[3]);
    }

private:
    KERNELS_INLINE void half(__m256i codes, __m512& first, __m512& second) const {
        // Eight bytes each to where the unpacks below want them.
        const __m512i index = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7),
                                                       _mm512_cvtepu8_epi16(codes));
        __m512i quarter[4];
        for (int64_t i = 0; i < 4; ++i) {
            quarter[i] = _mm512_permutex2var_epi16(_mm512_loadu_si512(words_ + 64 * i), index,
                                                   _mm512_loadu_si512(words_ + 64 * i + 32));
        }
        const __mmask32 is_odd = _mm512_test_epi16_mask(index, _mm512_set1_epi16(64));
        const __mmask32 is_upper = _mm512_test_epi16_mask(index, _mm512_set1_epi16(128));
        const __m512i words = _mm512_mask_blend_epi16(
            is_upper, _mm512_mask_blend_epi16(is_odd, quarter[0], quarter[1]),
            _mm512_mask_blend_epi16(is_odd, quarter[2], quarter[3]));
        const __m512i zero = _mm512_setzero_si512();
        first = _mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, words));
        second = _mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, words));
    }

    uint16_t* words_ = nullptr;
};

struct Avx512Vnni : Avx512 {
    using NestedTable = NestedWordTable;

    /// Entries of the codes of even columns (the high nibbles). VPSHUFB looks up within 16 bytes
    /// and takes a set upper bit for zero.
    static KERNELS_INLINE __m512i entriesOfEven(__m512i codes, __m512i table) {
        return _mm512_shuffle_epi8(
            table, _mm512_and_si512(_mm512_srli_epi16(codes, 4), _mm512_set1_epi8(15)));
    }
    static KERNELS_INLINE __m512i entriesOfOdd(__m512i codes, __m512i table) {
        return _mm512_shuffle_epi8(table, _mm512_and_si512(codes, _mm512_set1_epi8(15)));
    }
};

} // namespace kernels::cpu
