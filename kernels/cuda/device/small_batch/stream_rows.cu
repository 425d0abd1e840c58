// SPDX-License-Identifier: Apache-2.0
// The decoder layers of up to four tokens that follow each other in a single cooperative launch,
// for 4-bit and 8-bit weights on cards with bulk copies (compute capability 9.0): the check of
// drafts. Weights come as in stream.cu, once for all rows. Short results travel as packets
// (stream_rows_packets.cuh); those of a pair and of attention lie in memory, behind one flag of
// every block.
#include "kernels/cuda/device/small_batch/stream_rows_block.cuh"

using namespace kernels::cuda;

extern "C" {

// grid: one block a multiprocessor, all resident (cooperative launch); block: kStreamThreads;
// shared memory: planned by stream_rows.cpp. counters [4]: as of belfry_stream, whose flags these
// are. rows [1]: rows that are there. trace: as of belfry_stream.
__global__ void __launch_bounds__(512, 1) belfry_stream_rows(BELFRY_STREAM_ROWS_PARAMETERS) {
    runRowsBlock<BulkForm, false>(steps, count, layout, counters, flags, packets, rows, trace);
}

// The same of a list with low-rank updates.
__global__ void __launch_bounds__(512, 1)
    belfry_stream_rows_updates(BELFRY_STREAM_ROWS_PARAMETERS) {
    runRowsBlock<BulkForm, true>(steps, count, layout, counters, flags, packets, rows, trace);
}

} // extern "C"
