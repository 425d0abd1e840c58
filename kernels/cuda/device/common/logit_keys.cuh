// SPDX-License-Identifier: Apache-2.0
// Logits as numbers that rise with them, and what is found by comparing these.
#pragma once

#include "kernels/cuda/device/common/common.cuh"

namespace kernels::cuda {

/// Orders by value, then by lower index; of what is not suppressed above 0.
__device__ __forceinline__ unsigned long long logitKey(float value, int index, bool is_suppressed) {
    const uint32_t bits = __float_as_uint(value);
    const uint32_t ordered = (bits & 0x80000000U) != 0U ? ~bits : bits | 0x80000000U;
    return is_suppressed ? 0U
                         : static_cast<unsigned long long>(ordered) << 32 |
                               (0xffffffffU - static_cast<uint32_t>(index));
}

__device__ __forceinline__ unsigned long long warpLargest(unsigned long long key) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) {
        const unsigned long long other = __shfl_xor_sync(0xffffffffU, key, offset);
        key = other > key ? other : key;
    }
    return key;
}

constexpr uint32_t kMinusInfinity = 0x007fffffU;

/// Rises with the logit and is the same for both zeros; 0 for what is never chosen.
__device__ __forceinline__ uint32_t candidateKey(float value, bool is_out) {
    const uint32_t bits = __float_as_uint(value == 0.0F ? 0.0F : value);
    const uint32_t ordered = (bits & 0x80000000U) != 0U ? ~bits : bits | 0x80000000U;
    return is_out || ordered <= kMinusInfinity ? 0U : ordered;
}

/// A bar that at least `wanted` of the block's keys reach, and at most `spare` more unless they are
/// equal; 0: fewer keys than that are above 0. tally [32] in shared memory: zeros.
template <int OWN>
__device__ __forceinline__ uint32_t
findBar(const uint32_t (&keys)[OWN], int wanted, int spare, int* tally) {
    uint32_t bar = 0;
    for (int bit = 31; bit >= 0; --bit) {
        const uint32_t higher = bar | 1U << bit;
        int reach = 0;
#pragma unroll
        for (const uint32_t key : keys) {
            reach += __popc(__ballot_sync(0xffffffffU, key >= higher ? 1 : 0));
        }
        if ((threadIdx.x & 31) == 0 && reach > 0) {
            atomicAdd(&tally[bit], reach);
        }
        __syncthreads();
        const int all = tally[bit];
        if (all >= wanted) {
            bar = higher;
            if (all <= wanted + spare) {
                break;
            }
        }
    }
    return bar;
}

} // namespace kernels::cuda
