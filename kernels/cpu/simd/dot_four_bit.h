// SPDX-License-Identifier: Apache-2.0
// The dot policy (dot.h) of 4-bit rows whose code values are looked up as floats. Rows are read in
// order, so that what is asked for ahead is what comes next; scales are applied once per 64
// products to their fp32 sum. `Codes` is what an instruction set does with a vector of codes:
//
//   Elements    what the values and the activations are (dense_elements.h)
//   Scales      BlockScales, or a class with the same open() and ofRow()
//   open()      makes the look-up table
//   convert()   as in dot.h
//   each()      fn(w, at) for vector after vector w of looked-up values; its activations lie `at`
//               elements behind those of the first code
//   kBytesAhead optional: how far ahead codes are asked for
#pragma once

#include "kernels/cpu/code_tables.h"
#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/dense_elements.h"
#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/lanes.h"

namespace kernels::cpu {

/// Nf4 and Fp4 with blocks of a multiple of 64 that do not cross rows (BlockScales::canServe).
template <class Codes>
class FourBitDot : public DotPolicy {
public:
    using Elements = typename Codes::Elements;
    using V = typename Elements::V;
    using F = typename V::F;
    using X = typename Elements::X;
    static constexpr int64_t kStep = 8 * V::kWidth;

    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        weight_ = w;
        codes_.open(codeValues(w.format));
        return scales_.open(w, slot);
    }

    static void convert(const float* x, int64_t cols, X* out) { Codes::convert(x, cols, out); }

    /// With several tokens the products take longer than the reading: pieces of columns pay.
    static constexpr bool hasPieces(int tokens) { return tokens >= 3; }

    template <int R, int T>
    KERNELS_INLINE void rows(DotRows<X> at, F (&row_sums)[R][T]) const {
        static_assert(R == 1);
        F(&sums)[T] = row_sums[0];
        setZero(sums);
        int64_t k = at.k;
        // Counted from the row's first scale, like k.
        const float* scales = scales_.ofRow(at.row, k, at.end, 0) - k / kScaleStep;
        const uint8_t* codes = codesOf(at.row);
        for (; k + kStep <= at.end; k += kStep) {
            if constexpr (requires { Codes::kBytesAhead; }) {
                _mm_prefetch(codes + k / 2 + Codes::kBytesAhead, _MM_HINT_T1);
            }
            const F scale = V::blockScales(scales + k / kScaleStep);
            multiply(V::loadLanes(codes + k / 2), scale, at.x + k, at.x_stride, sums);
        }
        if constexpr (kStep > kScaleStep) {
            if (k < at.end) { // half a step; the activations are zero above
                const F scale = V::set1(scales[k / kScaleStep]);
                multiply(V::loadLanesHalf(codes + k / 2), scale, at.x + k, at.x_stride, sums);
            }
        }
    }

private:
    template <int T>
    KERNELS_INLINE void
    multiply(typename V::I packed, F scale, const X* x, int64_t x_stride, F (&sums)[T]) const {
        F dot[T];
        setZero(dot);
        codes_.each(
            packed, [&](auto w, int64_t at) __attribute__((always_inline)) {
#pragma GCC unroll 8
                for (int t = 0; t < T; ++t) {
                    const auto xt = Elements::activations(x + t * x_stride + at);
                    dot[t] = Elements::multiply(dot[t], w, xt);
                }
            });
        for (int t = 0; t < T; ++t) {
            sums[t] = V::fma(dot[t], scale, sums[t]);
        }
    }

    Codes codes_;
    typename Codes::Scales scales_;
};

} // namespace kernels::cpu
