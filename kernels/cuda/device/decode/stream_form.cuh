// SPDX-License-Identifier: Apache-2.0
// What stream.cu (bulk copies, compute capability 9.0) and stream_async.cu (8.0 and newer, 99 KiB
// of shared memory and more) do differently, stream_half.cu and stream_async_half.cu for bf16
// weights, stream_large.cu and stream_async_large.cu for long rows: a traits struct for each, which
// the code of all takes as FORM. Everything else is one text.
//
// The second form has the instructions of 8.0 only. Weights come 16 bytes a thread (cp.async), and
// a barrier counts threads that arrive behind their copies. It has to do with less than half of the
// shared memory: a table of codes without gaps (one instruction more a look-up), norms straight
// from memory, as few as two chunks, the arguments that a step without updates has, chunks as large
// as the largest of the launch, attention in the place of the table, which is filled again behind
// it.
#pragma once

#include "kernels/cuda/device/decode/half_products.cuh"

#include <type_traits>

namespace kernels::cuda {

struct BulkForm {
    static constexpr bool kIsBulk = true;
    static constexpr bool kHasHalves = false; ///< Takes bf16 weights, too.
    static constexpr bool kIsLarge = false;   ///< Rows as long as those of 31B (stream_large.cuh).
    static constexpr bool kHoldsPart = false; ///< One part of an input in parts is there at a time.
    using Barrier = CopyBarrier;
    using Table = GappedCodePairs;
    static constexpr int kThreads = kStreamThreads;
    /// With low-rank updates, whose warp is the last one: here one that fetches else.
    static constexpr int kUpdateThreads = kStreamThreads;
    static constexpr int kHeadsOf = 2; ///< Heads of steps that a fetching warp has.
    static constexpr int kStepBytes = sizeof(TokenStep);
    static constexpr int kStepsOffset = kStreamStepsOffset;
    static constexpr int kBarriersOffset =
        kStepBarriersOffset; ///< The barriers of the ring of steps.
    static constexpr int kSignalsOffset = kUnitSignalsOffset;
    static constexpr int kSignals = 6;
    static constexpr int kChunkArrivals = 1; ///< Arrivals that complete a chunk.
};

struct HalfForm : BulkForm {
    static constexpr bool kHasHalves = true;
};

struct LargeForm : BulkForm {
    static constexpr bool kIsLarge = true;
};

struct AsyncForm {
    static constexpr bool kIsBulk = false;
    static constexpr bool kHasHalves = false;
    static constexpr bool kIsLarge = false;
    static constexpr bool kHoldsPart = false;
    using Barrier = AsyncBarrier;
    using Table = DenseCodePairs;
    static constexpr int kThreads = kAsyncThreads;
    static constexpr int kUpdateThreads = kAsyncUpdateThreads;
    static constexpr int kHeadsOf = 1;
    static constexpr int kStepBytes = kAsyncStepBytes;
    static constexpr int kStepsOffset = kAsyncStepsOffset;
    static constexpr int kBarriersOffset = kAsyncStepBarriersOffset;
    static constexpr int kSignalsOffset = kAsyncSignalsOffset;
    static constexpr int kSignals = 3;
    /// Every lane behind its copies, one for what they have stored.
    static constexpr int kChunkArrivals = 33;
};

struct AsyncHalfForm : AsyncForm {
    static constexpr bool kHasHalves = true;
};

struct AsyncLargeForm : AsyncForm {
    static constexpr bool kIsLarge = true;
    static constexpr bool kHoldsPart = true;
};

/// bf16 weights: products in bf16, the input as two of them (16 bits).
template <typename FORM>
__device__ __forceinline__ bool isHalf(const ProjectKernelArgs& a) {
    return FORM::kHasHalves && a.w[0].layout == WeightLayout::BF16;
}

/// A list that has no 4-bit weights, beside bf16 ones, needs no table of codes: there the work
/// memory begins (asyncLayoutFor()).
template <typename FORM>
__device__ __forceinline__ bool hasTable(const StreamLayout& layout) {
    return !FORM::kHasHalves || layout.code_table != 0;
}

/// A norm of a step: where the step before has brought it, or where it is anyhow.
template <typename FORM>
__device__ __forceinline__ VectorArgs normOf(const VectorArgs& norm, const char* brought) {
    if (!FORM::kIsBulk) {
        return norm;
    }
    return VectorArgs{norm.data != nullptr ? brought : nullptr, norm.type, 0};
}

} // namespace kernels::cuda
