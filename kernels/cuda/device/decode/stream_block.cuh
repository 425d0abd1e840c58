// SPDX-License-Identifier: Apache-2.0
// The way of a block's warps through the steps of a token, the same for stream.cu, stream_async.cu
// and what they have for long rows (FORM: stream_form.cuh).
#pragma once

#include "kernels/cuda/device/decode/async_parts.cuh"
#include "kernels/cuda/device/decode/stream_attend.cuh"
#include "kernels/cuda/device/decode/stream_step.cuh"

namespace kernels::cuda {

/// Asks for arguments and norms: its warp seldom has results, which the others wait for.
constexpr int kAskingThread = kComputeThreads - 1;

/// Kernels for steps without low-rank updates, with such that there are plans of (UnitPlan), and
/// with any. Each has no code but its own: what is not there takes no registers and none of the
/// cache for instructions, which a layer's fill. direct: their B stays in memory.
enum class Updates { none, planned, any, direct };

/// The exchange of what steps leave for the next. Forms for long rows and for blocks have flags for
/// that which are not those of attention's parts: results of attention, too, lie behind flags.
template <typename FORM>
__device__ __forceinline__ Exchange resultsOf(const Exchange& exchange) {
    Exchange results = exchange;
    if constexpr (FORM::kHasLargePackets) {
        results.flags += kLargeFlags;
    }
    return results;
}
template <typename FORM>
__device__ __forceinline__ void
publishAttention(const AttendStepKernelArgs& a, const Exchange& exchange, int step) {
    if constexpr (FORM::kHasLargePackets) {
        if (a.publish == kLinkFlags) {
            resultsOf<FORM>(exchange).raiseFlag(step);
        }
    }
}

/// Attention in the place of the table of codes and of the work memory behind it, where that alone
/// is too small; without a table there is work memory in its place. All compute threads; a barrier
/// has to follow.
template <typename FORM>
__device__ __forceinline__ void attendInTable(const AttendStepKernelArgs& a,
                                              const StreamLayout& layout,
                                              char* shared,
                                              const Exchange& exchange,
                                              int step,
                                              const StepClocks& clocks) {
    char* const table = shared + layout.table;
    // By heads it takes no more than the table's end.
    const int more = streamHeadBytes(a.head_dim) - layout.work_bytes;
    const int taken = more > 0 ? (more + 15) / 16 * 16 : 0;
    const bool is_by_head =
        streamAttend<FORM>(a, table, shared + layout.work - taken, nullptr, shared + layout.attend,
                           nullptr, 0, exchange, step, clocks);
    publishAttention<FORM>(a, exchange, step); // the others wait, the table does not
    if ((is_by_head && taken == 0) || !hasTable<FORM>(layout)) {
        return;
    }
    syncCompute();
    FORM::Table::fill(table, layout.code_table, kComputeThreads,
                      is_by_head ? (kDenseTableBytes - taken) / kDenseEntryBytes : 0);
}

template <typename FORM, Updates UPDATES>
__device__ __forceinline__ void runSteps(const TokenStep* steps,
                                         int count,
                                         const StreamLayout& layout,
                                         const StepFetcherOf<FORM>& fetcher,
                                         RingOf<FORM> ring,
                                         Exchange exchange,
                                         long long* trace) {
    char* const shared = fetcher.shared;
    char* const work = shared + layout.work;
    char* const table_at = shared + (FORM::kIsBulk ? 0 : layout.table);
    const typename FORM::Table table{sharedAddress(table_at) + (threadIdx.x & 31) * 4};
    float4* const row = reinterpret_cast<float4*>(shared + layout.row);
    const UnitSignalsOf<FORM> units{shared + FORM::kSignalsOffset, UPDATES != Updates::none,
                                    UPDATES == Updates::any || UPDATES == Updates::direct,
                                    UPDATES == Updates::direct};
    const bool is_asking =
        FORM::kIsBulk ? threadIdx.x == kAskingThread : threadIdx.x / 32 == kAskingThread / 32;
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
        if constexpr (FORM::kIsBulk) {
            // They were asked for when the step's arguments had come.
            fetcher.waitForNorms(i);
        } else {
            fetcher.waitForStep(i);
        }
        const TokenStep& step = fetcher.stepAt(i);
        const StepClocks clocks{trace, i};
        clocks.note(0);
        if (step.kind == kStepAttend) {
            if constexpr (FORM::kIsBulk) {
                streamAttend<FORM>(step.attend, work, work, shared + kCodeGapOffset,
                                   shared + layout.attend, fetcher.normsOf(i), layout.norm_bytes,
                                   exchange, i, clocks);
                publishAttention<FORM>(step.attend, exchange, i);
            } else {
                attendInTable<FORM>(step.attend, layout, shared, exchange, i, clocks);
            }
        } else {
            streamProject<FORM>(step.project, work, row, fetcher.normsOf(i), layout.norm_bytes,
                                ring, table, units, resultsOf<FORM>(exchange), i, clocks);
        }
        clocks.note(4);
        syncCompute();
    }
}

/// The last block that is done leaves the number of the last step, and uses of the places for wide
/// rows.
__device__ __forceinline__ void
noteEnd(int32_t* counters, int count, const StreamLayout& layout, const Exchange& exchange) {
    if (threadIdx.x == 0 && atomicAdd(counters + 1, 1) == static_cast<int>(gridDim.x) - 1) {
        counters[0] = static_cast<int>(exchange.base) + count;
        counters[1] = 0;
        for (int i = 0; i < kWideRegions; ++i) {
            counters[2 + i] = (exchange.wide_base[i] + layout.wide_uses[i]) % 127;
        }
    }
}

/// This block's, of a launch.
template <typename FORM>
__device__ __forceinline__ Exchange exchangeOf(const int32_t* counters,
                                               int32_t* flags,
                                               uint2* packets) {
    Exchange exchange{packets,
                      flags,
                      static_cast<uint32_t>(loadAcquire(counters)),
                      {loadAcquire(counters + 2), loadAcquire(counters + 3)},
                      static_cast<int>(blockIdx.x),
                      static_cast<int>(gridDim.x)};
    if constexpr (FORM::kHasLargePackets) {
        exchange.packets += kLargePacketsAt;
        exchange.pitch = kLargePackets;
        exchange.wide -= kLargePacketsAt;
        exchange.parts -= kLargePacketsAt;
    }
    return exchange;
}

/// The whole launch of one block of stream.cu, stream_half.cu, stream_blocks.cu and
/// stream_large.cu.
template <typename FORM, Updates UPDATES>
__device__ __forceinline__ void runBulkBlock(const TokenStep* steps,
                                             int count,
                                             const StreamLayout& layout,
                                             int32_t* counters,
                                             int32_t* flags,
                                             uint2* packets,
                                             long long* trace) {
    constexpr bool kHasUpdates = UPDATES != Updates::none;
    constexpr int kThreads = kHasUpdates ? FORM::kUpdateThreads : FORM::kThreads;
    constexpr int kFetching = kThreads / 32 - kComputeWarps - (kHasUpdates ? 1 : 0);
    char* const shared = dynamicShared() + layout.table;
    // The host was told another place of dynamic shared memory than it has: look-ups would go
    // astray.
    if (FORM::kHasGaps && sharedAddress(shared) % kCodeTableAlignment != 0) {
        __trap();
    }
    const RingOf<FORM> ring{reinterpret_cast<uint64_t*>(shared + kCodeTableBytes),
                            shared + layout.chunks, layout.chunk_count, 0, layout.chunk_bytes};
    const Exchange exchange = exchangeOf<FORM>(counters, flags, packets);
    const StepFetcherOf<FORM> fetcher{shared, layout.norms, layout.norm_bytes};
    if (threadIdx.x == 0) {
        UnitSignalsOf<FORM>{shared + FORM::kSignalsOffset}.init();
        fetcher.init();
        ring.init();
    }
    if (FORM::kHasGaps) {
        GappedCodePairs::fill(shared, layout.code_table, kThreads);
    }
    ring.clear(kThreads);
    __syncthreads();
    if (threadIdx.x < kComputeThreads) {
        runSteps<FORM, UPDATES>(steps, count, layout, fetcher, ring, exchange, trace);
        noteEnd(counters, count, layout, exchange);
    } else {
        const int warp = static_cast<int>(threadIdx.x) / 32 - kComputeWarps;
        if constexpr (kHasUpdates) {
            if (warp == kFetching) {
                if constexpr (UPDATES == Updates::direct) {
                    runDirectUnits<FORM>(steps, layout, shared + layout.work,
                                         {shared + FORM::kSignalsOffset}, exchange, trace);
                } else {
                    runUnits<UPDATES == Updates::planned>(layout, count, fetcher,
                                                          UnitSignals{shared + kUnitSignalsOffset},
                                                          exchange, trace);
                }
                return;
            }
        }
        char* const heads = shared + kStepHeadsOffset + warp * 2 * kStepHeadBytes;
        if constexpr (FORM::kIsLarge) {
            fetchLarge(steps, count, ring, warp, kFetching, heads, exchange.block);
        } else {
            fetchWeights(steps, count, ring, warp, kFetching, heads, exchange.block);
        }
    }
}

/// The whole launch of one block of stream_async.cu and its forms.
template <typename FORM, Updates UPDATES>
__device__ __forceinline__ void runAsyncBlock(const TokenStep* steps,
                                              int count,
                                              const StreamLayout& layout,
                                              int32_t* counters,
                                              int32_t* flags,
                                              uint2* packets,
                                              long long* trace) {
    constexpr bool kHasUpdates = UPDATES != Updates::none;
    constexpr int kThreads = kHasUpdates ? FORM::kUpdateThreads : FORM::kThreads;
    char* const shared = dynamicShared();
    const RingOf<FORM> ring{reinterpret_cast<uint64_t*>(shared),
                            shared + layout.chunks,
                            layout.chunk_count,
                            layout.chunk_codes,
                            layout.chunk_bytes,
                            reinterpret_cast<int32_t*>(shared + kAsyncAskedOffset)};
    const Exchange exchange = exchangeOf<FORM>(counters, flags, packets);
    const StepFetcherOf<FORM> fetcher{shared, 0, 0};
    if (threadIdx.x == 0) {
        fetcher.init();
        ring.init();
        *ring.asked = 0;
        if constexpr (kHasUpdates) {
            UnitSignalsOf<FORM>{shared + FORM::kSignalsOffset}.init();
        }
    }
    if (hasTable<FORM>(layout)) {
        FORM::Table::fill(shared + layout.table, layout.code_table, kThreads);
    }
    ring.clear(kThreads);
    __syncthreads();
    if (threadIdx.x < kComputeThreads) {
        runSteps<FORM, UPDATES>(steps, count, layout, fetcher, ring, exchange, trace);
        noteEnd(counters, count, layout, exchange);
        return;
    }
    // Two fetch, one asks memory, one is for updates.
    const int warp = static_cast<int>(threadIdx.x) / 32 - kComputeWarps;
    if (warp < kAsyncFetchWarps) {
        char* const heads = shared + kAsyncHeadsOffset + warp * FORM::kHeadsOf * kStepHeadBytes;
        if constexpr (FORM::kIsLarge) {
            fetchInTurn<FORM>(steps, count, ring, warp, heads, exchange.block);
        } else {
            fetchWeights(steps, count, ring, warp, kAsyncFetchWarps, heads, exchange.block);
        }
    } else if (warp == kAsyncFetchWarps) {
        if constexpr (FORM::kIsLarge) {
            if (layout.ahead > 0) {
                prefetchLarge<FORM>(steps, count, ring.asked, layout.ahead, exchange.block);
            }
        } else if (layout.ahead > 0) {
            prefetchWeights<FORM>(steps, count, ring.asked, layout.ahead, exchange.block);
        }
    } else if constexpr (kHasUpdates) {
        runDirectUnits<FORM>(steps, layout, shared + layout.work, {shared + FORM::kSignalsOffset},
                             exchange, trace);
    }
}

/// The kernels' parameters.
#define BELFRY_STREAM_PARAMETERS                                                                   \
    const TokenStep *steps, int count, StreamLayout layout, int32_t *counters, int32_t *flags,     \
        uint2 *packets, long long *trace

} // namespace kernels::cuda
