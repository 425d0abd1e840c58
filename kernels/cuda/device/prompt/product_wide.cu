// SPDX-License-Identifier: Apache-2.0
// product_codes.cu for compute capability 9.0: products of many bf16 rows with 4-bit weights as
// they are stored, by warp groups. The roles of the operands are changed: weights come from
// registers, where their codes have become bf16, and rows of x from shared memory, so that an
// expanded weight is never written anywhere. y^T = W x^T.
//
// A block has a tile of 128 rows of weights and up to 256 rows of x. Eight warps (two groups) have
// 16 rows of weights each; a third group asks for tiles of x, stages of 64 columns ahead, and leaves
// its registers to the others. While the tensor
// cores multiply a stage, which they do in the background, the same warps look up the codes of the
// next one. Codes come straight from memory, four stages ahead: a lane reads eight neighbouring
// bytes of a row, and four lanes hand each other what the instruction wants them to have.
#include "kernels/cuda/device/prompt/code_pairs.cuh"
#include "kernels/cuda/device/common/group_products.cuh"
#include "kernels/cuda/device/prompt/lora_rows.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kOutputs = kProductWideOutputs; // rows of weights in a tile
constexpr int kWarps = kOutputs / 16;         // that compute
constexpr int kThreads = kWarps * 32 + 128;
// Out of the 168 that the block begins with.
constexpr int kFetchRegisters = 40;
constexpr int kComputeRegisters = 232;
constexpr int kStageColumns = 64;             // which have one absmax
/// Stages whose codes are asked for at once and whose absmax four lanes work out, one each. The
/// blocks of a group have one nested absmax.
constexpr int kGroup = kProductCodesColumns / kStageColumns;
static_assert(kGroup == 4);

// Shared memory: the table, values of nested codes (of a pair two times), barriers, stages of x.
constexpr int kNestedAt = 256 * 32 * 4;
constexpr int kBarriersAt = kNestedAt + 2 * 256 * 4;
static_assert(kBarriersAt + 2 * 8 * 8 <= kProductWideStagesAt && kProductWideStagesAt % 1024 == 0);

/// Codes of a lane's two rows for one stage: bytes 8 q to 8 q + 7 of 32, q the lane within four.
struct StageCodes {
    uint2 row[2];
};

/// Between four lanes that hold one word each: byte q of all four of them to lane q.
struct QuadBytes {
    uint32_t near, far; // selectors of the two steps

    __device__ __forceinline__ QuadBytes() {
        const int lane = static_cast<int>(threadIdx.x);
        near = (lane & 1) == 0 ? 0x6240U : 0x3715U;
        far = (lane & 2) == 0 ? 0x5410U : 0x3276U;
    }
    __device__ __forceinline__ uint32_t transposed(uint32_t word) const {
        word = permuteBytes(word, __shfl_xor_sync(0xffffffffU, word, 1), near);
        return permuteBytes(word, __shfl_xor_sync(0xffffffffU, word, 2), far);
    }
};

/// Scales of one row: lane q of four has that of stage q of a group, as a pair of bf16.
struct RowScale {
    const float* absmax = nullptr; ///< For this lane's stage of the first group; nullptr: nested.
    const uint8_t* codes = nullptr;
    const float* nested = nullptr; ///< The weight's nested absmax.
    const float* value_of = nullptr;
    int64_t first = 0; ///< Block of the weight that the part begins with.
    float offset = 0.0F;
    // For the group that was asked for.
    float value = 0.0F; ///< absmax, or the nested one
    uint32_t code = 0;

    __device__ __forceinline__ RowScale(const WeightArgs& w, int64_t block, const float* values)
        : first(block) {
        const int stage = static_cast<int>(threadIdx.x) % kGroup;
        if (w.absmax != nullptr) {
            absmax = w.absmax + block + stage;
        } else {
            codes = w.absmax_q + block + stage;
            nested = w.nested_absmax;
            value_of = values;
            offset = w.nested_offset;
        }
    }
    __device__ __forceinline__ void ask(int stage) {
        if (absmax != nullptr) {
            value = __ldg(absmax + stage);
        } else {
            code = __ldg(codes + stage);
            value = __ldg(nested + ((first + stage) >> 8));
        }
    }
    __device__ __forceinline__ uint32_t pair() const {
        const uint32_t bits = halfBits(
            absmax != nullptr ? value : __fadd_rn(__fmul_rn(value_of[code], value), offset));
        return bits | bits << 16;
    }
};

/// ROWS: of x in a tile. IS_PAIR: rows of two weights in turns of eight.
template <int ROWS, bool IS_PAIR>
struct WideTile {
    static constexpr int kStages = productWideStages(ROWS);
    static constexpr int kInputBytes = ROWS * kStageColumns * 2;
    float sums[ROWS / 2] = {};

    /// Weight and row of it that row r of the tile is; what lies behind the end repeats the last.
    static __device__ __forceinline__ int
    rowOf(const ProductKernelArgs& a, int weight, int n0, int r, int& which) {
        const int row = IS_PAIR ? n0 + r / 16 * 8 + r % 8 : n0 + r;
        which = IS_PAIR ? r >> 3 & 1 : weight;
        return row < a.n[which] ? row : a.n[which] - 1;
    }

    static __device__ __forceinline__ CopyBarrier arrived(int slot) {
        return {reinterpret_cast<uint64_t*>(dynamicShared() + kBarriersAt) + slot};
    }
    static __device__ __forceinline__ CopyBarrier used(int slot) {
        return {reinterpret_cast<uint64_t*>(dynamicShared() + kBarriersAt) + 8 + slot};
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
    }
    /// The third group: tiles of x, as places become free.
    static __device__ __forceinline__ void
    fetch(const ProductWideArgs& args, int64_t m0, int k_begin, int stages) {
        giveRegisters<kFetchRegisters>();
        __syncthreads();
        if (threadIdx.x != kWarps * 32) {
            return;
        }
        const uint32_t tiles = sharedAddress(dynamicShared()) + kProductWideStagesAt;
        int slot = 0;
        uint32_t round = 0;
#pragma unroll 1
        for (int stage = 0; stage < stages; ++stage) {
            if (round > 0) {
                used(slot).wait((round - 1) & 1U);
            }
            arrived(slot).expect(kInputBytes);
            copyTile(tiles + static_cast<uint32_t>(slot) * kInputBytes, args.x_map,
                     static_cast<int>(m0), k_begin + stage * kStageColumns, arrived(slot));
            arrived(slot).arrive();
            if (++slot == kStages) {
                slot = 0;
                ++round;
            }
        }
    }

    /// The left operand of a stage: four steps of 16 columns. place: of the stage in its group.
    static __device__ __forceinline__ void expand(uint32_t (&left)[4][4],
                                                  const StageCodes& codes,
                                                  const uint32_t (&scales)[2],
                                                  int place,
                                                  const QuadBytes& quad,
                                                  uint32_t table) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const uint32_t scale = __shfl_sync(0xffffffffU, scales[r], place, 4);
            const uint32_t low = quad.transposed(codes.row[r].x);
            const uint32_t high = quad.transposed(codes.row[r].y);
#pragma unroll
            for (int step = 0; step < 4; ++step) {
                const uint32_t selector = 0x4440U | static_cast<uint32_t>(step);
                left[step][r] = multiplyHalves(
                    loadShared(table + (permuteBytes(low, 0, selector) << 7)), scale);
                left[step][2 + r] = multiplyHalves(
                    loadShared(table + (permuteBytes(high, 0, selector) << 7)), scale);
            }
        }
    }

    /// The other two: all of columns [k_begin, k_end).
    __device__ __forceinline__ void
    multiply(const ProductWideArgs& args, int64_t m0, int weight, int n0, int k_begin, int k_end) {
        takeRegisters<kComputeRegisters>();
        const ProductKernelArgs& a = args.codes.product;
        const WeightArgs* const w = args.codes.w;
        const int k = static_cast<int>(a.k);
        const int stages = (k_end - k_begin) / kStageColumns; // whole groups
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const uint32_t base = sharedAddress(dynamicShared());
        const uint32_t tiles = base + kProductWideStagesAt;
        const int first_row = warp * 16 + lane / 4;
        int which[2];
        int row[2];
        const uint2* from[2];
        StageCodes codes[kGroup];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            row[r] = rowOf(a, weight, n0, first_row + r * 8, which[r]);
            from[r] =
                reinterpret_cast<const uint2*>(static_cast<const char*>(w[which[r]].data) +
                                               (static_cast<int64_t>(row[r]) * k + k_begin) / 2) +
                lane % 4;
#pragma unroll
            for (int i = 0; i < kGroup; ++i) {
                codes[i].row[r] = __ldg(from[r] + i * 4);
            }
        }
        float* const values = reinterpret_cast<float*>(dynamicShared() + kNestedAt);
        if (w[weight].absmax == nullptr) {
            for (int i = static_cast<int>(threadIdx.x); i < (IS_PAIR ? 512 : 256);
                 i += kWarps * 32) {
                values[i] = w[IS_PAIR ? i >> 8 : weight].nested_code[i & 255];
            }
        }
        RowScale source[2] = {
            RowScale(w[which[0]],
                     (static_cast<int64_t>(row[0]) * k + k_begin) / kStageColumns, values),
            RowScale(w[which[1]],
                     (static_cast<int64_t>(row[1]) * k + k_begin) / kStageColumns,
                     values + (IS_PAIR ? 256 : 0))};
        source[0].ask(0);
        source[1].ask(0);
        fillPairs<kWarps>(w[0].code_table);
        __syncthreads();
        uint32_t scales[2] = {source[0].pair(), source[1].pair()};
        const QuadBytes quad;
        const uint32_t table = base + static_cast<uint32_t>(lane) * 4;
        uint32_t left[2][4][4];
        expand(left[0], codes[0], scales, 0, quad, table);
        int slot = 0;
        int before = 0; // place of the stage before
        uint32_t parity = 0;
#pragma unroll 1
        for (int group = 0; group < stages; group += kGroup) {
            const bool is_last = group + kGroup == stages;
            if (!is_last) {
                source[0].ask(group + kGroup);
                source[1].ask(group + kGroup);
            }
#pragma unroll
            for (int j = 0; j < kGroup; ++j) {
                arrived(slot).wait(parity);
                beginProducts();
                const uint32_t tile = tiles + static_cast<uint32_t>(slot) * kInputBytes;
#pragma unroll
                for (int step = 0; step < 4; ++step) {
                    multiplyGroup<ROWS>(sums, left[j & 1][step], groupOperand(tile, step));
                }
                commitProducts();
                if (!is_last) {
                    const int next = (group + j + kGroup) * 4;
                    codes[j] = {{__ldg(from[0] + next), __ldg(from[1] + next)}};
                }
                waitForProducts<1>(); // those of the stage before: its place and left operand
                if (lane == 0 && group + j > 0) {
                    used(before).arrive();
                }
                before = slot;
                if (++slot == kStages) {
                    slot = 0;
                    parity ^= 1U;
                }
                if (j + 1 < kGroup) {
                    expand(left[(j + 1) & 1], codes[(j + 1) % kGroup], scales, j + 1, quad, table);
                } else if (!is_last) {
                    scales[0] = source[0].pair();
                    scales[1] = source[1].pair();
                    expand(left[0], codes[0], scales, 0, quad, table);
                }
            }
        }
        waitForProducts<0>();
        syncSome(1, kWarps * 32); // shared memory is free
    }
};

/// Adds low-rank updates (product_updates.cuh, with the roles of the operands changed): B of a
/// warp's 16 outputs is the left operand, h of all rows of x the right one; four neighbouring ranks a
/// lane in both. outputs: of this thread's two rows, IS_PAIR: of weight 0 and of weight 1.
template <int ROWS, bool IS_PAIR>
__device__ __forceinline__ void addUpdates(float (&sums)[ROWS / 2],
                                           const ProductUpdatesArgs& u,
                                           int weight,
                                           int64_t m0,
                                           const int (&outputs)[2]) {
    constexpr int kBatch = 4; // loads of h under way together
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int place = lane % 4 * 4;
    const int64_t width = u.first_block[3] * kUpdateBlock;
    const __nv_bfloat16* const h = static_cast<const __nv_bfloat16*>(u.h) + place;
    const int end = u.first_block[IS_PAIR ? 2 : weight + 1];
#pragma unroll 1
    for (int block = u.first_block[IS_PAIR ? 0 : weight]; block < end; ++block) {
        const int column = block * kUpdateBlock;
        const int owner = u.owner[(column + place) / kUpdatePiece];
        const ProductUpdateArgs& update = u.update[owner == kNoUpdate ? 0 : owner];
        const int rank = column + place - update.first;
        const int valid = owner == kNoUpdate ? 0 : update.rank - rank;
        uint2 b[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const bool is_other = IS_PAIR && (block >= u.first_block[1]) != (r == 1);
            b[r] = loadFour(update.b, update.b_type,
                            static_cast<int64_t>(outputs[r]) * update.rank + rank,
                            is_other ? 0 : valid, update.is_whole != 0);
        }
        const uint32_t a[4] = {b[0].x, b[1].x, b[0].y, b[1].y};
#pragma unroll
        for (int first = 0; first < ROWS / 8; first += kBatch) {
            uint2 x[kBatch];
#pragma unroll
            for (int j = 0; j < kBatch; ++j) {
                const int64_t row = m0 + (first + j) * 8 + lane / 4;
                x[j] = *reinterpret_cast<const uint2*>(h + (row < u.m ? row : u.m - 1) * width +
                                                       column);
            }
#pragma unroll
            for (int j = 0; j < kBatch; ++j) {
                float* const at = sums + (first + j) * 4;
                float c[4] = {at[0], at[1], at[2], at[3]};
                multiplyAdd(c, a, x[j].x, x[j].y);
                at[0] = c[0];
                at[1] = c[1];
                at[2] = c[2];
                at[3] = c[3];
            }
        }
    }
}

/// y[i] = W[i] x in fp32, in gridDim.z parts of k one behind the other.
template <int ROWS>
__device__ __forceinline__ void storeProduct(const ProductWideArgs& args,
                                             const ProductUpdatesArgs* u) {
    constexpr int kPitch = kOutputs + 4; // floats: lanes of a store meet in no bank
    const ProductKernelArgs& a = args.codes.product;
    const int column = static_cast<int>(blockIdx.y);
    const int weight = a.count > 2 && column >= a.first_tile[2]   ? 2
                       : a.count > 1 && column >= a.first_tile[1] ? 1
                                                                  : 0;
    const int n = a.n[weight];
    const int64_t m0 = static_cast<int64_t>(blockIdx.x) * ROWS;
    const int n0 = (column - a.first_tile[weight]) * kOutputs;
    const int k = static_cast<int>(a.k);
    const int k_begin = static_cast<int>(blockIdx.z) * a.k_part;
    const int k_end = k_begin + a.k_part < k ? k_begin + a.k_part : k;
    using Tile = WideTile<ROWS, false>;
    Tile::prepare();
    if (threadIdx.x >= kWarps * 32) {
        Tile::fetch(args, m0, k_begin, (k_end - k_begin) / kStageColumns);
        return;
    }
    Tile tile;
    tile.multiply(args, m0, weight, n0, k_begin, k_end);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (u != nullptr) {
        waitForPredecessor(); // which makes h
        if (blockIdx.z + 1 == gridDim.z) { // once
            int which = 0;
            const int outputs[2] = {Tile::rowOf(a, weight, n0, warp * 16 + lane / 4, which),
                                    Tile::rowOf(a, weight, n0, warp * 16 + lane / 4 + 8, which)};
            addUpdates<ROWS, false>(tile.sums, *u, weight, m0, outputs);
        }
    }
    float* const rows = reinterpret_cast<float*>(dynamicShared());
#pragma unroll
    for (int j = 0; j < ROWS / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            rows[(j * 8 + lane % 4 * 2 + (e & 1)) * kPitch + warp * 16 + lane / 4 + (e >> 1) * 8] =
                tile.sums[j * 4 + e];
        }
    }
    syncSome(1, kWarps * 32);
    const int64_t stride = a.stride[weight];
    float* const y =
        static_cast<float*>(a.y[weight]) + static_cast<int64_t>(blockIdx.z) * a.m * stride + n0;
    const int at = lane * 4; // n is a multiple of four
    for (int row = warp; row < ROWS && m0 + row < a.m; row += kWarps) {
        if (n0 + at < n) {
            *reinterpret_cast<float4*>(y + (m0 + row) * stride + at) =
                *reinterpret_cast<const float4*>(rows + row * kPitch + at);
        }
    }
}

/// y[0] = act(W[0] x) * (W[1] x) in bf16; a tile has 64 rows of each weight.
template <int ROWS>
__device__ __forceinline__ void pairProduct(const ProductWideArgs& args,
                                            const ProductUpdatesArgs* u) {
    constexpr int kColumns = kOutputs / 2;
    constexpr int kPitch = kColumns + 8; // of bf16
    const ProductKernelArgs& a = args.codes.product;
    const int n = a.n[0];
    const int64_t m0 = static_cast<int64_t>(blockIdx.x) * ROWS;
    const int n0 = static_cast<int>(blockIdx.y) * kColumns;
    using Tile = WideTile<ROWS, true>;
    Tile::prepare();
    if (threadIdx.x >= kWarps * 32) {
        Tile::fetch(args, m0, 0, static_cast<int>(a.k) / kStageColumns);
        return;
    }
    Tile tile;
    tile.multiply(args, m0, 0, n0, 0, static_cast<int>(a.k));
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (u != nullptr) {
        waitForPredecessor();
        int which = 0;
        const int outputs[2] = {Tile::rowOf(a, 0, n0, warp * 16 + lane / 4, which),
                                Tile::rowOf(a, 0, n0, warp * 16 + lane / 4 + 8, which)};
        addUpdates<ROWS, true>(tile.sums, *u, 0, m0, outputs);
    }
    __nv_bfloat16* const rows = reinterpret_cast<__nv_bfloat16*>(dynamicShared());
    withActivation(a.activation, [&](const auto& act) {
#pragma unroll
        for (int j = 0; j < ROWS / 8; ++j) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                rows[(j * 8 + lane % 4 * 2 + e) * kPitch + warp * 8 + lane / 4] =
                    __float2bfloat16_rn(act(tile.sums[j * 4 + e]) * tile.sums[j * 4 + 2 + e]);
            }
        }
    });
    syncSome(1, kWarps * 32);
    const int64_t stride = a.stride[0];
    __nv_bfloat16* const y = static_cast<__nv_bfloat16*>(a.y[0]) + n0;
    const int at = lane % 8 * 8; // n is a multiple of eight
    for (int row = warp * 4 + lane / 8; row < ROWS && m0 + row < a.m; row += kWarps * 4) {
        if (n0 + at < n) {
            *reinterpret_cast<uint4*>(y + (m0 + row) * stride + at) =
                *reinterpret_cast<const uint4*>(rows + row * kPitch + at);
        }
    }
}

} // namespace

extern "C" {

// grid: (ceil(m / ROWS), column tiles of all weights, parts of k); block 384, productWideShared()
// bytes of shared memory. Numbers of outputs are multiples of eight; k and parts of it are multiples
// of kProductCodesColumns; absmax of 64 columns. There is no such kernel in images for others than
// sm_90a.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_256(const __grid_constant__ ProductWideArgs args) {
    storeProduct<256>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_192(const __grid_constant__ ProductWideArgs args) {
    storeProduct<192>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_128(const __grid_constant__ ProductWideArgs args) {
    storeProduct<128>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_pair_256(const __grid_constant__ ProductWideArgs args) {
    pairProduct<256>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_pair_192(const __grid_constant__ ProductWideArgs args) {
    pairProduct<192>(args, nullptr);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_pair_128(const __grid_constant__ ProductWideArgs args) {
    pairProduct<128>(args, nullptr);
}

// The same with low-rank updates.
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_256_updates(const __grid_constant__ ProductWideArgs args,
                                    const __grid_constant__ ProductUpdatesArgs u) {
    storeProduct<256>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_192_updates(const __grid_constant__ ProductWideArgs args,
                                    const __grid_constant__ ProductUpdatesArgs u) {
    storeProduct<192>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_128_updates(const __grid_constant__ ProductWideArgs args,
                                    const __grid_constant__ ProductUpdatesArgs u) {
    storeProduct<128>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_pair_256_updates(const __grid_constant__ ProductWideArgs args,
                                         const __grid_constant__ ProductUpdatesArgs u) {
    pairProduct<256>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_pair_192_updates(const __grid_constant__ ProductWideArgs args,
                                         const __grid_constant__ ProductUpdatesArgs u) {
    pairProduct<192>(args, &u);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_product_wide_pair_128_updates(const __grid_constant__ ProductWideArgs args,
                                         const __grid_constant__ ProductUpdatesArgs u) {
    pairProduct<128>(args, &u);
}

#endif

} // extern "C"
