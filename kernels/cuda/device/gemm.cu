// SPDX-License-Identifier: Apache-2.0
// bf16 matrix product on tensor cores, fp32 sums: y[m,n] = sum_k a[m,k] b[n,k], both operands row
// by row. Tiles of BM x BN x 64 in shared memory, filled by asynchronous copies in a ring of
// stages; 16-byte chunks are swizzled so that ldmatrix meets no bank conflict. Needs sm_80.
#include "kernels/cuda/device/common.cuh"

#include <cstdint>

using namespace kernels::cuda;

namespace {

[[maybe_unused]] constexpr int kDepth = 64; // elements of k per stage: 128 bytes a row
constexpr int kChunks = 8;                  // 16-byte chunks a row

/// One thread's share of copying a [ROWS, 64] tile: the same 16-byte chunk of every THREADS / 8-th
/// row. Rows beyond the matrix and columns beyond k become zeros.
template <int ROWS, int THREADS>
struct TileCopy {
    static constexpr int kStep = THREADS / kChunks; // rows between this thread's chunks
    static constexpr int kCount = ROWS / kStep;
    const __nv_bfloat16* from;
    int64_t stride; // elements between this thread's rows
    uint32_t to;    // byte offset in the tile; rows kStep apart swizzle alike (kStep % 8 == 0)
    int valid_rows; // of this thread's kCount
    int column;

    __device__ __forceinline__ TileCopy(const __nv_bfloat16* data,
                                        int64_t first_row,
                                        int64_t rows,
                                        int64_t k) {
        const int row = threadIdx.x / kChunks;
        const int chunk = threadIdx.x % kChunks;
        column = chunk * 8;
        from = data + (first_row + row) * k + column;
        stride = k * kStep;
        to = static_cast<uint32_t>(row * kChunks + (chunk ^ (row & 7))) * 16U;
        const int64_t left = rows - first_row - row;
        valid_rows = left <= 0 ? 0 : static_cast<int>((left + kStep - 1) / kStep);
    }
    __device__ __forceinline__ void run(uint32_t tile, int k0, int k) {
        const bool is_inside = k0 + column < k;
        const __nv_bfloat16* at = from + k0;
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            const bool is_valid = is_inside && i < valid_rows;
            copyAsync16(tile + to + i * kStep * kChunks * 16, is_valid ? at : from - column,
                        is_valid);
            at += stride;
        }
    }
};

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
    constexpr int kStageBytes = (BM + BN) * kDepth * 2;
    const uint32_t base = sharedAddress(dynamicShared());
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int warp_m = (warp % WARPS_M) * kWarpM;
    const int warp_n = (warp / WARPS_M) * kWarpN;
    const int64_t m0 = static_cast<int64_t>(blockIdx.x) * BM;
    const int64_t n0 = static_cast<int64_t>(blockIdx.y) * BN;
    const int depth = static_cast<int>(k);
    const int steps = (depth + kDepth - 1) / kDepth;
    TileCopy<BM, kThreads> copy_a(a, m0, m, k);
    TileCopy<BN, kThreads> copy_b(b, n0, n, k);

    float sums[kTilesM][kTilesN][4] = {};
    const auto fill = [&](int step, int slot) {
        const uint32_t stage = base + static_cast<uint32_t>(slot) * kStageBytes;
        copy_a.run(stage, step * kDepth, depth);
        copy_b.run(stage + BM * kDepth * 2, step * kDepth, depth);
    };
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps) {
            fill(s, s);
        }
        commitCopies();
    }
    // Rows of a warp's fragments are multiples of 8 apart: one swizzle for all of them.
    const int a_row = warp_m + (lane & 15);
    const uint32_t a_offset = static_cast<uint32_t>(a_row * kChunks) * 16U;
    const int a_swizzle = (lane >> 4) ^ (a_row & 7);
    const int b_row = warp_n + (lane & 7) + ((lane >> 4) << 3);
    const uint32_t b_offset = static_cast<uint32_t>(b_row * kChunks) * 16U;
    const int b_swizzle = ((lane >> 3) & 1) ^ (b_row & 7);
    int slot = 0;
    for (int step = 0; step < steps; ++step) {
        waitForCopyGroups<STAGES - 2>();
        __syncthreads();
        if (step + STAGES - 1 < steps) {
            fill(step + STAGES - 1, slot == 0 ? STAGES - 1 : slot - 1);
        }
        commitCopies();
        const uint32_t tile_a = base + static_cast<uint32_t>(slot) * kStageBytes;
        slot = slot + 1 == STAGES ? 0 : slot + 1;
        const uint32_t tile_b = tile_a + BM * kDepth * 2;
#pragma unroll
        for (int kk = 0; kk < kDepth / 16; ++kk) {
            uint32_t fa[kTilesM][4];
            uint32_t fb[kTilesN / 2][4];
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
                loadMatrix4(fa[i], tile_a + a_offset + i * 16 * kChunks * 16 +
                                       static_cast<uint32_t>(a_swizzle ^ (kk * 2)) * 16U);
            }
#pragma unroll
            for (int j = 0; j < kTilesN / 2; ++j) {
                loadMatrix4(fb[j], tile_b + b_offset + j * 16 * kChunks * 16 +
                                       static_cast<uint32_t>(b_swizzle ^ (kk * 2)) * 16U);
            }
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int j = 0; j < kTilesN; ++j) {
                    multiplyAdd(sums[i][j], fa[i], fb[j / 2][(j & 1) * 2],
                                fb[j / 2][(j & 1) * 2 + 1]);
                }
            }
        }
    }
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
