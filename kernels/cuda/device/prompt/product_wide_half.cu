// SPDX-License-Identifier: Apache-2.0
// product.cu for compute capability 9.0: products of many bf16 rows with bf16 weights by warp
// groups, both operands in shared memory, where the copy engine puts them as the tensor cores want
// them.
//
// A tile is 128 rows of x by up to 320 outputs. Two warp groups have 64 of the rows each; one
// thread of a third asks for both operands, stages of 64 columns ahead. Blocks stay for many tiles,
// one a multiprocessor, so that the first stages of a tile are on their way while the results of
// the tile before are stored: from registers, in whole sectors. Of a pair a tile has the same
// outputs of both weights, one after the other, so that a thread has both results of an output.
#include "kernels/cuda/device/common/group_products.cuh"
#include "kernels/cuda/device/prompt/lora_rows.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kRows = kProductHalfRows;
constexpr int kWarps = 8; // that compute
constexpr int kThreads = kWarps * 32 + 128;
// Out of the 168 that the block begins with.
constexpr int kFetchRegisters = 40;
constexpr int kComputeRegisters = 232;
constexpr int kStageColumns = 64;
constexpr int kRowBytes = kStageColumns * 2;
constexpr int kInputBytes = kRows * kRowBytes;
constexpr int kGroupBytes = 64 * kRowBytes; // of x, for one warp group

/// Where a tile lies.
struct TilePlace {
    int64_t m0;
    int weight, n0, part;
    int k_begin, stages;
};

/// OUTPUTS: of a tile; IS_PAIR: half as many of each of two weights.
template <int OUTPUTS, bool IS_PAIR>
struct HalfTile {
    static constexpr int kStages = productHalfStages(OUTPUTS);
    /// Boxes in a copy and in a product: an instruction takes no more than 256.
    static constexpr int kBoxes = IS_PAIR || OUTPUTS > 256 ? 2 : 1;
    static constexpr int kBoxOutputs = OUTPUTS / kBoxes;
    static constexpr int kProducts = OUTPUTS > 256 ? 2 : 1;
    static constexpr int kProductOutputs = OUTPUTS / kProducts;
    /// Outputs of one weight.
    static constexpr int kColumns = IS_PAIR ? OUTPUTS / 2 : OUTPUTS;
    static constexpr int kBytes = kInputBytes + OUTPUTS * kRowBytes;
    static_assert(2 * 8 * kStages <= kProductHalfStagesAt && kBytes % 1024 == 0);

    static __device__ __forceinline__ CopyBarrier arrived(int slot) {
        return {reinterpret_cast<uint64_t*>(dynamicShared()) + slot};
    }
    static __device__ __forceinline__ CopyBarrier used(int slot) {
        return {reinterpret_cast<uint64_t*>(dynamicShared()) + kStages + slot};
    }
    static __device__ __forceinline__ uint32_t stageAt(int slot) {
        return sharedAddress(dynamicShared()) + kProductHalfStagesAt +
               static_cast<uint32_t>(slot) * kBytes;
    }

    /// Rows of x change fastest, so that blocks at work together share weights and all of x.
    static __device__ __forceinline__ TilePlace placeOf(const ProductHalfArgs& args, int tile) {
        const ProductKernelArgs& a = args.product;
        const int row = tile % args.row_tiles;
        const int behind = tile / args.row_tiles;
        const int column = behind % args.column_tiles;
        TilePlace p;
        p.part = behind / args.column_tiles;
        p.weight = 0;
        if constexpr (!IS_PAIR) {
            p.weight = a.count > 2 && column >= a.first_tile[2]   ? 2
                       : a.count > 1 && column >= a.first_tile[1] ? 1
                                                                  : 0;
        }
        p.m0 = static_cast<int64_t>(row) * kRows;
        p.n0 = (column - (IS_PAIR ? 0 : a.first_tile[p.weight])) * kColumns;
        const int k = static_cast<int>(a.k);
        p.k_begin = p.part * a.k_part;
        const int k_end = p.k_begin + a.k_part < k ? p.k_begin + a.k_part : k;
        p.stages = (k_end - p.k_begin + kStageColumns - 1) / kStageColumns;
        return p;
    }

    /// Barriers, by one thread; then a barrier of the block.
    static __device__ __forceinline__ void prepare() {
        if (threadIdx.x == kWarps * 32) {
            for (int slot = 0; slot < kStages; ++slot) {
                arrived(slot).init(1);
                used(slot).init(kWarps);
            }
            fenceBarriers();
        }
        __syncthreads();
    }

    /// The third group: both operands of all of this block's tiles, as places become free. What
    /// lies behind a matrix's last row or column comes as zeros.
    static __device__ __forceinline__ void fetch(const ProductHalfArgs& args) {
        giveRegisters<kFetchRegisters>();
        if (threadIdx.x != kWarps * 32) {
            return;
        }
        int slot = 0;
        uint32_t round = 0;
#pragma unroll 1
        for (int tile = static_cast<int>(blockIdx.x); tile < args.tiles;
             tile += static_cast<int>(gridDim.x)) {
            const TilePlace p = placeOf(args, tile);
#pragma unroll 1
            for (int stage = 0; stage < p.stages; ++stage) {
                if (round > 0) {
                    used(slot).wait((round - 1) & 1U);
                }
                const CopyBarrier barrier = arrived(slot);
                const uint32_t to = stageAt(slot);
                const int column = p.k_begin + stage * kStageColumns;
                barrier.expect(kBytes);
                copyTile(to, args.x_map, static_cast<int>(p.m0), column, barrier);
                copyTile(to + kInputBytes, args.w_map[p.weight], p.n0, column, barrier);
                if constexpr (kBoxes == 2) {
                    copyTile(to + kInputBytes + kBoxOutputs * kRowBytes,
                             args.w_map[IS_PAIR ? 1 : p.weight],
                             IS_PAIR ? p.n0 : p.n0 + kBoxOutputs, column, barrier);
                }
                barrier.arrive();
                if (++slot == kStages) {
                    slot = 0;
                    ++round;
                }
            }
        }
    }

    /// Sums of every product; those of eight outputs follow each other.
    using Sums = float[kProducts][kProductOutputs / 2];
    Sums sums;
    int slot = 0;
    uint32_t parity = 0;

    /// One of the other two groups: the products of a tile.
    __device__ __forceinline__ void multiply(const TilePlace& p) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const uint32_t rows = threadIdx.x / 128U * kGroupBytes;
#pragma unroll
        for (auto& of_product : sums) {
#pragma unroll
            for (float& sum : of_product) {
                sum = 0.0F;
            }
        }
        int before = 0; // place of the stage before
#pragma unroll 1
        for (int stage = 0; stage < p.stages; ++stage) {
            arrived(slot).wait(parity);
            beginProducts();
            const uint32_t at = stageAt(slot);
#pragma unroll
            for (int step = 0; step < kStageColumns / 16; ++step) {
#pragma unroll
                for (int i = 0; i < kProducts; ++i) {
                    multiplyTiles<kProductOutputs>(
                        sums[i], groupOperand(at + rows, step),
                        groupOperand(at + kInputBytes + i * kProductOutputs * kRowBytes, step));
                }
            }
            commitProducts();
            waitForProducts<1>(); // those of the stage before
            if (lane == 0 && stage > 0) {
                used(before).arrive();
            }
            before = slot;
            if (++slot == kStages) {
                slot = 0;
                parity ^= 1U;
            }
        }
        waitForProducts<0>();
        if (lane == 0 && p.stages > 0) {
            used(before).arrive();
        }
    }
};

/// This thread's four sums of outputs [8 j, 8 j + 8).
template <typename Sums>
__device__ __forceinline__ auto* sumsAt(Sums& sums, int j) {
    constexpr int kLength = static_cast<int>(sizeof(sums[0]) / sizeof(float));
    return &sums[j * 4 / kLength][j * 4 % kLength];
}

/// Row of x, among a tile's, of this thread's first sums; those of its others lie eight behind.
__device__ __forceinline__ int firstRow() {
    return static_cast<int>(threadIdx.x) / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
}

/// Adds low-rank updates as product_updates.cuh does: h of a warp's 16 rows is the left operand, B
/// the right one; four neighbouring ranks a lane in both.
template <int OUTPUTS, bool IS_PAIR>
__device__ __forceinline__ void addUpdates(typename HalfTile<OUTPUTS, IS_PAIR>::Sums& sums,
                                           const ProductUpdatesArgs& u,
                                           const TilePlace& p,
                                           int outputs) {
    constexpr int kBatch = 4; // loads of B under way together
    constexpr int kGroups = OUTPUTS / 8 / (IS_PAIR ? 2 : 1);
    static_assert(kGroups % kBatch == 0);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int place = lane % 4 * 4;
    const int64_t width = u.first_block[3] * kUpdateBlock;
    const __nv_bfloat16* const h = static_cast<const __nv_bfloat16*>(u.h) + place;
    const int end = u.first_block[IS_PAIR ? 2 : p.weight + 1];
#pragma unroll 1
    for (int block = u.first_block[IS_PAIR ? 0 : p.weight]; block < end; ++block) {
        const int column = block * kUpdateBlock;
        uint2 x[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = p.m0 + firstRow() + half * 8;
            x[half] =
                *reinterpret_cast<const uint2*>(h + (row < u.m ? row : u.m - 1) * width + column);
        }
        const uint32_t left[4] = {x[0].x, x[1].x, x[0].y, x[1].y};
        const int owner = u.owner[(column + place) / kUpdatePiece];
        const ProductUpdateArgs& update = u.update[owner == kNoUpdate ? 0 : owner];
        const int rank = column + place - update.first;
        const int valid = owner == kNoUpdate ? 0 : update.rank - rank;
        const bool is_other = IS_PAIR && block >= u.first_block[1];
#pragma unroll
        for (int first = 0; first < kGroups; first += kBatch) {
            uint2 b[kBatch];
#pragma unroll
            for (int j = 0; j < kBatch; ++j) {
                const int output = p.n0 + (first + j) * 8 + lane / 4;
                b[j] = loadFour(update.b, update.b_type,
                                static_cast<int64_t>(output < outputs ? output : outputs - 1) *
                                        update.rank +
                                    rank,
                                valid, update.is_whole != 0);
            }
#pragma unroll
            for (int j = 0; j < kBatch; ++j) {
                const auto add = [&](float* at) {
                    float c[4] = {at[0], at[1], at[2], at[3]};
                    multiplyAdd(c, left, b[j].x, b[j].y);
                    at[0] = c[0];
                    at[1] = c[1];
                    at[2] = c[2];
                    at[3] = c[3];
                };
                if (IS_PAIR && is_other) {
                    add(sumsAt(sums, IS_PAIR ? kGroups + first + j : 0));
                } else {
                    add(sumsAt(sums, first + j));
                }
            }
        }
    }
}

/// Sums to y in fp32; a row's four lanes fill a sector.
template <int OUTPUTS>
__device__ __forceinline__ void store(const typename HalfTile<OUTPUTS, false>::Sums& sums,
                                      const ProductKernelArgs& a,
                                      const TilePlace& p) {
    const int n = a.n[p.weight];
    const int64_t stride = a.stride[p.weight];
    const int column = p.n0 + static_cast<int>(threadIdx.x) % 4 * 2;
    float* const y =
        static_cast<float*>(a.y[p.weight]) + static_cast<int64_t>(p.part) * a.m * stride + column;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int64_t row = p.m0 + firstRow() + half * 8;
        if (row >= a.m) {
            continue;
        }
#pragma unroll
        for (int j = 0; j < OUTPUTS / 8; ++j) {
            if (column + j * 8 < n) { // n is even
                const float* const sum = sumsAt(sums, j) + half * 2;
                *reinterpret_cast<float2*>(y + row * stride + j * 8) = make_float2(sum[0], sum[1]);
            }
        }
    }
}

/// act(sums of the first weight) * (those of the second) to y in bf16. Neighbouring lanes hand
/// each other two results, so that a row's four lanes fill a sector here too.
template <int OUTPUTS>
__device__ __forceinline__ void storePair(const typename HalfTile<OUTPUTS, true>::Sums& sums,
                                          const ProductKernelArgs& a,
                                          const TilePlace& p) {
    constexpr int kGroups = OUTPUTS / 16;
    const int n = a.n[0];
    const int64_t stride = a.stride[0];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool is_odd = (lane & 1) != 0;
    const int column = p.n0 + (lane & 1) * 8 + (lane & 2) * 2;
    __nv_bfloat16* const y = static_cast<__nv_bfloat16*>(a.y[0]) + column;
    withActivation(a.activation, [&](const auto& act) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = p.m0 + firstRow() + half * 8;
#pragma unroll
            for (int j = 0; j < kGroups; j += 2) {
                uint32_t word[2];
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const float* const gate = sumsAt(sums, j + i) + half * 2;
                    const float* const up = sumsAt(sums, kGroups + j + i) + half * 2;
                    word[i] = packed(act(gate[0]) * up[0], act(gate[1]) * up[1]);
                }
                const uint32_t other = __shfl_xor_sync(0xffffffffU, is_odd ? word[0] : word[1], 1);
                const uint2 four = is_odd ? make_uint2(other, word[1]) : make_uint2(word[0], other);
                if (row < a.m && column + j * 8 < n) { // n is a multiple of eight
                    *reinterpret_cast<uint2*>(y + row * stride + j * 8) = four;
                }
            }
        }
    });
}

template <int OUTPUTS, bool IS_PAIR>
__device__ __forceinline__ void product(const ProductHalfArgs& args, const ProductUpdatesArgs* u) {
    using Tile = HalfTile<OUTPUTS, IS_PAIR>;
    Tile::prepare();
    if (threadIdx.x >= kWarps * 32) {
        Tile::fetch(args);
        return;
    }
    takeRegisters<kComputeRegisters>();
    const ProductKernelArgs& a = args.product;
    Tile tile;
#pragma unroll 1
    for (int i = static_cast<int>(blockIdx.x); i < args.tiles; i += static_cast<int>(gridDim.x)) {
        const TilePlace p = Tile::placeOf(args, i);
        tile.multiply(p);
        if (u != nullptr && p.part == 0) { // once
            addUpdates<OUTPUTS, IS_PAIR>(tile.sums, *u, p, a.n[p.weight]);
        }
        if constexpr (IS_PAIR) {
            storePair<OUTPUTS>(tile.sums, a, p);
        } else {
            store<OUTPUTS>(tile.sums, a, p);
        }
    }
}

} // namespace

extern "C" {

// grid: at most one block a multiprocessor and one a tile; block 384, productHalfShared() bytes of
// shared memory. Numbers of outputs are multiples of eight, k too. There is no such kernel in
// images for others than sm_90a.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_320(const __grid_constant__ ProductHalfArgs args) {
    product<320, false>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_256(const __grid_constant__ ProductHalfArgs args) {
    product<256, false>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_192(const __grid_constant__ ProductHalfArgs args) {
    product<192, false>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_128(const __grid_constant__ ProductHalfArgs args) {
    product<128, false>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_pair_256(const __grid_constant__ ProductHalfArgs args) {
    product<256, true>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_pair_192(const __grid_constant__ ProductHalfArgs args) {
    product<192, true>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_pair_128(const __grid_constant__ ProductHalfArgs args) {
    product<128, true>(args, nullptr);
}

// The same with low-rank updates.
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_320_updates(const __grid_constant__ ProductHalfArgs args,
                                    const __grid_constant__ ProductUpdatesArgs u) {
    product<320, false>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_256_updates(const __grid_constant__ ProductHalfArgs args,
                                    const __grid_constant__ ProductUpdatesArgs u) {
    product<256, false>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_192_updates(const __grid_constant__ ProductHalfArgs args,
                                    const __grid_constant__ ProductUpdatesArgs u) {
    product<192, false>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_128_updates(const __grid_constant__ ProductHalfArgs args,
                                    const __grid_constant__ ProductUpdatesArgs u) {
    product<128, false>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_pair_256_updates(const __grid_constant__ ProductHalfArgs args,
                                         const __grid_constant__ ProductUpdatesArgs u) {
    product<256, true>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_pair_192_updates(const __grid_constant__ ProductHalfArgs args,
                                         const __grid_constant__ ProductUpdatesArgs u) {
    product<192, true>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_half_pair_128_updates(const __grid_constant__ ProductHalfArgs args,
                                         const __grid_constant__ ProductUpdatesArgs u) {
    product<128, true>(args, &u);
}

#endif

} // extern "C"
