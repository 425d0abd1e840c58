// SPDX-License-Identifier: Apache-2.0
// The end of an assistant's draft in one launch: the largest of its logits; of a head in groups
// first the groups whose centroids are nearest, then products with the rows of these alone. The
// last block that is done hands the draft to the next one, so that the host need not come between.
#include "kernels/cuda/device/common/logit_keys.cuh"

#include <cfloat>

using namespace kernels::cuda;

namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
/// Centroids of a thread.
constexpr int kOwn = kMaxLogitGroups / kThreads;

/// The key of a token's logit; 0 where it cannot be chosen.
__device__ __forceinline__ unsigned long long
draftKey(const DraftChoiceKernelArgs& a, float value, int token) {
    const bool is_out =
        !(fabsf(value) <= FLT_MAX) ||
        (a.suppressed != nullptr && (a.suppressed[token >> 5] >> (token & 31) & 1U) != 0U);
    return logitKey(value, token, is_out);
}

/// Largest key of all blocks, and what becomes of it. All threads.
__device__ __forceinline__ void
finishDraft(const DraftChoiceKernelArgs& a, unsigned long long mine, unsigned long long* warps) {
    mine = warpLargest(mine);
    if ((threadIdx.x & 31) == 0) {
        warps[threadIdx.x >> 5] = mine;
    }
    __syncthreads();
    if (threadIdx.x >= 32) {
        return;
    }
    mine = warpLargest(threadIdx.x < kWarps ? warps[threadIdx.x] : 0);
    if (threadIdx.x != 0) {
        return;
    }
    atomicMax(&a.counters->best, mine);
    __threadfence();
    if (atomicAdd(&a.counters->done, 1) != static_cast<int>(gridDim.x) - 1) {
        return;
    }
    __threadfence();
    const unsigned long long key = __ldcg(&a.counters->best);
    a.counters->best = 0;
    a.counters->done = 0;
    DraftNumberArgs& numbers = *a.numbers;
    // Values that are no numbers make a bad draft, which the model turns down.
    const int token =
        key == 0 ? numbers.at.token : static_cast<int>(0xffffffffU - static_cast<uint32_t>(key));
    const int count = numbers.count;
    numbers.at.token = token;
    if (count >= 0 && count < kMostDraftNumbers) {
        numbers.draft[count] = token;
        numbers.count = count + 1;
        if (a.told != nullptr) {
            a.told[count] = token;
        }
    }
}

/// Eight elements of a row of the table, from `index` on.
__device__ __forceinline__ void loadEight(const WeightArgs& w, int64_t index, float (&to)[8]) {
    if (w.layout == WeightLayout::F32) {
        const auto* at = static_cast<const float4*>(w.data) + index / 4;
        const float4 low = __ldg(at);
        const float4 high = __ldg(at + 1);
        to[0] = low.x;
        to[1] = low.y;
        to[2] = low.z;
        to[3] = low.w;
        to[4] = high.x;
        to[5] = high.y;
        to[6] = high.z;
        to[7] = high.w;
        return;
    }
    const uint4 eight = __ldg(static_cast<const uint4*>(w.data) + index / 8);
    const int type = w.layout == WeightLayout::F16 ? kElementF16 : kElementBf16;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        to[i] = loadElement(&eight, type, i);
    }
}

/// z = rms(x) * norm. sums [kWarps + 1]. A barrier has to follow.
__device__ __forceinline__ void
normRow(const DraftChoiceKernelArgs& a, int cols, float* z, float* sums) {
    float sum = 0.0F;
    for (int c = static_cast<int>(threadIdx.x); c < cols; c += kThreads) {
        const float value = a.x[c];
        z[c] = value;
        sum += value * value;
    }
    sum = warpSum(sum);
    if ((threadIdx.x & 31) == 0) {
        sums[threadIdx.x >> 5] = sum;
    }
    __syncthreads();
    float total = 0.0F;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
        total += sums[i];
    }
    const float inverse = rsqrtf(total / static_cast<float>(cols) + a.eps);
    for (int c = static_cast<int>(threadIdx.x); c < cols; c += kThreads) {
        z[c] *=
            inverse * (a.norm.data == nullptr ? 1.0F : loadElement(a.norm.data, a.norm.type, c));
    }
}

/// The `slot`-th of the chosen groups, in their order: those above the bar, and of those at it the
/// first ones. tally [32]: zeros; counts [2, kOwn, kWarps]; chosen [1].
__device__ __forceinline__ void
findGroup(const DraftChoiceKernelArgs& a, int slot, int* tally, int* counts, int* chosen) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int lane = thread & 31;
    const int warp = thread >> 5;
    uint32_t keys[kOwn];
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        const int group = thread + k * kThreads;
        keys[k] = group < a.groups ? candidateKey(a.logits[group], false) : 0U;
    }
    // The bar may be lower than the last chosen key where exactly so many reach it.
    const uint32_t bar = findBar(keys, a.top, 0, tally);
    uint32_t above[kOwn];
    uint32_t equal[kOwn];
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        const bool is_there = thread + k * kThreads < a.groups;
        above[k] = __ballot_sync(0xffffffffU, is_there && keys[k] > bar ? 1 : 0);
        equal[k] = __ballot_sync(0xffffffffU, is_there && keys[k] == bar ? 1 : 0);
        if (lane == 0) {
            counts[k * kWarps + warp] = __popc(above[k]);
            counts[(kOwn + k) * kWarps + warp] = __popc(equal[k]);
        }
    }
    __syncthreads();
    // Groups in order are by k, then by thread; those at the bar come behind all above it.
    int place = 0;
    int before[2 * kOwn];
#pragma unroll
    for (int k = 0; k < 2 * kOwn; ++k) {
        before[k] = 0;
        for (int w = 0; w < kWarps; ++w) {
            if (w == warp) {
                before[k] = place;
            }
            place += counts[k * kWarps + w];
        }
    }
    const uint32_t below = (1U << lane) - 1U;
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
        const bool is_above = (above[k] >> lane & 1U) != 0U;
        const bool is_equal = (equal[k] >> lane & 1U) != 0U;
        const int own = is_above ? before[k] + __popc(above[k] & below)
                                 : before[kOwn + k] + __popc(equal[k] & below);
        if ((is_above || is_equal) && own == slot) {
            chosen[0] = thread + k * kThreads;
        }
    }
    __syncthreads();
}

} // namespace

extern "C" {

/// Chooses among groups. grid: top * parts; block 512.
__global__ void __launch_bounds__(kThreads) belfry_draft_groups(DraftChoiceKernelArgs a) {
    BELFRY_SHARED(int, tally, [32]);
    BELFRY_SHARED(int, counts, [2 * kOwn * kWarps]);
    BELFRY_SHARED(int, chosen, [1]);
    BELFRY_SHARED(float, sums, [kWarps]);
    BELFRY_SHARED(float4, fours, [kMostDraftColumns / 4]);
    BELFRY_SHARED(unsigned long long, warps, [kWarps]);
    const auto thread = static_cast<int>(threadIdx.x);
    const int lane = thread & 31;
    const auto cols = static_cast<int>(a.table.cols);
    float* const z = reinterpret_cast<float*>(fours);
    if (thread < 32) {
        tally[thread] = 0;
    }
    if (thread == 0) {
        chosen[0] = 0;
    }
    normRow(a, cols, z, sums);
    __syncthreads();
    const int slot = static_cast<int>(blockIdx.x) / a.parts;
    const int part = static_cast<int>(blockIdx.x) - slot * a.parts;
    findGroup(a, slot, tally, counts, chosen);
    const int first = chosen[0] * a.group_size;
    const int rows = (a.group_size + a.parts - 1) / a.parts;
    const int end = min(a.group_size, (part + 1) * rows);
    unsigned long long mine = 0;
#pragma unroll 2
    for (int r = part * rows + (thread >> 5); r < end; r += kWarps) {
        const int64_t row = first + r;
        float sum = 0.0F;
        for (int c = lane * 8; c < cols; c += 256) {
            float w[8];
            loadEight(a.table, row * cols + c, w);
            const float4 low = fours[c / 4];
            const float4 high = fours[c / 4 + 1];
            sum = fmaf(w[0], low.x, sum);
            sum = fmaf(w[1], low.y, sum);
            sum = fmaf(w[2], low.z, sum);
            sum = fmaf(w[3], low.w, sum);
            sum = fmaf(w[4], high.x, sum);
            sum = fmaf(w[5], high.y, sum);
            sum = fmaf(w[6], high.z, sum);
            sum = fmaf(w[7], high.w, sum);
        }
        sum = warpSum(sum);
        const unsigned long long key = draftKey(a, sum, a.ordering[row]);
        mine = key > mine ? key : mine;
    }
    finishDraft(a, mine, warps);
}

/// The largest of all tokens. grid: any; block 512; logits aligned to 16.
__global__ void __launch_bounds__(kThreads) belfry_draft_largest(DraftChoiceKernelArgs a) {
    BELFRY_SHARED(unsigned long long, warps, [kWarps]);
    unsigned long long mine = 0;
    const int stride = static_cast<int>(gridDim.x) * kThreads * 4;
    for (int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) * 4; i < a.tokens;
         i += stride) {
        float value[4];
        if (a.tokens - i >= 4) {
            const float4 four = __ldcg(reinterpret_cast<const float4*>(a.logits + i));
            value[0] = four.x;
            value[1] = four.y;
            value[2] = four.z;
            value[3] = four.w;
        } else {
            for (int k = 0; k < 4; ++k) {
                value[k] = i + k < a.tokens ? a.logits[i + k] : 0.0F;
            }
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned long long key = i + k < a.tokens ? draftKey(a, value[k], i + k) : 0ULL;
            mine = key > mine ? key : mine;
        }
    }
    finishDraft(a, mine, warps);
}

} // extern "C"
