// SPDX-License-Identifier: Apache-2.0
// The decoder layers of one token in a single cooperative launch, for 4-bit and 8-bit weights on
// cards with bulk copies (compute capability 9.0) and much shared memory; for others:
// stream_async.cu.
//
// One block on every multiprocessor goes through the same list of steps. Four of its warps do
// nothing but fetch weights (weight_ring.cuh; where there are low-rank updates, one of them is for
// those alone, stream_lora.cuh): the stream from memory neither knows nor waits for the steps'
// dependences. Twelve compute: they take the results of the step before as they come
// (exchange.cuh), multiply on tensor cores (half_products.cuh) and hand on. There is no barrier
// over the grid anywhere.
#include "kernels/cuda/device/stream_block.cuh"

using namespace kernels::cuda;

namespace {

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
        runSteps<BulkForm, UPDATES, IS_TRACED>(steps, count, layout, fetcher, ring, exchange,
                                               trace);
        noteEnd(counters, count, layout, exchange);
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
