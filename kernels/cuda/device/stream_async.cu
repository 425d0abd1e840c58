// SPDX-License-Identifier: Apache-2.0
// stream.cu for cards without bulk copies (compute capability 8.0, 8.6, 8.9) or with 99 KiB of
// shared memory (12.0): the same steps in the same order of sums, with what AsyncForm
// (stream_form.cuh) says. Low-rank updates stay in memory (stream_direct.cuh).
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
    using Form = AsyncForm;
    constexpr bool kHasUpdates = UPDATES != Updates::none;
    constexpr int kThreads = kHasUpdates ? Form::kUpdateThreads : Form::kThreads;
    char* const shared = dynamicShared();
    const RingOf<Form> ring{reinterpret_cast<uint64_t*>(shared),
                            shared + layout.chunks,
                            layout.chunk_count,
                            layout.chunk_codes,
                            layout.chunk_bytes,
                            reinterpret_cast<int32_t*>(shared + kAsyncAskedOffset)};
    const Exchange exchange{packets,
                            flags,
                            static_cast<uint32_t>(loadAcquire(counters)),
                            {loadAcquire(counters + 2), loadAcquire(counters + 3)},
                            static_cast<int>(blockIdx.x),
                            static_cast<int>(gridDim.x)};
    const StepFetcherOf<Form> fetcher{shared, 0, 0};
    if (threadIdx.x == 0) {
        fetcher.init();
        ring.init();
        *ring.asked = 0;
        if constexpr (kHasUpdates) {
            UnitSignalsOf<Form>{shared + Form::kSignalsOffset}.init();
        }
    }
    Form::Table::fill(shared + layout.table, layout.code_format, kThreads);
    ring.clear(kThreads);
    __syncthreads();
    if (threadIdx.x < kComputeThreads) {
        runSteps<Form, UPDATES, IS_TRACED>(steps, count, layout, fetcher, ring, exchange, trace);
        noteEnd(counters, count, layout, exchange);
    } else {
        const int warp = static_cast<int>(threadIdx.x) / 32 - kComputeWarps;
        if (kHasUpdates && warp == Form::kFetchingWarps + 1) {
            runDirectUnits<Form>(steps, layout, shared + layout.work,
                                 {shared + Form::kSignalsOffset}, exchange, trace, IS_TRACED);
        } else if (warp == Form::kFetchingWarps) {
            if (layout.ahead > 0) {
                prefetchWeights(steps, count, ring.asked, layout.ahead, exchange.block);
            }
        } else {
            fetchWeights(steps, count, ring, warp, Form::kFetchingWarps,
                         shared + kAsyncHeadsOffset + warp * Form::kHeadsOf * kStepHeadBytes,
                         exchange.block);
        }
    }
}

} // namespace

extern "C" {

// As belfry_stream; block: kAsyncThreads, with updates kAsyncUpdateThreads; shared memory:
// asyncLayoutFor().
__global__ void __launch_bounds__(480, 1) belfry_stream_async(BELFRY_STREAM_PARAMETERS) {
    runBlock<Updates::none, false>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_async_updates(BELFRY_STREAM_PARAMETERS) {
    runBlock<Updates::direct, false>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(480, 1) belfry_stream_async_traced(BELFRY_STREAM_PARAMETERS) {
    runBlock<Updates::none, true>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1)
    belfry_stream_async_updates_traced(BELFRY_STREAM_PARAMETERS) {
    runBlock<Updates::direct, true>(steps, count, layout, counters, flags, packets, trace);
}

} // extern "C"
