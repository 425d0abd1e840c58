// SPDX-License-Identifier: Apache-2.0
// Low-rank updates in stream.cu (stream_lora.cuh): which part of them is whose. A unit is one row
// of A times a range of columns, and its sum a packet; a block copies A of its units and B of its
// rows, and multiplies tiles of ranks by those. All of that is the same in every token: planUnits()
// notes it for one block and step.
#pragma once

#include "kernels/cuda/device/decode/unit_piece.cuh"
#include "kernels/cuda/device/decode/weight_ring.cuh"

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

/// The packet of a rank of an update times a chunk of the columns: which of a lane's four it is, is
/// its number / 32 % 4; numbers % 32 are columns of eight (RankPackets) and four lanes of each.
/// Which ranks a lane has follows from how loadMatrix4() deals out B, 16 bytes of a row at a time.
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

/// Rows [from, to) of a block, of the weight that an update is for.
struct UpdateRows {
    int from;
    int to;
    __device__ __forceinline__ UpdateRows(const ProjectKernelArgs& a,
                                          const LoraArgs& term,
                                          int block)
        : from(firstOutput(a, block)), to(firstOutput(a, block + 1)) {
        if (a.output != kOutputGatedPair) {
            // Outputs of all weights follow each other.
            const int before = (term.weight > 0 ? static_cast<int>(a.w[0].rows) : 0) +
                               (term.weight > 1 ? static_cast<int>(a.w[1].rows) : 0);
            const int all = static_cast<int>(a.w[term.weight].rows);
            from = from > before ? from - before : 0;
            to = to - before < all ? to - before : all;
        }
    }
};

/// What a block will need of a step with few enough updates; one thread.
__device__ __forceinline__ UnitPlan planUnits(const ProjectKernelArgs& a, int block, int grid) {
    UnitPlan plan = {};
    int copies = 0;
    uint32_t begun = 0; // weights that have sums already
    int place = a.lora_at + unitRows(a);
    for (int unit = block; unit < a.lora_units && copies < kPlannedCopies; unit += grid) {
        const UnitTask task(a, unit);
        if (unit == block) {
            plan.factor = task.factor;
            plan.packet = task.packet;
            plan.column = task.column;
            plan.columns = task.columns;
            plan.type = static_cast<int16_t>(task.type);
        }
        if (task.columns > 0) {
            plan.copy[copies++] = {task.at, task.bytes, place};
        }
        place += a.lora_pitch;
    }
    for (int j = 0; j < a.count; ++j) {
        plan.clears |= a.lora_first[j] == a.lora_first[j + 1] ? 1 : 0;
    }
    for (int t = 0; t < a.lora_count; ++t) {
        const LoraArgs& term = a.lora[t];
        const UpdateRows rows(a, term, block);
        if (rows.to <= rows.from || copies == kPlannedCopies) {
            continue;
        }
        const int row_bytes = term.rank * elementBytes(term.b_type);
        const int b = a.lora_at + term.b_offset;
        plan.copy[copies++] = {static_cast<const char*>(term.b) +
                                   static_cast<int64_t>(rows.from) * row_bytes,
                               (rows.to - rows.from) * row_bytes, b};
        for (int k = 0; k * kLoraTileRanks < term.rank && plan.jobs < kPlannedTiles; ++k) {
            const int before = k * kLoraTileRanks * elementBytes(term.b_type);
            UnitJob& job = plan.job[plan.jobs++];
            job.b = b + before;
            job.rows = static_cast<int16_t>(rows.to - rows.from);
            job.row_bytes = static_cast<int16_t>(row_bytes);
            job.left_bytes = static_cast<int16_t>(row_bytes - before);
            job.to = static_cast<int16_t>(term.weight * a.local_rows);
            job.tile = static_cast<int16_t>(term.tile + k);
            job.type = static_cast<int8_t>(term.b_type);
            job.is_more = static_cast<int8_t>(begun >> term.weight & 1U);
            begun |= 1U << term.weight;
        }
    }
    return plan;
}

} // namespace kernels::cuda
