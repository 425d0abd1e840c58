// SPDX-License-Identifier: Apache-2.0
// How the blocks of stream.cu hand results to each other without a barrier over the grid.
//
// Short results travel as packets: a value and the number of its step in eight bytes that are read
// and written at once. Who needs a value reads its packet until the number is right: one way
// through L2 instead of a write, a fence, an arrival, a poll and a read. Wide rows travel three
// values in a packet. What fits neither lies in memory, behind one flag of every block.
//
// A place for packets is used again after kPacketSteps steps. Every block reads all results of
// every projection before it writes those of the next, so that nobody can be two projections
// behind.
#pragma once

#include "kernels/cuda/device/common/common.cuh"

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

/// Where the packet of value `index` of a step lies: of 128 neighbours first the first two of every
/// four, then the others. A lane reads four neighbours as two pieces of 16 bytes, kPacketHalf
/// packets apart, each next to those of the lanes beside it: side by side the two would be in one
/// sector of 32 bytes, which every one of the two loads would fetch as a whole.
constexpr int kPacketHalf = 64;
__device__ __forceinline__ int packetPlace(int index) {
    return (index & ~127) | (index & 2) << 5 | (index & 124) >> 1 | (index & 1);
}

struct Exchange {
    uint2* packets;              ///< [kPacketSteps, kPackets], then [kWideRegions, kWidePackets]
    int32_t* flags;              ///< [grid]
    uint32_t base;               ///< Number of the first step, less one.
    int wide_base[kWideRegions]; ///< Uses of each place for wide rows before this launch.
    int block;
    int grid;
    // Constants of the kernel:
    int pitch = kPackets;               ///< packets of a step,
    int wide = kPacketSteps * kPackets; ///< and where, counted in packets, those of wide rows
    int parts =                         ///< and of attention's parts begin.
        kPacketSteps * kPackets + kWideRegions * kWidePackets;

    /// What marks the results of step `step`.
    __device__ __forceinline__ uint32_t markOf(int step) const {
        return base + static_cast<uint32_t>(step) + 1;
    }
    __device__ __forceinline__ uint2* packetsOf(int step) const {
        return packets + (step % kPacketSteps) * pitch;
    }
    __device__ __forceinline__ void publish(int step, int index, float value) const {
        storePacket(packetsOf(step) + packetPlace(index), __float_as_uint(value), markOf(step));
    }

    /// Place of a wide row and what marks it in the `use`-th use of this launch: 1 to 127.
    __device__ __forceinline__ uint2* widePackets(int region) const {
        return packets + wide + region * kWidePackets;
    }
    __device__ __forceinline__ uint32_t wideMark(int region, int use) const {
        return 1U + static_cast<uint32_t>((region == 0 ? wide_base[0] : wide_base[1]) + use) % 127U;
    }
    /// Values 3 index to 3 index + 2, rounded to 11 bits of mantissa.
    __device__ __forceinline__ void
    publishWide(uint2* to, uint32_t mark, int index, float a, float b, float c) const {
        const uint32_t v0 = shorten(a);
        const uint32_t v1 = shorten(b);
        const uint32_t v2 = shorten(c);
        storePacket(to + index, v0 | (v1 << 19), (v1 >> 13) | (v2 << 6) | (mark << 25));
    }
    /// The upper 19 bits, to nearest.
    static __device__ __forceinline__ uint32_t shorten(float v) {
        const uint32_t bits = __float_as_uint(v);
        return (bits + 0xfffU + ((bits >> 13) & 1U)) >> 13;
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

/// Where the first thread of the first block notes its clock, and the first one of the warp for
/// updates. Both are there anyway: no registers are kept for it.
struct StepClocks {
    long long* trace; ///< [steps, kTraceMarks]; nullptr: nobody asks, as without kHasTrace.
    int step;
    __device__ __forceinline__ void note(int mark) const {
        if (kHasTrace && trace != nullptr && blockIdx.x == 0 && threadIdx.x == 0) {
            trace[step * kTraceMarks + mark] = clock64();
        }
    }
    /// By the warp for updates: one of kUnitMarks.
    __device__ __forceinline__ void noteUnit(int mark) const {
        if (kHasTrace && trace != nullptr && blockIdx.x == 0 && (threadIdx.x & 31) == 0) {
            trace[step * kTraceMarks + kStreamMarks + mark] = clock64();
        }
    }
};

/// `fours` times four values from value `first` on (a multiple of 4), into shared memory; the
/// thread that takes values c, c + kComputeThreads, ... stores them at the same places. Two are
/// asked for at a time. Returns the sum of their squares.
__device__ __forceinline__ float
takeValues(const uint2* packets, int first, int fours, uint32_t mark, float4* to) {
    float sum = 0.0F;
#pragma unroll 1
    for (int c = threadIdx.x; c < fours; c += 2 * kComputeThreads) {
        const uint2* const at = packets + packetPlace(first + 4 * c);
        const bool has_second = c + kComputeThreads < fours;
        const uint2* const second = at + (has_second ? 4 * kComputeThreads : 0);
        uint4 v[4];
        bool is_there = false;
        while (!is_there) {
            v[0] = loadPackets(at);
            v[1] = loadPackets(at + kPacketHalf);
            v[2] = v[0];
            v[3] = v[1];
            if (has_second) {
                v[2] = loadPackets(second);
                v[3] = loadPackets(second + kPacketHalf);
            }
            is_there = v[0].y == mark && v[0].w == mark && v[1].y == mark && v[1].w == mark &&
                       v[2].y == mark && v[2].w == mark && v[3].y == mark && v[3].w == mark;
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            if (i == 0 || has_second) {
                const float4 four =
                    make_float4(__uint_as_float(v[2 * i].x), __uint_as_float(v[2 * i].z),
                                __uint_as_float(v[2 * i + 1].x), __uint_as_float(v[2 * i + 1].z));
                to[c + i * kComputeThreads] = four;
                sum += (four.x * four.x + four.y * four.y) + (four.z * four.z + four.w * four.w);
            }
        }
    }
    return sum;
}

static_assert(4 * kComputeThreads % (2 * kPacketHalf) == 0, "whole rounds of packetPlace()");
/// Values 4 c to 4 c + 3 of c = this thread's number and the one kComputeThreads further; zeros
/// behind the end. All are asked for at once.
__device__ __forceinline__ void
takeShort(const uint2* packets, int fours, uint32_t mark, float4 (&to)[2]) {
    const int c = static_cast<int>(threadIdx.x);
    const uint2* const at = packets + packetPlace(4 * c);
    uint4 v[4] = {};
    bool is_there = c >= fours;
    while (!is_there) {
        v[0] = loadPackets(at);
        v[1] = loadPackets(at + kPacketHalf);
        is_there = true;
        if (c + kComputeThreads < fours) {
            v[2] = loadPackets(at + 4 * kComputeThreads);
            v[3] = loadPackets(at + 4 * kComputeThreads + kPacketHalf);
            is_there = v[2].y == mark && v[2].w == mark && v[3].y == mark && v[3].w == mark;
        }
        is_there = is_there && v[0].y == mark && v[0].w == mark && v[1].y == mark && v[1].w == mark;
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        to[i] = make_float4(__uint_as_float(v[2 * i].x), __uint_as_float(v[2 * i].z),
                            __uint_as_float(v[2 * i + 1].x), __uint_as_float(v[2 * i + 1].z));
    }
}

/// Two packets of a wide row.
struct WideValues {
    float at[6];
};
__device__ __forceinline__ WideValues wideValues(const uint4& v) {
    const auto value = [](uint32_t bits) { return __uint_as_float(bits << 13); };
    return {{value(v.x), value((v.x >> 19) | (v.y << 13)), value(v.y >> 6), value(v.z),
             value((v.z >> 19) | (v.w << 13)), value(v.w >> 6)}};
}

} // namespace kernels::cuda
