// SPDX-License-Identifier: Apache-2.0
// Low-rank updates in stream.cu. One warp of a block does nothing else.
//
// A h is made once in the grid: a unit is one row of A times a range of columns (pieceOf()). The
// warp multiplies its block's units by the input as soon as that is there, publishes the sums, each
// times the factor of its update, and collects those of all blocks while the others multiply. They
// add B (A h) to their rows.
//
// A of the block's units and B of its rows are in shared memory by then: they are asked for one
// step with updates ahead, into a part of the work memory that no step until then uses (the host
// knows which: stream_steps.cpp). Each comes as one bulk copy. The factor of the last norm is
// missing in A h as it is in the products; both get it at the end.
#pragma once

#include "kernels/cuda/device/lora_units.cuh"
#include "kernels/cuda/device/stream_input.cuh"
#include "kernels/cuda/device/weight_ring.cuh"

namespace kernels::cuda {

/// The warp that does nothing else, where there are updates: the last one.
constexpr int kUnitThread = kStreamThreads - 32;

/// What it and the warps that multiply tell each other. A step with updates is one phase of the
/// first three; its operands one of one of the others, in turn.
struct UnitSignals {
    char* memory; ///< [kUnitSignalBytes]

    [[nodiscard]] __device__ __forceinline__ CopyBarrier at(int which) const {
        return {reinterpret_cast<uint64_t*>(memory) + which};
    }
    /// The step has begun: those before it are over.
    [[nodiscard]] __device__ __forceinline__ CopyBarrier begun() const { return at(0); }
    /// Its input is there.
    [[nodiscard]] __device__ __forceinline__ CopyBarrier input() const { return at(1); }
    /// A h of the grid and B of the block are there.
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

/// Asks for the operands of a step; `there` gets a phase for them. Behind A h, which is made later,
/// come A of each unit and B of each update.
__device__ __forceinline__ void placeOperands(const ProjectKernelArgs& a,
                                              char* memory,
                                              CopyBarrier there,
                                              const Exchange& exchange) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    fenceBulkCopies();
    if (lane < a.lora_count) {
        const LoraArgs& term = a.lora[lane];
        const RowRange rows = rowsOfWeight(a, term.weight, firstOutput(a, exchange.block),
                                           firstOutput(a, exchange.block + 1));
        const int row_bytes = term.rank * elementBytes(term.b_type);
        const int bytes = (rows.to - rows.from) * row_bytes;
        if (bytes > 0) {
            there.expect(bytes);
            copyBulk(sharedAddress(memory) + term.b_offset,
                     static_cast<const char*>(term.b) + static_cast<int64_t>(rows.from) * row_bytes,
                     bytes, there);
        }
    }
    int place = lane * a.lora_pitch + streamReducedBytes(a.lora_first[3]);
#pragma unroll 1
    for (int unit = exchange.block + lane * exchange.grid; unit < a.lora_units;
         unit += 32 * exchange.grid) {
        const UnitPiece piece = pieceOf(a, unit);
        if (piece.bytes > 0) {
            there.expect(piece.bytes);
            copyBulk(sharedAddress(memory) + place, piece.at, piece.bytes, there);
        }
        place += 32 * a.lora_pitch;
    }
    __syncwarp();
    if (lane == 0) {
        there.arrive();
    }
}

/// Eight neighbours as fp16, in shared memory, times eight of A.
__device__ __forceinline__ float dotPlane(const char* plane, const float (&v)[8]) {
    const uint4 bits = *reinterpret_cast<const uint4*>(plane);
    const float2 x0 = __half22float2(asHalf2(bits.x));
    const float2 x1 = __half22float2(asHalf2(bits.y));
    const float2 x2 = __half22float2(asHalf2(bits.z));
    const float2 x3 = __half22float2(asHalf2(bits.w));
    const float low = fmaf(v[0], x0.x, fmaf(v[1], x0.y, fmaf(v[2], x1.x, v[3] * x1.y)));
    const float high = fmaf(v[4], x2.x, fmaf(v[5], x2.y, fmaf(v[6], x3.x, v[7] * x3.y)));
    return low + high;
}

/// This lane's columns of a unit, whose A is at `rows` in shared memory, times the input.
__device__ __forceinline__ float unitSum(
    const StreamWork& w, const UnitPiece& piece, const char* rows, bool is_four_bit, bool is_wide) {
    float sum = 0.0F;
#pragma unroll 1
    for (int at = (static_cast<int>(threadIdx.x) & 31) * 8; at < piece.columns; at += 256) {
        const int c = (piece.column + at) >> 2;
        const char* const plane =
            w.planes + (c >> 4) * w.block_bytes + planeOffset(c, is_four_bit, is_wide);
        float v[8];
        if (piece.type == kElementBf16) {
            eightOf<kElementBf16>(rows + at * 2, 0, v);
        } else if (piece.type == kElementF16) {
            eightOf<kElementF16>(rows + at * 2, 0, v);
        } else {
            eightOf<kElementF32>(rows + at * 4, 0, v);
        }
        float dot = dotPlane(plane, v);
        if (!is_wide) {
            dot += dotPlane(plane + 64, v); // the lower parts
        }
        sum = fmaf(dot, w.scales[c >> 4], sum);
    }
    return sum;
}

/// Makes the sums of this block's units, for all blocks, once the input and A are there.
/// tag: of this step.
__device__ __forceinline__ void publishUnits(const ProjectKernelArgs& a,
                                             const StreamWork& w,
                                             const char* memory,
                                             CopyBarrier input,
                                             uint32_t input_parity,
                                             CopyBarrier there,
                                             uint32_t there_parity,
                                             const Exchange& exchange,
                                             uint32_t tag) {
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const bool is_wide = isWide(a);
    const char* rows = memory + streamReducedBytes(a.lora_first[3]);
#pragma unroll 1
    for (int unit = exchange.block; unit < a.lora_units; unit += exchange.grid) {
        // Of the first unit all this is known before the wait.
        const UnitPiece piece = pieceOf(a, unit);
        const float factor = *piece.factor;
        input.wait(input_parity);
        there.wait(there_parity);
        const float sum = warpSum(unitSum(w, piece, rows, is_four_bit, is_wide));
        if ((threadIdx.x & 31) == 0) {
            storeTagged(a.lora_slots + unit, sum * factor, tag);
        }
        rows += a.lora_pitch;
    }
}

/// A h of the whole grid, each rank times the factor of its update. Units come in pairs of one
/// rank, or of two where a rank is one unit; the lanes whose pairs belong to a rank are neighbours.
__device__ __forceinline__ void
collectUnits(const ProjectKernelArgs& a, float* reduced, uint32_t tag) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int pairs = a.lora_units >> 1;
    const int group = a.lora_chunks >> 1; // pairs of a rank
    const uint2* const slots = reinterpret_cast<const uint2*>(a.lora_slots);
    constexpr int kAtOnce = 2;
#pragma unroll 1
    for (int first = 0; first < pairs; first += 32 * kAtOnce) {
        uint4 v[kAtOnce];
        bool is_there = false;
        while (!is_there) {
            is_there = true;
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                const int pair = first + i * 32 + lane;
                v[i] = loadPackets(slots + 2 * (pair < pairs ? pair : pairs - 1));
            }
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                is_there = is_there && v[i].y == tag && v[i].w == tag;
            }
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int pair = first + i * 32 + lane;
            const float one = __uint_as_float(v[i].x);
            const float other = __uint_as_float(v[i].z);
            if (group == 0) {
                if (pair < pairs) {
                    *reinterpret_cast<float2*>(reduced + 2 * pair) = make_float2(one, other);
                }
            } else {
                float sum = one + other;
#pragma unroll 1
                for (int offset = group >> 1; offset > 0; offset >>= 1) {
                    sum += __shfl_xor_sync(0xffffffffU, sum, offset);
                }
                if (pair < pairs && (pair & (group - 1)) == 0) {
                    reduced[pair / group] = sum;
                }
            }
        }
    }
}

/// The warp for updates, for the whole token: the layout.unit_steps steps with updates. It has
/// copies of its own of the arguments of this one and the next.
__device__ __forceinline__ void runUnits(const TokenStep* steps,
                                         const StreamLayout& layout,
                                         UnitSignals signals,
                                         const Exchange& exchange) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    char* const work = dynamicShared() + layout.work;
    TokenStep* const arguments = reinterpret_cast<TokenStep*>(dynamicShared() + layout.unit_args);
    const auto copyStep = [&](int index, int place) {
#pragma unroll 1
        for (int at = lane * 16; at < static_cast<int>(sizeof(TokenStep)); at += 32 * 16) {
            copyAsync16(reinterpret_cast<char*>(arguments + place) + at,
                        reinterpret_cast<const char*>(steps + index) + at);
        }
    };
    int step = layout.first_unit_step;
    copyStep(step, 0);
    waitForCopies();
    __syncwarp();
    if (layout.unit_steps > 1) {
        copyStep(step + arguments[0].project.lora_next, 1);
    }
#pragma unroll 1
    for (int i = 0; i < layout.unit_steps; ++i) {
        const uint32_t parity = static_cast<uint32_t>(i) & 1U;
        const uint32_t operand_parity = static_cast<uint32_t>(i >> 1) & 1U;
        const ProjectKernelArgs& a = arguments[i & 1].project;
        signals.begun().wait(parity);
        waitForCopies();
        __syncwarp();
        // The next one's operands, where they have a place as early as that, and this one's where
        // they had not.
        const bool has_next = i + 1 < layout.unit_steps;
        const int last = has_next && arguments[i + 1 & 1].project.lora_late == 0 ? 1 : 0;
#pragma unroll 1
        for (int which = a.lora_late != 0 ? 0 : 1; which <= last; ++which) {
            const ProjectKernelArgs& of = arguments[i + which & 1].project;
            placeOperands(of, work + of.lora_at, signals.operands((i + which) & 1), exchange);
        }
        char* const memory = work + a.lora_at;
        const uint32_t tag = exchange.markOf(step);
        publishUnits(a, streamWork(work, a), memory, signals.input(), parity,
                     signals.operands(i & 1), operand_parity, exchange, tag);
        collectUnits(a, reinterpret_cast<float*>(memory), tag);
        signals.operands(i & 1).wait(operand_parity); // of a block without units
        step += a.lora_next;
        const int after = has_next ? arguments[i + 1 & 1].project.lora_next : 0;
        __syncwarp();
        if (lane == 0) {
            signals.ready().arrive();
        }
        if (after > 0) {
            copyStep(step + after, i & 1);
        }
    }
    waitForCopies();
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

/// What the updates of a weight add to one row, but for the factor of the last norm; `local` counts
/// the rows of the weight that are the block's. memory: the step's operands.
__device__ __forceinline__ float
unitUpdateOf(const ProjectKernelArgs& a, const char* memory, int weight, int local) {
    float total = 0.0F;
#pragma unroll 1
    for (int t = 0; t < a.lora_count; ++t) {
        const LoraArgs& term = a.lora[t];
        if (term.weight == weight) {
            const int rank = term.rank;
            const char* const row =
                memory + term.b_offset + local * rank * elementBytes(term.b_type);
            const float* const h = reinterpret_cast<const float*>(memory) + term.first;
            total += term.b_type == kElementBf16  ? updateOfRow<kElementBf16>(row, h, rank)
                     : term.b_type == kElementF16 ? updateOfRow<kElementF16>(row, h, rank)
                                                  : updateOfRow<kElementF32>(row, h, rank);
        }
    }
    return total;
}

} // namespace kernels::cuda
