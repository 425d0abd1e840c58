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
// those of eight columns all at once, and the chunks of a tile are added before it is multiplied,
// so that nothing but a product stands in the loop over the block's rows.
//
// A of the block's units and B of its rows come as bulk copies while the steps before are at work
// (up to kStepsAsked of them; else when the step has begun), to places of the work memory that
// these leave alone and that steps with updates take in turn; behind attention's where that stands
// between. Nobody else reads there.
//
// Which these are, and which rows of B meet which ranks, is the same in every token: a kernel of
// its own notes it for every block when the steps are collected (unit_plan.cuh). Steps that a plan
// has no room for, and lists with a step whose operands come late, are for a kernel that works all
// of it out on the way.
//
// Sums travel as packets, one in a sector of 32 bytes: where many blocks write next to each other
// while all poll, a way through L2 takes twice as long.
#pragma once

#include "kernels/cuda/device/decode/rank_tiles.cuh"
#include "kernels/cuda/device/decode/stream_input.cuh"
#include "kernels/cuda/device/decode/unit_plan.cuh"

namespace kernels::cuda {

/// What the warp knows of a step before its input comes.
struct StepTask {
    UnitTask unit; ///< The block's first one.
    int rows = 0;  ///< Lane t: of this block, of the weight that update t is for.
};

/// placeOperands() as planned. copy: this lane's, read long before.
__device__ __forceinline__ StepTask placePlanned(const UnitPlan& plan,
                                                 const UnitCopy& copy,
                                                 char* work,
                                                 CopyBarrier there) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    __syncwarp();
    fenceBulkCopies();
    if (lane < kPlannedCopies && copy.bytes > 0) {
        there.expect(copy.bytes);
        copyBulkOnce(sharedAddress(work) + copy.to, copy.from, copy.bytes, there, evictFirst());
    }
    __syncwarp();
    if (lane == 0) {
        there.arrive();
    }
    StepTask task;
    task.unit.factor = plan.factor;
    task.unit.packet = plan.packet;
    task.unit.column = plan.column;
    task.unit.columns = plan.columns;
    task.unit.type = plan.type;
    return task;
}

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
        const UpdateRows rows(a, term, exchange.block);
        task.rows = rows.to > rows.from ? rows.to - rows.from : 0;
        if (task.rows > 0) {
            const int row_bytes = term.rank * elementBytes(term.b_type);
            there.expect(task.rows * row_bytes);
            copyBulkOnce(sharedAddress(memory) + term.b_offset,
                         static_cast<const char*>(term.b) +
                             static_cast<int64_t>(rows.from) * row_bytes,
                         task.rows * row_bytes, there, evictFirst());
        }
    }
    __syncwarp();
    if (lane == 0) {
        there.arrive();
    }
    return task;
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
/// neighbours of every 256. In a loop: straight lines would wait for their instructions.
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
    input.wait(input_parity);
    float sum = 0.0F;
#pragma unroll 1
    for (int left = task.columns - lane * 8; left > 0; left -= kStride) {
        float v[8];
        eightOf(task.type, row, v);
        sum = fmaf(dotPlane(plane, v), *scale, sum);
        row += row_stride;
        plane += kStride / 64 * w.block_bytes;
        scale += kStride / 64;
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
    /// A m n: fours of all lanes behind each other, first ones, then second ones.
    float4* normed = nullptr;
    float sum = 0.0F; ///< A m x.

    /// Takes the unit's columns of the residual row, where A m n will lie.
    __device__ __forceinline__ void
    take(const ProjectKernelArgs& a, const UnitTask& task, char* operands, const float4* row) {
        normed =
            reinterpret_cast<float4*>(operands + streamUpdateBytes(a.count, a.local_rows)) + lane();
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
        __syncwarp();
        sum = warpSum(sum);
    }

    /// A m n times t, once that is there; of the lane. taken: its first column's.
    [[nodiscard]] __device__ __forceinline__ float finish(int columns, const float4* taken) const {
        const float4* from = normed;
        float sums[2] = {};
#pragma unroll 1
        for (int c = lane() * 8; c < columns; c += kStride) {
            const float4 a0 = from[0];
            const float4 a1 = from[32];
            const float4 t0 = taken[0];
            const float4 t1 = taken[1];
            sums[0] = fmaf(a0.x, t0.x, sums[0]);
            sums[1] = fmaf(a1.x, t1.x, sums[1]);
            sums[0] = fmaf(a0.y, t0.y, sums[0]);
            sums[1] = fmaf(a1.y, t1.y, sums[1]);
            sums[0] = fmaf(a0.z, t0.z, sums[0]);
            sums[1] = fmaf(a1.z, t1.z, sums[1]);
            sums[0] = fmaf(a0.w, t0.w, sums[0]);
            sums[1] = fmaf(a1.w, t1.w, sums[1]);
            from += 64;
            taken += kStride / 4;
        }
        __syncwarp();
        return sums[0] + sums[1];
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
    const float4* const taken =
        w.taken + task.column / 4 + (static_cast<int>(threadIdx.x) & 31) * 2;
    const float before = a.scalar * unit.sum;
    input.wait(input_parity);
    // The scale of t beside the sum over the lanes.
    const float scale = addedScale(a, w.buffer);
    const float sum = warpSum(unit.finish(task.columns, taken));
    if ((threadIdx.x & 31) == 0) {
        storeTagged(slot, fmaf(scale, sum, before) * factor, tag);
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
        const float own = takes_packets
                              ? packetSum(task, rows, exchange, step)
                              : unitSum(task, rows, w, a.w[0].layout != WeightLayout::Int8Row,
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
__device__ __forceinline__ void clearUpdates(const ProjectKernelArgs& a, float* sums) {
#pragma unroll 1
    for (int j = 0; j < a.count; ++j) {
        if (a.lora_first[j] == a.lora_first[j + 1]) {
#pragma unroll 1
            for (int i = static_cast<int>(threadIdx.x) & 31; i < a.local_rows; i += 32) {
                sums[j * a.local_rows + i] = 0.0F;
            }
        }
    }
}

/// Goes through the tiles of ranks that meet the columns from `base` to `base_end` - 1, of all
/// updates that have rows in the block.
struct RankWalk {
    int t = -1;         ///< Update, and
    int k = 0, end = 0; ///< tile of its ranks and behind its last one here.
    int rows = 0;
    int type = 0, weight = 0, row_bytes = 0;

    [[nodiscard]] __device__ __forceinline__ bool isThere(const ProjectKernelArgs& a) const {
        return t < a.lora_count;
    }
    /// The next tile. lane_rows: StepTask::rows.
    __device__ __forceinline__ void
    advance(const ProjectKernelArgs& a, int base, int base_end, int lane_rows) {
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
            // Those of its tiles that have columns here.
            k = (base >> a.lora_shift) - term.tile;
            k = k > 0 ? k : 0;
            end = ((base_end - 1) >> a.lora_shift) + 1 - term.tile;
            const int tiles = (term.rank + kLoraTileRanks - 1) / kLoraTileRanks;
            end = rows == 0 ? 0 : end < tiles ? end : tiles;
        }
    }
};

/// Makes B (A h) of the block's rows from the packets as they come. What does not need them is done
/// before: the way from packets to results is on everybody's, in a small step.
__device__ __forceinline__ void addUpdates(const ProjectKernelArgs& a,
                                           const char* work,
                                           float* sums,
                                           int lane_rows,
                                           uint32_t tag,
                                           const StepClocks& clocks) {
    const int columns = a.lora_tiles << a.lora_shift;
    const int step = columnsAtOnce(a);
    uint32_t begun = 0; // weights that have sums already
#pragma unroll 1
    for (int base = 0; base < columns; base += step) {
        RankWalk ahead;
        RankValues all = {};
        bool has_ranks = false;
        bool is_last = false;
#pragma unroll 1
        while (!is_last) {
            const RankWalk walk = ahead;
            ahead.advance(a, base, base + step, lane_rows);
            is_last = !ahead.isThere(a);
            if (walk.t < 0) { // in front of the first one
                continue;
            }
            const bool is_more = (begun >> walk.weight & 1U) != 0;
            begun |= 1U << walk.weight;
            const LoraArgs& term = a.lora[walk.t];
            const int tile_bytes = walk.k * kLoraTileRanks * elementBytes(walk.type);
            const int before = base >> a.lora_shift; // tiles
            UnitJob job = {};
            job.b = a.lora_at + term.b_offset + tile_bytes;
            job.rows = static_cast<int16_t>(walk.rows);
            job.row_bytes = static_cast<int16_t>(walk.row_bytes);
            job.left_bytes = static_cast<int16_t>(walk.row_bytes - tile_bytes);
            job.to = static_cast<int16_t>(walk.weight * a.local_rows);
            job.tile = static_cast<int16_t>(term.tile + walk.k - before);
            job.type = static_cast<int8_t>(walk.type);
            job.is_more = static_cast<int8_t>(is_more);
            TileRows rows(job, (columnOf(a, base) >> a.lora_shift) - before, a.lora_shift, work,
                          sums);
            if (!has_ranks) {
                all = RankPackets(a, base).take(tag);
                has_ranks = true;
                clocks.noteUnit(2);
            }
            rows.multiply(all);
        }
    }
    __syncwarp();
}

/// What the warp reads of a plan long before its step: memory is far away.
struct PlanAhead {
    UnitCopy copy = {}; ///< This lane's.
    UnitJob job = {};   ///< The first one.
    int jobs = 0;
    bool clears = false;
    PlanAhead() = default;
    __device__ __forceinline__ explicit PlanAhead(const UnitPlan& plan)
        : job(plan.job[0]), jobs(plan.jobs), clears(plan.clears != 0) {
        const int lane = static_cast<int>(threadIdx.x) & 31;
        if (lane < kPlannedCopies) {
            copy = plan.copy[lane];
        }
    }
};

/// addUpdates() of a step with a plan.
__device__ __forceinline__ void addPlanned(const ProjectKernelArgs& a,
                                           const UnitPlan& plan,
                                           const PlanAhead& ahead,
                                           const char* work,
                                           float* sums,
                                           uint32_t tag,
                                           const StepClocks& clocks) {
    if (ahead.jobs > 0) {
        const RankPackets packets(a, 0);
        TileRows rows(ahead.job, packets.tile, packets.shift, work, sums);
        // Not asked for sooner: who asks in vain is in the way of those who write.
        const RankValues all = packets.take(tag);
        clocks.noteUnit(2);
        if (ahead.jobs == 1 && rows.rows <= 16) {
            rows.multiplyFew(all);
        } else {
            const UnitJob* job = plan.job;
#pragma unroll 1
            for (int left = ahead.jobs;;) {
                rows.multiply(all);
                if (--left == 0) {
                    break;
                }
                rows = TileRows(*++job, packets.tile, packets.shift, work, sums);
            }
        }
    } else {
        clocks.noteUnit(2);
    }
    __syncwarp();
}

/// The warp for updates, for the whole token: the layout.unit_steps steps with updates. IS_PLANNED:
/// there are plans of all of them (layout.plans), and none is late; what may be otherwise is code
/// of a kernel of its own.
template <bool IS_PLANNED>
__device__ __forceinline__ void runUnits(const StreamLayout& layout,
                                         int count,
                                         const StepFetcher& fetcher,
                                         UnitSignals signals,
                                         const Exchange& exchange,
                                         long long* trace) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    char* const work = fetcher.shared + layout.work;
    int step = layout.first_unit_step;
    const UnitPlan* plan = IS_PLANNED ? layout.plans + exchange.block : nullptr;
    PlanAhead ahead; // of the next operands to ask for
    if (IS_PLANNED) {
        ahead = PlanAhead(*plan);
    }
    StepTask task;
    bool is_asked = false;
#pragma unroll 1
    for (int i = 0; i < layout.unit_steps; ++i) {
        const uint32_t parity = static_cast<uint32_t>(i) & 1U;
        const CopyBarrier operands = signals.operands(i & 1);
        const TokenStep& arguments = fetcher.stepAt(step);
        const ProjectKernelArgs& a = arguments.project;
        if (!IS_PLANNED && !is_asked) {
            // Not even the arguments of a late step may be there.
            signals.begun().wait(parity);
        }
        fetcher.waitForStep(step);
        char* const memory = work + a.lora_at;
        float* const sums = reinterpret_cast<float*>(memory);
        const uint32_t tag = exchange.markOf(step);
        if (!is_asked) {
            task = IS_PLANNED ? placePlanned(*plan, ahead.copy, work, operands)
                              : placeOperands(a, memory, operands, exchange);
        }
        const UnitPlan* const own_plan = plan;
        const PlanAhead own = ahead;
        if (IS_PLANNED && i + 1 < layout.unit_steps) {
            plan += exchange.grid;
            ahead = PlanAhead(*plan);
        }
        operands.wait(static_cast<uint32_t>(i >> 1) & 1U);
        const StreamWork w = streamWork(work, a);
        const StepClocks clocks{trace, step};
        const bool is_early = a.lora_is_early != 0;
        EarlyUnit unit;
        if (is_early) {
            // They come once the step before has begun: the residual row is as that leaves it.
            fetcher.waitForNorms(step);
            unit.take(a, task.unit, memory,
                      reinterpret_cast<const float4*>(fetcher.shared + layout.row));
            __syncwarp();
            if (lane == 0) {
                signals.prepared().arrive(); // the others may replace the row
            }
            unit.prepare(a, task.unit, memory + unitRows(a), fetcher.normsOf(step),
                         layout.norm_bytes);
        } else if (takesPackets(a)) {
            // Asking for them before the step has begun only is in others' way.
            if (!IS_PLANNED) {
                signals.begun().wait(parity);
            } else if (step + 1 < count) {
                // Asked for when this one begins. Nothing is wrong if the wait should end too
                // early (a barrier for norms tells apart no more than two phases).
                fetcher.waitForNorms(step + 1);
            }
        }
        clocks.noteUnit(0);
        if (is_early) {
            publishEarlyUnit(a, w, unit, task.unit, exchange.block < a.lora_units, signals.input(),
                             parity, tag);
        } else {
            publishUnits(a, w, memory + unitRows(a), task.unit, signals.input(), parity, exchange,
                         step);
            // Nobody waits for it. Behind the input: by then nobody waits for the one before.
            if (lane == 0) {
                signals.prepared().arrive();
            }
        }
        clocks.noteUnit(1);
        // Before the others may go on to where these arguments are replaced: all lanes meet below.
        const int next = a.lora_next;
        is_asked = a.lora_next_late == 0;
        static_assert(kStepsAsked == 3);
        if (next == 3) {
            // Who waits for norms three steps ahead has to have seen these, for the same reason.
            // Here and not then: the others do not get so far that these are forgotten before they
            // have this step's updates.
            fetcher.waitForNorms(step + 1);
        }
        const CopyBarrier next_operands = signals.operands((i + 1) & 1);
        if (IS_PLANNED) {
            // Operands of the next step while the sums are on their way: what was in their place is
            // of the step with updates before this one, which all of the block have left behind.
            if (is_asked) {
                task = placePlanned(*plan, ahead.copy, work, next_operands);
            }
            if (own.clears) {
                clearUpdates(a, sums);
            }
            addPlanned(a, *own_plan, own, work, sums, tag, clocks);
        } else {
            clearUpdates(a, sums);
            addUpdates(a, work, sums, task.rows, tag, clocks);
        }
        if (lane == 0) {
            signals.ready().arrive();
        }
        clocks.noteUnit(3);
        if (!IS_PLANNED && is_asked) {
            // Takes longer than the sums do: behind them.
            fetcher.waitForStep(step + next);
            const ProjectKernelArgs& following = fetcher.stepAt(step + next).project;
            task = placeOperands(following, work + following.lora_at, next_operands, exchange);
        }
        step += next;
    }
}

} // namespace kernels::cuda
