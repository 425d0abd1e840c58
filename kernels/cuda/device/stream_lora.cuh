// SPDX-License-Identifier: Apache-2.0
// Low-rank updates in stream.cu: as lora_units.cuh, with the input as fp16. The factor of
// the last norm is missing in A h as it is in the products; both get it at the end.
#pragma once

#include "kernels/cuda/device/lora_units.cuh"
#include "kernels/cuda/device/stream_input.cuh"
#include "kernels/cuda/device/weight_ring.cuh"

namespace kernels::cuda {

/// Behind what a projection keeps in its work memory.
__device__ __forceinline__ LoraUnits streamUnits(const ProjectKernelArgs& a, const StreamWork& w) {
    return loraUnits(a, w.partial + a.pass_tiles * kTileRows * kComputeWarps);
}

/// The warp that does nothing else, where there are updates: the last one.
constexpr int kUnitThread = kStreamThreads - 32;

/// What it and the warps that multiply tell each other. A step with updates is one phase of each.
struct UnitSignals {
    char* memory; ///< [kUnitSignalBytes]
    uint32_t parity = 0;

    [[nodiscard]] __device__ __forceinline__ CopyBarrier at(int which) const {
        return {reinterpret_cast<uint64_t*>(memory) + which};
    }
    /// The step has begun: its work memory and its arguments are there.
    [[nodiscard]] __device__ __forceinline__ CopyBarrier begun() const { return at(0); }
    /// Its input is there.
    [[nodiscard]] __device__ __forceinline__ CopyBarrier input() const { return at(1); }
    /// A h of the grid and B of the block are there.
    [[nodiscard]] __device__ __forceinline__ CopyBarrier ready() const { return at(2); }
    [[nodiscard]] __device__ __forceinline__ int& step() const {
        return *reinterpret_cast<int*>(memory + 24);
    }
    /// One thread, at the start; then fenceBarriers() and a barrier of the block.
    __device__ __forceinline__ void init() const {
        for (int i = 0; i < 3; ++i) {
            at(i).init(1);
        }
    }
};

/// Four columns of A times four of the input.
template <int TYPE>
__device__ __forceinline__ float dotPlanes(const char* row, const float4& x) {
    float v[4];
    if constexpr (TYPE == kElementF32) {
        const float4 four = *reinterpret_cast<const float4*>(row);
        v[0] = four.x;
        v[1] = four.y;
        v[2] = four.z;
        v[3] = four.w;
    } else {
        const uint2 bits = *reinterpret_cast<const uint2*>(row);
        if constexpr (TYPE == kElementBf16) {
            v[0] = __uint_as_float(bits.x << 16);
            v[1] = __uint_as_float(bits.x & 0xffff0000U);
            v[2] = __uint_as_float(bits.y << 16);
            v[3] = __uint_as_float(bits.y & 0xffff0000U);
        } else {
            const float2 first = __half22float2(asHalf2(bits.x));
            const float2 second = __half22float2(asHalf2(bits.y));
            v[0] = first.x;
            v[1] = first.y;
            v[2] = second.x;
            v[3] = second.y;
        }
    }
    return fmaf(v[0], x.x, fmaf(v[1], x.y, fmaf(v[2], x.z, v[3] * x.w)));
}

/// Columns 4 c to 4 c + 3 of the input, times its scale there.
__device__ __forceinline__ float4 scaledInput(const StreamWork& w, int c, bool is_four_bit) {
    const bool is_wide = w.block_bytes == 128;
    const char* const at =
        w.planes + (c >> 4) * w.block_bytes + planeOffset(c, is_four_bit, is_wide);
    const uint2 bits = *reinterpret_cast<const uint2*>(at);
    float2 first = __half22float2(asHalf2(bits.x));
    float2 second = __half22float2(asHalf2(bits.y));
    if (!is_wide) {
        const uint2 lower = *reinterpret_cast<const uint2*>(at + 64);
        const float2 third = __half22float2(asHalf2(lower.x));
        const float2 fourth = __half22float2(asHalf2(lower.y));
        first.x += third.x;
        first.y += third.y;
        second.x += fourth.x;
        second.y += fourth.y;
    }
    return make_float4(first.x, first.y, second.x, second.y);
}

/// The warp for updates: A of this block's units, then B of its rows, on their way as two groups of
/// copies.
__device__ __forceinline__ void
placeOperands(const ProjectKernelArgs& a, const LoraUnits& s, const Exchange& exchange) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    char* to = s.rows;
#pragma unroll 1
    for (int unit = exchange.block; unit < a.lora_units; unit += exchange.grid) {
        const UnitPiece piece = pieceOf(a, unit);
#pragma unroll 4
        for (int at = lane * 16; at < piece.bytes; at += 32 * 16) {
            copyAsync16(to + at, piece.at + at);
        }
        to += a.lora_columns * 4;
    }
    commitCopies();
    const TileMap map(a, exchange.block);
    const int count = a.lora_count;
    const int pitch = a.lora_pitch;
#pragma unroll 1
    for (int t = 0; t < count; ++t) {
        const LoraArgs& term = a.lora[t];
        const int weight = term.weight;
        const int rows = map.rowsOfWeight(weight);
        const int from = map.fromOf(weight);
        // Rows of the weights before: a pair's second weight has the same ones again.
        const int slot = weight == 0 ? 0 : weight == 1 ? map.rows[0] : map.rows[0] + map.rows[1];
        const int row_bytes = term.rank * elementBytes(term.b_type);
        const char* at = static_cast<const char*>(term.b) + static_cast<int64_t>(from) * row_bytes;
        char* place = s.b + slot * pitch + term.b_offset;
        if (row_bytes <= 512 && (row_bytes & (row_bytes - 1)) == 0) {
            // A lane keeps its column.
            const int lanes = row_bytes / 16;
            const int first = lane / lanes;
            const int step = 32 / lanes;
            const int column = (lane - first * lanes) * 16;
            at += first * row_bytes + column;
            place += first * pitch + column;
#pragma unroll 2
            for (int row = first; row < rows; row += step) {
                copyAsync16(place, at);
                at += step * row_bytes;
                place += step * pitch;
            }
        } else {
#pragma unroll 1
            for (int row = 0; row < rows; ++row) {
                for (int c = lane * 16; c < row_bytes; c += 32 * 16) {
                    copyAsync16(place + row * pitch + c, at + row * row_bytes + c);
                }
            }
        }
    }
    commitCopies();
    if (lane < count) {
        s.factors[lane] = *a.lora[lane].factor;
    }
}

/// The warp for updates: this block's units times the input, for all blocks. tag: of this step.
__device__ __forceinline__ void publishUnits(const ProjectKernelArgs& a,
                                             const StreamWork& w,
                                             const LoraUnits& s,
                                             const Exchange& exchange,
                                             uint32_t tag) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const char* from = s.rows;
#pragma unroll 1
    for (int unit = exchange.block; unit < a.lora_units; unit += exchange.grid) {
        const UnitPiece piece = pieceOf(a, unit);
        const int width = elementBytes(piece.type);
        float sum = 0.0F;
#pragma unroll 4
        for (int at = lane * 4; at < piece.columns; at += 128) {
            const int c = (piece.column + at) / 4;
            const float4 x = scaledInput(w, c, is_four_bit);
            const char* const row = from + at * width;
            const float dot = piece.type == kElementBf16  ? dotPlanes<kElementBf16>(row, x)
                              : piece.type == kElementF16 ? dotPlanes<kElementF16>(row, x)
                                                          : dotPlanes<kElementF32>(row, x);
            sum = fmaf(dot, w.scales[c >> 4], sum);
        }
        sum = warpSum(sum);
        if (lane == 0) {
            storeTagged(a.lora_slots + unit, sum, tag);
        }
        from += a.lora_columns * 4;
    }
}

/// The warp for updates: A h of the whole grid.
__device__ __forceinline__ void
collectUnits(const ProjectKernelArgs& a, const LoraUnits& s, uint32_t tag) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int units = a.lora_units;
    const int chunks = a.lora_chunks;
    const int ranks = a.lora_first[3];
    const uint64_t* const slots = a.lora_slots;
    constexpr int kAtOnce = 4;
#pragma unroll 1
    for (int first = lane; first < units; first += 32 * kAtOnce) {
        Tagged value[kAtOnce];
        bool is_complete = false;
        while (!is_complete) {
            is_complete = true;
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                const int unit = first + i * 32;
                value[i] = loadTagged(slots + (unit < units ? unit : first));
                is_complete = is_complete && value[i].tag == tag;
            }
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            if (first + i * 32 < units) {
                s.sums[first + i * 32] = value[i].value;
            }
        }
    }
    __syncwarp();
    for (int rank = lane; rank < ranks; rank += 32) {
        float sum = 0.0F;
#pragma unroll 4
        for (int chunk = 0; chunk < chunks; ++chunk) {
            sum += s.sums[rank * chunks + chunk];
        }
        s.reduced[rank] = sum;
    }
}

/// The warp for updates, for the whole token: `count` steps with updates. stepAt(i): step i, once
/// it has begun.
template <typename StepAt>
__device__ __forceinline__ void
runUnits(const StepAt& stepAt, int count, int work, UnitSignals signals, const Exchange& exchange) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        signals.begun().wait(signals.parity);
        const int step = signals.step();
        const ProjectKernelArgs& a = stepAt(step).project;
        const StreamWork w = streamWork(dynamicShared() + work, a);
        const LoraUnits units = streamUnits(a, w);
        const uint32_t tag = exchange.markOf(step);
        placeOperands(a, units, exchange);
        waitForCopyGroups<1>();
        __syncwarp();
        signals.input().wait(signals.parity);
        publishUnits(a, w, units, exchange, tag);
        waitForCopies();
        collectUnits(a, units, tag);
        __syncwarp();
        if (lane == 0) {
            signals.ready().arrive();
        }
        signals.parity ^= 1U;
    }
}

} // namespace kernels::cuda
