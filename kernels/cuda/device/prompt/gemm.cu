// SPDX-License-Identifier: Apache-2.0
// bf16 matrix product on tensor cores, fp32 sums: y[m,n] = sum_k a[m,k] b[n,k], both operands row
// by row (gemm_tiles.cuh). Needs sm_80.
#include "kernels/cuda/device/common/block_codes.cuh"
#include "kernels/cuda/device/common/expert_args.h"
#include "kernels/cuda/device/prompt/gemm_tiles.cuh"

using namespace kernels;
using namespace kernels::cuda;

namespace {

/// TileCopy of rows in blocks: values become bf16 on the way, as expand.cu has them.
template <WeightFormat F, int ROWS, int THREADS>
struct BlockTileCopy {
    static constexpr int kStep = THREADS / kTileChunks;
    static constexpr int kCount = ROWS / kStep;
    const uint8_t* rows; ///< This thread's first one.
    int row_bytes;
    uint32_t to;
    int valid_rows;
    int column;

    __device__ __forceinline__
    BlockTileCopy(const WeightArgs& w, int64_t before, int64_t first, int64_t count)
        : row_bytes(w.block_size) {
        const int row = threadIdx.x / kTileChunks;
        const int chunk = threadIdx.x % kTileChunks;
        rows = static_cast<const uint8_t*>(w.data) + (before + first + row) * row_bytes;
        column = chunk * 8;
        to = static_cast<uint32_t>(row * kTileChunks + (chunk ^ (row & 7))) * 16U;
        const int64_t left = count - first - row;
        valid_rows = left <= 0 ? 0 : static_cast<int>((left + kStep - 1) / kStep);
    }
    __device__ __forceinline__ void run(uint32_t tile, int k0, int k) const {
        constexpr int kPerBlock = BlockFormat<F>::kValues;
        const int at = k0 + column;
        const int block = at / kPerBlock * BlockFormat<F>::kBytes;
        const int run = at % kPerBlock / kRunValues;
        const bool is_second = (column & 8) != 0;
        char* const stage = dynamicShared() + (tile - sharedAddress(dynamicShared())) + to;
        uint32_t words[kCount][4];
        BlockRange ranges[kCount];
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            if (at < k && i < valid_rows) {
                const uint8_t* const from =
                    rows + static_cast<int64_t>(i * kStep) * row_bytes + block;
                codeWords<F>(codesAt<F>(from, run), words[i]);
                ranges[i] = rangeOf<F>(from, run);
            }
        }
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            uint4 values = make_uint4(0, 0, 0, 0);
            if (at < k && i < valid_rows) {
                const uint32_t two[2] = {is_second ? words[i][2] : words[i][0],
                                         is_second ? words[i][3] : words[i][1]};
                uint32_t pairs[4];
#pragma unroll
                for (int p = 0; p < 4; ++p) {
                    float v[2];
#pragma unroll
                    for (int h = 0; h < 2; ++h) {
                        const int code =
                            static_cast<int>(two[p / 2] >> (p % 2 * 16 + h * 8) & 255U);
                        v[h] = blockValue<F>(ranges[i], code - kCodeZero<F>);
                    }
                    const __nv_bfloat162 both = __floats2bfloat162_rn(v[0], v[1]);
                    memcpy(&pairs[p], &both, 4);
                }
                values = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
            }
            *reinterpret_cast<uint4*>(stage + i * kStep * kTileChunks * 16) = values;
        }
    }
};

/// copy_b: of rows n0 on, n0 being this block's first column.
template <int BM, int BN, int WARPS_M, int WARPS_N, int STAGES, typename CopyB>
__device__ __forceinline__ void gemm(const __nv_bfloat16* a,
                                     CopyB copy_b,
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

/// The rows of an expert, blockIdx.z, times its weights: copyOf(expert) copies those.
template <typename CopyOf>
__device__ __forceinline__ void expertRows(const ExpertProductKernelArgs& args,
                                           const CopyOf& copyOf) {
    const ProductKernelArgs& a = args.codes.product;
    const int64_t expert = args.expert + static_cast<int64_t>(blockIdx.z);
    const int64_t before = args.first[expert] - args.place;
    const int64_t rows = args.first[expert + 1] - args.first[expert];
    if (static_cast<int64_t>(blockIdx.x) * 64 < rows) {
        gemm<64, 64, 2, 2, 4>(static_cast<const __nv_bfloat16*>(a.x) + before * a.k, copyOf(expert),
                              static_cast<float*>(a.y[0]) + before * a.stride[0], a.stride[0], rows,
                              a.n[0], a.k);
    }
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
    gemm<128, 128, 2, 4, 3>(a, TileCopy<128, 256>(b, blockIdx.y * int64_t{128}, n, k), y, y_stride,
                            m, n, k);
}

/// grid (ceil(m/64), ceil(n/64)), block 128, 4 stages: 65536 bytes of shared memory.
__global__ void __launch_bounds__(128, 3) belfry_gemm_64(const __nv_bfloat16* a,
                                                         const __nv_bfloat16* b,
                                                         float* y,
                                                         int64_t y_stride,
                                                         int64_t m,
                                                         int64_t n,
                                                         int64_t k) {
    gemm<64, 64, 2, 2, 4>(a, TileCopy<64, 128>(b, blockIdx.y * int64_t{64}, n, k), y, y_stride, m,
                          n, k);
}

/// grid (row tiles of 64 of the busiest expert, ceil(n/64), experts), else as belfry_gemm_64: rows
/// of every expert with its own n rows of b, which are codes.w[0].
__global__ void __launch_bounds__(128, 3)
    belfry_gemm_experts(const __grid_constant__ ExpertProductKernelArgs args) {
    const ProductKernelArgs& a = args.codes.product;
    expertRows(args, [&](int64_t expert) {
        return TileCopy<64, 128>(static_cast<const __nv_bfloat16*>(args.codes.w[0].data) +
                                     expert * a.n[0] * a.k,
                                 blockIdx.y * int64_t{64}, a.n[0], a.k);
    });
}
/// The same of weights in blocks.
__global__ void __launch_bounds__(128, 3)
    belfry_gemm_experts_blocks(const __grid_constant__ ExpertProductKernelArgs args) {
    const int64_t n = args.codes.product.n[0];
    withBlockFormat(args.codes.w[0].format, [&](auto f) {
        expertRows(args, [&](int64_t expert) {
            return BlockTileCopy<decltype(f)::kFormat, 64, 128>(args.codes.w[0], expert * n,
                                                                blockIdx.y * int64_t{64}, n);
        });
    });
}

} // extern "C"
