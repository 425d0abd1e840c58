// SPDX-License-Identifier: Apache-2.0
// Stored elements as products take them (dot_dense.h, few_rows.h, low_rank.h):
//
//   V, X          vector layer; type of the activations, or of attention's other operand
//   kStep         elements that are multiplied at once
//   kBytes        of a stored element
//   load()        kStep weights from element `index` on; loadPart() the first n, zeros above
//   activations() as many activations
//   repeated()    those of one lane in all lanes
//   multiply()    adds the products of both to a vector of fp32 sums
//   convert()     activations of one row, fp32 -> X, zeros up to a multiple of kStep
//   askAhead()    asks for the elements from `index` on, which come later
//
// Here are those of fp32 products. Products of bf16 operands have their own (dot_bf16.h).
#pragma once

#include "kernels/cpu/simd/expand.h"

namespace kernels::cpu {

/// F32, F16, BF16 and int8, widened to fp32.
template <class Vec, WeightFormat kFormat>
struct WidenedElements {
    using V = Vec;
    using F = typename V::F;
    using X = float;
    static constexpr int64_t kStep = V::kWidth;
    static constexpr int64_t kBytes = kFormat == WeightFormat::F32       ? 4
                                      : kFormat == WeightFormat::Int8Row ? 1
                                                                         : 2;

    static KERNELS_INLINE F load(const void* data, int64_t index) {
        if constexpr (kFormat == WeightFormat::Int8Row) {
            return V::loadI8(static_cast<const int8_t*>(data) + index);
        } else {
            return Expand<V>::loadDense(data, kType, index);
        }
    }
    static KERNELS_INLINE F loadPart(const void* data, int64_t index, int64_t n) {
        if constexpr (kFormat == WeightFormat::Int8Row) {
            return V::loadI8Part(static_cast<const int8_t*>(data) + index, n);
        } else {
            return Expand<V>::loadDensePart(data, kType, index, n);
        }
    }
    static KERNELS_INLINE F activations(const float* x) { return V::load(x); }
    static KERNELS_INLINE F repeated(const float* x) { return V::set1(*x); }
    static KERNELS_INLINE F multiply(F sum, F w, F x) { return V::fma(w, x, sum); }

    static void convert(const float* x, int64_t cols, float* out) {
        Lanes<V>::each(cols,
                       [&](int64_t i, int64_t n) { V::store(out + i, Lanes<V>::load(x + i, n)); });
    }

    /// Pieces of rows are too short for the processor's own prediction. A request for what is
    /// behind the last row does no harm.
    static KERNELS_INLINE void askAhead(const void* data, int64_t index) {
        _mm_prefetch(static_cast<const char*>(data) + index * kBytes, _MM_HINT_T0);
    }

private:
    static constexpr DType kType = kFormat == WeightFormat::F32   ? DType::F32
                                   : kFormat == WeightFormat::F16 ? DType::F16
                                                                  : DType::BF16;
};

/// fn(elements of `type`).
template <class V, typename Fn>
KERNELS_INLINE void withElements(DType type, Fn fn) {
    switch (type) {
    case DType::F32:
        return fn(WidenedElements<V, WeightFormat::F32>{});
    case DType::F16:
        return fn(WidenedElements<V, WeightFormat::F16>{});
    case DType::BF16:
        return fn(WidenedElements<V, WeightFormat::BF16>{});
    }
}

} // namespace kernels::cpu
