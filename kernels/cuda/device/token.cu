// SPDX-License-Identifier: Apache-2.0
// The decoder layers of one token in a single cooperative launch: one block on every multiprocessor
// runs the same list of steps (projections and attention), with a grid-wide barrier between them.
//
// A step of its own launch costs about 4 us before it does anything; a barrier costs about one.
// What a step needs besides the results of the step before (its arguments, absmax, norms) is
// fetched between the block's own arrival and the last block's, and the codes of the steps after
// travel into L2 meanwhile, so that memory never rests.
#include "kernels/cuda/device/attend_parts.cuh"
#include "kernels/cuda/device/attend_tiles.cuh"

using namespace kernels::cuda;

namespace {

__device__ __forceinline__ TokenStep& stepAt(int index) {
    return reinterpret_cast<TokenStep*>(dynamicShared())[index % kStepRing];
}

/// What a step may use: first the table of code values, then what the step lays out.
__device__ __forceinline__ char* stepMemory() {
    return dynamicShared() + kStepRing * sizeof(TokenStep);
}

__device__ __forceinline__ void fetchStep(const TokenStep* steps, int index, int count) {
    if (index < count && threadIdx.x < sizeof(TokenStep) / 16) {
        copyAsync16(reinterpret_cast<char*>(&stepAt(index)) + threadIdx.x * 16,
                    reinterpret_cast<const char*>(steps + index) + threadIdx.x * 16);
    }
}

template <int THREADS>
__device__ __forceinline__ void prefetchStep(int index) {
    const TokenStep& step = stepAt(index);
    if (step.kind == kStepProject) {
        prefetchCodes<THREADS>(step.project, static_cast<int>(blockIdx.x),
                               static_cast<int>(gridDim.x));
    }
}

template <int FORMAT, int THREADS>
__device__ __forceinline__ void runProjection(int index, const GridBarrier& barrier) {
    projectStep<FORMAT, THREADS, true>(stepAt(index).project, stepMemory(),
                                       static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
                                       [&] { barrier.wait(); });
}

template <int VECTORS, int THREADS>
__device__ __forceinline__ void runAttention(int index, GridBarrier& barrier) {
    attendResident<VECTORS, THREADS>(
        stepAt(index).attend, *reinterpret_cast<PartShared*>(stepMemory() + kTableBytes),
        static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x), barrier);
}

template <int THREADS>
__device__ __forceinline__ void
runSteps(const TokenStep* steps, int count, int table_format, int32_t* counters, long long* trace) {
    GridBarrier barrier{counters, static_cast<int>(gridDim.x), 0, nullptr};
    const bool is_timed = trace != nullptr && blockIdx.x == 0 && threadIdx.x == 0;
    for (int i = 0; i < kStepRing - 1; ++i) {
        fetchStep(steps, i, count);
    }
    fillTable<THREADS>(reinterpret_cast<uint32_t*>(stepMemory()), table_format);
    waitForCopies();
    __syncthreads();
    for (int i = 0; i < kStepRing - 2 && i < count; ++i) {
        prefetchStep<THREADS>(i);
    }
    for (int i = 0; i < count; ++i) {
        // Into the slot of the step before: every thread is behind it (arrive() synchronised).
        fetchStep(steps, i + kStepRing - 1, count);
        if (i + kStepRing - 2 < count) {
            prefetchStep<THREADS>(i + kStepRing - 2);
        }
        const TokenStep& step = stepAt(i);
        if (is_timed) {
            trace[3 * i] = clock64();
            barrier.waited = trace + 3 * i + 1;
        }
        if (step.kind == kStepAttend && step.attend.range.tile > 0) {
            attendTiles<THREADS>(stepAt(i).attend, stepMemory() + kTableBytes,
                                 static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
                                 barrier);
        } else if (step.kind == kStepAttend && step.attend.head_dim > 256) {
            runAttention<2, THREADS>(i, barrier);
        } else if (step.kind == kStepAttend) {
            runAttention<1, THREADS>(i, barrier);
        } else if (step.project.w[0].format == kFormatInt8Row) {
            runProjection<kFormatInt8Row, THREADS>(i, barrier);
        } else if (step.project.w[0].format == kFormatBf16) {
            runProjection<kFormatBf16, THREADS>(i, barrier);
        } else {
            runProjection<kFormatNf4, THREADS>(i, barrier);
        }
        if (is_timed) {
            trace[3 * i + 2] = clock64();
        }
        if (i + 1 < count) {
            waitForCopies();
            barrier.arrive();
        }
    }
    barrier.leave();
}

} // namespace

extern "C" {

// grid: one block a multiprocessor, all resident (cooperative launch); shared memory:
// residentProjectSizes() and the ring. counters [2]: zero before and after. trace: nullptr, or
// [count, 3] for the clocks of block 0 at the start of a step, after its wait and at its end.
__global__ void __launch_bounds__(512, 1) belfry_token(
    const TokenStep* steps, int count, int table_format, int32_t* counters, long long* trace) {
    runSteps<512>(steps, count, table_format, counters, trace);
}

} // extern "C"
