// SPDX-License-Identifier: Apache-2.0
// Low-rank updates in stream.cu. One warp of a block does nothing else.
//
// A h is made once in the grid: a unit is one row of A times a range of columns (pieceOf()). The
// warp multiplies its block's units by the input as soon as that is there, publishes the sums, each
// times the factor of its update, collects those of all blocks while the others multiply, and makes
// B (A h) for the block's rows: whoever makes results adds one number a row. The factor of the last
// norm is missing in it as it is in the products; both get it at the end.
//
// A of the block's units and B of its rows come as bulk copies while the step before is at work
// (or, where that has no updates, when the step has begun), to places of the work memory that
// projections leave alone and that steps with updates take in turn. Nobody else reads there.
//
// Sums travel as packets, one in a sector of 32 bytes: where many blocks write next to each other
// while all poll, a way through L2 takes twice as long.
#pragma once

#include "kernels/cuda/device/lora_units.cuh"
#include "kernels/cuda/device/stream_input.cuh"
#include "kernels/cuda/device/weight_ring.cuh"

namespace kernels::cuda {

/// What the warp for updates and the others tell each other. A step with updates is one phase of
/// the first three; its operands one of one of the others, in turn.
struct UnitSignals {
    char* memory; ///< [kUnitSignalBytes]

    [[nodiscard]] __device__ __forceinline__ CopyBarrier at(int which) const {
        return {reinterpret_cast<uint64_t*>(memory) + which};
    }
    /// The step has begun: those before it are over.
    [[nodiscard]] __device__ __forceinline__ CopyBarrier begun() const { return at(0); }
    /// Its input is there.
    [[nodiscard]] __device__ __forceinline__ CopyBarrier input() const { return at(1); }
    /// What updates add to the block's rows is there.
    [[nodiscard]] __device__ __forceinline__ CopyBarrier ready() const { return at(2); }
    /// A of the block's units and B of its rows are there.
    [[nodiscard]] __device__ __forceinline__ CopyBarrier operands(int which) const {
        return at(3 + which);
    }
    /// One thread, at the start; then fenceBarriers() and a barrier of the block.
    __device__ __forceinline__ void init() const {
        for (int i = 0; i < 5; ++i) {
            at(i).init(1);
        }
    }
};

/// What updates add to the block's rows, but for the factor of the last norm: [weights, local_rows]
/// behind A h. operands: of the step.
__device__ __forceinline__ float* updateSums(const ProjectKernelArgs& a, char* operands) {
    return reinterpret_cast<float*>(operands + streamReducedBytes(a.lora_first[3]));
}

/// The one of them for a row of a weight; `local` counts those of the block. work: the work memory.
__device__ __forceinline__ float
updateOf(const ProjectKernelArgs& a, char* work, int weight, int local) {
    return updateSums(a, work + a.lora_at)[weight * a.local_rows + local];
}

/// A of the block's units: behind those sums, lora_pitch apart.
__device__ __forceinline__ int unitRows(const ProjectKernelArgs& a) {
    return streamReducedBytes(a.lora_first[3]) + streamUpdateBytes(a.count, a.local_rows);
}

/// The rows of this block that an update of `weight` has.
__device__ __forceinline__ RowRange unitRange(const ProjectKernelArgs& a, int weight, int block) {
    return rowsOfWeight(a, weight, firstOutput(a, block), firstOutput(a, block + 1));
}

/// Of the block's first unit what is needed once the input is there; columns = 0: it has none.
struct UnitTask {
    int column = 0;
    int columns = 0;
    int type = 0;
    float factor = 0.0F;

    UnitTask() = default;
    __device__ __forceinline__ explicit UnitTask(const UnitPiece& piece)
        : column(piece.column), columns(piece.columns), type(piece.type), factor(*piece.factor) {}
};

/// Asks for the operands of a step; `there` gets a phase for them. The warp has read what was in
/// their place.
__device__ __forceinline__ UnitTask placeOperands(const ProjectKernelArgs& a,
                                                  char* memory,
                                                  CopyBarrier there,
                                                  const Exchange& exchange) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    UnitTask task;
    __syncwarp();
    fenceBulkCopies();
    uint32_t place = sharedAddress(memory) + unitRows(a);
#pragma unroll 1
    for (int unit = exchange.block; unit < a.lora_units; unit += exchange.grid) {
        const UnitPiece piece = pieceOf(a, unit);
        if (unit == exchange.block) {
            task = UnitTask(piece);
        }
        if (lane == 0 && piece.bytes > 0) {
            there.expect(piece.bytes);
            copyBulk(place, piece.at, piece.bytes, there);
        }
        place += a.lora_pitch;
    }
    if (lane < a.lora_count) {
        const LoraArgs& term = a.lora[lane];
        const RowRange rows = unitRange(a, term.weight, exchange.block);
        const int row_bytes = term.rank * elementBytes(term.b_type);
        const int bytes = (rows.to - rows.from) * row_bytes;
        if (bytes > 0) {
            there.expect(bytes);
            copyBulk(sharedAddress(memory) + term.b_offset,
                     static_cast<const char*>(term.b) + static_cast<int64_t>(rows.from) * row_bytes,
                     bytes, there);
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

/// Eight of A times eight neighbours of the input, whose upper and lower parts are in shared memory
/// 64 bytes apart; a wide row has no lower parts.
__device__ __forceinline__ float dotPlane(const char* plane, bool is_wide, const float (&v)[8]) {
    const uint4 high = *reinterpret_cast<const uint4*>(plane);
    uint4 low = make_uint4(0, 0, 0, 0);
    if (!is_wide) {
        low = *reinterpret_cast<const uint4*>(plane + 64);
    }
    const uint32_t highs[4] = {high.x, high.y, high.z, high.w};
    const uint32_t lows[4] = {low.x, low.y, low.z, low.w};
    float sums[2] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 x = __half22float2(asHalf2(highs[i]));
        const float2 rest = __half22float2(asHalf2(lows[i]));
        sums[i & 1] = fmaf(v[2 * i], x.x + rest.x, sums[i & 1]);
        sums[i & 1] = fmaf(v[2 * i + 1], x.y + rest.y, sums[i & 1]);
    }
    return sums[0] + sums[1];
}

/// This lane's columns of a unit, whose A is at `rows` in shared memory, times the input: eight
/// neighbours of every 256. A of the first of them is read before `input`.
__device__ __forceinline__ float unitSum(const UnitTask& task,
                                         const char* rows,
                                         const StreamWork& w,
                                         bool is_four_bit,
                                         bool is_wide,
                                         CopyBarrier input,
                                         uint32_t input_parity) {
    constexpr int kStride = 256; // columns
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int first = lane * 8;
    const int row_stride = kStride * elementBytes(task.type);
    const int block = (task.column >> 6) + (lane >> 3);
    const char* row = rows + first * elementBytes(task.type);
    const char* plane =
        w.planes + block * w.block_bytes + planeOffset((lane & 7) * 2, is_four_bit, is_wide);
    const float* scale = w.scales + block;
    float v[8] = {};
    if (first < task.columns) {
        eightOf(task.type, row, v);
    }
    input.wait(input_parity);
    float sum = 0.0F;
#pragma unroll 1
    for (int at = first; at < task.columns; at += kStride) {
        const float by = *scale;
        sum = fmaf(dotPlane(plane, is_wide, v), by, sum);
        row += row_stride;
        plane += kStride / 64 * w.block_bytes;
        scale += kStride / 64;
        if (at + kStride < task.columns) {
            eightOf(task.type, row, v);
        }
    }
    __syncwarp();
    return sum;
}

/// Where the packet of a unit lies: four neighbours, which one lane reads, are 32 packets apart.
__device__ __forceinline__ uint64_t* unitSlot(const ProjectKernelArgs& a, int unit) {
    const int slot = (unit & ~127) + (unit & 3) * 32 + (unit >> 2 & 31);
    return a.lora_slots + slot * kUnitSlot;
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
                                             uint32_t tag) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll 1
    for (int unit = exchange.block; unit < a.lora_units; unit += exchange.grid) {
        if (unit != exchange.block) {
            task = UnitTask(pieceOf(a, unit));
        }
        const float sum = warpSum(unitSum(task, rows, w, a.w[0].format != kFormatInt8Row, isWide(a),
                                          input, input_parity));
        if (lane == 0) {
            storeTagged(unitSlot(a, unit), sum * task.factor, tag);
        }
        rows += a.lora_pitch;
    }
    // Without a unit too: no phase is left out, and what the step before had is done with.
    input.wait(input_parity);
}

/// A h of the whole grid, each rank times the factor of its update. A lane takes four neighbouring
/// units at a time: four ranks, two, or a part of one whose other parts neighbouring lanes have.
__device__ __forceinline__ void
collectUnits(const ProjectKernelArgs& a, float* reduced, uint32_t tag) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int chunks = a.lora_chunks;
    const int units = a.lora_units;
    const int lanes = chunks >> 2; // of a rank
#pragma unroll 1
    for (int base = 0; base < units; base += 128) {
        const int first = base + 4 * lane;
        const uint64_t* const slots = unitSlot(a, first);
        Tagged v[4];
        bool is_there = false;
        while (!is_there) {
            is_there = true;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                v[i] = {0.0F, tag};
                if (first + i < units) {
                    v[i] = loadTagged(slots + i * 32 * kUnitSlot);
                }
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                is_there = is_there && v[i].tag == tag;
            }
        }
        __syncwarp();
        if (lanes == 0) {
            // Numbers behind the last rank are not read.
            if (first < units && chunks == 1) {
                *reinterpret_cast<float4*>(reduced + first) =
                    make_float4(v[0].value, v[1].value, v[2].value, v[3].value);
            } else if (first < units) {
                *reinterpret_cast<float2*>(reduced + first / 2) =
                    make_float2(v[0].value + v[1].value, v[2].value + v[3].value);
            }
        } else {
            float sum = (v[0].value + v[1].value) + (v[2].value + v[3].value);
#pragma unroll 1
            for (int offset = lanes >> 1; offset > 0; offset >>= 1) {
                sum += __shfl_xor_sync(0xffffffffU, sum, offset);
            }
            if (first < units && (lane & (lanes - 1)) == 0) {
                reduced[first / chunks] = sum;
            }
        }
    }
    __syncwarp();
}

/// B of one row times A h, which both are aligned to 16 bytes.
template <int TYPE>
__device__ __forceinline__ float updateOfRow(const char* row, const float* h, int ranks) {
    constexpr int kStep = TYPE == kElementF32 ? 4 : 8;
    float sums[2] = {};
#pragma unroll 2
    for (int k = 0; k < ranks; k += kStep) {
        const uint4 bits = *reinterpret_cast<const uint4*>(row + k * (16 / kStep));
        const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
        for (int i = 0; i < 4; i += 16 / kStep) {
            const float4 four = *reinterpret_cast<const float4*>(h + k + i * kStep / 4);
            if constexpr (TYPE == kElementF32) {
                sums[0] = fmaf(__uint_as_float(words[0]), four.x, sums[0]);
                sums[1] = fmaf(__uint_as_float(words[1]), four.y, sums[1]);
                sums[0] = fmaf(__uint_as_float(words[2]), four.z, sums[0]);
                sums[1] = fmaf(__uint_as_float(words[3]), four.w, sums[1]);
            } else if constexpr (TYPE == kElementBf16) {
                sums[0] = fmaf(__uint_as_float(words[i] << 16), four.x, sums[0]);
                sums[1] = fmaf(__uint_as_float(words[i] & 0xffff0000U), four.y, sums[1]);
                sums[0] = fmaf(__uint_as_float(words[i + 1] << 16), four.z, sums[0]);
                sums[1] = fmaf(__uint_as_float(words[i + 1] & 0xffff0000U), four.w, sums[1]);
            } else {
                const float2 low = __half22float2(asHalf2(words[i]));
                const float2 high = __half22float2(asHalf2(words[i + 1]));
                sums[0] = fmaf(low.x, four.x, sums[0]);
                sums[1] = fmaf(low.y, four.y, sums[1]);
                sums[0] = fmaf(high.x, four.z, sums[0]);
                sums[1] = fmaf(high.y, four.w, sums[1]);
            }
        }
    }
    return sums[0] + sums[1];
}

/// Zeros for the block's rows: a weight may have no update.
__device__ __forceinline__ void clearUpdates(const ProjectKernelArgs& a, char* operands) {
    float* const sums = updateSums(a, operands);
    const int count = a.count * a.local_rows;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x) & 31; i < count; i += 32) {
        sums[i] = 0.0F;
    }
    __syncwarp();
}

/// Adds B (A h) of the block's rows, a lane a row; the same lane takes a row of a weight in each of
/// its updates.
__device__ __forceinline__ void
addUpdates(const ProjectKernelArgs& a, char* operands, const Exchange& exchange) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    float* const sums = updateSums(a, operands);
#pragma unroll 1
    for (int t = 0; t < a.lora_count; ++t) {
        const LoraArgs& term = a.lora[t];
        const RowRange range = unitRange(a, term.weight, exchange.block);
        const int type = term.b_type;
        const int rank = term.rank;
        const int row_bytes = rank * elementBytes(type);
        const char* const rows = operands + term.b_offset;
        const float* const h = reinterpret_cast<const float*>(operands) + term.first;
        float* const to = sums + term.weight * a.local_rows;
#pragma unroll 1
        for (int i = lane; i < range.to - range.from; i += 32) {
            const char* const row = rows + i * row_bytes;
            const float sum = type == kElementBf16  ? updateOfRow<kElementBf16>(row, h, rank)
                              : type == kElementF16 ? updateOfRow<kElementF16>(row, h, rank)
                                                    : updateOfRow<kElementF32>(row, h, rank);
            to[i] += sum;
        }
    }
    __syncwarp();
}

/// The warp for updates, for the whole token: the layout.unit_steps steps with updates.
__device__ __forceinline__ void runUnits(const StreamLayout& layout,
                                         const StepFetcher& fetcher,
                                         UnitSignals signals,
                                         const Exchange& exchange) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    char* const work = fetcher.shared + layout.work;
    int step = layout.first_unit_step;
    bool is_late = true;
    UnitTask task;
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
        publishUnits(a, streamWork(work, a), memory + unitRows(a), task, signals.input(), parity,
                     exchange, tag);
        // Operands of the next step while the sums of the other blocks are on their way.
        const int next = a.lora_next;
        is_late = next != 1;
        if (!is_late) {
            fetcher.waitForStep(step + 1);
            const ProjectKernelArgs& following = fetcher.stepAt(step + 1).project;
            is_late = following.lora_late != 0;
            if (!is_late) {
                task = placeOperands(following, work + following.lora_at,
                                     signals.operands((i + 1) & 1), exchange);
            }
        }
        clearUpdates(a, memory);
        collectUnits(a, reinterpret_cast<float*>(memory), tag);
        addUpdates(a, memory, exchange);
        if (lane == 0) {
            signals.ready().arrive();
        }
        step += next;
    }
}

} // namespace kernels::cuda
