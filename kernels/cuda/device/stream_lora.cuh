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
    return loraUnits(a, w.results + a.pass_tiles * kTileRows);
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

/// Sends what a later step's updates need of a block on its way into L2. The warp for updates.
__device__ __noinline__ void prefetchUpdates(const ProjectKernelArgs& a, int block, int grid) {
    prefetchUnits<32, kUnitThread>(a, block, grid);
    const TileMap map(a, block);
    for (int t = 0; t < a.lora_count; ++t) {
        const LoraArgs& term = a.lora[t];
        // A pair's two weights share the range of the first.
        const int weight = a.output == kOutputGeluPair ? 0 : term.weight;
        const int row_bytes = term.rank * elementBytes(term.b_type);
        const char* const rows =
            static_cast<const char*>(term.b) + static_cast<int64_t>(map.fromOf(weight)) * row_bytes;
        for (int at = (threadIdx.x & 31) * 128; at < map.rowsOfWeight(weight) * row_bytes;
             at += 32 * 128) {
            prefetchL2(rows + at);
        }
    }
}

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

/// The warp for updates: this block's units. work: offset of the work memory. What is not inlined
/// must not take addresses of its caller's variables: they would lie in memory from then on, and
/// every access through them would be a generic one.
__device__ __noinline__ void
publishPlanes(const ProjectKernelArgs& a, int work, int block, int grid) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    if (block >= a.lora_units) {
        return;
    }
    const StreamWork w = streamWork(dynamicShared() + work, a);
    const LoraUnits s = streamUnits(a, w);
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const bool is_wide = isWide(a);
    const char* from = s.rows;
    for (int unit = block; unit < a.lora_units; unit += grid) {
        const UnitPiece piece = pieceOf(a, unit);
        const int width = elementBytes(piece.type);
        float sum = 0.0F;
#pragma unroll 2
        for (int at = lane * 4; at < piece.columns; at += 128) {
            const int c = (piece.column + at) / 4;
            const float4 x = scaledInput(w, c, is_four_bit);
            const char* const row = from + at * width;
            const float dot = piece.type == kElementBf16  ? dotPlanes<kElementBf16>(row, x)
                              : piece.type == kElementF16 ? dotPlanes<kElementF16>(row, x)
                                                          : dotPlanes<kElementF32>(row, x);
            sum = fmaf(dot, w.scales[is_wide ? 0 : c >> 4], sum);
        }
        sum = warpSum(sum);
        if (lane == 0) {
            storeTagged(a.lora_slots + unit, sum, *s.tag);
        }
        from += a.lora_columns * 4;
    }
}

/// The warp for updates, for the whole token: `count` steps with updates. stepAt(i): step i, once
/// it has begun, and the two behind it.
template <typename StepAt>
__device__ __forceinline__ void
runUnits(const StepAt& stepAt, int steps, int count, int work, UnitSignals signals,
         const Exchange& exchange) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        signals.begun().wait(signals.parity);
        const int step = signals.step();
        const ProjectKernelArgs& a = stepAt(step).project;
        const LoraUnits units = streamUnits(a, streamWork(dynamicShared() + work, a));
        placeUnits<32, kUnitThread>(a, units, exchange.block, exchange.grid,
                                    firstOutput(a, exchange.block),
                                    firstOutput(a, exchange.block + 1), exchange.markOf(step));
        waitForCopies();
        __syncwarp();
        signals.input().wait(signals.parity);
        publishPlanes(a, work, exchange.block, exchange.grid);
        // While the others' values are on their way.
        const int later = step + 2;
        if (later < steps && stepAt(later).kind == kStepProject &&
            stepAt(later).project.lora_units > 0) {
            prefetchUpdates(stepAt(later).project, exchange.block, exchange.grid);
        }
        collectUnits<32, kUnitThread>(a, units);
        __syncwarp();
        if (lane == 0) {
            signals.ready().arrive();
        }
        signals.parity ^= 1U;
    }
}

} // namespace kernels::cuda
