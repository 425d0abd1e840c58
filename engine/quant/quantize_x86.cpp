// SPDX-License-Identifier: Apache-2.0
// The quantizer's inner loops for AVX2 and AVX-512. Codes are found by a binary search over the
// thresholds that keeps the table in a register; every comparison is the scalar code's, so the
// bytes are the same. Chosen at run time; the functions carry their own target attributes.

#include "engine/quant/quantize_kernels.h"
#include "engine/quant/quantize_loops.h"
#include "kernels/cpu/cpu_features.h"

#if defined(__x86_64__) && defined(__GNUC__)
#if !defined(__clang__)
// g++ 12 reports the deliberately undefined registers inside its own AVX-512 header as ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <cstring>
#include <limits>

namespace engine::quant_kernels {

#define TARGET_AVX2 __attribute__((target("avx2,f16c")))
#define TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx2,f16c")))

namespace {

// --- AVX2 ---------------------------------------------------------------------------------------

/// 16 codes (0..15, as bytes) to 8 bytes, first of a pair in the high nibble.
TARGET_AVX2 inline void storeNibbles(__m128i codes, uint8_t* out) {
    const __m128i pairs = _mm_maddubs_epi16(codes, _mm_set1_epi16(0x0110));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(pairs, pairs));
}

template <TensorType kType>
TARGET_AVX2 inline __m256 load8(const std::byte* values, int64_t i) {
    if constexpr (kType == TensorType::F32) {
        return _mm256_loadu_ps(reinterpret_cast<const float*>(values + i * 4));
    }
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values + i * 2));
    if constexpr (kType == TensorType::F16) {
        return _mm256_cvtph_ps(half);
    }
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
}

template <TensorType kType>
TARGET_AVX2 uint32_t loadAvx2Typed(const std::byte* values, int64_t count, float* out) {
    const __m256i mask = _mm256_set1_epi32(0x7fffffff);
    __m256i largest = _mm256_setzero_si256();
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256 value = load8<kType>(values, i);
        _mm256_storeu_ps(out + i, value);
        largest = _mm256_max_epi32(largest, _mm256_and_si256(_mm256_castps_si256(value), mask));
    }
    alignas(32) uint32_t lanes[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), largest);
    uint32_t result = *std::max_element(lanes, lanes + 8);
    if (i < count) {
        const int64_t size = kType == TensorType::F32 ? 4 : 2;
        result =
            std::max(result, scalarKernels().load(kType, values + i * size, count - i, out + i));
    }
    return result;
}

TARGET_AVX2 uint32_t loadAvx2(TensorType type, const std::byte* values, int64_t count, float* out) {
    switch (type) {
    case TensorType::F32:
        return loadAvx2Typed<TensorType::F32>(values, count, out);
    case TensorType::F16:
        return loadAvx2Typed<TensorType::F16>(values, count, out);
    default:
        return loadAvx2Typed<TensorType::BF16>(values, count, out);
    }
}

struct Avx2Tables {
    __m256 step1, step2, step3, step4;
};

/// One step of the search: index = 2 * index + (y > table[index]).
TARGET_AVX2 inline __m256i step8(__m256 y, __m256i index, __m256 table) {
    const __m256 threshold = _mm256_permutevar8x32_ps(table, index);
    const __m256i above = _mm256_castps_si256(_mm256_cmp_ps(y, threshold, _CMP_GT_OQ));
    return _mm256_sub_epi32(_mm256_add_epi32(index, index), above);
}

TARGET_AVX2 inline __m256i nf4Codes8(__m256 y, const Avx2Tables& tables) {
    __m256i index = step8(y, _mm256_setzero_si256(), tables.step1);
    index = step8(y, index, tables.step2);
    index = step8(y, index, tables.step3);
    return step8(y, index, tables.step4);
}

TARGET_AVX2 inline __m256i fp4Codes8(__m256 y, const Avx2Tables& tables) {
    const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), y);
    __m256i index = step8(magnitude, _mm256_setzero_si256(), tables.step1);
    index = step8(magnitude, index, tables.step2);
    index = step8(magnitude, index, tables.step3);
    const __m256i code = _mm256_castps_si256(_mm256_permutevar8x32_ps(tables.step4, index));
    const __m256 negative = _mm256_cmp_ps(y, _mm256_setzero_ps(), _CMP_LT_OQ);
    return _mm256_or_si256(code,
                           _mm256_and_si256(_mm256_castps_si256(negative), _mm256_set1_epi32(8)));
}

TARGET_AVX2 Avx2Tables avx2Tables(kernels::WeightFormat book) {
    if (book == kernels::WeightFormat::Nf4) {
        const float* t = kNf4Thresholds;
        return {_mm256_set1_ps(t[7]),
                _mm256_setr_ps(t[3], t[11], t[3], t[11], t[3], t[11], t[3], t[11]),
                _mm256_setr_ps(t[1], t[5], t[9], t[13], t[1], t[5], t[9], t[13]),
                _mm256_setr_ps(t[0], t[2], t[4], t[6], t[8], t[10], t[12], t[14])};
    }
    const float* t = kFp4Thresholds;
    const uint8_t* o = kFp4Order;
    return {_mm256_set1_ps(t[3]), _mm256_setr_ps(t[1], t[5], t[1], t[5], t[1], t[5], t[1], t[5]),
            _mm256_setr_ps(t[0], t[2], t[4], t[6], t[0], t[2], t[4], t[6]),
            _mm256_castsi256_ps(_mm256_setr_epi32(o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7]))};
}

template <kernels::WeightFormat kBook>
TARGET_AVX2 void
encodeAvx2Book(const float* values, int64_t count, float reciprocal, uint8_t* codes) {
    const Avx2Tables tables = avx2Tables(kBook);
    const __m256 scale = _mm256_set1_ps(reciprocal);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256 y0 = _mm256_mul_ps(_mm256_loadu_ps(values + i), scale);
        const __m256 y1 = _mm256_mul_ps(_mm256_loadu_ps(values + i + 8), scale);
        __m256i c0;
        __m256i c1;
        if constexpr (kBook == kernels::WeightFormat::Nf4) {
            c0 = nf4Codes8(y0, tables);
            c1 = nf4Codes8(y1, tables);
        } else {
            c0 = fp4Codes8(y0, tables);
            c1 = fp4Codes8(y1, tables);
        }
        const __m128i low =
            _mm_packs_epi32(_mm256_castsi256_si128(c0), _mm256_extracti128_si256(c0, 1));
        const __m128i high =
            _mm_packs_epi32(_mm256_castsi256_si128(c1), _mm256_extracti128_si256(c1, 1));
        storeNibbles(_mm_packus_epi16(low, high), codes + i / 2);
    }
    scalarKernels().encode(kBook, values + i, count - i, reciprocal, codes + i / 2);
}

TARGET_AVX2 void encodeAvx2(kernels::WeightFormat book,
                            const float* values,
                            int64_t count,
                            float reciprocal,
                            uint8_t* codes) {
    if (book == kernels::WeightFormat::Nf4) {
        encodeAvx2Book<kernels::WeightFormat::Nf4>(values, count, reciprocal, codes);
    } else if (book == kernels::WeightFormat::Fp4) {
        encodeAvx2Book<kernels::WeightFormat::Fp4>(values, count, reciprocal, codes);
    } else {
        scalarKernels().encode(book, values, count, reciprocal, codes);
    }
}

TARGET_AVX2 float nestAvx2(const float* absmax, int64_t count, float offset, uint8_t* codes) {
    return nestLoop(absmax, count, offset, dynamicMidpoints().data(), codes);
}

TARGET_AVX2 void rowInt8Avx2(const float* values, int64_t count, float scale, int8_t* q) {
    rowInt8Loop(values, count, scale, q);
}

// --- AVX-512 ------------------------------------------------------------------------------------

template <TensorType kType>
TARGET_AVX512 inline __m512 load16(const std::byte* values, int64_t i) {
    if constexpr (kType == TensorType::F32) {
        return _mm512_loadu_ps(values + i * 4);
    }
    const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i * 2));
    if constexpr (kType == TensorType::F16) {
        return _mm512_cvtph_ps(half);
    }
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

template <TensorType kType>
TARGET_AVX512 uint32_t loadAvx512Typed(const std::byte* values, int64_t count, float* out) {
    const __m512i mask = _mm512_set1_epi32(0x7fffffff);
    __m512i largest = _mm512_setzero_si512();
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m512 value = load16<kType>(values, i);
        _mm512_storeu_ps(out + i, value);
        largest = _mm512_max_epi32(largest, _mm512_and_si512(_mm512_castps_si512(value), mask));
    }
    auto result = static_cast<uint32_t>(_mm512_reduce_max_epi32(largest));
    if (i < count) {
        const int64_t size = kType == TensorType::F32 ? 4 : 2;
        result =
            std::max(result, scalarKernels().load(kType, values + i * size, count - i, out + i));
    }
    return result;
}

TARGET_AVX512 uint32_t loadAvx512(TensorType type,
                                  const std::byte* values,
                                  int64_t count,
                                  float* out) {
    switch (type) {
    case TensorType::F32:
        return loadAvx512Typed<TensorType::F32>(values, count, out);
    case TensorType::F16:
        return loadAvx512Typed<TensorType::F16>(values, count, out);
    default:
        return loadAvx512Typed<TensorType::BF16>(values, count, out);
    }
}

/// One step of the search: index += step where y > table[index].
TARGET_AVX512 inline __m512i step16(__m512 y, __m512i index, __m512 table, int step) {
    const __m512 threshold = _mm512_permutexvar_ps(index, table);
    const __mmask16 above = _mm512_cmp_ps_mask(y, threshold, _CMP_GT_OQ);
    return _mm512_mask_add_epi32(index, above, index, _mm512_set1_epi32(step));
}

/// table[i] = thresholds[i + first], +inf past the end.
TARGET_AVX512 __m512 shiftedTable(const float* thresholds, int count, int first) {
    alignas(64) float table[16];
    for (int i = 0; i < 16; ++i) {
        table[i] =
            i + first < count ? thresholds[i + first] : std::numeric_limits<float>::infinity();
    }
    return _mm512_load_ps(table);
}

template <kernels::WeightFormat kBook>
TARGET_AVX512 void
encodeAvx512Book(const float* values, int64_t count, float reciprocal, uint8_t* codes) {
    constexpr bool kIsNf4 = kBook == kernels::WeightFormat::Nf4;
    const float* thresholds = kIsNf4 ? kNf4Thresholds : kFp4Thresholds;
    const int num = kIsNf4 ? 15 : 7;
    const __m512 table7 = shiftedTable(thresholds, num, 7);
    const __m512 table3 = shiftedTable(thresholds, num, 3);
    const __m512 table1 = shiftedTable(thresholds, num, 1);
    const __m512 table0 = shiftedTable(thresholds, num, 0);
    const uint8_t* o = kFp4Order;
    const __m512i order =
        _mm512_setr_epi32(o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512 scale = _mm512_set1_ps(reciprocal);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m512 y = _mm512_mul_ps(_mm512_loadu_ps(values + i), scale);
        __m512i index = _mm512_setzero_si512();
        if constexpr (kIsNf4) {
            index = step16(y, index, table7, 8);
            index = step16(y, index, table3, 4);
            index = step16(y, index, table1, 2);
            index = step16(y, index, table0, 1);
        } else {
            const __m512 magnitude = _mm512_abs_ps(y);
            index = step16(magnitude, index, table3, 4);
            index = step16(magnitude, index, table1, 2);
            index = step16(magnitude, index, table0, 1);
            index = _mm512_permutexvar_epi32(index, order);
            const __mmask16 negative = _mm512_cmp_ps_mask(y, _mm512_setzero_ps(), _CMP_LT_OQ);
            index = _mm512_mask_or_epi32(index, negative, index, _mm512_set1_epi32(8));
        }
        storeNibbles(_mm512_cvtepi32_epi8(index), codes + i / 2);
    }
    scalarKernels().encode(kBook, values + i, count - i, reciprocal, codes + i / 2);
}

TARGET_AVX512 void encodeAvx512(kernels::WeightFormat book,
                                const float* values,
                                int64_t count,
                                float reciprocal,
                                uint8_t* codes) {
    if (book == kernels::WeightFormat::Nf4) {
        encodeAvx512Book<kernels::WeightFormat::Nf4>(values, count, reciprocal, codes);
    } else if (book == kernels::WeightFormat::Fp4) {
        encodeAvx512Book<kernels::WeightFormat::Fp4>(values, count, reciprocal, codes);
    } else {
        scalarKernels().encode(book, values, count, reciprocal, codes);
    }
}

TARGET_AVX512 float nestAvx512(const float* absmax, int64_t count, float offset, uint8_t* codes) {
    return nestLoop(absmax, count, offset, dynamicMidpoints().data(), codes);
}

TARGET_AVX512 void rowInt8Avx512(const float* values, int64_t count, float scale, int8_t* q) {
    rowInt8Loop(values, count, scale, q);
}

} // namespace

const Kernels* avx2Kernels() {
    static const Kernels kTable = {"avx2", loadAvx2, encodeAvx2, nestAvx2, rowInt8Avx2};
    const bool is_usable = __builtin_cpu_supports("avx2") != 0 && kernels::cpu::hasF16c();
    return is_usable ? &kTable : nullptr;
}

const Kernels* avx512Kernels() {
    static const Kernels kTable = {"avx512", loadAvx512, encodeAvx512, nestAvx512, rowInt8Avx512};
    const bool is_usable = avx2Kernels() != nullptr && __builtin_cpu_supports("avx512f") != 0 &&
                           __builtin_cpu_supports("avx512bw") != 0 &&
                           __builtin_cpu_supports("avx512vl") != 0 &&
                           __builtin_cpu_supports("avx512dq") != 0;
    return is_usable ? &kTable : nullptr;
}

} // namespace engine::quant_kernels

#else

namespace engine::quant_kernels {
const Kernels* avx2Kernels() {
    return nullptr;
}
const Kernels* avx512Kernels() {
    return nullptr;
}
} // namespace engine::quant_kernels

#endif
