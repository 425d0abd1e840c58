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

__device__ __forceinline__ TokenStep& stepAt(int index) {
    return reinterpret_cast<TokenStep*>(dynamicShared() + kStreamStepsOffset)[index % kStepRing];
}

__device__ __forceinline__ void fetchStep(const TokenStep* steps, int index, int count) {
    if (index < count && threadIdx.x < sizeof(TokenStep) / 16) {
        copyAsync16(reinterpret_cast<char*>(&stepAt(index)) + threadIdx.x * 16,
                    reinterpret_cast<const char*>(steps + index) + threadIdx.x * 16);
    }
}

__device__ __forceinline__ void runSteps(const TokenStep* steps,
                                         int count,
                                         const StreamLayout& layout,
                                         WeightRing ring,
                                         Exchange exchange,
                                         long long* trace) {
    char* const work = dynamicShared() + layout.work;
    const CodeTable table{sharedAddress(dynamicShared()) + (threadIdx.x & 31) * 4};
    char* const norms = dynamicShared() + layout.norms;
    float4* const row = reinterpret_cast<float4*>(dynamicShared() + layout.row);
    UnitSignals units{dynamicShared() + kUnitSignalsOffset};
    const bool is_timed = trace != nullptr && blockIdx.x == 0 && threadIdx.x == 0;
    for (int i = 0; i < kStepRing - 1; ++i) {
        fetchStep(steps, i, count);
    }
    for (int i = threadIdx.x; i < kAttendConstantBytes / 4; i += kComputeThreads) {
        reinterpret_cast<uint32_t*>(dynamicShared() + layout.attend)[i] = 0;
    }
    waitForCopies();
    syncCompute();
    prefetchNorms(stepAt(0), norms, layout.norm_bytes);
    waitForCopies();
    syncCompute();
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        char* const these_norms = norms + (i & 1) * 2 * layout.norm_bytes;
        // Into the place of the step before: everybody is behind it.
        fetchStep(steps, i + kStepRing - 1, count);
        // Attention needs its norms before its first barrier, others' come while results are made.
        const bool has_next = i + 1 < count;
        const bool is_attend_next = has_next && stepAt(i + 1).kind == kStepAttend;
        char* const next_norms = norms + ((i + 1) & 1) * 2 * layout.norm_bytes;
        if (is_attend_next) {
            prefetchNorms(stepAt(i + 1), next_norms, layout.norm_bytes);
        }
        const TokenStep& step = stepAt(i);
        const StepClocks clocks{is_timed ? trace + kStreamMarks * i : nullptr};
        if (is_timed) {
            clocks.at[5] = 0;
        }
        clocks.note(0);
        clocks.note(1);
        if (step.kind == kStepAttend) {
            streamAttend(step.attend, work, dynamicShared() + layout.attend, these_norms,
                         layout.norm_bytes, exchange, i, clocks);
        } else {
            streamProject(step.project, work, row, these_norms, layout.norm_bytes, ring, table,
                          units, exchange, i, clocks);
        }
        clocks.note(4);
        if (has_next && !is_attend_next) {
            prefetchNorms(stepAt(i + 1), next_norms, layout.norm_bytes);
        } else {
            waitForCopies();
        }
        syncCompute();
    }
}

} // namespace

extern "C" {

// grid: one block a multiprocessor, all resident (cooperative launch); block: kStreamThreads;
// shared memory: planned by token_steps.cpp. counters [4]: the number of the last step of the
// launch before, zero, and uses of the places for wide rows. trace: nullptr, or
// [count, kStreamMarks] for the clocks of block 0.
__global__ void __launch_bounds__(512, 1) belfry_stream(const TokenStep* steps,
                                                        int count,
                                                        StreamLayout layout,
                                                        int32_t* counters,
                                                        int32_t* flags,
                                                        uint2* packets,
                                                        long long* trace) {
    char* const barriers = dynamicShared() + kCodeTableBytes;
    const WeightRing ring{reinterpret_cast<uint64_t*>(barriers),
                          dynamicShared() + layout.chunks, layout.chunk_count};
    const Exchange exchange{packets,
                            flags,
                            static_cast<uint32_t>(loadAcquire(counters)),
                            {loadAcquire(counters + 2), loadAcquire(counters + 3)},
                            static_cast<int>(blockIdx.x),
                            static_cast<int>(gridDim.x)};
    if (threadIdx.x == 0) {
        UnitSignals{dynamicShared() + kUnitSignalsOffset}.init();
        ring.init();
    }
    CodeTable::fill(dynamicShared(), layout.code_format, kStreamThreads);
    __syncthreads();
    if (threadIdx.x < kComputeThreads) {
        runSteps(steps, count, layout, ring, exchange, trace);
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
        const bool has_units = layout.unit_steps > 0;
        if (has_units && warp == kFetchWarps - 1) {
            runUnits(steps, layout, UnitSignals{dynamicShared() + kUnitSignalsOffset}, exchange);
        } else {
            fetchWeights(steps, count, ring, warp, has_units ? kFetchWarps - 1 : kFetchWarps,
                         dynamicShared() + kStepHeadsOffset + warp * 2 * kStepHeadBytes,
                         exchange.block);
        }
    }
}

} // extern "C"
