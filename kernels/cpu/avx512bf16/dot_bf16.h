// SPDX-License-Identifier: Apache-2.0
// Decode products with VDPBF16PS: activations are rounded to bf16 once per call; sums are fp32.
//
// 4-bit rows: VPERMW looks 32 codes up at once in a table of their bf16 values. It reads the low 5
// bits of each 16-bit lane; with the 16 entries stored twice the fifth bit does not matter, so a
// vector of packed bytes needs only shifts by 0, 4, 8 and 12 to be four index vectors, and the
// activations are brought into that order (stride 4) beforehand. The scale is applied once per
// 64 products to their fp32 sum; the code's rounding to bf16 takes the place of the product's.
#pragma once

#include "kernels/cpu/avx512/nested_scales.h"
#include "kernels/cpu/avx512bf16/vec_bf16.h"
#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/dot.h"

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

/// bf16 rows as stored.
class Bf16Dot {
public:
    using V = Avx512Bf16;
    using F = V::F;
    using X = uint16_t;
    static constexpr int64_t kStep = 32;

    bool open(const WeightView& w) {
        data_ = static_cast<const uint16_t*>(w.data);
        cols_ = w.cols;
        return true;
    }

    [[nodiscard]] int64_t cols() const { return cols_; }

    static void convert(const float* x, int64_t cols, uint16_t* out) {
        for (int64_t k = 0; k < cols; k += kStep) {
            _mm512_storeu_si512(out + k, narrowAt(x, k, cols));
        }
    }

    static constexpr int kTogether(int tokens) { return tokens == 1 ? 1 : (tokens <= 5 ? 4 : 2); }
    /// The activations of very wide rows do not stay in the first cache beside the weights: four
    /// rows share each load of them.
    static constexpr int kTogetherWide(int tokens) { return tokens == 1 ? 4 : kTogether(tokens); }
    static constexpr int64_t kWideColumns = 8192;
    static constexpr bool hasPieces(int /*tokens*/) { return false; }

    template <int R, int T>
    KERNELS_INLINE void rows(int64_t row,
                             int64_t k,
                             int64_t end,
                             const uint16_t* x,
                             int64_t x_stride,
                             F (&sums)[R][T]) const {
        constexpr int kChains = R * T == 1 ? 4 : (R * T == 2 ? 2 : 1);
        F acc[R][T][kChains];
        for (int r = 0; r < R; ++r) {
            for (int t = 0; t < T; ++t) {
                for (int c = 0; c < kChains; ++c) {
                    acc[r][t][c] = V::zero();
                }
            }
        }
        const uint16_t* w = data_ + row * cols_;
        for (; k + kChains * kStep <= end; k += kChains * kStep) {
#pragma GCC unroll 4
            for (int c = 0; c < kChains; ++c) {
                const int64_t at = k + c * kStep;
                __m512i weights[R];
                for (int r = 0; r < R; ++r) {
                    weights[r] = _mm512_loadu_si512(w + r * cols_ + at);
                }
#pragma GCC unroll 8
                for (int t = 0; t < T; ++t) {
                    const __m512i xt = _mm512_loadu_si512(x + t * x_stride + at);
#pragma GCC unroll 4
                    for (int r = 0; r < R; ++r) {
                        acc[r][t][c] = dotPairs(acc[r][t][c], weights[r], xt);
                    }
                }
            }
        }
        for (; k < end; k += kStep) {
            const int64_t left = end - k;
            const auto mask =
                left >= kStep ? ~__mmask32{0}
                              : static_cast<__mmask32>((1U << static_cast<unsigned>(left)) - 1U);
            for (int r = 0; r < R; ++r) {
                const __m512i weights = _mm512_maskz_loadu_epi16(mask, w + r * cols_ + k);
                for (int t = 0; t < T; ++t) {
                    const __m512i xt = _mm512_loadu_si512(x + t * x_stride + k);
                    acc[r][t][0] = dotPairs(acc[r][t][0], weights, xt);
                }
            }
        }
        for (int r = 0; r < R; ++r) {
            for (int t = 0; t < T; ++t) {
                sums[r][t] = acc[r][t][0];
                for (int c = 1; c < kChains; ++c) {
                    sums[r][t] = V::add(sums[r][t], acc[r][t][c]);
                }
            }
        }
    }

private:
    const uint16_t* data_ = nullptr;
    int64_t cols_ = 0;
};

/// Nf4 and Fp4 with blocks of a multiple of 64 that do not cross rows (BlockScales::canServe).
class FourBitBf16Dot {
public:
    using V = Avx512Bf16;
    using F = V::F;
    using X = uint16_t;
    static constexpr int64_t kStep = 128;

    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        data_ = static_cast<const uint8_t*>(w.data);
        cols_ = w.cols;
        const CodeValues codes = codeValues(w.format);
        const __m512 once = _mm512_loadu_ps(codes.value);
        table_ = narrowPair(once, once);
        is_nested_ = NestedScales<V>::canServe(w);
        return is_nested_ ? nested_.open(w, slot) : scales_.open(w, slot);
    }

    [[nodiscard]] int64_t cols() const { return cols_; }

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
        for (int64_t k = 0; k < cols; k += kStep) {
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

    /// One row at a time reads memory in order, so that what is asked for ahead is what comes next.
    static constexpr int kTogether(int /*tokens*/) { return 1; }
    /// With several tokens the products take longer than the reading: pieces of columns pay.
    static constexpr bool hasPieces(int tokens) { return tokens >= 3; }

    template <int R, int T>
    KERNELS_INLINE void rows(int64_t row,
                             int64_t k,
                             int64_t end,
                             const uint16_t* x,
                             int64_t x_stride,
                             F (&sums)[R][T]) const {
        const float* scales[R];
        const uint8_t* codes[R];
        for (int r = 0; r < R; ++r) {
            // Counted from the row's first scale, like k.
            scales[r] = is_nested_ ? nested_.ofRows(row + r, 1)
                                   : scales_.ofRow(row + r, k, end, r) - k / kScaleStep;
            codes[r] = data_ + (row + r) * cols_ / 2;
            for (int t = 0; t < T; ++t) {
                sums[r][t] = V::zero();
            }
        }
        for (; k + kStep <= end; k += kStep) {
            const int64_t s = k / kScaleStep;
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                _mm_prefetch(codes[r] + k / 2 + kAheadBytes, _MM_HINT_T1);
                const F scale = _mm512_mask_blend_ps(0xff00, _mm512_set1_ps(scales[r][s]),
                                                     _mm512_set1_ps(scales[r][s + 1]));
                multiply<T>(_mm512_loadu_si512(codes[r] + k / 2), scale, x + k, x_stride, sums[r]);
            }
        }
        if (k < end) { // half a step; the activations are zero above
            for (int r = 0; r < R; ++r) {
                const __m512i half = _mm512_zextsi256_si512(
                    _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes[r] + k / 2)));
                const F scale = _mm512_set1_ps(scales[r][k / kScaleStep]);
                multiply<T>(half, scale, x + k, x_stride, sums[r]);
            }
        }
    }

private:
    template <int T>
    KERNELS_INLINE void
    multiply(__m512i codes, F scale, const uint16_t* x, int64_t x_stride, F (&sums)[T]) const {
        // High nibble of a byte = even element.
        const __m512i w0 = _mm512_permutexvar_epi16(_mm512_srli_epi16(codes, 4), table_);
        const __m512i w1 = _mm512_permutexvar_epi16(codes, table_);
        const __m512i w2 = _mm512_permutexvar_epi16(_mm512_srli_epi16(codes, 12), table_);
        const __m512i w3 = _mm512_permutexvar_epi16(_mm512_srli_epi16(codes, 8), table_);
#pragma GCC unroll 8
        for (int t = 0; t < T; ++t) {
            const uint16_t* xt = x + t * x_stride;
            F dot = dotPairs(V::zero(), w0, _mm512_loadu_si512(xt));
            dot = dotPairs(dot, w1, _mm512_loadu_si512(xt + 32));
            dot = dotPairs(dot, w2, _mm512_loadu_si512(xt + 64));
            dot = dotPairs(dot, w3, _mm512_loadu_si512(xt + 96));
            sums[t] = V::fma(dot, scale, sums[t]);
        }
    }

    /// Into the second cache. Without it reading and computing take turns: 15 cycles per 64 bytes
    /// instead of 11 (10 when the codes come from the cache). Asking for lines in the first cache
    /// as well gains nothing for one thread and costs a sixth where two share a slow memory.
    static constexpr int64_t kAheadBytes = 8192;

    const uint8_t* data_ = nullptr;
    int64_t cols_ = 0;
    __m512i table_{};
    BlockScales<V> scales_;
    mutable NestedScales<V> nested_; ///< Decodes ahead of what it is asked for.
    bool is_nested_ = false;
};

} // namespace kernels::cpu
