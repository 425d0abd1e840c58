// SPDX-License-Identifier: Apache-2.0
// Sums of products are arrays of vectors, one for each row, token and chain of additions.
#pragma once

#include "kernels/cpu/simd/vec_avx2.h"

#include <type_traits>

namespace kernels::cpu {

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
