// SPDX-License-Identifier: Apache-2.0
// The whole launch of one block of stream_rows.cu and stream_rows_large.cu.
#pragma once

#include "kernels/cuda/device/common/group_products.cuh"
#include "kernels/cuda/device/small_batch/stream_rows.cuh"
#include "kernels/cuda/device/small_batch/stream_rows_attend.cuh"

namespace kernels::cuda {

/// Registers of a thread: 512 threads have 128 each. On 9.0 those that fetch, which are the last
/// four warps, leave theirs to the others: what does not fit is in memory, and 16 warps' of it is
/// more than the first cache has beside the shared memory.
constexpr int kFetchRegisters = 56;
constexpr int kComputeRegisters = 152;
static_assert(kFetchWarps == 4 && kComputeWarps % 4 == 0, "whole groups of four warps");
static_assert(kFetchRegisters * 32 * kFetchWarps + kComputeRegisters * kComputeThreads <= 65536);

template <typename FORM, bool HAS_UPDATES>
__device__ __forceinline__ void runRowSteps(const TokenStep* steps,
                                            int count,
                                            const StreamLayout& layout,
                                            const StepFetcherOf<FORM>& fetcher,
                                            RingOf<FORM> ring,
                                            const Exchange& exchange,
                                            int rows,
                                            long long* trace) {
    char* const shared = fetcher.shared;
    char* const work = shared + layout.work;
    const GappedCodePairs table{sharedAddress(shared) + (threadIdx.x & 31) * 4};
    KeptRows kept;
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
        const StepClocks clocks{trace, i};
        clocks.note(0);
        if (step.kind == kStepAttend) {
            attendRows<FORM>(step.attend, work, shared + layout.row, rows, exchange, i, clocks);
        } else {
            projectRows<FORM, HAS_UPDATES>(step.project, work, shared, shared + layout.row, ring,
                                           table, rows, kept, exchange, i, clocks);
        }
        clocks.note(4);
        syncCompute();
    }
}

/// As runBulkBlock(). rows [1]: rows that are there.
template <typename FORM, bool HAS_UPDATES>
__device__ __forceinline__ void runRowsBlock(const TokenStep* steps,
                                             int count,
                                             const StreamLayout& layout,
                                             int32_t* counters,
                                             int32_t* flags,
                                             uint2* packets,
                                             const int32_t* rows,
                                             long long* trace) {
    char* const shared = dynamicShared() + layout.table;
    if (sharedAddress(shared) % kCodeTableAlignment != 0) {
        __trap();
    }
    const RingOf<FORM> ring{reinterpret_cast<uint64_t*>(shared + kCodeTableBytes),
                            shared + layout.chunks, layout.chunk_count};
    const Exchange exchange{packets,
                            flags,
                            static_cast<uint32_t>(loadAcquire(counters)),
                            {0, 0},
                            static_cast<int>(blockIdx.x),
                            static_cast<int>(gridDim.x)};
    const StepFetcherOf<FORM> fetcher{shared, layout.norms, layout.norm_bytes};
    if (threadIdx.x == 0) {
        fetcher.init();
        ring.init();
    }
    GappedCodePairs::fill(shared, layout.code_table, kStreamThreads);
    ring.clear(kStreamThreads);
    __syncthreads();
    if (threadIdx.x < kComputeThreads) {
        takeRegisters<kComputeRegisters>();
        const int wanted = *rows;
        runRowSteps<FORM, HAS_UPDATES>(steps, count, layout, fetcher, ring, exchange,
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
        giveRegisters<kFetchRegisters>();
        const int warp = static_cast<int>(threadIdx.x) / 32 - kComputeWarps;
        char* const heads = shared + kStepHeadsOffset + warp * 2 * kStepHeadBytes;
        if constexpr (FORM::kIsLarge) {
            fetchLarge(steps, count, ring, warp, kFetchWarps, heads, exchange.block);
        } else {
            fetchWeights(steps, count, ring, warp, kFetchWarps, heads, exchange.block);
        }
    }
}

/// The kernels' parameters.
#define BELFRY_STREAM_ROWS_PARAMETERS                                                              \
    const TokenStep *steps, int count, StreamLayout layout, int32_t *counters, int32_t *flags,     \
        uint2 *packets, const int32_t *rows, long long *trace

} // namespace kernels::cuda
