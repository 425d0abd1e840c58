// SPDX-License-Identifier: Apache-2.0
// Low-rank updates in stream.cu. One warp of a block does nothing else.
//
// A h is made once in the grid: a unit is one row of A times a range of columns (UnitPiece). The
// warp multiplies its block's units by the input as soon as that is there, publishes the sums, each
// times the factor of its update, collects those of all blocks while the others multiply, and makes
// B (A h) for the block's rows: whoever makes results adds one number a row. The factor of the last
// norm is missing in it as it is in the products; both get it at the end.
//
// What stands between the input and those results is on the way of every step, and a warp takes
// five to ten clocks an instruction that runs once a step. So B (A h) is made by tensor cores from
// the packets as they come: 16 ranks of an update are a tile, the sums of a chunk of columns a
// column of the right operand. A lane polls the four packets that are its part of that operand,
// those of eight columns all at once, and the columns of the result are added.
//
// A of the block's units and B of its rows come as bulk copies while the steps before are at work
// (up to kStepsAsked of them; else when the step has begun), to places of the work memory that
// these leave alone and that steps with updates take in turn; behind attention's where that stands
// between. Nobody else reads there.
//
// Sums travel as packets, one in a sector of 32 bytes: where many blocks write next to each other
// while all poll, a way through L2 takes twice as long.
#pragma once

#include "kernels/cuda/device/stream_input.cuh"
#include "kernels/cuda/device/unit_piece.cuh"
#include "kernels/cuda/device/weight_ring.cuh"

namespace kernels::cuda {

/// What updates add to the block's rows of a weight, but for the factor of the last norm: [weights,
/// local_rows] at the beginning of the operands. work: the work memory.
__device__ __forceinline__ const float*
updatesOf(const ProjectKernelArgs& a, const char* work, int weight) {
    return reinterpret_cast<const float*>(work + a.lora_at) + weight * a.local_rows;
}

/// A of the block's units: behind those sums and what is made of it, lora_pitch apart.
__device__ __forceinline__ int unitRows(const ProjectKernelArgs& a) {
    return streamUpdateBytes(a.count, a.local_rows) +
           streamNormedBytes(a.input, a.cols, a.lora_columns);
}

/// The packet of a rank of an update times a chunk of the columns: which of the four that
/// lane `index` % 32 reads is `index` / 32. Which ranks a lane has follows from how loadMatrix4()
/// deals out B, 16 bytes of a row at a time.
__device__ __forceinline__ int packetOfRank(const LoraArgs& term, int rank, int column) {
    const int k = rank & (kLoraTileRanks - 1);
    const bool is_wide = term.b_type == kElementF32;
    const int part = is_wide ? k >> 2 : (k & 1) | (k >> 3) << 1;
    const int in_group = is_wide ? k & 3 : k >> 1 & 3;
    return column / kLoraTileColumns * 128 + part * 32 + column % kLoraTileColumns * 4 + in_group;
}

/// A unit and the packet of its sum.
struct UnitTask : UnitPiece {
    int packet = 0;

    UnitTask() = default;
    __device__ __forceinline__ UnitTask(const ProjectKernelArgs& a, int unit)
        : UnitPiece(a, unit >> a.lora_shift, unit & ((1 << a.lora_shift) - 1)) {
        const LoraArgs& update = a.lora[term];
        const int tile = update.tile + rank / kLoraTileRanks;
        packet =
            packetOfRank(update, rank, (tile << a.lora_shift) + (unit & ((1 << a.lora_shift) - 1)));
    }
};

/// What the warp knows of a step before its input comes.
struct StepTask {
    UnitTask unit; ///< The block's first one.
    int rows = 0;  ///< Lane t: of this block, of the weight that update t is for.
};

/// Asks for the operands of a step; `there` gets a phase for them. The warp has read what was in
/// their place.
__device__ __forceinline__ StepTask placeOperands(const ProjectKernelArgs& a,
                                                  char* memory,
                                                  CopyBarrier there,
                                                  const Exchange& exchange) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    StepTask task;
    __syncwarp();
    fenceBulkCopies();
    uint32_t place = sharedAddress(memory) + unitRows(a);
#pragma unroll 1
    for (int unit = exchange.block; unit < a.lora_units; unit += exchange.grid) {
        const UnitTask piece(a, unit);
        if (unit == exchange.block) {
            task.unit = piece;
        }
        if (lane == 0 && piece.columns > 0) {
            there.expect(piece.bytes);
            copyBulkOnce(place, piece.at, piece.bytes, there, evictFirst());
        }
        place += a.lora_pitch;
    }
    if (lane < a.lora_count) {
        const LoraArgs& term = a.lora[lane];
        int from = firstOutput(a, exchange.block);
        int to = firstOutput(a, exchange.block + 1);
        if (a.output != kOutputGeluPair) {
            // Outputs of all weights follow each other.
            const int before = (term.weight > 0 ? static_cast<int>(a.w[0].rows) : 0) +
                               (term.weight > 1 ? static_cast<int>(a.w[1].rows) : 0);
            const int all = static_cast<int>(a.w[term.weight].rows);
            from = from > before ? from - before : 0;
            to = to - before < all ? to - before : all;
        }
        task.rows = to > from ? to - from : 0;
        if (task.rows > 0) {
            const int row_bytes = term.rank * elementBytes(term.b_type);
            there.expect(task.rows * row_bytes);
            copyBulkOnce(sharedAddress(memory) + term.b_offset,
                         static_cast<const char*>(term.b) + static_cast<int64_t>(from) * row_bytes,
                         task.rows * row_bytes, there, evictFirst());
        }
    }
    __syncwarp();
    if (lane == 0) {
        there.arrive();
    }
    return task;
}

/// Eight neighbours of A, of which `row` are the first one's bytes in shared memory.
__device__ __forceinline__ void eightOf(int type, const char* row, float (&v)[8]) {
    if (type == kElementBf16) {
        eightOf<kElementBf16>(row, 0, v);
    } else if (type == kElementF16) {
        eightOf<kElementF16>(row, 0, v);
    } else {
        eightOf<kElementF32>(row, 0, v);
    }
}

/// Eight of A times eight neighbours of the input: their upper parts (of 11 bits). The lower ones
/// of a narrow row would take as many instructions once more, between input and packets.
__device__ __forceinline__ float dotPlane(const char* plane, const float (&v)[8]) {
    const uint4 x = *reinterpret_cast<const uint4*>(plane);
    const uint32_t pairs[4] = {x.x, x.y, x.z, x.w};
    float sums[2] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 two = __half22float2(asHalf2(pairs[i]));
        sums[i & 1] = fmaf(v[2 * i], two.x, sums[i & 1]);
        sums[i & 1] = fmaf(v[2 * i + 1], two.y, sums[i & 1]);
    }
    return sums[0] + sums[1];
}

/// This lane's columns of a unit, whose A is at `rows` in shared memory, times the input: eight
/// neighbours of every 256. A of the first of them is read before `input`; the others in a loop:
/// straight lines would wait for their instructions.
__device__ __forceinline__ float unitSum(const UnitTask& task,
                                         const char* rows,
                                         const StreamWork& w,
                                         bool is_four_bit,
                                         bool is_wide,
                                         CopyBarrier input,
                                         uint32_t input_parity) {
    constexpr int kStride = 256; // columns
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int row_stride = kStride * elementBytes(task.type);
    const int block = (task.column >> 6) + (lane >> 3);
    const char* row = rows + lane * 8 * elementBytes(task.type);
    const char* plane =
        w.planes + block * w.block_bytes + planeOffset((lane & 7) * 2, is_four_bit, is_wide);
    const float* scale = w.scales + block;
    int left = task.columns - lane * 8;
    float v[8] = {};
    if (left > 0) {
        eightOf(task.type, row, v);
    }
    input.wait(input_parity);
    float sum = 0.0F;
    if (left > 0) {
        sum = dotPlane(plane, v) * *scale;
    }
#pragma unroll 1
    while (left > kStride) {
        left -= kStride;
        row += row_stride;
        plane += kStride / 64 * w.block_bytes;
        scale += kStride / 64;
        eightOf(task.type, row, v);
        sum = fmaf(dotPlane(plane, v), *scale, sum);
    }
    __syncwarp();
    return sum;
}

/// The input is what the step before publishes as packets, as it is: units need no planes of it. Of
/// wider rows, whose units have more columns, that was slower.
constexpr int kMostPacketColumns = 4096;
__device__ __forceinline__ bool takesPackets(const ProjectKernelArgs& a) {
    return a.input == kInputPlain && a.link == kLinkPackets && a.cols <= kMostPacketColumns;
}

/// This lane's columns of a unit of such a step, from the packets as they come: eight neighbours of
/// every 256.
__device__ __forceinline__ float
packetSum(const UnitTask& task, const char* rows, const Exchange& exchange, int step) {
    constexpr int kStride = 256; // columns
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const uint32_t mark = exchange.markOf(step - 1);
    const uint2* at =
        exchange.packetsOf(step - 1 + kPacketSteps) + packetPlace(task.column + lane * 8);
    float sums[2] = {};
#pragma unroll 1
    for (int c = lane * 8; c < task.columns; c += kStride) {
        float eight[8];
        eightOf(task.type, rows + c * elementBytes(task.type), eight);
        uint4 v[4];
        bool is_there = false;
        while (!is_there) {
            // Two of the first four, of the second four, and again.
            v[0] = loadPackets(at);
            v[1] = loadPackets(at + 2);
            v[2] = loadPackets(at + kPacketHalf);
            v[3] = loadPackets(at + kPacketHalf + 2);
            is_there = true;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                is_there = is_there && v[i].y == mark && v[i].w == mark;
            }
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int first = (i & 1) * 4 + (i >> 1) * 2;
            sums[0] = fmaf(eight[first], __uint_as_float(v[i].x), sums[0]);
            sums[1] = fmaf(eight[first + 1], __uint_as_float(v[i].z), sums[1]);
        }
        at += kStride;
    }
    __syncwarp();
    return sums[0] + sums[1];
}

/// A unit of an early step. The residual row is x + scale t n, where scale comes with t's norm: A
/// times it and times the next norm m is A m x + scale (A m n) t. The first sum and A m n are there
/// before t is, and nobody waits for planes.
struct EarlyUnit {
    float4* normed; ///< A m n: fours of all lanes behind each other, first ones, then second ones.
    float sum;      ///< This lane's part of A m x.

    /// Takes the unit's columns of the residual row, where A m n will lie.
    __device__ __forceinline__
    EarlyUnit(const ProjectKernelArgs& a, const UnitTask& task, char* operands, const float4* row)
        : normed(reinterpret_cast<float4*>(operands + streamUpdateBytes(a.count, a.local_rows)) +
                 lane()),
          sum(0.0F) {
        float4* to = normed;
#pragma unroll 1
        for (int c = lane() * 8; c < task.columns; c += kStride) {
            const int column = task.column + c;
            to[0] = row[column / 4];
            to[32] = row[column / 4 + 1];
            to += 64;
        }
    }

    /// rows: A; norms: m, and norm_bytes further n.
    __device__ __forceinline__ void prepare(const ProjectKernelArgs& a,
                                            const UnitTask& task,
                                            const char* rows,
                                            const char* norms,
                                            int norm_bytes) {
        float4* to = normed;
#pragma unroll 1
        for (int c = lane() * 8; c < task.columns; c += kStride) {
            const int column = task.column + c;
            float v[8];
            float other[8];
            eightOf(task.type, rows + c * elementBytes(task.type), v);
            if (a.norm.data != nullptr) {
                eightOf(a.norm.type, norms + column * elementBytes(a.norm.type), other);
                multiply(v, other);
            }
            const float4 low = to[0];
            const float4 high = to[32];
            sum += (v[0] * low.x + v[1] * low.y) + (v[2] * low.z + v[3] * low.w) +
                   ((v[4] * high.x + v[5] * high.y) + (v[6] * high.z + v[7] * high.w));
            if (a.t_norm.data != nullptr) {
                eightOf(a.t_norm.type, norms + norm_bytes + column * elementBytes(a.t_norm.type),
                        other);
                multiply(v, other);
            }
            to[0] = make_float4(v[0], v[1], v[2], v[3]);
            to[32] = make_float4(v[4], v[5], v[6], v[7]);
            to += 64;
        }
    }

    /// The lane's part of the unit, once t is there.
    __device__ __forceinline__ float
    finish(const ProjectKernelArgs& a, const UnitTask& task, const StreamWork& w) const {
        const float4* from = normed;
        const float4* t = w.taken + task.column / 4 + lane() * 2;
        float sums[2] = {};
#pragma unroll 1
        for (int c = lane() * 8; c < task.columns; c += kStride) {
            const float4 a0 = from[0];
            const float4 a1 = from[32];
            const float4 t0 = t[0];
            const float4 t1 = t[1];
            sums[0] = fmaf(a0.x, t0.x, sums[0]);
            sums[1] = fmaf(a1.x, t1.x, sums[1]);
            sums[0] = fmaf(a0.y, t0.y, sums[0]);
            sums[1] = fmaf(a1.y, t1.y, sums[1]);
            sums[0] = fmaf(a0.z, t0.z, sums[0]);
            sums[1] = fmaf(a1.z, t1.z, sums[1]);
            sums[0] = fmaf(a0.w, t0.w, sums[0]);
            sums[1] = fmaf(a1.w, t1.w, sums[1]);
            from += 64;
            t += kStride / 4;
        }
        __syncwarp();
        const float scale = rsqrtf(sumOfWarps(w.buffer) * a.inverse_cols + a.eps) * a.scalar;
        return fmaf(scale, sums[0] + sums[1], a.scalar * sum);
    }

private:
    static constexpr int kStride = 256; // columns
    static __device__ __forceinline__ int lane() {
        return static_cast<int>(threadIdx.x) & 31;
    }
    static __device__ __forceinline__ void multiply(float (&v)[8], const float (&by)[8]) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            v[i] *= by[i];
        }
    }
};

/// publishUnits() of an early step, whose blocks have one unit at most.
__device__ __forceinline__ void publishEarlyUnit(const ProjectKernelArgs& a,
                                                 const StreamWork& w,
                                                 const EarlyUnit& unit,
                                                 const UnitTask& task,
                                                 bool has_unit,
                                                 CopyBarrier input,
                                                 uint32_t input_parity,
                                                 uint32_t tag) {
    if (!has_unit) {
        input.wait(input_parity);
        return;
    }
    // On their way while the warp waits.
    const float factor = *task.factor;
    uint64_t* const slot = a.lora_slots + task.packet * kUnitSlot;
    input.wait(input_parity);
    const float sum = warpSum(unit.finish(a, task, w));
    if ((threadIdx.x & 31) == 0) {
        storeTagged(slot, sum * factor, tag);
    }
}

/// Makes the sums of this block's units, for all blocks, once the input and A are there.
/// tag: of this step; task: of the first unit.
__device__ __forceinline__ void publishUnits(const ProjectKernelArgs& a,
                                             const StreamWork& w,
                                             const char* rows,
                                             UnitTask task,
                                             CopyBarrier input,
                                             uint32_t input_parity,
                                             const Exchange& exchange,
                                             int step) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const uint32_t tag = exchange.markOf(step);
    const bool takes_packets = takesPackets(a);
#pragma unroll 1
    for (int unit = exchange.block; unit < a.lora_units; unit += exchange.grid) {
        if (unit != exchange.block) {
            task = UnitTask(a, unit);
        }
        // On their way while the warp waits.
        const float factor = *task.factor;
        uint64_t* const slot = a.lora_slots + task.packet * kUnitSlot;
        const float own = takes_packets ? packetSum(task, rows, exchange, step)
                                        : unitSum(task, rows, w, a.w[0].format != kFormatInt8Row,
                                                  isWide(a), input, input_parity);
        const float sum = warpSum(own);
        if (lane == 0) {
            storeTagged(slot, sum * factor, tag);
        }
        rows += a.lora_pitch;
    }
    // Without a unit too: no phase is left out, and what the step before had is done with.
    input.wait(input_parity);
}

/// Zeros for the rows of weights without an update.
__device__ __forceinline__ void clearUpdates(const ProjectKernelArgs& a, char* operands) {
#pragma unroll 1
    for (int j = 0; j < a.count; ++j) {
        if (a.lora_first[j] == a.lora_first[j + 1]) {
            float* const sums = reinterpret_cast<float*>(operands) + j * a.local_rows;
#pragma unroll 1
            for (int i = static_cast<int>(threadIdx.x) & 31; i < a.local_rows; i += 32) {
                sums[i] = 0.0F;
            }
        }
    }
}

/// A pair of numbers as bf16, and what that leaves of them.
struct SplitPair {
    uint32_t high;
    uint32_t low;
};
__device__ __forceinline__ SplitPair splitPair(float first, float second) {
    const auto pack = [](float a, float b) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(a, b);
        uint32_t bits = 0;
        memcpy(&bits, &pair, sizeof bits);
        return bits;
    };
    const uint32_t high = pack(first, second);
    return {high, pack(first - __uint_as_float(high << 16),
                       second - __uint_as_float(high & 0xffff0000U))};
}

/// This lane's part of the right operand: four ranks of one column in two pairs. Zero where there
/// is no such rank or column.
struct RankValues {
    SplitPair pairs[2];
};

/// Waits for columns `first` to `first` + 7 of A h of the whole grid.
__device__ __forceinline__ RankValues collectRanks(const ProjectKernelArgs& a,
                                                   int first,
                                                   uint32_t tag) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const uint64_t* const packets =
        a.lora_slots + (first / kLoraTileColumns * 128 + lane) * kUnitSlot;
    const int tile = (first + (lane >> 2)) >> a.lora_shift;
    bool is_wanted[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        is_wanted[i] = tile < a.lora_tiles;
    }
    if (a.lora_is_ragged != 0 && tile < a.lora_tiles) {
        int t = 0;
        while (t + 1 < a.lora_count && tile >= a.lora[t + 1].tile) {
            ++t;
        }
        const int ranks = a.lora[t].rank - (tile - a.lora[t].tile) * kLoraTileRanks;
        const bool is_wide = a.lora[t].b_type == kElementF32;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int k = is_wide ? i * 4 + (lane & 3) : (i & 1) + (lane & 3) * 2 + (i >> 1) * 8;
            is_wanted[i] = k < ranks;
        }
    }
    Tagged v[4];
    bool is_there = false;
    while (!is_there) {
        is_there = true;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            v[i] = {0.0F, tag};
            if (is_wanted[i]) {
                v[i] = loadTagged(packets + i * 32 * kUnitSlot);
            }
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            is_there = is_there && v[i].tag == tag;
        }
    }
    __syncwarp();
    return {{splitPair(v[0].value, v[1].value), splitPair(v[2].value, v[3].value)}};
}

/// 16 rows of B, 16 ranks of each, as a left operand: rows lane / 4 and those eight further of two
/// pairs of ranks, in the lanes' order of them (packetOfRank()). low: what bf16 leaves.
struct RankTile {
    uint32_t high[4];
    uint32_t low[4];
};

/// from: address of this lane's row (of lanes i and i + 16 row i) and its 16 bytes; next: from
/// there to those eight ranks further (fp32).
__device__ __forceinline__ RankTile loadTile(int type, uint32_t from, int next) {
    RankTile tile = {};
    loadMatrix4(tile.high, from);
    if (type == kElementBf16) {
        return tile;
    }
    float2 pairs[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        pairs[i] = __half22float2(asHalf2(tile.high[i]));
    }
    if (type == kElementF32) {
        // A tile of 16 bytes has four ranks: i and i + 4 are a pair.
        uint32_t more[4];
        loadMatrix4(more, from + next);
        const auto pairOf = [](uint32_t a, uint32_t b) {
            return make_float2(__uint_as_float(a), __uint_as_float(b));
        };
        pairs[0] = pairOf(tile.high[0], tile.high[2]);
        pairs[1] = pairOf(tile.high[1], tile.high[3]);
        pairs[2] = pairOf(more[0], more[2]);
        pairs[3] = pairOf(more[1], more[3]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const SplitPair split = splitPair(pairs[i].x, pairs[i].y);
        tile.high[i] = split.high;
        tile.low[i] = split.low;
    }
    return tile;
}

/// The tile times eight columns of ranks, added: of row lane / 4 in lanes 0 and 2 of every four, of
/// the one eight further in the others.
__device__ __forceinline__ float
multiplyTile(const RankTile& tile, const RankValues& ranks, bool is_bf16) {
    float c[4] = {};
    multiplyAdd(c, tile.high, ranks.pairs[0].high, ranks.pairs[1].high);
    multiplyAdd(c, tile.high, ranks.pairs[0].low, ranks.pairs[1].low);
    if (!is_bf16) {
        multiplyAdd(c, tile.low, ranks.pairs[0].high, ranks.pairs[1].high);
    }
    const bool is_second = (threadIdx.x & 1) != 0;
    const float first = c[0] + c[1];
    const float second = c[2] + c[3];
    float sum = is_second ? second : first;
    sum += __shfl_xor_sync(0xffffffffU, is_second ? first : second, 1);
    return sum + __shfl_xor_sync(0xffffffffU, sum, 2);
}

/// Goes through the tiles of ranks that meet the eight columns from `base` on, of all updates that
/// have rows in the block.
struct RankWalk {
    int t = -1;         ///< Update, and
    int k = 0, end = 0; ///< tile of its ranks and behind its last one here.
    int rows = 0;
    int type = 0, weight = 0, row_bytes = 0;

    [[nodiscard]] __device__ __forceinline__ bool isThere(const ProjectKernelArgs& a) const {
        return t < a.lora_count;
    }
    /// The next tile. lane_rows: StepTask::rows.
    __device__ __forceinline__ void advance(const ProjectKernelArgs& a, int base, int lane_rows) {
        ++k;
#pragma unroll 1
        while (k >= end) {
            if (++t >= a.lora_count) {
                return;
            }
            const LoraArgs& term = a.lora[t];
            rows = __shfl_sync(0xffffffffU, lane_rows, t);
            type = term.b_type;
            weight = term.weight;
            row_bytes = term.rank * elementBytes(type);
            // Of its tiles those that have columns here.
            k = (base >> a.lora_shift) - term.tile;
            k = k > 0 ? k : 0;
            end = ((base + kLoraTileColumns - 1) >> a.lora_shift) + 1 - term.tile;
            const int tiles = (term.rank + kLoraTileRanks - 1) / kLoraTileRanks;
            end = rows == 0 ? 0 : end < tiles ? end : tiles;
        }
    }
};

/// Makes B (A h) of the block's rows from the packets as they come. What does not need them is done
/// before: the way from packets to results is on everybody's, in a small step.
__device__ __forceinline__ void addUpdates(const ProjectKernelArgs& a,
                                           char* operands,
                                           int lane_rows,
                                           uint32_t tag,
                                           const StepClocks& clocks) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int columns = a.lora_tiles << a.lora_shift;
    uint32_t begun = 0; // weights that have sums already
#pragma unroll 1
    for (int base = 0; base < columns; base += kLoraTileColumns) {
        RankWalk ahead;
        RankValues all = {};
        bool has_ranks = false;
        bool is_last = false;
#pragma unroll 1
        while (!is_last) {
            const RankWalk walk = ahead;
            ahead.advance(a, base, lane_rows);
            is_last = !ahead.isThere(a);
            if (walk.t < 0) { // in front of the first one
                continue;
            }
            const bool is_more = (begun >> walk.weight & 1U) != 0;
            begun |= 1U << walk.weight;
            // As loadTile() takes them: of the first 16 rows, and of the block's last row at most.
            // Behind a row's last rank is nothing to read: what is read instead is times zero.
            const LoraArgs& term = a.lora[walk.t];
            const bool is_bf16 = walk.type == kElementBf16;
            const int tile_bytes = walk.k * kLoraTileRanks * elementBytes(walk.type);
            const int left_bytes = walk.row_bytes - tile_bytes;
            const int more = (lane & 16) < left_bytes ? lane & 16 : 0;
            const int next = more + 32 < left_bytes ? 32 : 0;
            const uint32_t first = sharedAddress(operands) + term.b_offset + tile_bytes + more;
            const uint32_t last = first + (walk.rows - 1) * walk.row_bytes;
            uint32_t from = first + (lane & 15) * walk.row_bytes;
            from = from < last ? from : last;
            RankTile tile = loadTile(walk.type, from, next);
            const bool is_own = (base + (lane >> 2)) >> a.lora_shift == term.tile + walk.k;
            // Of every four lanes the first two have a row; the others none.
            int left = walk.rows - (lane >> 2) - (lane & 3) * 8;
            left = (lane & 3) < 2 ? left : 0;
            float* to = reinterpret_cast<float*>(operands) + walk.weight * a.local_rows +
                        (lane >> 2) + (lane & 3) * 8;
            if (!has_ranks) {
                all = collectRanks(a, base, tag);
                has_ranks = true;
                clocks.noteUnit(2);
            }
            RankValues ranks;
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                ranks.pairs[i].high = is_own ? all.pairs[i].high : 0U;
                ranks.pairs[i].low = is_own ? all.pairs[i].low : 0U;
            }
#pragma unroll 1
            for (int row = walk.rows;;) {
                float sum = multiplyTile(tile, ranks, is_bf16);
                if (left > 0) {
                    if (is_more) {
                        sum += *to;
                    }
                    *to = sum;
                }
                row -= 16;
                if (row <= 0) {
                    break;
                }
                from += 16 * walk.row_bytes;
                from = from < last ? from : last;
                tile = loadTile(walk.type, from, next);
                left -= 16;
                to += 16;
            }
        }
    }
    __syncwarp();
}

/// The warp for updates, for the whole token: the layout.unit_steps steps with updates.
/// is_traced: of the kernel, a constant.
__device__ __forceinline__ void runUnits(const StreamLayout& layout,
                                         const StepFetcher& fetcher,
                                         UnitSignals signals,
                                         const Exchange& exchange,
                                         long long* trace,
                                         bool is_traced) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    char* const work = fetcher.shared + layout.work;
    int step = layout.first_unit_step;
    bool is_late = true;
    StepTask task;
#pragma unroll 1
    for (int i = 0; i < layout.unit_steps; ++i) {
        const uint32_t parity = static_cast<uint32_t>(i) & 1U;
        const CopyBarrier operands = signals.operands(i & 1);
        const TokenStep& arguments = fetcher.stepAt(step);
        const ProjectKernelArgs& a = arguments.project;
        // Of a late step even the arguments may not be there.
        if (is_late) {
            signals.begun().wait(parity);
        }
        fetcher.waitForStep(step);
        char* const memory = work + a.lora_at;
        const uint32_t tag = exchange.markOf(step);
        if (is_late) {
            task = placeOperands(a, memory, operands, exchange);
        }
        operands.wait(static_cast<uint32_t>(i >> 1) & 1U);
        const StreamWork w = streamWork(work, a);
        const StepClocks clocks{trace, step, is_traced};
        if (a.lora_is_early != 0) {
            // They come once the step before has begun: the residual row is as that leaves it.
            fetcher.waitForNorms(step);
            EarlyUnit unit(a, task.unit, memory,
                           reinterpret_cast<const float4*>(fetcher.shared + layout.row));
            __syncwarp();
            if (lane == 0) {
                signals.prepared().arrive(); // the others may replace the row
            }
            unit.prepare(a, task.unit, memory + unitRows(a), fetcher.normsOf(step),
                         layout.norm_bytes);
            clocks.noteUnit(0);
            publishEarlyUnit(a, w, unit, task.unit, exchange.block < a.lora_units, signals.input(),
                             parity, tag);
        } else {
            if (takesPackets(a)) {
                signals.begun().wait(parity); // asking earlier only is in others' way
            }
            clocks.noteUnit(0);
            publishUnits(a, w, memory + unitRows(a), task.unit, signals.input(), parity, exchange,
                         step);
            // Nobody waits for it. Behind the input: by then nobody waits for the one before.
            if (lane == 0) {
                signals.prepared().arrive();
            }
        }
        clocks.noteUnit(1);
        clearUpdates(a, memory);
        // Before the others may go on to where these arguments are replaced: all lanes meet below.
        const int next = a.lora_next;
        static_assert(kStepsAsked == 3);
        if (next == 3) {
            // A barrier for norms tells apart no more than two phases, and every second step has
            // the same: who waits for those three steps ahead has to have seen these. Here and not
            // then: the others do not get so far that these are forgotten before they have this
            // step's updates.
            fetcher.waitForNorms(step + 1);
        }
        addUpdates(a, memory, task.rows, tag, clocks);
        if (lane == 0) {
            signals.ready().arrive();
        }
        clocks.noteUnit(3);
        // Operands of the next step while nobody waits for this warp.
        is_late = next == 0 || next > kStepsAsked;
        if (!is_late) {
            fetcher.waitForStep(step + next);
            const ProjectKernelArgs& following = fetcher.stepAt(step + next).project;
            is_late = following.lora_late != 0;
            if (!is_late) {
                task = placeOperands(following, work + following.lora_at,
                                     signals.operands((i + 1) & 1), exchange);
            }
        }
        step += next;
    }
}

} // namespace kernels::cuda
