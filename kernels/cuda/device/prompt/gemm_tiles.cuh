// SPDX-License-Identifier: Apache-2.0
// The loop of the tensor-core products (gemm.cu, product.cu): tiles of BM x BN x 64 in shared
// memory, filled by asynchronous copies in a ring of stages; 16-byte chunks are swizzled so that
// ldmatrix meets no bank conflict. bf16 operands row by row, fp32 sums. Needs sm_80.
#pragma once

#include "kernels/cuda/device/common/common.cuh"

#include <cstdint>

namespace kernels::cuda {

inline constexpr int kTileDepth = 64; // elements of k per stage: 128 bytes a row
inline constexpr int kTileChunks = 8; // 16-byte chunks a row

/// One thread's share of copying a [ROWS, 64] tile: the same 16-byte chunk of every THREADS / 8-th
/// row. Rows beyond the matrix and columns beyond k become zeros.
template <int ROWS, int THREADS>
struct TileCopy {
    static constexpr int kStep = THREADS / kTileChunks; // rows between this thread's chunks
    static constexpr int kCount = ROWS / kStep;
    const __nv_bfloat16* from;
    int64_t stride; // elements between this thread's rows
    uint32_t to;    // byte offset in the tile; rows kStep apart swizzle alike (kStep % 8 == 0)
    int valid_rows; // of this thread's kCount
    int column;

    /// Rows [first_row, ...) of data [rows, k].
    __device__ __forceinline__ TileCopy(const __nv_bfloat16* data,
                                        int64_t first_row,
                                        int64_t rows,
                                        int64_t k) {
        const int row = threadIdx.x / kTileChunks;
        set(data, first_row + row, rows, k, kStep, row);
    }
    /// Rows of two matrices in turns of eight: tile row r is row first_row + r / 16 * 8 + r % 8 of
    /// matrix r / 8 % 2.
    __device__ __forceinline__ TileCopy(const __nv_bfloat16* even,
                                        const __nv_bfloat16* odd,
                                        int64_t first_row,
                                        int64_t rows,
                                        int64_t k) {
        static_assert(kStep % 16 == 0);
        const int row = threadIdx.x / kTileChunks;
        set((row >> 3 & 1) == 0 ? even : odd, first_row + row / 16 * 8 + row % 8, rows, k,
            kStep / 2, row);
    }
    __device__ __forceinline__ void
    set(const __nv_bfloat16* data, int64_t at, int64_t rows, int64_t k, int step, int tile_row) {
        const int chunk = threadIdx.x % kTileChunks;
        column = chunk * 8;
        from = data + at * k + column;
        stride = k * step;
        to = static_cast<uint32_t>(tile_row * kTileChunks + (chunk ^ (tile_row & 7))) * 16U;
        const int64_t left = rows - at;
        valid_rows = left <= 0 ? 0 : static_cast<int>((left + step - 1) / step);
        base = data;
    }
    __device__ __forceinline__ void run(uint32_t tile, int k0, int k) {
        const bool is_inside = k0 + column < k;
        const __nv_bfloat16* at = from + k0;
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            const bool is_valid = is_inside && i < valid_rows;
            copyAsync16(tile + to + i * kStep * kTileChunks * 16, is_valid ? at : base, is_valid);
            at += stride;
        }
    }

private:
    const __nv_bfloat16* base; // an address to name where nothing is read
};

/// Bounds of inputs and outputs of a product, rounded to bf16 for the inputs: both halves of a
/// word. Rounding keeps order, so that bounds may follow it.
struct InputBounds {
    uint32_t low, high;
};

__device__ __forceinline__ InputBounds inputBounds(float low, float high) {
    const __nv_bfloat162 l = __floats2bfloat162_rn(low, low);
    const __nv_bfloat162 h = __floats2bfloat162_rn(high, high);
    return {*reinterpret_cast<const uint32_t*>(&l), *reinterpret_cast<const uint32_t*>(&h)};
}

/// Nothing else belongs to the sums of a tile.
struct NothingElse {
    template <typename Sums>
    __device__ __forceinline__ void operator()(Sums&) const {}
};

/// Sums of a warp's part of one tile: [BM / WARPS_M / 16][BN / WARPS_N / 8] fragments. k in
/// [k_begin, k_end), multiples of 64 (the last may be the end of the rows). BOUNDS: 0 = inputs as
/// they are, 1 = bounds[0] for all columns, 2 = bounds[j % 2] for fragment column j. `add` adds to
/// the sums whatever else belongs there, while the first stages come.
template <int BM,
          int BN,
          int WARPS_M,
          int WARPS_N,
          int STAGES,
          int BOUNDS,
          typename CopyA,
          typename CopyB,
          typename Add = NothingElse>
__device__ __forceinline__ void multiplyTiles(float (&sums)[BM / WARPS_M / 16][BN / WARPS_N / 8][4],
                                              CopyA& copy_a,
                                              CopyB& copy_b,
                                              int k_begin,
                                              int k_end,
                                              const InputBounds (&bounds)[2],
                                              const Add& add = {}) {
#if __CUDA_ARCH__ >= 800
    constexpr int kWarpM = BM / WARPS_M;
    constexpr int kWarpN = BN / WARPS_N;
    constexpr int kTilesM = kWarpM / 16;
    constexpr int kTilesN = kWarpN / 8;
    constexpr int kStageBytes = (BM + BN) * kTileDepth * 2;
    const uint32_t base = sharedAddress(dynamicShared());
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int warp_m = (warp % WARPS_M) * kWarpM;
    const int warp_n = (warp / WARPS_M) * kWarpN;
    const int steps = (k_end - k_begin + kTileDepth - 1) / kTileDepth;
    const auto fill = [&](int step, int slot) {
        const uint32_t stage = base + static_cast<uint32_t>(slot) * kStageBytes;
        copy_a.run(stage, k_begin + step * kTileDepth, k_end);
        copy_b.run(stage + BM * kTileDepth * 2, k_begin + step * kTileDepth, k_end);
    };
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps) {
            fill(s, s);
        }
        commitCopies();
    }
    add(sums);
    // Rows of a warp's fragments are multiples of 8 apart: one swizzle for all of them.
    const int a_row = warp_m + (lane & 15);
    const uint32_t a_offset = static_cast<uint32_t>(a_row * kTileChunks) * 16U;
    const int a_swizzle = (lane >> 4) ^ (a_row & 7);
    const int b_row = warp_n + (lane & 7) + ((lane >> 4) << 3);
    const uint32_t b_offset = static_cast<uint32_t>(b_row * kTileChunks) * 16U;
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
        const uint32_t tile_b = tile_a + BM * kTileDepth * 2;
#pragma unroll
        for (int kk = 0; kk < kTileDepth / 16; ++kk) {
            uint32_t fa[kTilesM][4];
            uint32_t fb[kTilesN / 2][4];
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
                loadMatrix4(fa[i], tile_a + a_offset + i * 16 * kTileChunks * 16 +
                                       static_cast<uint32_t>(a_swizzle ^ (kk * 2)) * 16U);
            }
#pragma unroll
            for (int j = 0; j < kTilesN / 2; ++j) {
                loadMatrix4(fb[j], tile_b + b_offset + j * 16 * kTileChunks * 16 +
                                       static_cast<uint32_t>(b_swizzle ^ (kk * 2)) * 16U);
            }
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
                uint32_t odd[4];
                if constexpr (BOUNDS != 0) {
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        if constexpr (BOUNDS == 2) {
                            odd[e] = boundHalves(fa[i][e], bounds[1].low, bounds[1].high);
                        }
                        fa[i][e] = boundHalves(fa[i][e], bounds[0].low, bounds[0].high);
                    }
                }
#pragma unroll
                for (int j = 0; j < kTilesN; ++j) {
                    if constexpr (BOUNDS == 2) {
                        multiplyAdd(sums[i][j], (j & 1) == 0 ? fa[i] : odd, fb[j / 2][(j & 1) * 2],
                                    fb[j / 2][(j & 1) * 2 + 1]);
                    } else {
                        multiplyAdd(sums[i][j], fa[i], fb[j / 2][(j & 1) * 2],
                                    fb[j / 2][(j & 1) * 2 + 1]);
                    }
                }
            }
        }
    }
#endif
}

} // namespace kernels::cuda
