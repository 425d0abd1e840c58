// SPDX-License-Identifier: Apache-2.0
// stream_async.cu with bf16 weights among the steps (AsyncHalfForm, stream_form.cuh), as
// stream_half.cu is stream.cu with them.
#include "kernels/cuda/device/decode/stream_block.cuh"

using namespace kernels::cuda;

extern "C" {

// As belfry_stream_async.
__global__ void __launch_bounds__(480, 1) belfry_stream_async_half(BELFRY_STREAM_PARAMETERS) {
    runAsyncBlock<AsyncHalfForm, Updates::none>(steps, count, layout, counters, flags, packets,
                                                trace);
}
__global__ void __launch_bounds__(512, 1)
    belfry_stream_async_half_updates(BELFRY_STREAM_PARAMETERS) {
    runAsyncBlock<AsyncHalfForm, Updates::direct>(steps, count, layout, counters, flags, packets,
                                                  trace);
}

} // extern "C"
