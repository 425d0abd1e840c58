// SPDX-License-Identifier: Apache-2.0
// stream.cu with bf16 weights among the steps: kernels of their own, so that nobody else has their
// code. Low-rank updates stay in memory (stream_direct.cuh).
#include "kernels/cuda/device/decode/stream_block.cuh"

using namespace kernels::cuda;

extern "C" {

// As belfry_stream.
__global__ void __launch_bounds__(512, 1) belfry_stream_half(BELFRY_STREAM_PARAMETERS) {
    runBulkBlock<HalfForm, Updates::none>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_half_updates(BELFRY_STREAM_PARAMETERS) {
    runBulkBlock<HalfForm, Updates::direct>(steps, count, layout, counters, flags, packets, trace);
}

} // extern "C"
