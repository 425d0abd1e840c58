// SPDX-License-Identifier: Apache-2.0
// stream_async_half.cu with weights in blocks among the steps (AsyncBlocksForm, stream_form.cuh).
#include "kernels/cuda/device/decode/stream_block.cuh"

using namespace kernels::cuda;

extern "C" {

// As belfry_stream_async_half.
__global__ void __launch_bounds__(480, 1) belfry_stream_async_blocks(BELFRY_STREAM_PARAMETERS) {
    runAsyncBlock<AsyncBlocksForm, Updates::none>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_async_blocks_updates(BELFRY_STREAM_PARAMETERS) {
    runAsyncBlock<AsyncBlocksForm, Updates::direct>(steps, count, layout, counters, flags, packets, trace);
}

} // extern "C"
