// SPDX-License-Identifier: Apache-2.0
// The logits that a choice among the k most probable tokens can fall on, in one launch: what host
// and bus then have to do with a row of a whole vocabulary is a few hundred bytes.
//
// The largest of every group of neighbours is noted while the cap passes over the row. The k-th
// largest of these is a bar that k different logits reach, so that no logit below it is among the k
// largest, and only groups whose largest reaches it need be looked at again: about as many as k.
// The last block that is done does so and finds the k-th largest of the few that are left.
#include "kernels/cuda/device/common/logit_keys.cuh"

#include <cfloat>

using namespace kernels::cuda;

namespace {

constexpr int kThreads = 512;
/// Groups, and candidates before the exact bar, of a thread.
constexpr int kOwn = kMaxLogitGroups / kThreads;
/// The first bar may be reached by more groups than wanted: finding the exact one takes longer than
/// looking at these.
constexpr int kSpareGroups = 32;

/// Up to four neighbours of a row, from i on.
struct FourLogits {
    float value[4];
    uint32_t skipped; ///< Bit k: value[k] is suppressed, or behind the row's end.

    __device__ __forceinline__ FourLogits(const float* logits,
                                          int i,
                                          int count,
                                          const uint32_t* suppressed) {
        // Four neighbours are in one word.
        skipped = suppressed == nullptr ? 0U : suppressed[i >> 5] >> (i & 31);
        if (count - i >= 4) {
            const float4 four = __ldcg(reinterpret_cast<const float4*>(logits + i));
            value[0] = four.x;
            value[1] = four.y;
            value[2] = four.z;
            value[3] = four.w;
            return;
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const bool is_there = i + k < count;
            value[k] = is_there ? __ldcg(logits + i + k) : 0.0F;
            skipped |= is_there ? 0U : 1U << k;
        }
    }
    __device__ __forceinline__ uint32_t key(int k) const {
        return candidateKey(value[k], (skipped >> k & 1U) != 0U);
    }
    __device__ __forceinline__ void store(float* logits, int i, int count) const {
        if (count - i >= 4) {
            *reinterpret_cast<float4*>(logits + i) =
                make_float4(value[0], value[1], value[2], value[3]);
            return;
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (i + k < count) {
                logits[i + k] = value[k];
            }
        }
    }
};

/// Caps the logits in place and leaves the largest key of each group; whether one of this thread's
/// is NaN or infinite.
__device__ __forceinline__ bool capAndRank(float* logits,
                                           int count,
                                           const uint32_t* suppressed,
                                           float cap,
                                           uint32_t* group_best,
                                           int group_lanes) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int lane = thread & 31;
    bool is_bad = false;
    const int stride = static_cast<int>(gridDim.x) * kThreads * 4;
    for (int base = (static_cast<int>(blockIdx.x) * kThreads + (thread & ~31)) * 4; base < count;
         base += stride) {
        const int i = base + lane * 4;
        uint32_t largest = 0;
        if (i < count) {
            FourLogits four(logits, i, count, suppressed);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                four.value[k] = cap > 0.0F ? cap * tanhf(four.value[k] / cap) : four.value[k];
                is_bad = is_bad || !(four.value[k] <= FLT_MAX); // NaN and +infinity
                largest = max(largest, four.key(k));
            }
            four.store(logits, i, count);
        }
        for (int offset = group_lanes >> 1; offset > 0; offset >>= 1) {
            largest = max(largest, __shfl_xor_sync(0xffffffffU, largest, offset));
        }
        if (i < count && (lane & (group_lanes - 1)) == 0) {
            group_best[i / (4 * group_lanes)] = largest;
        }
    }
    return is_bad;
}

/// The logits of these groups that reach the bar. `used`: how many there are, also of those for
/// which there is no place.
__device__ __forceinline__ void gatherCandidates(const float* logits,
                                                 int count,
                                                 const uint32_t* suppressed,
                                                 uint32_t bar,
                                                 const uint16_t* groups,
                                                 int group_count,
                                                 int group_lanes,
                                                 int* found,
                                                 float* found_value,
                                                 int* used) {
    const int shift = __ffs(group_lanes) - 1;
    const int fours = group_count << shift;
    for (auto i = static_cast<int>(threadIdx.x); i < fours; i += kThreads) {
        const int at = ((groups[i >> shift] << shift) + (i & (group_lanes - 1))) * 4;
        if (at < count) {
            const FourLogits four(logits, at, count, suppressed);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                if (four.key(k) >= bar) {
                    const int place = atomicAdd(used, 1);
                    if (place < kMaxLogitGroups) {
                        found[place] = at + k;
                        found_value[place] = four.value[k];
                    }
                }
            }
        }
    }
}

} // namespace

extern "C" {

/// logits = cap tanh(logits / cap) (as they are where cap is 0), and to `top` what
/// OpTable::top_logits says. logits aligned to 16; group_best [ceil(count / (4 group_lanes))], at
/// most kMaxLogitGroups; group_lanes: a power of two up to 32. grid: any; block 512.
__global__ void __launch_bounds__(kThreads) belfry_top_logits(float* logits,
                                                              int count,
                                                              const uint32_t* suppressed,
                                                              TopLogitArgs* top,
                                                              float cap,
                                                              EdgeCounters* counters,
                                                              uint32_t* group_best,
                                                              int group_lanes,
                                                              int wanted) {
    BELFRY_SHARED(int, tally, [64]);
    BELFRY_SHARED(int, is_last, [1]);
    BELFRY_SHARED(int, is_broken, [1]);
    BELFRY_SHARED(int, used, [3]); // of the three lists: groups, candidates, what goes to top
    BELFRY_SHARED(uint16_t, groups, [kMaxLogitGroups]);
    BELFRY_SHARED(int, found, [kMaxLogitGroups]);
    BELFRY_SHARED(float, found_value, [kMaxLogitGroups]);
    const auto thread = static_cast<int>(threadIdx.x);
    const bool is_bad = capAndRank(logits, count, suppressed, cap, group_best, group_lanes);
    if (thread < 64) {
        tally[thread] = 0;
    }
    if (thread < 3) {
        used[thread] = 0;
    }
    const int is_any_bad = __syncthreads_or(is_bad ? 1 : 0);
    if (thread == 0) {
        if (is_any_bad != 0) {
            atomicExch(&counters->broken, 1);
        }
        __threadfence();
        is_last[0] = atomicAdd(&counters->done, 1) == static_cast<int>(gridDim.x) - 1 ? 1 : 0;
        __threadfence();
        is_broken[0] = __ldcg(&counters->broken);
    }
    __syncthreads();
    if (is_last[0] == 0) {
        return;
    }
    if (thread == 0) {
        counters->done = 0;
        counters->broken = 0;
    }
    if (is_broken[0] != 0) {
        if (thread == 0) {
            top->count = kTopSeeRow;
        }
        return;
    }

    // Groups that hold what can be among the `wanted` largest.
    const int group_count = (count + 4 * group_lanes - 1) / (4 * group_lanes);
    uint32_t keys[kOwn];
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        const int group = thread + k * kThreads;
        keys[k] = group < group_count ? __ldcg(group_best + group) : 0U;
    }
    uint32_t bar = max(1U, findBar(keys, wanted, kSpareGroups, tally));
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        if (keys[k] >= bar) {
            groups[atomicAdd(&used[0], 1)] = static_cast<uint16_t>(thread + k * kThreads);
        }
    }
    __syncthreads();

    // Their logits that reach the bar.
    gatherCandidates(logits, count, suppressed, bar, groups, used[0], group_lanes, found,
                     found_value, &used[1]);
    __syncthreads();
    const int candidates = used[1];
    if (candidates > kMaxLogitGroups) { // neighbours of much the same size
        if (thread == 0) {
            top->count = kTopSeeRow;
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        const int place = thread + k * kThreads;
        keys[k] = place < candidates ? candidateKey(found_value[place], false) : 0U;
    }
    if (candidates > wanted) {
        bar = findBar(keys, wanted, 0, tally + 32);
    }
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        if (keys[k] >= bar) {
            const int place = atomicAdd(&used[2], 1);
            if (place < kMostTopLogits) {
                const int from = thread + k * kThreads;
                *reinterpret_cast<uint2*>(&top->entry[place]) = make_uint2(
                    static_cast<unsigned>(found[from]), __float_as_uint(found_value[from]));
            }
        }
    }
    __syncthreads();
    if (thread == 0) {
        top->count = used[2] <= kMostTopLogits ? used[2] : kTopSeeRow;
    }
}

} // extern "C"
