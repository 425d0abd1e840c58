// SPDX-License-Identifier: Apache-2.0
// stream_rows.cu for models whose residual row has more than 3072 columns (12B, 31B). All products
// are of one kind: tiles of four weight rows in four stretches, of a longer row one part of its
// columns after the other, whose input is made when the part before it is done with.
#include "kernels/cuda/device/small_batch/stream_rows_block.cuh"

using namespace kernels::cuda;

extern "C" {

// As belfry_stream_rows.
__global__ void __launch_bounds__(512, 1) belfry_stream_rows_large(BELFRY_STREAM_ROWS_PARAMETERS) {
    runRowsBlock<LargeForm, false>(steps, count, layout, counters, flags, packets, rows, trace);
}

// As belfry_stream_rows_updates.
__global__ void __launch_bounds__(512, 1)
    belfry_stream_rows_large_updates(BELFRY_STREAM_ROWS_PARAMETERS) {
    runRowsBlock<LargeForm, true>(steps, count, layout, counters, flags, packets, rows, trace);
}

} // extern "C"
