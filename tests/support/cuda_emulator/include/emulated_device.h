// SPDX-License-Identifier: Apache-2.0
// The names of CUDA C++ that the kernels use, for a C++ compiler: types, conversions with the
// device's rounding, and what threads do together (emulator.h). Written from the CUDA programming
// guide's descriptions; only what is needed here.
#pragma once

#include "tests/support/cuda_emulator/emulator.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#define __CUDA_ARCH__ 900
#define __CUDA_ARCH_FEAT_SM90_ALL
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
// After the standard headers: GCC writes the word inside attributes itself.
#define __noinline__ __attribute__((noinline))

#define threadIdx (::emulator::current_ids->thread)
#define blockIdx (::emulator::current_ids->block)
#define blockDim (::emulator::current_ids->block_size)
#define gridDim (::emulator::current_ids->grid_size)

struct int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(4) uchar4 {
    unsigned char x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
inline int4 make_int4(int x, int y, int z, int w) {
    return {x, y, z, w};
}
inline uint2 make_uint2(unsigned x, unsigned y) {
    return {x, y};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return {x, y, z, w};
}
inline float2 make_float2(float x, float y) {
    return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
    return {x, y, z, w};
}

// --- bits and arithmetic ---

inline float __uint_as_float(uint32_t bits) {
    return std::bit_cast<float>(bits);
}
inline uint32_t __float_as_uint(float value) {
    return std::bit_cast<uint32_t>(value);
}
inline float __int_as_float(int bits) {
    return std::bit_cast<float>(bits);
}
inline int __float_as_int(float value) {
    return std::bit_cast<int>(value);
}
/// Four bytes of the eight of (high, low), chosen by the nibbles of the selector; a nibble's top
/// bit replicates the byte's sign.
inline uint32_t __byte_perm(uint32_t low, uint32_t high, uint32_t selector) {
    const uint64_t bytes = (uint64_t{high} << 32U) | low;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const uint32_t nibble = selector >> (4 * i);
        uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (nibble & 7U))) & 255U;
        if ((nibble & 8U) != 0) {
            byte = (byte & 128U) != 0 ? 255U : 0U;
        }
        result |= byte << (8 * i);
    }
    return result;
}
inline int __popc(uint32_t bits) {
    return std::popcount(bits);
}
inline int __ffs(int bits) {
    return bits == 0 ? 0 : std::countr_zero(static_cast<uint32_t>(bits)) + 1;
}
inline int __clz(int bits) {
    return std::countl_zero(static_cast<uint32_t>(bits));
}
inline float __fadd_rn(float a, float b) {
    return a + b;
}
inline float __fsub_rn(float a, float b) {
    return a - b;
}
inline float __fmul_rn(float a, float b) {
    return a * b;
}
inline float __fdiv_rn(float a, float b) {
    return a / b;
}
inline float __fmaf_rn(float a, float b, float c) {
    return std::fma(a, b, c);
}
inline float __fdividef(float a, float b) {
    return a / b;
}
inline float __expf(float x) {
    return std::exp(x);
}
inline float __logf(float x) {
    return std::log(x);
}
inline float rsqrtf(float x) {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
}
inline int __float2int_rn(float x) {
    return static_cast<int>(std::nearbyint(x));
}
using std::max;
using std::min;

// --- memory ---

template <typename T>
inline T __ldg(const T* at) {
    return *at;
}
template <typename T>
inline T __ldcs(const T* at) {
    return *at;
}
/// What another block may have written: a place where others may run.
template <typename T>
inline T __ldcg(const T* at) {
    ::emulator::yieldSometimes();
    return *at;
}
template <typename T>
inline void __stcg(T* at, T value) {
    *at = value;
}
template <typename T>
inline void __stcs(T* at, T value) {
    *at = value;
}
inline void __threadfence() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void __threadfence_block() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void __threadfence_system() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
}
/// Steps so far instead of cycles.
inline long long clock64() {
    return ::emulator::steps();
}
[[noreturn]] inline void __trap() {
    ::emulator::fail("__trap()");
}
inline void __nanosleep(unsigned) {
    ::emulator::yieldToOthers();
}

/// Atomics act, then let others run: a loop that waits for a value goes through one of them.
template <typename T, typename Change>
inline T changedAtomically(T* at, Change change) {
    const T before = *at;
    const T after = change(before);
    *at = after;
    if (after != before) { // one that only looks wakes nobody
        ::emulator::noteAtomicWrite();
    }
    ::emulator::yieldToOthers();
    return before;
}
template <typename T>
inline T atomicAdd(T* at, std::type_identity_t<T> value) {
    return changedAtomically(at, [=](T old) { return static_cast<T>(old + value); });
}
template <typename T>
inline T atomicMax(T* at, std::type_identity_t<T> value) {
    return changedAtomically(at, [=](T old) { return old < value ? value : old; });
}
template <typename T>
inline T atomicMin(T* at, std::type_identity_t<T> value) {
    return changedAtomically(at, [=](T old) { return value < old ? value : old; });
}
template <typename T>
inline T atomicOr(T* at, std::type_identity_t<T> value) {
    return changedAtomically(at, [=](T old) { return static_cast<T>(old | value); });
}
template <typename T>
inline T atomicExch(T* at, std::type_identity_t<T> value) {
    return changedAtomically(at, [=](T) { return value; });
}
template <typename T>
inline T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    return changedAtomically(at, [=](T old) { return old == expected ? value : old; });
}

// --- threads together ---

using BarrierPlace = std::source_location;
inline void __syncthreads(BarrierPlace place = BarrierPlace::current()) {
    ::emulator::blockBarrier(0, place);
}
inline int __syncthreads_or(int vote, BarrierPlace place = BarrierPlace::current()) {
    return ::emulator::blockBarrier(vote, place).any;
}
inline int __syncthreads_and(int vote, BarrierPlace place = BarrierPlace::current()) {
    return ::emulator::blockBarrier(vote, place).all;
}
inline int __syncthreads_count(int vote, BarrierPlace place = BarrierPlace::current()) {
    return ::emulator::blockBarrier(vote, place).count;
}

namespace emulator {

/// Lane: two words of value, then the lane to read from.
inline void combineShuffle(Lane (&lanes)[32], uint32_t mask) {
    uint32_t values[32][2];
    for (int i = 0; i < 32; ++i) {
        values[i][0] = lanes[i].word[0];
        values[i][1] = lanes[i].word[1];
    }
    for (unsigned i = 0; i < 32; ++i) {
        const uint32_t from = lanes[i].word[2];
        if ((mask >> i & 1U) != 0) {
            // From a lane that is not there: no value that anybody may count on.
            const bool is_there = (mask >> from & 1U) != 0;
            lanes[i].word[0] = is_there ? values[from][0] : 0xffffffffU;
            lanes[i].word[1] = is_there ? values[from][1] : 0xffffffffU;
        }
    }
}

inline void combineNothing(Lane (&)[32], uint32_t) {}

/// Word 0: the predicate; becomes the ballot.
inline void combineBallot(Lane (&lanes)[32], uint32_t mask) {
    uint32_t ballot = 0;
    for (unsigned i = 0; i < 32; ++i) {
        ballot |= (mask >> i & 1U) != 0 && lanes[i].word[0] != 0 ? 1U << i : 0U;
    }
    for (auto& lane : lanes) {
        lane.word[0] = ballot;
    }
}

inline unsigned laneId() {
    const ThreadIds& t = *current_ids;
    return (t.thread.x + t.block_size.x * (t.thread.y + t.block_size.y * t.thread.z)) % 32;
}

template <typename T>
inline T shuffle(uint32_t mask, T value, unsigned from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    Lane lane{};
    std::memcpy(lane.word, &value, sizeof(T));
    lane.word[2] = from;
    exchange(Exchange::Shuffle, mask, combineShuffle, lane);
    std::memcpy(&value, lane.word, sizeof(T));
    return value;
}

} // namespace emulator

inline void __syncwarp(uint32_t mask = 0xffffffffU) {
    ::emulator::Lane lane{};
    ::emulator::exchange(::emulator::Exchange::Sync, mask, ::emulator::combineNothing, lane);
}
template <typename T>
inline T __shfl_sync(uint32_t mask, T value, int from, int width = 32) {
    const unsigned base = ::emulator::laneId() & ~static_cast<unsigned>(width - 1);
    return ::emulator::shuffle(
        mask, value, base | (static_cast<unsigned>(from) & static_cast<unsigned>(width - 1)));
}
template <typename T>
inline T __shfl_xor_sync(uint32_t mask, T value, int lanes, int width = 32) {
    const unsigned own = ::emulator::laneId();
    const unsigned from = own ^ static_cast<unsigned>(lanes);
    const auto group = ~static_cast<unsigned>(width - 1);
    return ::emulator::shuffle(mask, value, (from & group) > (own & group) ? own : from);
}
template <typename T>
inline T __shfl_down_sync(uint32_t mask, T value, unsigned delta, int width = 32) {
    const unsigned own = ::emulator::laneId();
    const unsigned in_group = own & static_cast<unsigned>(width - 1);
    return ::emulator::shuffle(mask, value,
                               in_group + delta < static_cast<unsigned>(width) ? own + delta : own);
}
template <typename T>
inline T __shfl_up_sync(uint32_t mask, T value, unsigned delta, int width = 32) {
    const unsigned own = ::emulator::laneId();
    const unsigned in_group = own & static_cast<unsigned>(width - 1);
    return ::emulator::shuffle(mask, value, in_group >= delta ? own - delta : own);
}
inline uint32_t __ballot_sync(uint32_t mask, int predicate) {
    ::emulator::Lane lane{};
    lane.word[0] = predicate != 0 ? 1U : 0U;
    ::emulator::exchange(::emulator::Exchange::Vote, mask, ::emulator::combineBallot, lane);
    return lane.word[0];
}
inline int __any_sync(uint32_t mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0 ? 1 : 0;
}
inline int __all_sync(uint32_t mask, int predicate) {
    return __ballot_sync(mask, predicate == 0 ? 1 : 0) == 0 ? 1 : 0;
}
