// SPDX-License-Identifier: Apache-2.0
// The decoder layers of up to four tokens that follow each other in a single cooperative launch,
// for 4-bit and 8-bit weights on cards with bulk copies (compute capability 9.0): the check of
// drafts. Weights come as in stream.cu, once for all rows. What a step makes lies in memory, behind
// one flag of every block: of several rows packets would be as many, and who has several rows to
// work on hides more of the way.
#include "kernels/cuda/device/stream_rows.cuh"
#include "kernels/cuda/device/stream_rows_attend.cuh"

using namespace kernels::cuda;

namespace {

__device__ __forceinline__ void runRowSteps(const TokenStep* steps,
                                            int count,
                                            const StreamLayout& layout,
                                            const StepFetcher& fetcher,
                                            WeightRing ring,
                                            const Exchange& exchange,
                                            int rows,
                                            long long* trace) {
    char* const shared = fetcher.shared;
    char* const work = shared + layout.work;
    const CodeTable table{sharedAddress(shared) + (threadIdx.x & 31) * 4};
    const RowShare share(rows);
    const bool is_asking = threadIdx.x == kComputeThreads - 1;
    if (is_asking) {
        for (int i = 0; i < kStepsAsked && i < count; ++i) {
            fetcher.askForStep(steps, i);
        }
    }
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        if (is_asking && i + kStepsAsked < count) {
            // Everybody is behind the step whose place it takes.
            fetcher.askForStep(steps, i + kStepsAsked);
        }
        fetcher.waitForStep(i);
        const TokenStep& step = fetcher.stepAt(i);
        const StepClocks clocks{trace, i, trace != nullptr};
        clocks.note(0);
        if (step.kind == kStepAttend) {
            attendRows(step.attend, work, shared + layout.row, share, exchange, i, clocks);
        } else {
            projectRows(step.project, work, shared, shared + layout.row, ring, table, share,
                        exchange, i, clocks);
        }
        clocks.note(4);
        syncCompute();
    }
}

} // namespace

extern "C" {

// grid: one block a multiprocessor, all resident (cooperative launch); block: kStreamThreads;
// shared memory: planned by stream_rows.cpp. counters [4]: as of belfry_stream, whose flags these
// are. rows [1]: rows that are there. trace: nullptr, or
// [count, kTraceMarks] for the clocks of block 0.
__global__ void __launch_bounds__(512, 1) belfry_stream_rows(const TokenStep* steps,
                                                             int count,
                                                             StreamLayout layout,
                                                             int32_t* counters,
                                                             int32_t* flags,
                                                             const int32_t* rows,
                                                             long long* trace) {
    char* const shared = dynamicShared() + layout.table;
    if (sharedAddress(shared) % kCodeTableAlignment != 0) {
        __trap();
    }
    const WeightRing ring{reinterpret_cast<uint64_t*>(shared + kCodeTableBytes),
                          shared + layout.chunks, layout.chunk_count};
    const Exchange exchange{nullptr,
                            flags,
                            static_cast<uint32_t>(loadAcquire(counters)),
                            {0, 0},
                            static_cast<int>(blockIdx.x),
                            static_cast<int>(gridDim.x)};
    const StepFetcher fetcher{shared, layout.norms, layout.norm_bytes};
    if (threadIdx.x == 0) {
        fetcher.init();
        ring.init();
    }
    CodeTable::fill(shared, layout.code_format, kStreamThreads);
    ring.clear(kStreamThreads);
    __syncthreads();
    if (threadIdx.x < kComputeThreads) {
        const int wanted = *rows;
        runRowSteps(steps, count, layout, fetcher, ring, exchange,
                    wanted < 1             ? 1
                    : wanted > kStreamRows ? kStreamRows
                                           : wanted,
                    trace);
        // The last block that is done leaves the number of the last step.
        if (threadIdx.x == 0 && atomicAdd(counters + 1, 1) == static_cast<int>(gridDim.x) - 1) {
            counters[0] = static_cast<int>(exchange.base) + count;
            counters[1] = 0;
        }
    } else {
        const int warp = static_cast<int>(threadIdx.x) / 32 - kComputeWarps;
        fetchWeights(steps, count, ring, warp, kFetchWarps,
                     shared + kStepHeadsOffset + warp * 2 * kStepHeadBytes, exchange.block);
    }
}

} // extern "C"
