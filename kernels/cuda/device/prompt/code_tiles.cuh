// SPDX-License-Identifier: Apache-2.0
// Tiles of products of bf16 rows with 4-bit weights as they are stored (product_codes.cu,
// product_experts.cu): codes become bf16 on their way into the tensor cores, so that nothing is
// expanded to memory. A weight is the bf16 of its code times the bf16 of its absmax, rounded to
// bf16. Needs sm_80.
//
// Four warps share a tile of 64 rows of x and 128 rows of the weights; each has 32 of the latter,
// so that a code is looked up once a block. A byte of two codes is looked up in a table of pairs in
// shared memory of which every lane has its own copy.
//
// Where there are no more than 32 rows a tile has 16 or 32 of them, and a block three or two groups
// of four warps, each with a share of the columns, whose sums are added at the end: few tiles would
// leave a multiprocessor with too few warps to hide the ways to memory.
#pragma once

#include "kernels/cuda/device/prompt/code_pairs.cuh"
#include "kernels/cuda/device/prompt/gemm_tiles.cuh"
#include "kernels/cuda/device/prompt/product_updates.cuh"

namespace kernels::cuda {

inline constexpr int kOutputs = 128; // rows of weights in a tile
inline constexpr int kWarps = 4;     // of a group
inline constexpr int kGroupThreads = kWarps * 32;
inline constexpr int kStages = 3;
inline constexpr int kWarpOutputs = kOutputs / kWarps;
inline constexpr int kOutputFragments = kWarpOutputs / 8;
inline constexpr int kCodeBytes = kTileDepth / 2; // of a weight's row in a stage
/// Stages whose scales are made at once, into one buffer while the other is read. Their blocks have
/// one nested absmax.
inline constexpr int kScaleStages = kProductCodesColumns / kTileDepth;
inline constexpr int kScaleValues = kScaleStages * kOutputs;
inline constexpr int kTableBytes = 256 * 32 * 4;

/// A block: 16 FRAGMENTS rows of x, GROUPS groups. ANY_COLUMNS: a multiple of kTileDepth, not of
/// kProductCodesColumns.
template <int FRAGMENTS_, int GROUPS_, bool ANY_COLUMNS_ = false>
struct TileForm {
    static constexpr bool kAnyColumns = ANY_COLUMNS_;
    static constexpr int kFragments = FRAGMENTS_;
    static constexpr int kGroups = GROUPS_;
    static constexpr int kRows = 16 * kFragments;
    static constexpr int kThreads = kGroups * kGroupThreads;
    static constexpr int kInputBytes = kRows * kTileDepth * 2;
    static constexpr int kStageBytes = kInputBytes + kOutputs * kCodeBytes;
    // Shared memory: the table; of every group its stages and two buffers of scales; values of
    // nested codes (of a pair two times).
    static constexpr int kGroupBytes = kStages * kStageBytes + 2 * kScaleValues * 2;
    static constexpr int kNestedAt = kTableBytes + kGroups * kGroupBytes;
    static_assert(kNestedAt + 2 * 256 * 4 == productCodesShared(kFragments, kGroups));
    // A group's sums on their way to the first one lie over its stages.
    static_assert(kFragments * kOutputFragments * 4 * kGroupThreads * 4 <= kStages * kStageBytes);
};

/// A thread's place in its group.
__device__ __forceinline__ int groupThread() {
    return static_cast<int>(threadIdx.x) % kGroupThreads;
}

/// Which row of which weight a row of the tile is.
struct TileRow {
    int weight;
    int row;
};

/// Where the rows of a tile come from: of all weights and of x, or those of one expert.
struct TileSource {
    const void* x;
    int64_t m;                     ///< Rows of x.
    int first;                     ///< Row of the weight that the expert's rows begin with,
    int second;                    ///< of a pair that of the other.
    const int32_t* rows = nullptr; ///< Which rows of x these are; nullptr: the first m.
};

/// Scales of one row of the tile, one thread's, those of kScaleStages stages at a time. ANY: the
/// row's blocks are no multiple of those, and begin anywhere.
template <bool ANY>
struct RowScales {
    const float* absmax = nullptr; ///< From the part's first block on; nullptr: nested.
    const uint8_t* codes = nullptr;
    const float* nested = nullptr; ///< The weight's nested absmax.
    int64_t first = 0;             ///< Block of the weight that the part begins with.
    float offset = 0.0F;
    int groups = 0;
    int blocks = 0;
    // For a group that was asked for.
    float4 values;
    uint32_t four;
    float factor;
    float factors[ANY ? kScaleStages : 1];

    __device__ __forceinline__ RowScales(const WeightArgs& w, int64_t block, int stages)
        : first(block), groups((stages + kScaleStages - 1) / kScaleStages), blocks(stages) {
        if (w.absmax != nullptr) {
            absmax = w.absmax + block;
        } else {
            codes = w.absmax_q + block;
            nested = w.nested_absmax;
            offset = w.nested_offset;
        }
    }
    __device__ __forceinline__ void ask(int group) {
        if (group >= groups) {
            return;
        }
        if constexpr (ANY) {
            four = 0;
#pragma unroll
            for (int i = 0; i < kScaleStages; ++i) {
                // What lies behind the last block repeats it; nobody uses it.
                const int at =
                    group * kScaleStages + i < blocks ? group * kScaleStages + i : blocks - 1;
                if (absmax != nullptr) {
                    factors[i] = absmax[at];
                } else {
                    four |= static_cast<uint32_t>(codes[at]) << (8 * i);
                    factors[i] = nested[(first + at) >> 8];
                }
            }
        } else if (absmax != nullptr) {
            values = *reinterpret_cast<const float4*>(absmax + group * kScaleStages);
        } else {
            four = *reinterpret_cast<const uint32_t*>(codes + group * kScaleStages);
            factor = nested[(first + group * kScaleStages) >> 8];
        }
    }
    /// Those that were asked for, as bf16, into the buffers at `scales`. value_of: nested codes.
    __device__ __forceinline__ void
    store(int group, uint16_t* scales, const float* value_of) const {
        if (group >= groups) {
            return;
        }
        uint16_t* const to = scales + (group & 1) * kScaleValues + groupThread();
        const float plain[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
        for (int i = 0; i < kScaleStages; ++i) {
            const float own = ANY ? factors[ANY ? i : 0] : absmax != nullptr ? plain[i] : factor;
            const float value =
                absmax != nullptr
                    ? own
                    : __fadd_rn(__fmul_rn(value_of[four >> (8 * i) & 255U], own), offset);
            to[i * kOutputs] = static_cast<uint16_t>(halfBits(value));
        }
    }
};

/// One thread's share of filling a stage of its group: 16-byte pieces of rows of x, as ldmatrix
/// wants them, and of codes. Rows of x behind the last one are zeros and read from nowhere (all
/// blocks would ask L2 for the same line); of weights they repeat the last one and are not used.
template <typename FORM>
struct StageCopy {
    static constexpr int kInputs = FORM::kInputBytes / 16 / kGroupThreads;
    static constexpr int kCodes = kOutputs * kCodeBytes / 16 / kGroupThreads;
    const char* x[kInputs];
    const char* codes[kCodes];
    uint32_t x_to;
    int inputs; ///< The number of those rows of x that exist, from the first.

    /// stage: its number within the group's part.
    __device__ __forceinline__ void run(uint32_t tile, int stage) const {
#pragma unroll
        for (int i = 0; i < kInputs; ++i) {
            copyAsync16(tile + x_to + i * (kGroupThreads / kTileChunks) * kTileDepth * 2,
                        x[i] + stage * (kTileDepth * 2), i < inputs);
        }
#pragma unroll
        for (int i = 0; i < kCodes; ++i) {
            copyAsync16(tile + FORM::kInputBytes + (groupThread() + i * kGroupThreads) * 16,
                        codes[i] + stage * kCodeBytes, true);
        }
    }
};

/// Sums of this warp's part of a tile of 16 FRAGMENTS rows, of a pair of weights in turns of eight.
template <int FRAGMENTS>
struct TileSums {
    float sums[FRAGMENTS][kOutputFragments][4] = {};

    /// The sums to rows m0 to m - 1 and outputs n0 to n - 1 of y. n is even.
    __device__ __forceinline__ void
    store(float* y, int64_t stride, int64_t m0, int64_t m, int n0, int n) const {
        const int lane = threadIdx.x % 32;
        const int col0 = n0 + static_cast<int>(threadIdx.x) / 32 * kWarpOutputs + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < FRAGMENTS; ++i) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int64_t row = m0 + lane / 4 + i * 16 + half * 8;
#pragma unroll
                for (int j = 0; j < kOutputFragments; ++j) {
                    const int col = col0 + j * 8;
                    if (row < m && col < n) {
                        *reinterpret_cast<float2*>(y + row * stride + col) =
                            make_float2(sums[i][j][half * 2], sums[i][j][half * 2 + 1]);
                    }
                }
            }
        }
    }

    /// For a pair: the activation of the first weight's sums times those of the other.
    __device__ __forceinline__ void storeGated(Activation activation,
                                               __nv_bfloat16* y,
                                               int64_t stride,
                                               int64_t m0,
                                               int64_t m,
                                               int n0,
                                               int n) const {
        const int lane = threadIdx.x % 32;
        const int col0 =
            n0 + static_cast<int>(threadIdx.x) / 32 * (kWarpOutputs / 2) + lane % 4 * 2;
        withActivation(activation, [&](const auto& act) {
#pragma unroll
            for (int i = 0; i < FRAGMENTS; ++i) {
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const int64_t row = m0 + lane / 4 + i * 16 + half * 8;
#pragma unroll
                    for (int j = 0; j < kOutputFragments; j += 2) {
                        const int col = col0 + j * 4;
                        if (row < m && col < n) {
                            const float* const gate = sums[i][j] + half * 2;
                            const float* const up = sums[i][j + 1] + half * 2;
                            *reinterpret_cast<__nv_bfloat162*>(y + row * stride + col) =
                                __floats2bfloat162_rn(act(gate[0]) * up[0], act(gate[1]) * up[1]);
                        }
                    }
                }
            }
        });
    }
};

/// A tile of 4-bit codes, IS_PAIR: of two weights.
template <bool IS_PAIR, typename FORM>
struct CodeTile : TileSums<FORM::kFragments> {
    using TileSums<FORM::kFragments>::sums;

    static __device__ __forceinline__ TileRow
    rowOf(const ProductKernelArgs& a, const TileSource& source, int weight, int n0, int r) {
        const int row = IS_PAIR ? n0 + r / 16 * 8 + r % 8 : n0 + r;
        const int which = IS_PAIR ? r >> 3 & 1 : weight;
        return {which, (IS_PAIR && which == 1 ? source.second : source.first) +
                           (row < a.n[which] ? row : a.n[which] - 1)};
    }

    /// A stage: x at `tile`, codes behind it; scales: of this warp's first row.
    __device__ __forceinline__ void add(uint32_t tile, uint32_t table, const uint16_t* scales) {
        const int lane = threadIdx.x % 32;
        const int warp_row = groupThread() / 32 * kWarpOutputs;
        const uint32_t selector = 0x4440U | static_cast<uint32_t>(lane & 3);
        const uint32_t codes =
            tile + FORM::kInputBytes + static_cast<uint32_t>((warp_row + lane / 4) * kCodeBytes);
        const uint32_t rows = tile + static_cast<uint32_t>(lane & 15) * (kTileDepth * 2);
        const int swizzle = (lane >> 4) ^ (lane & 7);
        uint32_t scale[kOutputFragments];
#pragma unroll
        for (int j = 0; j < kOutputFragments; ++j) {
            const uint32_t bits = scales[j * 8];
            scale[j] = bits | bits << 16;
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            uint4 words[kOutputFragments]; // of 32 columns
#pragma unroll
            for (int j = 0; j < kOutputFragments; ++j) {
                words[j] = loadShared16(codes + j * 8 * kCodeBytes + half * 16);
            }
#pragma unroll
            for (int kk = 2 * half; kk < 2 * half + 2; ++kk) {
                uint32_t b[kOutputFragments][2];
#pragma unroll
                for (int j = 0; j < kOutputFragments; ++j) {
#pragma unroll
                    for (int e = 0; e < 2; ++e) {
                        const uint32_t word = kk % 2 == 0 ? (e == 0 ? words[j].x : words[j].y)
                                                          : (e == 0 ? words[j].z : words[j].w);
                        const uint32_t byte = permuteBytes(word, 0, selector);
                        b[j][e] = multiplyHalves(loadShared(table + (byte << 7)), scale[j]);
                    }
                }
#pragma unroll
                for (int i = 0; i < FORM::kFragments; ++i) {
                    uint32_t a[4];
                    loadMatrix4(a, rows + i * 16 * kTileDepth * 2 +
                                       static_cast<uint32_t>(swizzle ^ (kk * 2)) * 16U);
#pragma unroll
                    for (int j = 0; j < kOutputFragments; ++j) {
                        multiplyAdd(sums[i][j], a, b[j][0], b[j][1]);
                    }
                }
            }
        }
    }

    /// The first group's sums of all of columns [k_begin, k_end); whether this is that. `add_else`
    /// adds to them whatever else belongs there.
    template <typename Add = NothingElse>
    __device__ __forceinline__ bool multiply(const ProductCodesArgs& args,
                                             const TileSource& from,
                                             int64_t m0,
                                             int weight,
                                             int n0,
                                             int k_begin,
                                             int k_end,
                                             const Add& add_else = {}) {
        const int thread = groupThread();
        const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
        char* const own = dynamicShared() + kTableBytes + group * FORM::kGroupBytes;
        auto* const scales = reinterpret_cast<uint16_t*>(own + kStages * FORM::kStageBytes);
        float* const nested = reinterpret_cast<float*>(dynamicShared() + FORM::kNestedAt);
        if constexpr (FORM::kGroups > 1) {
            constexpr int kRest = FORM::kAnyColumns ? kProductCodesColumns - 1 : 0;
            const int pieces = (k_end - k_begin + kRest) / kProductCodesColumns;
            const int each = (pieces + FORM::kGroups - 1) / FORM::kGroups;
            const auto borderOf = [&](int g) {
                const int at =
                    k_begin + (g * each < pieces ? g * each : pieces) * kProductCodesColumns;
                return FORM::kAnyColumns && at > k_end ? k_end : at;
            };
            const int begin = borderOf(group);
            k_end = borderOf(group + 1);
            k_begin = begin;
        }
        const ProductKernelArgs& a = args.product;
        const int k = static_cast<int>(a.k);
        const int stages = (k_end - k_begin) / kTileDepth;
        const uint32_t base = sharedAddress(own);
        StageCopy<FORM> copy;
        {
            constexpr int kStep = kGroupThreads / kTileChunks;
            const int chunk = thread % kTileChunks;
            const int row = thread / kTileChunks;
            copy.x_to = static_cast<uint32_t>(row * kTileChunks + (chunk ^ (row & 7))) * 16U;
            const int64_t left = from.m - m0 - row;
            copy.inputs = left <= 0 ? 0 : static_cast<int>((left + kStep - 1) / kStep);
#pragma unroll
            for (int i = 0; i < StageCopy<FORM>::kInputs; ++i) {
                int64_t at = i < copy.inputs ? m0 + row + i * kStep : 0;
                if (from.rows != nullptr && i < copy.inputs) {
                    at = from.rows[at];
                }
                copy.x[i] = static_cast<const char*>(from.x) + (at * k + k_begin + chunk * 8) * 2;
            }
#pragma unroll
            for (int i = 0; i < StageCopy<FORM>::kCodes; ++i) {
                const int piece = thread + i * kGroupThreads;
                const TileRow r = rowOf(a, from, weight, n0, piece / (kCodeBytes / 16));
                copy.codes[i] = static_cast<const char*>(args.w[r.weight].data) +
                                (static_cast<int64_t>(r.row) * k + k_begin) / 2 +
                                piece % (kCodeBytes / 16) * 16;
            }
        }
#pragma unroll
        for (int s = 0; s < kStages - 1; ++s) {
            if (s < stages) {
                copy.run(base + s * FORM::kStageBytes, s);
            }
            commitCopies();
        }
        const TileRow row = rowOf(a, from, weight, n0, thread);
        const WeightArgs& own_weight = args.w[row.weight];
        RowScales<FORM::kAnyColumns> source(
            own_weight, (static_cast<int64_t>(row.row) * k + k_begin) / kTileDepth, stages);
        source.ask(0);
        if (args.w[weight].absmax == nullptr) { // all alike
            for (int i = threadIdx.x; i < (IS_PAIR ? 512 : 256); i += FORM::kThreads) {
                nested[i] = args.w[IS_PAIR ? i >> 8 : weight].nested_code[i & 255];
            }
        }
        const float* const value_of = nested + (IS_PAIR ? row.weight * 256 : 0);
        constexpr int kFillingWarps = FORM::kGroups > 1 ? 8 : 4;
        if (static_cast<int>(threadIdx.x) < kFillingWarps * 32) {
            fillPairs<kFillingWarps>(args.w[0].code_table);
        }
        __syncthreads();
        source.store(0, scales, value_of);
        source.ask(1);
        const uint32_t table = sharedAddress(dynamicShared()) + (threadIdx.x % 32) * 4;
        const uint16_t* const own_scales =
            scales + thread / 32 * kWarpOutputs + threadIdx.x % 32 / 4;
        int slot = 0;
#pragma unroll 1
        for (int stage = 0; stage < stages; ++stage) {
            waitForCopyGroups<kStages - 2>();
            syncGroup(group);
            if (stage % kScaleStages == 0) {
                source.store(stage / kScaleStages + 1, scales, value_of);
                source.ask(stage / kScaleStages + 2);
            }
            if (stage + kStages - 1 < stages) {
                copy.run(base + static_cast<uint32_t>(slot == 0 ? kStages - 1 : slot - 1) *
                                    FORM::kStageBytes,
                         stage + kStages - 1);
            }
            commitCopies();
            add(base + static_cast<uint32_t>(slot) * FORM::kStageBytes, table,
                own_scales + (stage & (2 * kScaleStages - 1)) * kOutputs);
            slot = slot + 1 == kStages ? 0 : slot + 1;
        }
        if constexpr (FORM::kGroups > 1) {
            gather(group, own);
        }
        if (group > 0) {
            return false;
        }
        add_else(sums);
        return true;
    }

    static __device__ __forceinline__ void syncGroup(int group) {
        if constexpr (FORM::kGroups > 1) {
            syncSome(1 + group, kGroupThreads);
        } else {
            __syncthreads();
        }
    }

    /// Adds the sums of all groups to those of the first, in their order.
    __device__ __forceinline__ void gather(int group, char* own) {
        constexpr int kSums = FORM::kFragments * kOutputFragments * 4;
        float* const flat = &sums[0][0][0];
        if (group > 0) {
            syncGroup(group); // nobody reads its stages any more
            float* const to = reinterpret_cast<float*>(own) + groupThread();
#pragma unroll
            for (int i = 0; i < kSums; ++i) {
                to[i * kGroupThreads] = flat[i];
            }
        }
        __syncthreads();
        if (group == 0) {
#pragma unroll
            for (int g = 1; g < FORM::kGroups; ++g) {
                const float* const from =
                    reinterpret_cast<const float*>(own + g * FORM::kGroupBytes) + groupThread();
#pragma unroll
                for (int i = 0; i < kSums; ++i) {
                    flat[i] += from[i * kGroupThreads];
                }
            }
        }
    }
};

} // namespace kernels::cuda
