// SPDX-License-Identifier: Apache-2.0
// Small kernels that measure what a card gives apart from any model: see micro_bench.cpp.
#include <cstdint>

/// Reads `count` 16-byte words once; the sum goes nowhere unless it is the one impossible value.
extern "C" __global__ void __launch_bounds__(512)
    micro_read_stream(const uint4* data, uint64_t count, uint32_t* out) {
    const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
    for (; i + 7 * stride < count; i += 8 * stride) {
        uint4 v[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            v[k] = __ldcs(data + i + k * stride);
        }
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            sum ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
        }
    }
    for (; i < count; i += stride) {
        const uint4 v = __ldcs(data + i);
        sum ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// Tensor-core products from registers only (16x8x16, bf16, sums in float): the rate that a kernel
/// on mma.sync can reach. Below compute capability 8.0 nothing is computed.
extern "C" __global__ void __launch_bounds__(256) micro_tensor_rate(uint32_t rounds, float* out) {
#if __CUDA_ARCH__ >= 800
    float c[8][4] = {};
    uint32_t a[4], b[2];
    for (int i = 0; i < 4; ++i) {
        a[i] = 0x3f803f80u + ((threadIdx.x * 7 + i) & 31); // bf16 pairs near 1
    }
    b[0] = 0x3c003c00u + (threadIdx.x & 15);
    b[1] = 0x3c103c10u + (threadIdx.x & 7);
    for (uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
        for (int t = 0; t < 8; ++t) {
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                         "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(c[t][0]), "+f"(c[t][1]), "+f"(c[t][2]), "+f"(c[t][3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        }
    }
    float sum = 0.0f;
    for (int t = 0; t < 8; ++t) {
        sum += c[t][0] + c[t][1] + c[t][2] + c[t][3];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
#endif
}
