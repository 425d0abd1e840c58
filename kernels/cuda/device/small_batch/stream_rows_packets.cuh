// SPDX-License-Identifier: Apache-2.0
// How the blocks of stream_rows.cu hand short results to each other: a packet of 16 bytes has one
// result of all four rows and the number of its step, so that who needs it reads it until the
// number is right (exchange.cuh has the same of one row). A row has 24 bits of fp32, 16 of them
// significant; inputs have 11. What is wider lies in memory, behind flags.
#pragma once

#include "kernels/cuda/device/decode/exchange.cuh"

namespace kernels::cuda {

static_assert(kStreamRows == 4, "what a packet holds");
static_assert(kRowPackets % 128 == 0, "whole rounds of rowPacketPlace()");

/// Where the packet of result `index` lies: of 128 neighbours first every fourth. A lane reads four
/// neighbours, each next to those of the lanes beside it.
__device__ __forceinline__ int rowPacketPlace(int index) {
    return (index & ~127) | (index & 3) << 5 | (index >> 2 & 31);
}
__device__ __forceinline__ uint4* rowPackets(const Exchange& exchange, int step) {
    return reinterpret_cast<uint4*>(exchange.packets) + (step % kRowPacketSteps) * kRowPackets;
}

/// Bits of the four rows' values and their mark as a packet. Values are cut, so that NaN stays NaN.
__device__ __forceinline__ uint4
rowPacket(uint32_t first, uint32_t second, uint32_t third, uint32_t fourth, uint32_t mark) {
    // Bytes 1 to 3 of three rows are where they were; those of the fourth fill the gaps.
    return make_uint4(permuteBytes(first, fourth, 0x3215U), permuteBytes(second, fourth, 0x3216U),
                      permuteBytes(third, fourth, 0x3217U), mark);
}
/// The value of a row in a packet's first three words.
__device__ __forceinline__ float rowOfPacket(const uint32_t (&word)[3], int row) {
    const uint32_t gaps = permuteBytes(permuteBytes(word[0], word[1], 0x0400U), word[2], 0x4210U);
    return __uint_as_float((row < 3 ? word[row] : gaps) & 0xffffff00U);
}

/// Result `index` of a step, by four neighbouring lanes with the value of a row each; all lanes of
/// the warp.
__device__ __forceinline__ void
publishRows(const Exchange& exchange, int step, int index, float value, bool is_there) {
    const uint32_t first = __float_as_uint(value);
    const uint32_t second = __shfl_down_sync(0xffffffffU, first, 1);
    const uint32_t third = __shfl_down_sync(0xffffffffU, first, 2);
    const uint32_t fourth = __shfl_down_sync(0xffffffffU, first, 3);
    if (is_there && (threadIdx.x & 3) == 0) {
        storeRowPacket(rowPackets(exchange, step) + rowPacketPlace(index),
                       rowPacket(first, second, third, fourth, exchange.markOf(step)));
    }
}

/// Four neighbouring results of all rows, as their packets have them.
struct RowFour {
    uint32_t word[4][3];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            word[j][0] = word[j][1] = word[j][2] = 0;
        }
    }
    /// One look at results 4 c to 4 c + 3; returns whether all were there.
    __device__ __forceinline__ bool look(const uint4* packets, int c, uint32_t mark) {
        const uint4* const at = packets + rowPacketPlace(4 * c);
        uint4 v[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            v[j] = loadRowPacket(at + 32 * j);
        }
        bool is_there = true;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            word[j][0] = v[j].x;
            word[j][1] = v[j].y;
            word[j][2] = v[j].z;
            is_there = is_there && v[j].w == mark;
        }
        return is_there;
    }
    [[nodiscard]] __device__ __forceinline__ float value(int j, int row) const {
        return rowOfPacket(word[j], row);
    }
    [[nodiscard]] __device__ __forceinline__ float4 row(int r) const {
        return make_float4(value(0, r), value(1, r), value(2, r), value(3, r));
    }
};

/// Results 4 c to 4 c + 3 of c = this thread's number and the one kComputeThreads further; zeros
/// behind the end. All are asked for at once.
__device__ __forceinline__ void
takeRowFours(const uint4* packets, int fours, uint32_t mark, RowFour (&to)[2]) {
    const int c = static_cast<int>(threadIdx.x);
    to[0].clear();
    to[1].clear();
    bool is_there = c >= fours;
    while (!is_there) {
        is_there = to[0].look(packets, c, mark);
        if (c + kComputeThreads < fours) {
            const bool is_second = to[1].look(packets, c + kComputeThreads, mark);
            is_there = is_there && is_second;
        }
    }
    __syncwarp();
}

/// What a block keeps of the residual rows from one step to the next: each thread its columns, in
/// its own memory, which the first cache holds.
struct KeptRows {
    float4 at[2][kStreamRows];
};
static_assert(kShortRow == 2 * 4 * kComputeThreads);

} // namespace kernels::cuda
