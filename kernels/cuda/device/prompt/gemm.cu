// SPDX-License-Identifier: Apache-2.0
// bf16 matrix product on tensor cores, fp32 sums: y[m,n] = sum_k a[m,k] b[n,k], both operands row
// by row (gemm_tiles.cuh). Needs sm_80.
#include "kernels/cuda/device/prompt/gemm_tiles.cuh"

using namespace kernels;
using namespace kernels::cuda;

namespace {

template <int BM, int BN, int WARPS_M, int WARPS_N, int STAGES>
__device__ __forceinline__ void gemm(const __nv_bfloat16* a,
                                     const __nv_bfloat16* b,
                                     float* y,
                                     int64_t y_stride,
                                     int64_t m,
                                     int64_t n,
                                     int64_t k) {
#if __CUDA_ARCH__ >= 800
    constexpr int kThreads = WARPS_M * WARPS_N * 32;
    constexpr int kWarpM = BM / WARPS_M;
    constexpr int kWarpN = BN / WARPS_N;
    constexpr int kTilesM = kWarpM / 16;
    constexpr int kTilesN = kWarpN / 8;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int warp_m = (warp % WARPS_M) * kWarpM;
    const int warp_n = (warp / WARPS_M) * kWarpN;
    const int64_t m0 = static_cast<int64_t>(blockIdx.x) * BM;
    const int64_t n0 = static_cast<int64_t>(blockIdx.y) * BN;
    TileCopy<BM, kThreads> copy_a(a, m0, m, k);
    TileCopy<BN, kThreads> copy_b(b, n0, n, k);
    float sums[kTilesM][kTilesN][4] = {};
    const InputBounds none[2] = {};
    multiplyTiles<BM, BN, WARPS_M, WARPS_N, STAGES, 0>(sums, copy_a, copy_b, 0, static_cast<int>(k),
                                                       none);
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
            const int64_t col = n0 + warp_n + j * 8 + (lane % 4) * 2;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int64_t row = m0 + warp_m + i * 16 + lane / 4 + half * 8;
                if (row >= m) {
                    continue;
                }
                float* to = y + row * y_stride + col;
                if (col + 1 < n && (y_stride & 1) == 0) {
                    *reinterpret_cast<float2*>(to) =
                        make_float2(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
                } else {
                    if (col < n) {
                        to[0] = sums[i][j][half * 2];
                    }
                    if (col + 1 < n) {
                        to[1] = sums[i][j][half * 2 + 1];
                    }
                }
            }
        }
    }
#endif
}

} // namespace

extern "C" {

/// grid (ceil(m/128), ceil(n/128)), block 256, 3 stages: 98304 bytes of shared memory. k % 8 == 0.
__global__ void __launch_bounds__(256, 2) belfry_gemm_128(const __nv_bfloat16* a,
                                                          const __nv_bfloat16* b,
                                                          float* y,
                                                          int64_t y_stride,
                                                          int64_t m,
                                                          int64_t n,
                                                          int64_t k) {
    gemm<128, 128, 2, 4, 3>(a, b, y, y_stride, m, n, k);
}

/// grid (ceil(m/64), ceil(n/64)), block 128, 4 stages: 65536 bytes of shared memory.
__global__ void __launch_bounds__(128, 3) belfry_gemm_64(const __nv_bfloat16* a,
                                                         const __nv_bfloat16* b,
                                                         float* y,
                                                         int64_t y_stride,
                                                         int64_t m,
                                                         int64_t n,
                                                         int64_t k) {
    gemm<64, 64, 2, 2, 4>(a, b, y, y_stride, m, n, k);
}

} // extern "C"
