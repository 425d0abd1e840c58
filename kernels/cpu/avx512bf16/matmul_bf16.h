// SPDX-License-Identifier: Apache-2.0
// The innermost matrix product with VDPBF16PS: operands bf16, sums fp32, two products per 32-bit
// lane. Same policy interface as matmul_fp32.h. A tile is 12 rows by 32 columns: 24 accumulators,
// two vectors of B and one broadcast pair of A fill the 32 registers.
#pragma once

#include "kernels/cpu/avx512bf16/dot_bf16.h"
#include "kernels/cpu/avx512bf16/few_rows_bf16.h"
#include "kernels/cpu/simd/matmul_fp32.h"

namespace kernels::cpu {

struct MatmulBf16 {
    using V = Avx512Bf16;
    using F = V::F;
    using X = uint16_t;
    using FewRows = FewRowsBf16;
    static constexpr int64_t kPair = 2;
    static constexpr int64_t kRows = 12;
    static constexpr int64_t kCols = 32;

    /// out[0, count) = bf16(x * factor), zeros up to `padded`.
    static void narrow(const float* x, float factor, int64_t count, int64_t padded, uint16_t* out) {
        const F f = V::set1(factor);
        int64_t i = 0;
        for (; i + 32 <= count; i += 32) {
            _mm512_storeu_si512(
                out + i, narrowPair(V::mul(V::load(x + i), f), V::mul(V::load(x + i + 16), f)));
        }
        for (; i < count; i += 16) {
            const int64_t n = count - i < 16 ? count - i : 16;
            const F v = V::mul(n == 16 ? V::load(x + i) : V::loadPart(x + i, n), f);
            _mm256_mask_storeu_epi16(out + i, V::firstLanes(n), (__m256i)_mm512_cvtneps_pbh(v));
        }
        for (i = count; i < padded; ++i) {
            out[i] = 0;
        }
    }

    static void
    narrowKeys(const void* data, KvType type, int64_t first, int64_t count, uint16_t* out) {
        const auto load = [&](int64_t i, int64_t n) {
            if (type == KvType::Q8) {
                const int8_t* const at = static_cast<const int8_t*>(data) + first + i;
                return n == 16 ? V::loadI8(at) : V::loadI8Part(at, n);
            }
            return Expand<V>::loadSome(data, kvElement(type), first + i, n);
        };
        int64_t i = 0;
        for (; i + 16 <= count; i += 16) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                                (__m256i)_mm512_cvtneps_pbh(load(i, 16)));
        }
        if (i < count) {
            _mm256_mask_storeu_epi16(out + i, V::firstLanes(count - i),
                                     (__m256i)_mm512_cvtneps_pbh(load(i, count - i)));
        }
    }

    static constexpr bool isNative(DType type) { return type == DType::BF16; }

    /// Columns [k, k + count) of a 4-bit row as bf16, exactly: the 16 products of a block are
    /// rounded once and looked up. False when the layout or the type wants the general way.
    static bool expandFourBit(const WeightView& w,
                              const CodeValues& codes,
                              int64_t row,
                              int64_t k,
                              int64_t count,
                              uint16_t* out) {
        if (w.expand_type != DType::BF16 || w.cols % w.block_size != 0 || w.block_size % 64 != 0 ||
            k % w.block_size != 0 || count % 64 != 0) {
            return false;
        }
        const int64_t first = row * w.cols + k;
        const uint8_t* bytes = static_cast<const uint8_t*>(w.data) + first / 2;
        const __m512 values = _mm512_loadu_ps(codes.value);
        for (int64_t i = 0; i < count; i += 64) {
            const __m512 scale = _mm512_set1_ps(blockScale(w, (first + i) / w.block_size));
            const __m512 products = _mm512_mul_ps(values, scale);
            const __m512i table = narrowPair(products, products);
            for (int64_t half = 0; half < 64; half += 32) {
                // 16 bytes to 32-bit lanes: the byte above, its high nibble below. VPERMW reads 5
                // bits, and the table holds its 16 entries twice.
                const __m512i wide = _mm512_cvtepu8_epi32(
                    _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + (i + half) / 2)));
                const __m512i index =
                    _mm512_or_si512(_mm512_slli_epi32(wide, 16), _mm512_srli_epi32(wide, 4));
                _mm512_storeu_si512(out + i + half, _mm512_permutexvar_epi16(index, table));
            }
        }
        return true;
    }

    /// Two rows of B, interleaved: lane c = (row[c], next[c]). next may be nullptr (zeros).
    static void
    packDepthRow(const uint16_t* row, const uint16_t* next, int64_t cols, uint16_t* out) {
        const auto mask = cols >= 32
                              ? ~__mmask32{0}
                              : static_cast<__mmask32>((1U << static_cast<unsigned>(cols)) - 1U);
        const __m512i a = _mm512_maskz_loadu_epi16(mask, row);
        const __m512i b =
            next == nullptr ? _mm512_setzero_si512() : _mm512_maskz_loadu_epi16(mask, next);
        const __m512i low = _mm512_unpacklo_epi16(a, b);  // columns 0-3, 8-11, 16-19, 24-27
        const __m512i high = _mm512_unpackhi_epi16(a, b); // columns 4-7, 12-15, 20-23, 28-31
        const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        _mm512_storeu_si512(out, _mm512_permutex2var_epi64(low, first, high));
        _mm512_storeu_si512(out + 32, _mm512_permutex2var_epi64(low, second, high));
    }

    static void tile(int64_t rows, const TileArgs<uint16_t>& args) {
        Tiles<Bf16Elements, kRows, kCols / V::kWidth>::multiply(rows, args);
    }
};

} // namespace kernels::cpu
