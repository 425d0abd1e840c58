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
    static constexpr bool kHasHalves = false; ///< Takes bf16 weights, too,
    static constexpr bool kHasBlocks = false; ///< and such in blocks (stream_blocks.cuh).
    static constexpr bool kIsLarge = false;   ///< Rows as long as those of 31B (stream_large.cuh).
    static constexpr bool kHasLargePackets = false; ///< Steps may have kLargePackets results.
    static constexpr bool kHoldsPart = false; ///< One part of an input in parts is there at a time.
    static constexpr bool kHasGaps = true;    ///< There is a table of codes with gaps.
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

/// No weights of codes: work memory lies in the place of their table.
struct BlocksForm : HalfForm {
    static constexpr bool kHasBlocks = true;
    static constexpr bool kHasLargePackets = true;
    static constexpr bool kHasGaps = false;
};

struct LargeForm : BulkForm {
    static constexpr bool kIsLarge = true;
    static constexpr bool kHasLargePackets = true;
};

struct AsyncForm {
    static constexpr bool kIsBulk = false;
    static constexpr bool kHasHalves = false;
    static constexpr bool kHasBlocks = false;
    static constexpr bool kIsLarge = false;
    static constexpr bool kHasLargePackets = false;
    static constexpr bool kHoldsPart = false;
    static constexpr bool kHasGaps = false;
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

struct AsyncBlocksForm : AsyncHalfForm {
    static constexpr bool kHasBlocks = true;
    static constexpr bool kHasLargePackets = true;
};

struct AsyncLargeForm : AsyncForm {
    static constexpr bool kIsLarge = true;
    static constexpr bool kHasLargePackets = true;
    static constexpr bool kHoldsPart = true;
};

/// Weights in blocks, rows of them slot_bytes apart in a chunk.
template <typename FORM>
__device__ __forceinline__ bool hasBlocks(const ProjectKernelArgs& a) {
    return FORM::kHasBlocks && a.slot_bytes > 0;
}

/// bf16 weights and blocks: products in bf16, the input as two of them (16 bits), rows in pieces.
template <typename FORM>
__device__ __forceinline__ bool isHalf(const ProjectKernelArgs& a) {
    return FORM::kHasHalves && (a.w[0].layout == WeightLayout::BF16 || hasBlocks<FORM>(a));
}

/// A list that has no 4-bit weights, beside bf16 ones, needs no table of codes: there the work
/// memory begins (asyncLayoutFor()).
template <typename FORM>
__device__ __forceinline__ bool hasTable(const StreamLayout& layout) {
    return !FORM::kHasHalves || layout.code_table != 0;
}

/// Norms of a projection's row come into shared memory during the step before. Long ones would take
/// the room of weights.
template <typename FORM>
__device__ __forceinline__ bool bringsNorms(int cols) {
    return FORM::kIsBulk && !FORM::kIsLarge && !(FORM::kHasBlocks && cols > kShortRow);
}

/// A norm of a step: where the step before has brought it, or where it is anyhow.
__device__ __forceinline__ VectorArgs normOf(const VectorArgs& norm,
                                             const char* brought,
                                             bool is_brought) {
    if (!is_brought) {
        return norm;
    }
    return VectorArgs{norm.data != nullptr ? brought : nullptr, norm.type, 0};
}

} // namespace kernels::cuda
