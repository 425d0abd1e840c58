// SPDX-License-Identifier: Apache-2.0
// Measures what this machine can do at most: streaming read bandwidth and arithmetic peaks of one
// and of all threads. Used beside benchmark results and by the planner's speed estimate. Other
// programs on the machine lower the figures: every figure is the best of several short runs.
#pragma once

#include "kernels/cpu/thread_pool.h"
#include "kernels/ops.h"

#include <cstdint>

namespace kernels::cpu {

/// Bytes per second are 1e9 bytes (GB/s); arithmetic counts a multiply-add as two (GFLOP/s).
struct MachineRates {
    int threads = 0;                ///< Size of the pool measured.
    double read_gb_per_s_one = 0.0; ///< Streaming read, one thread.
    double read_gb_per_s = 0.0;     ///< Streaming read, all threads.
    double copy_gb_per_s = 0.0;     ///< memcpy, all threads, bytes read plus bytes written.
    double fp32_gflops_one = 0.0;   ///< Widest fp32 FMA, one thread.
    double fp32_gflops = 0.0;       ///< Widest fp32 FMA, all threads.
    double bf16_gflops_one = 0.0; ///< bf16 dot products with fp32 sums; 0 without the instruction.
    double bf16_gflops = 0.0;     ///< All threads.
    double seconds = 0.0;         ///< Time the measurement took.
};

/// Takes about `budget_seconds` and `buffer_bytes` of memory for its duration, or twice the
/// last-level cache where that is more (up to 1 GiB and a 16th of the memory); when it cannot be
/// had, bandwidths are 0.
MachineRates measureCpu(ThreadPool& pool,
                        double budget_seconds = 1.0,
                        int64_t buffer_bytes = int64_t{512} << 20);

/// Streaming read of a fresh buffer, as large as above, with all threads in GB/s, the best pass of
/// about `budget_seconds`; 0 when the buffer cannot be had. For benchmarks that want the bandwidth
/// of the same moment: that of a virtual machine changes within seconds.
double
measureRead(ThreadPool& pool, double budget_seconds, int64_t buffer_bytes = int64_t{256} << 20);

/// Reads `bytes` at `data` once with all threads of the pool (nullptr: the calling thread), as the
/// bandwidth measurement does; for benchmarks that want the bandwidth of the same moment.
void readMemory(ThreadPool* pool, const void* data, int64_t bytes);

/// Seconds that the product of one token with this weight takes on all threads of the pool when
/// the weight comes from each core's own cache and nobody waits for anybody: its arithmetic bound.
/// Measured with the first rows of the weight, some hundred KiB, on all threads at a time; takes a
/// few milliseconds. 0 when the product cannot be computed.
double productSecondsFromCache(ThreadPool& pool, const OpTable& ops, const WeightView& weight);

} // namespace kernels::cpu
