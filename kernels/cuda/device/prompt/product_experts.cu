// SPDX-License-Identifier: Apache-2.0
// Routed experts of the rows of a prompt. Their places are sorted by expert, on the card: one
// launch multiplies all of them with the weights of their experts, in 4 bits (code_tiles.cuh), in
// blocks or in bf16 (block_tiles.cuh).
#include "kernels/cuda/device/prompt/block_tiles.cuh"

using namespace kernels;
using namespace kernels::cuda;

namespace {

constexpr int kOrderThreads = 256;
constexpr int kOrderWarps = kOrderThreads / 32;

#if __CUDA_ARCH__ >= 800
/// The tile of an expert's places that is number blockIdx.x among all of them.
struct ExpertTile {
    int expert = -1; ///< There are fewer tiles.
    int64_t before;  ///< Places in front of the expert's.
    int64_t rows;    ///< Its own,
    int64_t m0;      ///< and the first one of the tile among these.

    __device__ __forceinline__ ExpertTile(const ExpertProductKernelArgs& a, int tile_rows) {
        constexpr uint32_t kAll = 0xffffffffU;
        const auto lane = static_cast<int>(threadIdx.x % 32);
        auto tile = static_cast<int>(blockIdx.x);
#pragma unroll 4
        for (int at = 0; at < a.experts; at += 32) {
            const int e = at + lane;
            const int begin = a.first[e < a.experts ? e : a.experts];
            const int end = a.first[e < a.experts ? e + 1 : a.experts];
            const int own = (end - begin + tile_rows - 1) / tile_rows;
            int upto = own;
#pragma unroll
            for (int step = 1; step < 32; step *= 2) {
                const int other = __shfl_up_sync(kAll, upto, step);
                upto += lane >= step ? other : 0;
            }
            const uint32_t behind = __ballot_sync(kAll, upto > tile);
            if (behind != 0) {
                const int found = __ffs(static_cast<int>(behind)) - 1;
                expert = at + found;
                before = __shfl_sync(kAll, begin, found);
                rows = __shfl_sync(kAll, end - begin, found);
                m0 = static_cast<int64_t>(tile - __shfl_sync(kAll, upto - own, found)) * tile_rows;
                return;
            }
            tile -= __shfl_sync(kAll, upto, 31);
        }
    }
    [[nodiscard]] __device__ __forceinline__ TileSource
    sourceOf(const ExpertProductKernelArgs& args) const {
        const ProductKernelArgs& a = args.codes.product;
        const int first = expert * a.n[0] * (args.is_gated != 0 ? 2 : 1);
        TileSource source{a.x, rows, first, first + a.n[0]};
        if (args.rows != nullptr) {
            source.rows = args.rows + before;
        } else {
            source.x = static_cast<const __nv_bfloat16*>(a.x) + before * a.k;
        }
        return source;
    }
};

/// y = W x of a tile in fp32, or, gated, act(gate x) * (up x) in bf16. An expert has its rows of
/// gate, then those of up.
template <int FRAGMENTS>
__device__ __forceinline__ void storeTile(const ExpertProductKernelArgs& args,
                                          const ExpertTile& own,
                                          const TileSums<FRAGMENTS>& tile,
                                          bool is_gated,
                                          int n0) {
    const ProductKernelArgs& a = args.codes.product;
    const int64_t to = own.before * a.stride[0] - args.begin;
    if (is_gated) {
        tile.storeGated(a.activation, static_cast<__nv_bfloat16*>(a.y[0]) + to, a.stride[0], own.m0,
                        own.rows, n0, args.end);
    } else {
        tile.store(static_cast<float*>(a.y[0]) + to, a.stride[0], own.m0, own.rows, n0, args.end);
    }
}
#endif

template <bool IS_GATED, typename FORM>
__device__ __forceinline__ void multiplyCodes(const ExpertProductKernelArgs& args) {
#if __CUDA_ARCH__ >= 800
    const ExpertTile own(args, FORM::kRows);
    if (own.expert < 0) {
        return;
    }
    const int n0 = args.begin + static_cast<int>(blockIdx.y) * (IS_GATED ? kOutputs / 2 : kOutputs);
    CodeTile<IS_GATED, FORM> tile;
    if (tile.multiply(args.codes, own.sourceOf(args), own.m0, 0, n0, 0,
                      static_cast<int>(args.codes.product.k))) {
        storeTile(args, own, tile, IS_GATED, n0);
    }
#endif
}

template <WeightFormat F>
__device__ __forceinline__ void multiplyBlocks(const ExpertProductKernelArgs& args) {
#if __CUDA_ARCH__ >= 800
    const ExpertTile own(args, BlockTile<F>::kRows);
    if (own.expert < 0) {
        return;
    }
    const bool is_gated = args.is_gated != 0;
    const int n0 = args.begin + static_cast<int>(blockIdx.y) * (is_gated ? kOutputs / 2 : kOutputs);
    BlockTile<F> tile;
    tile.multiply(args.codes, own.sourceOf(args), own.m0, is_gated, n0);
    storeTile(args, own, tile, is_gated, n0);
#endif
}

} // namespace

extern "C" {

// grid: experts; block 256. `count` choices in rows of top_k: the places of an expert follow those
// of the experts before it, in the order of its rows. rows: row of each place; places: place of
// each choice; first: of every expert, and the number of all. share: times the expert's scale
// behind it.
__global__ void __launch_bounds__(kOrderThreads) belfry_order_experts(const int32_t* chosen,
                                                                      int count,
                                                                      int top_k,
                                                                      const float* scale,
                                                                      float* share,
                                                                      int32_t* rows,
                                                                      int32_t* places,
                                                                      int32_t* first) {
    BELFRY_SHARED(int32_t, counts, [2][kOrderWarps]);
    constexpr uint32_t kAll = 0xffffffffU;
    const auto expert = static_cast<int>(blockIdx.x);
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const auto warp = static_cast<int>(threadIdx.x / 32);
    // Each warp has a part of the choices, whole groups of 32.
    const int groups = (count + 31) / 32;
    const int begin = groups * warp / kOrderWarps * 32;
    const int end = groups * (warp + 1) / kOrderWarps * 32;
    int less = 0;
    int own = 0;
#pragma unroll 4
    for (int at = begin; at < end; at += 32) {
        const int e = at + lane < count ? chosen[at + lane] : 1 << 30;
        less += __popc(__ballot_sync(kAll, e < expert));
        own += __popc(__ballot_sync(kAll, e == expert));
    }
    if (lane == 0) {
        counts[0][warp] = less;
        counts[1][warp] = own;
    }
    __syncthreads();
    int place = 0;
    for (int w = 0; w < kOrderWarps; ++w) {
        place += counts[0][w];
    }
    if (threadIdx.x == 0) {
        first[expert] = place;
        if (expert == 0) {
            first[gridDim.x] = count;
        }
    }
    for (int w = 0; w < warp; ++w) {
        place += counts[1][w];
    }
    const float factor = scale[expert];
#pragma unroll 4
    for (int at = begin; at < end; at += 32) {
        const int i = at + lane;
        const bool is_own = i < count && chosen[i] == expert;
        const uint32_t all = __ballot_sync(kAll, is_own);
        if (is_own) {
            const int to = place + __popc(all & ((1U << lane) - 1));
            rows[to] = i / top_k;
            places[i] = to;
            share[i] *= factor;
        }
        place += __popc(all);
    }
}

// grid: (tiles of places, column tiles), no fewer of the former than there can be; block 128
// threads a group, productCodesShared() bytes of shared memory. Even numbers of outputs; columns a
// multiple of 64.
__global__ void __launch_bounds__(128, 3)
    belfry_product_experts(const __grid_constant__ ExpertProductKernelArgs args) {
    multiplyCodes<false, TileForm<4, 1, true>>(args);
}
__global__ void __launch_bounds__(128, 3)
    belfry_product_experts_gated(const __grid_constant__ ExpertProductKernelArgs args) {
    multiplyCodes<true, TileForm<4, 1, true>>(args);
}
__global__ void __launch_bounds__(256, 2)
    belfry_product_experts_32(const __grid_constant__ ExpertProductKernelArgs args) {
    multiplyCodes<false, TileForm<2, 2, true>>(args);
}
__global__ void __launch_bounds__(256, 2)
    belfry_product_experts_32_gated(const __grid_constant__ ExpertProductKernelArgs args) {
    multiplyCodes<true, TileForm<2, 2, true>>(args);
}
__global__ void __launch_bounds__(384, 2)
    belfry_product_experts_16(const __grid_constant__ ExpertProductKernelArgs args) {
    multiplyCodes<false, TileForm<1, 3, true>>(args);
}
__global__ void __launch_bounds__(384, 2)
    belfry_product_experts_16_gated(const __grid_constant__ ExpertProductKernelArgs args) {
    multiplyCodes<true, TileForm<1, 3, true>>(args);
}

// grid as above; block 128, BlockPiece::kShared bytes of shared memory. Weights in blocks or bf16.
__global__ void __launch_bounds__(128, 3)
    belfry_product_experts_blocks(const __grid_constant__ ExpertProductKernelArgs args) {
    if (args.codes.w[0].format == WeightFormat::BF16) {
        multiplyBlocks<WeightFormat::BF16>(args);
    } else {
        withBlockFormat(args.codes.w[0].format,
                        [&](auto f) { multiplyBlocks<decltype(f)::kFormat>(args); });
    }
}

// grid: (rows of total, tiles of 256 columns); block 256. total[r,:] += weights[r,j] * x[p -
// begin,:] for those places p = places[r,j], in their order, that are from `begin` to `end` - 1,
// and, unless `first` is nullptr, belong to its experts.
__global__ void belfry_sum_experts(const float* x,
                                   int64_t stride,
                                   const int32_t* places,
                                   int top_k,
                                   const float* weights,
                                   int64_t begin,
                                   int64_t end,
                                   const int32_t* first,
                                   int experts,
                                   float* total,
                                   int64_t total_stride,
                                   int cols) {
    const int64_t row = blockIdx.x;
    const auto col = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
    if (col >= cols) {
        return;
    }
    const int64_t from = first == nullptr || first[0] < begin ? begin : first[0];
    const int64_t to = first == nullptr || first[experts] > end ? end : first[experts];
    float* const own = total + row * total_stride + col;
    float sum = *own;
    for (int j = 0; j < top_k; ++j) {
        const int64_t at = places[row * top_k + j];
        if (at >= from && at < to) {
            sum = fmaf(weights[row * top_k + j], x[(at - begin) * stride + col], sum);
        }
    }
    *own = sum;
}

} // extern "C"
