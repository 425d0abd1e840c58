// SPDX-License-Identifier: Apache-2.0
// stream_half.cu with weights in blocks among the steps (BlocksForm, stream_form.cuh).
#include "kernels/cuda/device/decode/stream_block.cuh"

using namespace kernels::cuda;

extern "C" {

// As belfry_stream_half.
__global__ void __launch_bounds__(512, 1) belfry_stream_blocks(BELFRY_STREAM_PARAMETERS) {
    runBulkBlock<BlocksForm, Updates::none>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_blocks_updates(BELFRY_STREAM_PARAMETERS) {
    runBulkBlock<BlocksForm, Updates::direct>(steps, count, layout, counters, flags, packets, trace);
}

} // extern "C"
