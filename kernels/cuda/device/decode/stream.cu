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
#include "kernels/cuda/device/decode/stream_block.cuh"

using namespace kernels::cuda;

extern "C" {

// grid: one block a multiprocessor, all resident (cooperative launch); block: kStreamThreads;
// shared memory: planned by token_steps.cpp. counters [4]: the number of the last step of the
// launch before, zero, and uses of the places for wide rows. trace: nullptr, or with kHasTrace
// [count, kTraceMarks] for the clocks of block 0. Of steps some of which have low-rank updates the
// last fetching warp is for those.
__global__ void __launch_bounds__(512, 1) belfry_stream(BELFRY_STREAM_PARAMETERS) {
    runBulkBlock<BulkForm, Updates::none>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_updates(BELFRY_STREAM_PARAMETERS) {
    runBulkBlock<BulkForm, Updates::planned>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_any_updates(BELFRY_STREAM_PARAMETERS) {
    runBulkBlock<BulkForm, Updates::any>(steps, count, layout, counters, flags, packets, trace);
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
