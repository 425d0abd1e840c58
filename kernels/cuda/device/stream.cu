// SPDX-License-Identifier: Apache-2.0
// The decoder layers of one token in a single cooperative launch, for 4-bit and 8-bit weights on
// cards with bulk copies (compute capability 9.0).
//
// One block on every multiprocessor goes through the same list of steps. Four of its warps do
// nothing but fetch weights (weight_ring.cuh; where there are low-rank updates, one of them is for
// those alone, stream_lora.cuh): the stream from memory neither knows nor waits for the steps'
// dependences. Twelve compute: they take the results of the step before as they come
// (exchange.cuh), multiply on tensor cores (half_products.cuh) and hand on. There is no barrier
// over the grid anywhere.
#include "kernels/cuda/device/stream_attend.cuh"
#include "kernels/cuda/device/stream_step.cuh"

using namespace kernels::cuda;

namespace {

/// Asks for arguments and norms: its warp seldom has results, which the others wait for.
constexpr int kAskingThread = kComputeThreads - 1;

/// Kernels for steps without low-rank updates, with such that there are plans of (UnitPlan), and
/// with any. Each has no code but its own: what is not there takes no registers and none of the
/// cache for instructions, which a layer's fill.
enum class Updates { none, planned, any };

template <Updates UPDATES, bool IS_TRACED>
__device__ __forceinline__ void runSteps(const TokenStep* steps,
                                         int count,
                                         const StreamLayout& layout,
                                         const StepFetcher& fetcher,
                                         WeightRing ring,
                                         Exchange exchange,
                                         long long* trace) {
    char* const shared = fetcher.shared;
    char* const work = shared + layout.work;
    const CodeTable table{sharedAddress(shared) + (threadIdx.x & 31) * 4};
    float4* const row = reinterpret_cast<float4*>(shared + layout.row);
    const UnitSignals units{shared + kUnitSignalsOffset, UPDATES != Updates::none,
                            UPDATES == Updates::any};
    const bool is_asking = threadIdx.x == kAskingThread;
    if (is_asking) {
        fetcher.askForStep(steps, 0);
        for (int i = 1; i < kStepsAsked && i < count; ++i) {
            fetcher.askForStep(steps, i);
        }
        fetcher.waitForStep(0);
        fetcher.askForNorms(0);
    }
    for (int i = threadIdx.x; i < kAttendConstantBytes / 4; i += kComputeThreads) {
        reinterpret_cast<uint32_t*>(shared + layout.attend)[i] = 0;
    }
    syncCompute();
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        // Everybody is behind the step before, and nobody needs what lies there.
        if (is_asking) {
            if (i + kStepsAsked < count) {
                fetcher.askForStep(steps, i + kStepsAsked);
            }
            if (i + 1 < count) {
                fetcher.waitForStep(i + 1);
                fetcher.askForNorms(i + 1);
            }
        }
        // They were asked for when the step's arguments had come.
        fetcher.waitForNorms(i);
        const TokenStep& step = fetcher.stepAt(i);
        const StepClocks clocks{trace, i, IS_TRACED};
        clocks.note(0);
        if (step.kind == kStepAttend) {
            streamAttend(step.attend, work, shared + kCodeGapOffset, shared + layout.attend,
                         fetcher.normsOf(i), layout.norm_bytes, exchange, i, clocks);
        } else {
            streamProject(step.project, work, row, fetcher.normsOf(i), layout.norm_bytes, ring,
                          table, units, exchange, i, clocks);
        }
        clocks.note(4);
        syncCompute();
    }
}

/// The whole launch of one block.
template <Updates UPDATES, bool IS_TRACED>
__device__ __forceinline__ void runBlock(const TokenStep* steps,
                                         int count,
                                         const StreamLayout& layout,
                                         int32_t* counters,
                                         int32_t* flags,
                                         uint2* packets,
                                         long long* trace) {
    char* const shared = dynamicShared() + layout.table;
    // The host was told another place of dynamic shared memory than it has: look-ups would go
    // astray.
    if (sharedAddress(shared) % kCodeTableAlignment != 0) {
        __trap();
    }
    const WeightRing ring{reinterpret_cast<uint64_t*>(shared + kCodeTableBytes),
                          shared + layout.chunks, layout.chunk_count};
    const Exchange exchange{packets,
                            flags,
                            static_cast<uint32_t>(loadAcquire(counters)),
                            {loadAcquire(counters + 2), loadAcquire(counters + 3)},
                            static_cast<int>(blockIdx.x),
                            static_cast<int>(gridDim.x)};
    const StepFetcher fetcher{shared, layout.norms, layout.norm_bytes};
    if (threadIdx.x == 0) {
        UnitSignals{shared + kUnitSignalsOffset}.init();
        fetcher.init();
        ring.init();
    }
    CodeTable::fill(shared, layout.code_format, kStreamThreads);
    ring.clear(kStreamThreads);
    __syncthreads();
    if (threadIdx.x < kComputeThreads) {
        runSteps<UPDATES, IS_TRACED>(steps, count, layout, fetcher, ring, exchange, trace);
        // The last block that is done leaves the number of the last step.
        if (threadIdx.x == 0 && atomicAdd(counters + 1, 1) == static_cast<int>(gridDim.x) - 1) {
            counters[0] = static_cast<int>(exchange.base) + count;
            counters[1] = 0;
            for (int i = 0; i < kWideRegions; ++i) {
                counters[2 + i] = (exchange.wide_base[i] + layout.wide_uses[i]) % 127;
            }
        }
    } else {
        const int warp = static_cast<int>(threadIdx.x) / 32 - kComputeWarps;
        constexpr bool kHasUpdates = UPDATES != Updates::none;
        if (kHasUpdates && warp == kFetchWarps - 1) {
            runUnits<UPDATES == Updates::planned>(layout, count, fetcher,
                                                  UnitSignals{shared + kUnitSignalsOffset},
                                                  exchange, trace, IS_TRACED);
        } else {
            fetchWeights(steps, count, ring, warp, kHasUpdates ? kFetchWarps - 1 : kFetchWarps,
                         shared + kStepHeadsOffset + warp * 2 * kStepHeadBytes, exchange.block);
        }
    }
}

} // namespace

extern "C" {

// grid: one block a multiprocessor, all resident (cooperative launch); block: kStreamThreads;
// shared memory: planned by token_steps.cpp. counters [4]: the number of the last step of the
// launch before, zero, and uses of the places for wide rows. trace: [count, kTraceMarks] for the
// clocks of block 0, of the kernels that note them. Of steps some of which have low-rank updates
// the last fetching warp is for those.
#define BELFRY_STREAM_PARAMETERS                                                                   \
    const TokenStep *steps, int count, StreamLayout layout, int32_t *counters, int32_t *flags,     \
        uint2 *packets, long long *trace

__global__ void __launch_bounds__(512, 1) belfry_stream(BELFRY_STREAM_PARAMETERS) {
    runBlock<Updates::none, false>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_updates(BELFRY_STREAM_PARAMETERS) {
    runBlock<Updates::planned, false>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_any_updates(BELFRY_STREAM_PARAMETERS) {
    runBlock<Updates::any, false>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_traced(BELFRY_STREAM_PARAMETERS) {
    runBlock<Updates::none, true>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_updates_traced(BELFRY_STREAM_PARAMETERS) {
    runBlock<Updates::planned, true>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1)
    belfry_stream_any_updates_traced(BELFRY_STREAM_PARAMETERS) {
    runBlock<Updates::any, true>(steps, count, layout, counters, flags, packets, trace);
}

// What every block needs to know of the updates of each step (UnitPlan): grid: steps of a list;
// plans: [steps with updates, blocks].
__global__ void belfry_stream_plans(const TokenStep* steps, UnitPlan* plans, int blocks) {
    const TokenStep& step = steps[blockIdx.x];
    if (step.kind != kStepProject || step.project.lora_units == 0) {
        return;
    }
    for (int block = static_cast<int>(threadIdx.x); block < blocks;
         block += static_cast<int>(blockDim.x)) {
        plans[step.project.lora_step * blocks + block] = planUnits(step.project, block, blocks);
    }
}

} // extern "C"
