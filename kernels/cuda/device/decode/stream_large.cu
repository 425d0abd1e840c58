// SPDX-License-Identifier: Apache-2.0
// stream.cu for models whose residual row has more than 3072 columns (12B, 31B), or leaves no room
// for weights (26B): kernels of their own, so that nobody else has their code (stream_large.cuh).
// Low-rank updates stay in memory (stream_direct.cuh).
#include "kernels/cuda/device/decode/stream_block.cuh"

using namespace kernels::cuda;

extern "C" {

// As belfry_stream.
__global__ void __launch_bounds__(512, 1) belfry_stream_large(BELFRY_STREAM_PARAMETERS) {
    runBulkBlock<LargeForm, Updates::none>(steps, count, layout, counters, flags, packets, trace);
}
__global__ void __launch_bounds__(512, 1) belfry_stream_large_updates(BELFRY_STREAM_PARAMETERS) {
    runBulkBlock<LargeForm, Updates::direct>(steps, count, layout, counters, flags, packets, trace);
}

} // extern "C"
