// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels of routed experts (experts.cu), as args.h has those of the others.
#pragma once

#include "kernels/cuda/device/common/args.h"

namespace kernels::cuda {

/// Experts of one token (experts.cu; kernels/ops.h, ExpertsStepArgs).
inline constexpr int kMostExperts = 1024;
inline constexpr int kMostChosen = 32;
inline constexpr int kExpertThreads = 768; ///< Threads of a block.
inline constexpr int kExpertWarps = kExpertThreads / 32;
inline constexpr int kMostExpertHidden = 4096;
/// Rows, experts and threads of a block that makes scores of many rows.
inline constexpr int kScoreRows = 8;
inline constexpr int kScoreExperts = 4;
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
    float* squares;   ///< [blocks]: of the outputs of each.
    int32_t* barrier; ///< The grid's barrier (grid_barrier.cuh).
    int32_t hidden, inner, experts, top_k;
    int32_t block_shift; ///< log2 of the 4-bit block size.
    Activation activation;
    float input_scale, eps;
};
/// Products of rows that are sorted by expert with the weights of each (product_experts.cu,
/// gemm.cu). codes: w[0], of a pair also w[1], is the matrix of all experts, n the outputs of one.
struct ExpertProductKernelArgs {
    ProductCodesArgs codes;
    const int32_t* first; ///< [experts + 1] the place of an expert's first row.
    int32_t expert;       ///< The first of grid.z.
    int32_t place;        ///< Place of the first row of x and y.
};
/// Dynamic shared memory of a product of `values` inputs.
BELFRY_HOST_DEVICE constexpr int32_t expertBytes(int32_t values, bool is_four_bit) {
    return is_four_bit ? 256 * 32 * 4 + values * 2 : values * 4;
}

} // namespace kernels::cuda
