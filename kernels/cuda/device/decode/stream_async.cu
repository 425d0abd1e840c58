// SPDX-License-Identifier: Apache-2.0
// stream.cu for cards without bulk copies (compute capability 8.0, 8.6, 8.9) or with 99 KiB of
// shared memory (12.0): the same steps in the same order of sums, with what AsyncForm
// (stream_form.cuh) says. Low-rank updates stay in memory (stream_direct.cuh).
#include "kernels/cuda/device/decode/stream_block.cuh"

using namespace kernels::cuda;

extern "C" {

// As belfry_stream; block: kAsyncThreads, with updates kAsyncUpdateThreads; shared memory:
// asyncLayoutFor().
__global__ void __launch_bounds__(480, 1) belfry_stream_async(BELFRY_STREAM_PARAMETERS) {
    runAsyncBlock<AsyncForm, Updates::none>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_async_updates(BELFRY_STREAM_PARAMETERS) {
    runAsyncBlock<AsyncForm, Updates::direct>(steps, count, layout, counters, flags, packets,
                                              trace);
}

} // extern "C"
