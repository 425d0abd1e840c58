// SPDX-License-Identifier: Apache-2.0
// Rows of any length, vector by vector, and sums of products, which are arrays of vectors.
#pragma once

#include "kernels/cpu/simd/vec_avx2.h"

#include <type_traits>

namespace kernels::cpu {

template <class V>
struct Lanes {
    using F = typename V::F;

    /// The first n <= kWidth lanes, zeros above.
    static KERNELS_INLINE F load(const float* p, int64_t n) {
        return n == V::kWidth ? V::load(p) : V::loadPart(p, n);
    }
    static KERNELS_INLINE void save(float* p, int64_t n, F v) {
        n == V::kWidth ? V::store(p, v) : V::storePart(p, v, n);
    }

    /// fn(c, n) for n <= kWidth elements from c on, until all `count` have been.
    template <typename Fn>
    static KERNELS_INLINE void each(int64_t count, Fn fn) {
        int64_t c = 0;
        for (; c + V::kWidth <= count; c += V::kWidth) {
            fn(c, V::kWidth);
        }
        if (c < count) {
            fn(c, count - c);
        }
    }
};

/// Vectors, or arrays of them with any number of dimensions.
template <typename Sums>
KERNELS_INLINE void setZero(Sums& sums) {
    if constexpr (std::is_array_v<Sums>) {
        for (auto& sum : sums) {
            setZero(sum);
        }
    } else {
        sums = Sums{};
    }
}

} // namespace kernels::cpu
