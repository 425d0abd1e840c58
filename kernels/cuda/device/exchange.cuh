// SPDX-License-Identifier: Apache-2.0
// How the blocks of stream.cu hand results to each other without a barrier over the grid.
//
// Short results travel as packets: a value and the number of its step in eight bytes that are read
// and written at once. Who needs a value reads its packet until the number is right: one way through
// L2 instead of a write, a fence, an arrival, a poll and a read. Long ones lie in memory as they are,
// behind one flag of every block.
//
// A place for packets is used again after kPacketSteps steps. Every block reads all results of every
// projection before it writes those of the next, so that nobody can be two projections behind.
#pragma once

#include "kernels/cuda/device/common.cuh"

namespace kernels::cuda {

/// The barrier of the threads that compute; the fetching warps go their own way.
__device__ __forceinline__ void syncCompute(
#ifndef __CUDACC__
    const std::source_location& place = std::source_location::current()
#endif
) {
#ifdef __CUDACC__
    syncSome(1, kComputeThreads);
#else
    syncSome(1, kComputeThreads, place);
#endif
}

struct Exchange {
    uint2* packets;   ///< [kPacketSteps, kPackets]
    int32_t* flags;   ///< [grid]
    uint32_t base;    ///< Number of the first step, less one.
    int block;
    int grid;

    /// What marks the results of step `step`.
    __device__ __forceinline__ uint32_t markOf(int step) const {
        return base + static_cast<uint32_t>(step) + 1;
    }
    __device__ __forceinline__ uint2* packetsOf(int step) const {
        return packets + (step % kPacketSteps) * kPackets;
    }
    __device__ __forceinline__ void publish(int step, int index, float value) const {
        storePacket(packetsOf(step) + index, __float_as_uint(value), markOf(step));
    }

    /// After everything that this block has to write for `step`; all compute threads.
    __device__ __forceinline__ void raiseFlag(int step) const {
        syncCompute();
        if (threadIdx.x == 0) {
            storeRelease(flags + block, static_cast<int>(markOf(step)));
        }
    }
    /// Waits for the flags of the first `blocks` blocks; all compute threads.
    __device__ __forceinline__ void waitForFlags(int step, int blocks) const {
        const int mark = static_cast<int>(markOf(step));
        for (int b = threadIdx.x; b < blocks; b += kComputeThreads) {
            // Polling with acquiring loads would empty the first-level cache every time.
            while (loadRelaxed(flags + b) - mark < 0) {
            }
        }
        __threadfence();
        syncCompute();
    }
};

/// Where the first thread of the first block notes its clock; nullptr: nobody asked.
struct StepClocks {
    long long* at; ///< [kStreamMarks]
    __device__ __forceinline__ void note(int mark) const {
        if (at != nullptr) {
            at[mark] = clock64();
        }
    }
    __device__ __forceinline__ void add(int mark, long long clocks) const {
        if (at != nullptr) {
            at[mark] += clocks;
        }
    }
    [[nodiscard]] __device__ __forceinline__ long long now() const {
        return at != nullptr ? clock64() : 0;
    }
};

/// Value `index` of a step's packets.
__device__ __forceinline__ float takePacket(const uint2* packets, int index, uint32_t mark) {
    uint2 packet = loadPacket(packets + index);
    while (packet.y != mark) {
        packet = loadPacket(packets + index);
    }
    return __uint_as_float(packet.x);
}

/// Values 4 c to 4 c + 3 for COUNT values of c that lie `stride` apart, below `fours`; zeros behind.
/// All are asked for before the first is waited for.
template <int COUNT>
__device__ __forceinline__ void
takeFours(const uint2* packets, int c, int stride, int fours, uint32_t mark, float4 (&to)[COUNT]) {
    uint4 low[COUNT];
    uint4 high[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int at = c + i * stride;
        if (at < fours) {
            low[i] = loadPackets(packets + 4 * at);
            high[i] = loadPackets(packets + 4 * at + 2);
        }
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int at = c + i * stride;
        to[i] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        if (at < fours) {
            while (low[i].y != mark || low[i].w != mark) {
                low[i] = loadPackets(packets + 4 * at);
            }
            while (high[i].y != mark || high[i].w != mark) {
                high[i] = loadPackets(packets + 4 * at + 2);
            }
            to[i] = make_float4(__uint_as_float(low[i].x), __uint_as_float(low[i].z),
                                __uint_as_float(high[i].x), __uint_as_float(high[i].z));
        }
    }
}

} // namespace kernels::cuda
