// SPDX-License-Identifier: Apache-2.0
// Dot policies (dot.h) of rows that are multiplied as they are stored: dense and int8 rows, and
// rows with scales that no faster policy serves.
#pragma once

#include "kernels/cpu/simd/dense_elements.h"
#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/lanes.h"

namespace kernels::cpu {

/// Rows of one kind of elements (dense_elements.h), activations in natural order.
template <class Elements>
class DenseDot : public DotPolicy {
public:
    using V = typename Elements::V;
    using F = typename V::F;
    using X = typename Elements::X;
    static constexpr int64_t kStep = Elements::kStep;

    static void convert(const float* x, int64_t cols, X* out) { Elements::convert(x, cols, out); }

    /// Accumulators and loaded values fit the registers.
    static constexpr int kTogether(int tokens) { return tokens == 1 ? 1 : (tokens <= 3 ? 4 : 2); }

    template <int R, int T>
    KERNELS_INLINE void rows(DotRows<X> at, F (&sums)[R][T]) const {
        constexpr int kChains = R * T == 1 ? 4 : (R * T == 2 ? 2 : 1);
        F acc[R][T][kChains];
        setZero(acc);
        const void* const data = weight_.data;
        const int64_t cols = weight_.cols;
        const int64_t first = at.row * cols;
        int64_t k = at.k;
        for (; k + kChains * kStep <= at.end; k += kChains * kStep) {
#pragma GCC unroll 4
            for (int c = 0; c < kChains; ++c) {
                const int64_t column = k + c * kStep;
                decltype(Elements::load(data, 0)) w[R];
                for (int r = 0; r < R; ++r) {
                    w[r] = Elements::load(data, first + r * cols + column);
                    Elements::askAhead(data, first + (r + R) * cols + column);
                }
#pragma GCC unroll 8
                for (int t = 0; t < T; ++t) {
                    const auto xt = Elements::activations(at.x + t * at.x_stride + column);
#pragma GCC unroll 4
                    for (int r = 0; r < R; ++r) {
                        acc[r][t][c] = Elements::multiply(acc[r][t][c], w[r], xt);
                    }
                }
            }
        }
        for (; k < at.end; k += kStep) {
            const int64_t left = at.end - k;
            for (int r = 0; r < R; ++r) {
                const int64_t index = first + r * cols + k;
                const auto w = left >= kStep ? Elements::load(data, index)
                                             : Elements::loadPart(data, index, left);
                for (int t = 0; t < T; ++t) {
                    const auto xt = Elements::activations(at.x + t * at.x_stride + k);
                    acc[r][t][0] = Elements::multiply(acc[r][t][0], w, xt);
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
};

/// fp32 activations, weights widened to fp32: F32, F16, BF16 and int8 rows.
template <class V, WeightFormat kFormat>
using NaturalDot = DenseDot<WidenedElements<V, kFormat>>;

/// Weights with a scale for each block of any size and any number of columns: a row is expanded
/// exactly, in pieces, and multiplied in fp32. The general way behind the fast policies.
template <class Vec>
class ExpandingDot : public DotPolicy {
public:
    using V = Vec;
    using F = typename V::F;
    using X = float;
    using Expanded = NaturalDot<V, WeightFormat::F32>;
    static constexpr int64_t kStep = V::kWidth;

    bool open(const WeightView& w, ScratchSlot /*slot*/ = ScratchSlot::Scales) {
        weight_ = w;
        codes_ = codeValues(w.format);
        const int64_t padded = (w.cols + V::kWidth - 1) / V::kWidth * V::kWidth;
        buffer_ = threadScratchOf<float>(ScratchSlot::Rows, static_cast<size_t>(padded));
        return buffer_ != nullptr;
    }

    static void convert(const float* x, int64_t cols, X* out) { Expanded::convert(x, cols, out); }

    static constexpr bool hasPieces(int tokens) { return tokens >= 3; }

    template <int R, int T>
    KERNELS_INLINE void rows(DotRows<X> at, F (&sums)[R][T]) const {
        static_assert(R == 1);
        const int64_t count = at.end - at.k;
        Expand<V>::row(weight_, codes_.value, at.row, at.k, count, buffer_);
        WeightView expanded;
        expanded.data = buffer_;
        expanded.cols = count;
        Expanded dense;
        dense.open(expanded);
        dense.rows({0, 0, count, at.x + at.k, at.x_stride}, sums);
    }

private:
    CodeValues codes_{};
    float* buffer_ = nullptr;
};

} // namespace kernels::cpu
