// SPDX-License-Identifier: Apache-2.0
// A barrier of all blocks of a cooperative launch, in two halves, so that work that does not depend
// on the other blocks fits between them.
#pragma once

#include "kernels/cuda/device/common/common.cuh"

namespace kernels::cuda {

/// What other blocks wrote in this launch is read past the first-level cache everywhere (__ldcg,
/// cp.async.cg), and after the barrier that follows the poll: then an acquiring load, which waits
/// for the L2 cache once more and empties the first-level cache, adds nothing. True: for
/// comparison, and where a reader cannot do so.
constexpr bool kWaitAcquires = false;

/// counters[0]: arrivals of this launch; counters[1]: blocks that are done. Both zero between
/// launches.
struct GridBarrier {
    int32_t* counters;
    int grid;
    int target; ///< Arrivals that the next wait needs; 0 = none was announced yet.

    /// Everything that this block has written is visible to who has waited.
    __device__ __forceinline__ void arrive() {
        __syncthreads();
        target += grid;
        if (threadIdx.x == 0) {
            addRelease(counters, 1); // of the whole block: the barrier above came first
        }
    }

    __device__ __forceinline__ void wait() const {
        if (threadIdx.x == 0) {
            while (loadRelaxed(counters) < target) {
            }
            if (kWaitAcquires) {
                (void)loadAcquire(counters);
            }
        }
        __syncthreads();
    }

    /// At the end of the launch, instead of arrive(): the last block leaves zeros behind.
    __device__ __forceinline__ void leave() const {
        __syncthreads();
        if (threadIdx.x == 0 && atomicAdd(counters + 1, 1) == grid - 1) {
            counters[0] = 0;
            counters[1] = 0;
        }
    }
};

} // namespace kernels::cuda
