// SPDX-License-Identifier: Apache-2.0
// stream_async.cu for the models that stream_large.cu has on larger cards (12B, 26B, 31B): the same
// steps with instructions of compute capability 8.0, in 99 KiB of shared memory and more
// (AsyncLargeForm, stream_form.cuh; stream_large.cuh).
#include "kernels/cuda/device/decode/stream_block.cuh"

using namespace kernels::cuda;

extern "C" {

// As belfry_stream_async.
__global__ void __launch_bounds__(480, 1) belfry_stream_async_large(BELFRY_STREAM_PARAMETERS) {
    runAsyncBlock<AsyncLargeForm, Updates::none>(steps, count, layout, counters, flags, packets,
                                                 trace);
}
__global__ void __launch_bounds__(512, 1)
    belfry_stream_async_large_updates(BELFRY_STREAM_PARAMETERS) {
    runAsyncBlock<AsyncLargeForm, Updates::direct>(steps, count, layout, counters, flags, packets,
                                                   trace);
}

} // extern "C"
