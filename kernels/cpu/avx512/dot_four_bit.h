// SPDX-License-Identifier: Apache-2.0
// Products of 4-bit rows in fp32 (simd/dot_four_bit.h): VPERMPS looks 16 codes up in a table of 16
// fp32 values. It reads the low 4 bits of each 32-bit lane, so shifts by 0, 4, ..., 28 turn one
// vector of packed bytes into eight index vectors; activations are brought into that order (stride
// 8) beforehand.
#pragma once

#include "kernels/cpu/simd/dot_four_bit.h"
#include "kernels/cpu/simd/vec_avx512.h"

namespace kernels::cpu {

template <class Vec>
class FourBitAvx512 {
public:
    using V = Vec;
    using Elements = WidenedElements<V, WeightFormat::F32>;
    using Scales = BlockScales<V>;

    void open(const CodeValues& codes) { table_ = V::load(codes.value); }

    /// Per 128 elements: those at 8i, then 8i + 1, ... 8i + 7.
    static void convert(const float* x, int64_t cols, float* out) {
        for (int64_t k = 0; k < cols; k += 128) {
            for (int64_t r = 0; r < 8; ++r) {
                for (int64_t i = 0; i < 16; ++i) {
                    const int64_t source = k + 8 * i + r;
                    out[k + r * 16 + i] = source < cols ? x[source] : 0.0F;
                }
            }
        }
    }

    template <typename Fn>
    KERNELS_INLINE void each(__m512i packed, Fn fn) const {
#pragma GCC unroll 8
        for (unsigned r = 0; r < 8; ++r) {
            // Elements 8i + r: byte r / 2 of the lane, high nibble for even r.
            const unsigned shift = 8 * (r / 2) + (r % 2 == 0 ? 4 : 0);
            fn(_mm512_permutexvar_ps(_mm512_srli_epi32(packed, shift), table_), r * 16);
        }
    }

private:
    typename V::F table_{};
};

} // namespace kernels::cpu
