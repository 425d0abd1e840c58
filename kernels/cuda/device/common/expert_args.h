// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels of routed experts (experts.cu), as args.h has those of the others.
#pragma once

#include "kernels/block_formats.h"
#include "kernels/cuda/device/common/args.h"

namespace kernels::cuda {

/// Experts of one token (experts.cu; kernels/ops.h, ExpertsStepArgs).
inline constexpr int kMostExperts = 1024;
inline constexpr int kMostChosen = 32;
inline constexpr int kExpertThreads = 768; ///< Threads of a block.
inline constexpr int kExpertWarps = kExpertThreads / 32;
inline constexpr int kMostExpertHidden = 4096;
/// Rows, experts and threads of a block that makes scores of many rows.
inline constexpr int kScoreRows = 16;
inline constexpr int kScoreExperts = 32;
inline constexpr int kScoreThreads = 256;
struct ChosenExpert {
    int32_t expert;
    float weight;
};
struct ChosenExperts {
    int32_t is_ready; ///< 1 once everything that the host is to read is there.
    int32_t unused;
    ChosenExpert pick[kMostChosen];
};
struct ExpertsKernelArgs {
    WeightArgs router, gate_up, down;
    const float* x;
    float* t;
    const float* router_scale;
    const float* expert_scale;
    VectorArgs t_norm, norm, out_norm;
    float* scores;
    ChosenExperts* chosen; ///< Room for top_k of them.
    float* act;
    float* sum;
    const float* own_sum;    ///< merge_experts: added to it; may be nullptr.
    const int32_t* place_of; ///< [experts] of placed_experts.
    float* squares;          ///< [blocks]: of the outputs of each.
    int32_t* barrier;        ///< The grid's barrier (grid_barrier.cuh).
    int32_t hidden, inner, experts, top_k;
    int32_t block_shift; ///< log2 of the 4-bit block size.
    Activation activation;
    float input_scale, eps;
};
/// Products of places, which are sorted by expert, with the weights of each (product_experts.cu).
/// codes: w[0], of a pair also w[1], is the matrix of all experts, n the outputs of one.
struct ExpertProductKernelArgs {
    ProductCodesArgs codes;
    const int32_t* first; ///< [experts + 1] the place of an expert's first row.
    const int32_t* rows;  ///< Row of x of each place; nullptr: the place itself.
    int32_t experts;
    int32_t begin, end; ///< Outputs, of those of one expert: y has these alone.
    int32_t is_gated;
};

/// Weights in a block of tiles (block_tiles.cuh): kOutputs rows of them, in pieces of so many
/// stages of 64 columns, two pieces at a time. F: a format of blocks, BF16, or Int4
/// in blocks of 32.
template <WeightFormat F>
struct BlockPiece {
    static constexpr bool kIsBf16 = F == WeightFormat::BF16;
    static constexpr bool kIsCodes = F == WeightFormat::Int4; ///< Their scales lie elsewhere.
    static constexpr int kOutputs = 128;
    static constexpr int kBlockValues = kIsBf16 ? 64 : kIsCodes ? 32 : BlockFormat<F>::kValues;
    static constexpr int kBlockBytes = kIsBf16 ? 128 : kIsCodes ? 16 : BlockFormat<F>::kBytes;
    static constexpr int kStages = kBlockValues == 256 ? 4 : 2;
    static constexpr int kValues = kStages * 64;
    static constexpr int kBytes = kValues / kBlockValues * kBlockBytes;
    /// Blocks begin at multiples of 16 bytes; else a piece is copied with what is around it.
    static constexpr bool kIsAligned = kBlockBytes % 16 == 0;
    static constexpr int kChunks = (kBytes + (kIsAligned ? 0 : 15) + 15) / 16;
    /// Rows are an odd number of 16 bytes apart: eight of them lie in different banks.
    static constexpr int kPitch = (kChunks | 1) * 16;
    /// Runs of 16 values that share scale and offset, as they lie in shared memory.
    static constexpr int kRangeRuns =
        F == WeightFormat::Q2_K || F == WeightFormat::Q3_K || F == WeightFormat::Q6_K ? 1 : 2;
    static constexpr int kRanges = kIsBf16 ? 0 : kValues / kRunValues / kRangeRuns;
    static constexpr int kRangeFloats = hasOffset<F>() ? 2 : 1;
    // Shared memory: three stages of 64 rows of x, the pieces, the ranges of one.
    static constexpr int kPiecesAt = 3 * 64 * 128;
    static constexpr int kRangesAt = kPiecesAt + 2 * kOutputs * kPitch;
    static constexpr int kShared = kRangesAt + kRanges * kOutputs * kRangeFloats * 4;
};
/// Dynamic shared memory of a product of `values` inputs.
BELFRY_HOST_DEVICE constexpr int32_t expertBytes(int32_t values, bool is_four_bit) {
    return is_four_bit ? 256 * 32 * 4 + values * 2 : values * 4;
}

} // namespace kernels::cuda
