// SPDX-License-Identifier: Apache-2.0
// 4-bit codes on their way into bf16 products (product_codes.cu, product_wide.cu): a table of pairs
// of their values in shared memory.
#pragma once

#include "kernels/cuda/device/common/common.cuh"

namespace kernels::cuda {

__device__ __forceinline__ uint32_t halfBits(float value) {
    const __nv_bfloat16 half = __float2bfloat16_rn(value);
    return *reinterpret_cast<const uint16_t*>(&half);
}

/// Pairs of code values as bf16 at the beginning of dynamic shared memory, the first column's (the
/// high nibble) in the lower half; 32 copies of each, one a lane: 32 KiB.
template <int WARPS>
__device__ __forceinline__ void fillPairs(int code_table) {
    const uint32_t* const codes = codesOf(code_table);
    uint32_t upper[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        upper[i] = halfBits(__uint_as_float(codes[i])) << 16;
    }
    const int warp = threadIdx.x / 32;
    uint32_t* to =
        reinterpret_cast<uint32_t*>(dynamicShared()) + warp * (256 / WARPS) * 32 + threadIdx.x % 32;
#pragma unroll 1
    for (int i = 0; i < 16 / WARPS; ++i) {
        const uint32_t lower = halfBits(__uint_as_float(codes[warp * (16 / WARPS) + i]));
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            to[j * 32] = lower | upper[j];
        }
        to += 16 * 32;
    }
}

} // namespace kernels::cuda
