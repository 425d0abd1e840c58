// SPDX-License-Identifier: Apache-2.0
// Decode steps on their way into one launch (device/decode/stream.cu, device/decode/stream_async.cu
// and their forms): host side.
#pragma once

#include "kernels/cuda/device/common/args.h"

#include <cstddef>
#include <vector>

namespace kernels::cuda {

/// Most bytes of shared memory that the steps of one launch of stream.cu want.
struct StreamNeeds {
    int row_bytes = 0;     ///< Size of the residual row.
    int norm_bytes = 0;    ///< Size of one norm.
    int attend_bytes = 0;  ///< Work memory of attention,
    int plain_bytes = 0;   ///< projections beside which no operands of updates lie,
    int project_bytes = 0; ///< those with updates,
    int operand_bytes = 0; ///< and beside those their updates, of two steps that follow each other;
    int behind_bytes = 0;  ///< up to where those of a step behind attention lie.
    int chunk_codes = 0;   ///< In stream_async.cu: bytes of the codes of one tile,
    bool has_codes = false;  ///< whether there are 4-bit weights,
    bool has_halves = false; ///< and bf16 ones. Those without these need no table of codes.
    bool has_blocks = false; ///< Some of stream_blocks.cu's are in blocks.
};

struct TokenSteps {
    bool is_collecting = false;
    bool is_asked = false; ///< Whether a list takes a step: nothing is launched.
    std::vector<TokenStep> steps;
    size_t uploaded = 0;           ///< Steps of this token that were launched already.
    bool is_side = false;          ///< The list is one beside a token's (begin_side_steps).
    bool may_stream = true;        ///< False: every step is a launch of its own.
    bool may_bulk = true;          ///< False: stream_async.cu in place of stream.cu.
    bool has_left = false;         ///< A step of this token was not for stream_async.cu.
    bool has_heads = true;         ///< False: attention by tiles always.
    const int32_t* rows = nullptr; ///< Steps of so many rows each (OpTable::begin_rows), or none.
    const float* row = nullptr;    ///< Which row the blocks will have in shared memory.
    StreamNeeds needs;
    int unit_steps = 0;     ///< In stream.cu and stream_rows.cu: steps with low-rank updates.
    bool may_plan = true;   ///< False: what blocks need to know of updates is made on the way.
    bool is_once = false;   ///< A list that runs once: no plans, their place is of recorded lists.
    size_t planned = 0;     ///< In this token's earlier lists: plans of such steps.
    bool has_plans = false; ///< The steps collected so far have plans.
    int first_unit_step = 0;
    bool has_halves = false; ///< Some of stream.cu's have bf16 weights or such in blocks.
    bool is_large = false;   ///< They are those of stream_large.cu.
    uint8_t code_table = 0;  ///< That of the weights of codes of stream.cu; 0: there are none yet.
    int64_t wide_values[kWideRegions] = {}; ///< Width of the rows of each place; 0: free.
    int wide_uses[kWideRegions] = {};
};

} // namespace kernels::cuda
