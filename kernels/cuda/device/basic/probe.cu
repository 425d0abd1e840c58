// SPDX-License-Identifier: Apache-2.0
// Reading and multiplying without anything else: what benchmarks compare a card's work with.
#include "kernels/cuda/device/common/common.cuh"

using namespace kernels::cuda;

extern "C" {

// Reads `count` 16-byte words once; out[thread of the grid] = their bits combined. Block 512.
__global__ void __launch_bounds__(512)
    belfry_probe_read(const uint4* data, int64_t count, uint32_t* out) {
    const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    uint32_t bits = 0;
    int64_t i = thread;
    for (; i + 7 * stride < count; i += 8 * stride) {
        uint4 v[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            v[k] = data[i + k * stride];
        }
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            bits ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
        }
    }
    for (; i < count; i += stride) {
        const uint4 v = data[i];
        bits ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    out[thread] = bits;
}

// `rounds` times eight independent 16x8x16 products of bf16 values near 1 in every warp;
// out[thread of the grid] = a sum of what came out. Block 256. Below sm_80 nothing is computed.
__global__ void __launch_bounds__(256) belfry_probe_multiply(int32_t rounds, float* out) {
    float total = 0.0F;
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 800
    // Signs and mantissas differ from thread to thread: a product of equal values runs faster.
    uint32_t bits = thread * 2654435761U + 12345U;
    uint32_t a[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        bits = bits * 1664525U + 1013904223U;
        a[i] = (bits & 0x007f007fU) | 0x3f003f00U;
    }
    float sums[8][4] = {};
    for (int32_t round = 0; round < rounds; ++round) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            multiplyAdd(sums[k], a, a[k & 3], a[(k + 1) & 3]);
        }
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        total += sums[k][0] + sums[k][1] + sums[k][2] + sums[k][3];
    }
#endif
    out[thread] = total;
}

} // extern "C"
