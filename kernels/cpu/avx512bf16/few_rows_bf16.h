// SPDX-License-Identifier: Apache-2.0
// few_rows.h with VDPBF16PS: queries, keys, probabilities and values bf16, sums fp32. Codes of 8
// bits are exact in bf16.
#pragma once

#include "kernels/cpu/avx512bf16/dot_bf16.h"
#include "kernels/cpu/simd/few_rows.h"

namespace kernels::cpu {

/// Codes of 8 bits as Bf16Elements.
struct CodeElements : Bf16Elements {
    static constexpr int64_t kBytes = 1;

    static KERNELS_INLINE __m512i load(const void* data, int64_t index) {
        const int8_t* const at = static_cast<const int8_t*>(data) + index;
        return narrowPair(V::loadI8(at), V::loadI8(at + 16));
    }
};

class FewRowsBf16 {
public:
    using V = Avx512Bf16;
    using F = V::F;
    using Args = FewRowsArgs<uint16_t>;

    static bool serves(KvType type, int64_t rows, int64_t dim) {
        return (type == KvType::BF16 || type == KvType::Q8) && rows <= kMostFewRows &&
               dim % kFewRowsColumns == 0;
    }

    static void scores(KvType type, const Args& args) {
        withFewRows(args.rows, [&](auto rows) {
            type == KvType::Q8 ? fewRowsScores<CodeElements, rows>(args)
                               : fewRowsScores<Bf16Elements, rows>(args);
        });
    }

    static void values(KvType type, const Args& args) {
        withFewRows(args.rows, [&](auto rows) {
            type == KvType::Q8 ? valuesOf<CodeElements, rows>(args)
                               : valuesOf<Bf16Elements, rows>(args);
        });
    }

private:
    /// Two values interleaved are multiplied with a pair of probabilities. The interleaving goes
    /// within 128-bit lanes, so that columns come to their order only with the sums.
    template <class Elements, int R>
    static void valuesOf(const Args& args) {
        constexpr int kHalves = R > 4 ? 1 : 2; // of 64 columns, enough sums to hide the latency
        const uint16_t* p[R];
        for (int r = 0; r < R; ++r) {
            p[r] = args.a + std::min<int64_t>(r, args.rows - 1) * args.a_stride;
        }
        for (int64_t d = 0; d < args.dim; d += 32 * kHalves) {
            F sums[R][2 * kHalves];
            setZero(sums);
            for (int64_t key = 0; key < args.keys; key += 2) {
                const bool is_pair = key + 1 < args.keys;
                __m512i values[2 * kHalves];
                for (int h = 0; h < kHalves; ++h) {
                    const int64_t at = args.first + key * args.step + d + 32 * h;
                    const __m512i a = Elements::load(args.data, at);
                    const __m512i b = is_pair ? Elements::load(args.data, at + args.step)
                                              : _mm512_setzero_si512();
                    values[2 * h] = _mm512_unpacklo_epi16(a, b);
                    values[2 * h + 1] = _mm512_unpackhi_epi16(a, b);
                }
#pragma GCC unroll 8
                for (int r = 0; r < R; ++r) {
                    const __m512i factor = Bf16Elements::repeated(p[r] + key);
#pragma GCC unroll 4
                    for (int v = 0; v < 2 * kHalves; ++v) {
                        sums[r][v] = dotPairs(sums[r][v], values[v], factor);
                    }
                }
            }
            const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            for (int64_t r = 0; r < args.rows; ++r) {
                for (int h = 0; h < kHalves; ++h) {
                    float* const out = args.c + r * args.c_stride + d + 32 * h;
                    const __m512i low = _mm512_castps_si512(sums[r][2 * h]);
                    const __m512i high = _mm512_castps_si512(sums[r][2 * h + 1]);
                    const auto add = [](float* to, __m512i sum) {
                        V::store(to, V::add(V::load(to), _mm512_castsi512_ps(sum)));
                    };
                    add(out, _mm512_permutex2var_epi64(low, first, high));
                    add(out + 16, _mm512_permutex2var_epi64(low, second, high));
                }
            }
        }
    }
};

} // namespace kernels::cpu
