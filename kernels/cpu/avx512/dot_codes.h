// SPDX-License-Identifier: Apache-2.0
// Decode products of 4-bit rows with VPDPBUSD, up to four tokens: codes are looked up as bytes, 64
// at once (V::entriesOfEven() and V::entriesOfOdd()), activations have 16 bits in two planes of
// bytes. That takes 11 vector operations per 128 weights with VBMI and 13 without, where bf16
// products (dot_bf16.h) take 13 and fp32 products (dot_four_bit.h) 26.
//
// An activation is (256 high + low) times one scale per row; its rounding is 1/65024 of the row's
// largest. Products are summed exactly per block and lane; what `zero` adds is taken off with one
// multiply-add per 16 blocks, from the sums of the activations of each block.
#pragma once

#include "kernels/cpu/avx512/nested_scales.h"
#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/dot.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace kernels::cpu {

/// Nf4 and Fp4 with blocks of a multiple of 64 that do not cross rows (BlockScales::canServe).
template <class Vec>
class FourBitByteDot {
public:
    using V = Vec;
    using F = typename V::F;
    using X = int8_t;
    static constexpr int64_t kStep = 128;
    static constexpr int kMostTokens = 4;

    /// Bytes of one converted row: planes, a sum per block (fp32), the scale.
    static int64_t strideOf(int64_t cols) {
        return planeBytes(cols) + (cols + 1023) / 1024 * 64 + 64;
    }

    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        data_ = static_cast<const uint8_t*>(w.data);
        cols_ = w.cols;
        const CodeBytes bytes = codeBytes(w.format);
        table_ =
            _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.entry)));
        zero_ = bytes.zero;
        per_step_ = 1.0F / bytes.step;
        is_nested_ = NestedScales<V>::canServe(w);
        return is_nested_ ? nested_.open(w, slot) : scales_.open(w, slot);
    }

    [[nodiscard]] int64_t cols() const { return cols_; }

    /// Per 128 elements 64 bytes each: high of the even ones, of the odd ones, low of the even
    /// ones, of the odd ones.
    static void convert(const float* x, int64_t cols, int8_t* out) {
        F most = V::zero();
        __mmask16 is_nan = 0;
        for (int64_t k = 0; k < cols; k += V::kWidth) { // a multiple of 64
            const F v = V::load(x + k);
            most = V::max(most, V::abs(v));
            is_nan |= _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
        }
        const float largest = V::maxOf(most);
        const float scale =
            is_nan != 0 ? std::numeric_limits<float>::quiet_NaN() : largest / kLevels;
        const F inverse = V::set1(largest > 0.0F ? kLevels / largest : 0.0F);
        auto* const sums = reinterpret_cast<float*>(out + planeBytes(cols));
        const int64_t blocks = (cols + 1023) / 1024 * 16;
        for (int64_t b = cols / kScaleStep; b < blocks; ++b) {
            sums[b] = 0.0F;
        }
        for (int64_t k = 0; k < cols; k += kStep) {
            __m512i high[2];
            __m512i low[2];
            for (int half = 0; half < 2; ++half) {
                const int64_t at = k + half * kScaleStep;
                const bool is_there = at < cols;
                const __m512i a = is_there ? integers(x + at, inverse) : _mm512_setzero_si512();
                const __m512i b = is_there ? integers(x + at + 32, inverse) : a;
                high[half] = bytePair(upper(a), upper(b));
                low[half] = bytePair(a, b);
                if (is_there) {
                    const __m512i ones = _mm512_set1_epi16(1);
                    sums[at / kScaleStep] = static_cast<float>(_mm512_reduce_add_epi32(
                        _mm512_add_epi32(_mm512_madd_epi16(a, ones), _mm512_madd_epi16(b, ones))));
                }
            }
            int8_t* to = out + 2 * k;
            _mm512_storeu_si512(to, evenBytes(high[0], high[1]));
            _mm512_storeu_si512(to + 64, oddBytes(high[0], high[1]));
            _mm512_storeu_si512(to + 128, evenBytes(low[0], low[1]));
            _mm512_storeu_si512(to + 192, oddBytes(low[0], low[1]));
        }
        std::memcpy(sums + blocks, &scale, sizeof scale);
    }

    /// Four rows share the loads of the activations, which are four times the codes: one row at a
    /// time is bound by them (one load of 64 bytes a cycle), four by the arithmetic.
    static constexpr int kTogether(int /*tokens*/) { return 4; }
    static constexpr bool hasPieces(int /*tokens*/) { return false; }

    template <int R, int T>
    KERNELS_INLINE void rows(int64_t row,
                             int64_t k,
                             int64_t end,
                             const int8_t* x,
                             int64_t x_stride,
                             F (&row_sums)[R][T]) const {
        const bool is_wide = cols_ >= kNearColumns;
        if (is_nested_) {
            const float* const scales = nested_.ofRows(row, R);
            const int64_t apart = cols_ / kScaleStep;
            return is_wide ? multiply<R, false, true>(row, scales, apart, x, x_stride, row_sums)
                           : multiply<R, false, false>(row, scales, apart, x, x_stride, row_sums);
        }
        // In memory or in the slots of the decoder: equally far apart in both.
        const float* const first = scales_.ofRow(row, k, end, 0);
        int64_t stride = 0;
        for (int r = 1; r < R; ++r) {
            stride = (scales_.ofRow(row + r, k, end, r) - first) / r;
        }
        return is_wide ? multiply<R, true, true>(row, first, stride, x, x_stride, row_sums)
                       : multiply<R, true, false>(row, first, stride, x, x_stride, row_sums);
    }

private:
    static int64_t planeBytes(int64_t cols) { return (cols + kStep - 1) / kStep * 2 * kStep; }

    /// 32 activations as integers of 16 bits.
    static KERNELS_INLINE __m512i integers(const float* x, F inverse) {
        const __m256i low = _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(V::mul(V::load(x), inverse)));
        const __m256i high =
            _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(V::mul(V::load(x + 16), inverse)));
        return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    }
    /// What 256 is multiplied with when the low byte has a sign.
    static KERNELS_INLINE __m512i upper(__m512i v) {
        return _mm512_srai_epi16(_mm512_add_epi16(v, _mm512_set1_epi16(128)), 8);
    }
    static KERNELS_INLINE __m512i bytePair(__m512i a, __m512i b) {
        return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)),
                                  _mm512_cvtepi16_epi8(b), 1);
    }

    static KERNELS_INLINE __m512i evenBytes(__m512i a, __m512i b) {
        const __m512i bytes = _mm512_set1_epi16(255);
        return packed(_mm512_and_si512(a, bytes), _mm512_and_si512(b, bytes));
    }
    static KERNELS_INLINE __m512i oddBytes(__m512i a, __m512i b) {
        return packed(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8));
    }
    /// Integers of 16 bits below 256 as bytes, those of a before those of b.
    static KERNELS_INLINE __m512i packed(__m512i a, __m512i b) {
        return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
                                        _mm512_packus_epi16(a, b));
    }

    /// Activations of 128 columns in registers, see convert().
    struct Planes {
        __m512i high_even, high_odd, low_even, low_odd;
    };
    static KERNELS_INLINE Planes planesAt(const int8_t* x) {
        return {_mm512_loadu_si512(x), _mm512_loadu_si512(x + 64), _mm512_loadu_si512(x + 128),
                _mm512_loadu_si512(x + 192)};
    }

    /// The entries of 128 codes. High nibble of a byte = even element.
    struct Entries {
        __m512i even, odd;
    };
    static KERNELS_INLINE Entries entriesOf(__m512i codes, __m512i table) {
        return {V::entriesOfEven(codes, table), V::entriesOfOdd(codes, table)};
    }
    /// 128 products, two blocks: the lower lanes belong to the first.
    static KERNELS_INLINE F dot(const Entries& w, const Planes& x) {
        __m512i sum = _mm512_setzero_si512();
        sum = _mm512_dpbusd_epi32(sum, w.even, x.high_even);
        sum = _mm512_dpbusd_epi32(sum, w.odd, x.high_odd);
        sum = _mm512_slli_epi32(sum, 8);
        sum = _mm512_dpbusd_epi32(sum, w.even, x.low_even);
        sum = _mm512_dpbusd_epi32(sum, w.odd, x.low_odd);
        return _mm512_cvtepi32_ps(sum);
    }

    /// Rows [row, row + R) times T tokens, whose codes are looked up once for all of them. scales:
    /// those of the first row; the next row's are `stride` further on. kAsks: scales come from
    /// memory and are asked for ahead. kWide: the first cache is asked for codes as well.
    template <int R, bool kAsks, bool kWide, int T>
    KERNELS_INLINE void multiply(int64_t row,
                                 const float* scales,
                                 int64_t stride,
                                 const int8_t* x,
                                 int64_t x_stride,
                                 F (&row_sums)[R][T]) const {
        constexpr int64_t kStepBytes = kStep / 2;
        const int64_t blocks = cols_ / kScaleStep;
        const int64_t row_bytes = cols_ / 2;
        const uint8_t* codes = data_ + row * row_bytes;
        // Asked for in the order of memory, not of use: the rows lie one after the other. What the
        // last of them begins with must have arrived when the first begins.
        const uint8_t* far = codes + (R - 1) * row_bytes + kFarBytes;
        const auto* block_sums = reinterpret_cast<const float*>(x + planeBytes(cols_));
        const auto sumsOf = [=](int t) { // x_stride is a multiple of 64
            return block_sums + t * (x_stride / static_cast<int64_t>(sizeof(float)));
        };
        const __m512i table = table_;
        const __m512i first_pair =
            _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
        const __m512i next_pair = _mm512_set1_epi32(2);
        const F minus_zero = V::set1(-zero_);
        F sum[R][T];
        for (int r = 0; r < R; ++r) {
            for (int t = 0; t < T; ++t) {
                sum[r][t] = V::zero();
            }
        }
        for (int64_t block = 0; block < blocks; block += V::kWidth) {
            // 16 scales in a register for eight steps of two blocks.
            const int64_t here = blocks - block < V::kWidth ? blocks - block : V::kWidth;
            const auto wanted = V::firstLanes(here);
            F taken_off[T];
            for (int t = 0; t < T; ++t) {
                taken_off[t] = V::mul(V::load(sumsOf(t) + block), minus_zero);
            }
            F scale[R];
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                scale[r] = _mm512_maskz_loadu_ps(wanted, scales + r * stride + block);
                for (int t = 0; t < T; ++t) {
                    sum[r][t] = V::fma(scale[r], taken_off[t], sum[r][t]);
                }
                if constexpr (kAsks) { // a stream of their own, a sixteenth as fast
                    _mm_prefetch(scales + (R - 1) * stride + R * block + r * V::kWidth +
                                     kScalesAhead,
                                 _MM_HINT_T1);
                }
            }
            const int8_t* xk = x + block * kStep;
            const uint8_t* at = codes + block * (kScaleStep / 2);
            const uint8_t* const stop = at + here / 2 * kStepBytes;
            __m512i pair = first_pair;
            for (; at < stop; at += kStepBytes, xk += 2 * kStep, far += R * kStepBytes) {
                // One token's planes are in registers for all rows; of several each product reads
                // its own from the first cache.
                const Planes planes = planesAt(xk);
#pragma GCC unroll 4
                for (int r = 0; r < R; ++r) {
                    // Into the second cache in time, and from there into the first.
                    _mm_prefetch(far + r * kStepBytes, _MM_HINT_T1);
                    if constexpr (kWide) {
                        _mm_prefetch(at + r * row_bytes + kNearBytes, _MM_HINT_T0);
                    }
                    const Entries w = entriesOf(_mm512_loadu_si512(at + r * row_bytes), table);
                    const F factor = _mm512_permutexvar_ps(pair, scale[r]);
#pragma GCC unroll 4
                    for (int t = 0; t < T; ++t) {
                        const F product = dot(w, T == 1 ? planes : planesAt(xk + t * x_stride));
                        sum[r][t] = V::fma(product, factor, sum[r][t]);
                    }
                }
                pair = _mm512_add_epi32(pair, next_pair);
            }
            if (here % 2 != 0) { // half a step; the activations are zero above
                for (int r = 0; r < R; ++r) {
                    const __m512i half = _mm512_zextsi256_si512(
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + r * row_bytes)));
                    const Entries w = entriesOf(half, table);
                    const F factor = _mm512_permutexvar_ps(pair, scale[r]);
                    for (int t = 0; t < T; ++t) {
                        sum[r][t] = V::fma(dot(w, planesAt(xk + t * x_stride)), factor, sum[r][t]);
                    }
                }
            }
        }
        for (int t = 0; t < T; ++t) {
            float activation_scale = 0.0F;
            std::memcpy(&activation_scale,
                        sumsOf(t) + (blocks + V::kWidth - 1) / V::kWidth * V::kWidth,
                        sizeof activation_scale);
            for (int r = 0; r < R; ++r) {
                row_sums[r][t] = V::mul(sum[r][t], V::set1(activation_scale * per_step_));
            }
        }
    }

    static constexpr float kLevels = 32512.0F; ///< 127 * 256: the high plane is a signed byte.
    static constexpr int64_t kFarBytes = 8192; ///< 4096: a fifth slower from memory; 12288: equal.
    static constexpr int64_t kNearBytes = 512;
    /// In narrower rows half of such requests would be for the group behind, which is far off.
    static constexpr int64_t kNearColumns = 4096;
    static constexpr int64_t kScalesAhead = 256;

    const uint8_t* data_ = nullptr;
    int64_t cols_ = 0;
    __m512i table_{};
    float zero_ = 0.0F;
    float per_step_ = 0.0F;
    BlockScales<V> scales_;
    mutable NestedScales<V> nested_; ///< Decodes ahead of what it is asked for.
    bool is_nested_ = false;
};

} // namespace kernels::cpu
