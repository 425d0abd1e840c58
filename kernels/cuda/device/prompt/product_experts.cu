// SPDX-License-Identifier: Apache-2.0
// Routed experts of the rows of a prompt. Their places are sorted by expert, on the card: one
// launch multiplies all of them with the weights of their experts, in 4 bits (code_tiles.cuh), in
// blocks, in bf16 or in Int4 (block_tiles.cuh).
#include "kernels/cuda/device/prompt/block_tiles.cuh"

using namespace kernels;
using namespace kernels::cuda;

namespace {

constexpr int kOrderThreads = 256;
constexpr int kOrderWarps = kOrderThreads / 32;

#if __CUDA_ARCH__ >= 800
/// Two values as sums of two bf16 numbers, which keep 16 bits of them.
__device__ __forceinline__ void splitPair(float x, float y, uint32_t& high, uint32_t& low) {
    high = pairOf(x, y);
    low = pairOf(x - __uint_as_float(high << 16), y - __uint_as_float(high & 0xffff0000U));
}

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

// grid: (ceil(experts / kScoreExperts), ceil(rows / kScoreRows)); block kScoreThreads. scores =
// factor * R (x * scale) / rms(x): products of tensor cores whose operands are sums of two bf16
// numbers each, as a rounded score could choose another expert. Warps take 16 columns in turns, of
// which lane t of four has four neighbours, and as many of every weight. Columns and stride are
// multiples of four.
__global__ void __launch_bounds__(kScoreThreads, 2)
    belfry_router_scores(const float* x,
                         int64_t stride,
                         int64_t rows,
                         const __grid_constant__ WeightArgs router,
                         const float* scale,
                         float factor,
                         float eps,
                         float* scores,
                         int64_t score_stride) {
#if __CUDA_ARCH__ >= 800
    constexpr int kScoreWarps = kScoreThreads / 32;
    constexpr int kFragments = kScoreExperts / 8;
    constexpr int kPitch = kScoreExperts + 1; // scores of a row, then its squares
    BELFRY_SHARED(float, parts, [kScoreWarps][kScoreRows * kPitch]);
    const auto thread = static_cast<int>(threadIdx.x);
    const int warp = thread / 32;
    const int group = thread % 32 / 4;
    const int t = thread % 4;
    const auto hidden = static_cast<int>(router.cols);
    const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kScoreRows;
    const int64_t first_expert = static_cast<int64_t>(blockIdx.x) * kScoreExperts;
    // What lies behind the last row or expert repeats it; nobody stores it.
    const auto rowAt = [&](int r) { return first_row + r < rows ? first_row + r : rows - 1; };
    const auto expertAt = [&](int e) {
        return first_expert + e < router.rows ? first_expert + e : router.rows - 1;
    };
    const float* const own[2] = {x + rowAt(group) * stride, x + rowAt(group + 8) * stride};
    const bool is_bf16 = router.layout == WeightLayout::BF16;
    float sums[kFragments][4] = {};
    float squares[2] = {};
#pragma unroll 2
    for (int at = warp * 16; at < hidden; at += kScoreWarps * 16) {
        const int i = at + t * 4;
        const bool is_there = i < hidden;
        const float4 zero = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        const float4 f = is_there ? *reinterpret_cast<const float4*>(scale + i) : zero;
        uint32_t high[4];
        uint32_t low[4];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const float4 v = is_there ? *reinterpret_cast<const float4*>(own[r] + i) : zero;
            squares[r] += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
            splitPair(v.x * f.x, v.y * f.y, high[r], low[r]);
            splitPair(v.z * f.z, v.w * f.w, high[r + 2], low[r + 2]);
        }
#pragma unroll
        for (int j = 0; j < kFragments; ++j) {
            const int64_t expert = expertAt(j * 8 + group);
            const int64_t index = expert * hidden + (is_there ? i : 0);
            if (is_bf16) {
                const uint2 w = *reinterpret_cast<const uint2*>(
                    static_cast<const uint16_t*>(router.data) + index);
                multiplyAdd(sums[j], low, w.x, w.y);
                multiplyAdd(sums[j], high, w.x, w.y);
            } else {
                float w[4];
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    w[c] = weightValue(router, expert, index + c);
                }
                uint32_t upper[2];
                uint32_t lower[2];
                splitPair(w[0], w[1], upper[0], lower[0]);
                splitPair(w[2], w[3], upper[1], lower[1]);
                multiplyAdd(sums[j], low, upper[0], upper[1]);
                multiplyAdd(sums[j], high, lower[0], lower[1]);
                multiplyAdd(sums[j], high, upper[0], upper[1]);
            }
        }
    }
    constexpr uint32_t kAll = 0xffffffffU;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float* const to = parts[warp] + (group + r * 8) * kPitch;
#pragma unroll
        for (int j = 0; j < kFragments; ++j) {
            to[j * 8 + t * 2] = sums[j][r * 2];
            to[j * 8 + t * 2 + 1] = sums[j][r * 2 + 1];
        }
        squares[r] += __shfl_xor_sync(kAll, squares[r], 1);
        squares[r] += __shfl_xor_sync(kAll, squares[r], 2);
        to[kScoreExperts] = squares[r]; // the same by all four
    }
    __syncthreads();
    for (int o = thread; o < kScoreRows * kScoreExperts; o += kScoreThreads) {
        const int row = o / kScoreExperts;
        const int expert = o % kScoreExperts;
        float score = 0.0F;
        float square = 0.0F;
        for (int w = 0; w < kScoreWarps; ++w) {
            score += parts[w][row * kPitch + expert];
            square += parts[w][row * kPitch + kScoreExperts];
        }
        if (first_row + row < rows && first_expert + expert < router.rows) {
            const float inverse = rsqrtf(square / static_cast<float>(hidden) + eps);
            scores[(first_row + row) * score_stride + first_expert + expert] =
                score * inverse * factor;
        }
    }
#endif
}

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

// grid as above; block 128, BlockPiece::kShared bytes of shared memory. Weights in blocks, in bf16
// or in Int4.
__global__ void __launch_bounds__(128, 3)
    belfry_product_experts_blocks(const __grid_constant__ ExpertProductKernelArgs args) {
    if (args.codes.w[0].format == WeightFormat::BF16) {
        multiplyBlocks<WeightFormat::BF16>(args);
    } else if (args.codes.w[0].format == WeightFormat::Int4) {
        multiplyBlocks<WeightFormat::Int4>(args);
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
