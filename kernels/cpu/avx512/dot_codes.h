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

#include "kernels/cpu/avx512/row_scales.h"
#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/dot_integers.h"
#include "kernels/cpu/simd/lanes.h"

#include <limits>

namespace kernels::cpu {

/// One scale per row. The sums fill whole vectors.
constexpr PlaneFormat kWidePlanes = {.low_bits = 8,
                                     .most_high = 127,
                                     .piece = std::numeric_limits<int64_t>::max() / 2,
                                     .padding = 16};

/// Nf4 and Fp4 with blocks of a multiple of 64 that do not cross rows (BlockScales::canServe).
template <class V>
class FourBitByteDot : public ByteDot<V, kWidePlanes> {
    using Base = ByteDot<V, kWidePlanes>;

public:
    using F = typename V::F;
    using Base::kStep;
    static constexpr int kMostTokens = 4;

    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        this->openCodes(w);
        return scales_.open(w, slot);
    }

    /// Four rows share the loads of the activations, which are four times the codes: one row at a
    /// time is bound by them (one load of 64 bytes a cycle), four by the arithmetic.
    static constexpr int kTogether(int /*tokens*/) { return 4; }

    template <int R, int T>
    KERNELS_INLINE void rows(DotRows<int8_t> at, F (&sums)[R][T]) const {
        const bool is_wide = this->cols() >= kNearColumns;
        int64_t stride = 0;
        const float* const scales = scales_.template ofRows<R>(at.row, stride);
        if (scales_.isNested()) {
            return is_wide ? multiply<false, true>(at, scales, stride, sums)
                           : multiply<false, false>(at, scales, stride, sums);
        }
        return is_wide ? multiply<true, true>(at, scales, stride, sums)
                       : multiply<true, false>(at, scales, stride, sums);
    }

private:
    /// Activations of 128 columns in registers.
    struct Columns {
        __m512i high_even, high_odd, low_even, low_odd;
    };
    static KERNELS_INLINE Columns columnsAt(const int8_t* x) {
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
    static KERNELS_INLINE F dot(const Entries& w, const Columns& x) {
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
    template <bool kAsks, bool kWide, int R, int T>
    KERNELS_INLINE void
    multiply(DotRows<int8_t> at, const float* scales, int64_t stride, F (&row_sums)[R][T]) const {
        constexpr int64_t kStepBytes = kStep / 2;
        const int64_t cols = this->cols();
        const int64_t blocks = cols / kScaleStep;
        const int64_t row_bytes = cols / 2;
        const int8_t* const x = at.x;
        const int64_t x_stride = at.x_stride;
        const uint8_t* const codes = this->codesOf(at.row);
        // Asked for in the order of memory, not of use: the rows lie one after the other. What the
        // last of them begins with must have arrived when the first begins.
        const uint8_t* far = codes + (R - 1) * row_bytes + kFarBytes;
        const float* const block_sums = this->sumsOf(x);
        const auto sumsOf = [=](int t) { // x_stride is a multiple of 64
            return block_sums + t * (x_stride / static_cast<int64_t>(sizeof(float)));
        };
        const __m512i table = this->table_;
        const __m512i first_pair =
            _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
        const __m512i next_pair = _mm512_set1_epi32(2);
        const F minus_zero = V::set1(-this->zero_);
        F sum[R][T];
        setZero(sum);
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
            const uint8_t* from = codes + block * (kScaleStep / 2);
            const uint8_t* const stop = from + here / 2 * kStepBytes;
            __m512i pair = first_pair;
            for (; from < stop; from += kStepBytes, xk += 2 * kStep, far += R * kStepBytes) {
                // One token's planes are in registers for all rows; of several each product reads
                // its own from the first cache.
                const Columns columns = columnsAt(xk);
#pragma GCC unroll 4
                for (int r = 0; r < R; ++r) {
                    // Into the second cache in time, and from there into the first.
                    _mm_prefetch(far + r * kStepBytes, _MM_HINT_T1);
                    if constexpr (kWide) {
                        _mm_prefetch(from + r * row_bytes + kNearBytes, _MM_HINT_T0);
                    }
                    const Entries w = entriesOf(_mm512_loadu_si512(from + r * row_bytes), table);
                    const F factor = _mm512_permutexvar_ps(pair, scale[r]);
#pragma GCC unroll 4
                    for (int t = 0; t < T; ++t) {
                        const F product = dot(w, T == 1 ? columns : columnsAt(xk + t * x_stride));
                        sum[r][t] = V::fma(product, factor, sum[r][t]);
                    }
                }
                pair = _mm512_add_epi32(pair, next_pair);
            }
            if (here % 2 != 0) { // half a step; the activations are zero above
                for (int r = 0; r < R; ++r) {
                    const Entries w = entriesOf(V::loadLanesHalf(from + r * row_bytes), table);
                    const F factor = _mm512_permutexvar_ps(pair, scale[r]);
                    for (int t = 0; t < T; ++t) {
                        sum[r][t] = V::fma(dot(w, columnsAt(xk + t * x_stride)), factor, sum[r][t]);
                    }
                }
            }
        }
        for (int t = 0; t < T; ++t) {
            const float activation_scale = *this->scalesOf(x + t * x_stride);
            for (int r = 0; r < R; ++r) {
                row_sums[r][t] = V::mul(sum[r][t], V::set1(activation_scale * this->per_step_));
            }
        }
    }

    static constexpr int64_t kFarBytes = 8192; ///< 4096: a fifth slower from memory; 12288: equal.
    static constexpr int64_t kNearBytes = 512;
    /// In narrower rows half of such requests would be for the group behind, which is far off.
    static constexpr int64_t kNearColumns = 4096;
    static constexpr int64_t kScalesAhead = 256;

    RowScales<V> scales_;
};

} // namespace kernels::cpu
