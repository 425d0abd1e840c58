// SPDX-License-Identifier: Apache-2.0
// Low-rank updates in stream.cu: as lora_units.cuh, with the input as byte planes. The factor of
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

/// Sends what a later step's updates need of a block on its way into L2.
__device__ __noinline__ void prefetchUpdates(const ProjectKernelArgs& a, const Exchange& exchange) {
    prefetchUnits<kComputeThreads>(a, exchange.block, exchange.grid);
    const TileMap map(a, exchange.block);
    for (int t = 0; t < a.lora_count; ++t) {
        const LoraArgs& term = a.lora[t];
        // A pair's two weights share the range of the first.
        const int weight = a.output == kOutputGeluPair ? 0 : term.weight;
        const int row_bytes = term.rank * elementBytes(term.b_type);
        const char* const rows =
            static_cast<const char*>(term.b) + static_cast<int64_t>(map.fromOf(weight)) * row_bytes;
        for (int at = threadIdx.x * 128; at < map.rowsOfWeight(weight) * row_bytes;
             at += kComputeThreads * 128) {
            prefetchL2(rows + at);
        }
    }
}

/// Four columns of A times four of the input, the latter as integers. is_four_bit: neighbours of
/// the planes are exchanged.
template <int TYPE>
__device__ __forceinline__ float
dotPlanes(const char* row, uint32_t high, uint32_t low, bool is_four_bit) {
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
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int byte = is_four_bit ? i ^ 1 : i;
        const int upper = static_cast<int>(high << (24 - 8 * byte)) >> 24; // signed
        const int lower = static_cast<int>((low >> (8 * byte)) & 127U);
        sum = fmaf(v[i], static_cast<float>(128 * upper + lower), sum);
    }
    return sum;
}

/// The last computing warp: this block's units, as soon as the planes are there.
__device__ __noinline__ void publishPlanes(const ProjectKernelArgs& a,
                                           const StreamWork& w,
                                           LoraUnits s,
                                           const Exchange& exchange) {
    const int lane = static_cast<int>(threadIdx.x) - (kComputeThreads - 32);
    if (lane < 0 || exchange.block >= a.lora_units) {
        return;
    }
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    waitForCopies();
    __syncwarp();
    const char* from = s.rows;
    for (int unit = exchange.block; unit < a.lora_units; unit += exchange.grid) {
        const UnitPiece piece = pieceOf(a, unit);
        const int width = elementBytes(piece.type);
        float sum = 0.0F;
#pragma unroll 2
        for (int at = lane * 4; at < piece.columns; at += 128) {
            const int c = (piece.column + at) / 4;
            const uint32_t* const words =
                reinterpret_cast<const uint32_t*>(w.planes + (c >> 4) * 128) + (c & 15);
            const char* const row = from + at * width;
            const float dot = piece.type == kElementBf16
                                  ? dotPlanes<kElementBf16>(row, words[0], words[16], is_four_bit)
                              : piece.type == kElementF16
                                  ? dotPlanes<kElementF16>(row, words[0], words[16], is_four_bit)
                                  : dotPlanes<kElementF32>(row, words[0], words[16], is_four_bit);
            sum = fmaf(dot, w.scales[c >> 4], sum);
        }
        sum = warpSum(sum);
        if (lane == 0) {
            storeTagged(a.lora_slots + unit, sum, *s.tag);
        }
        from += a.lora_columns * 4;
    }
}

} // namespace kernels::cuda
