// SPDX-License-Identifier: Apache-2.0
// How the parts of one adapter entry lie in one block of device memory. The one byte rule for the
// planner's prediction and the run-time allocation.
#pragma once

#include "engine/lora/adapter.h"

#include <cstdint>

namespace engine {

/// Rows of an input that one pass of the low-rank product handles at most; sizes the workspace.
inline constexpr int64_t kAdapterBlockRows = 2048;

/// Offsets in bytes within the block, each a multiple of 64; a part that is absent has size 0.
struct AdapterBlock {
    struct Part {
        uint64_t offset = 0, bytes = 0;
    };
    Part a;        ///< Linear and experts: A. Embedding: A transposed, [vocabulary, rank].
    Part b;        ///< B (experts: [experts, out, rank]); with DoRA g * B in fp32.
    Part bias;     ///< bias of B
    Part columns;  ///< DoRA: fp32 [out], 1 + t (g - 1)
    Part factor;   ///< Linear: fp32, scaling * strength, for fused steps.
    Part identity; ///< Embedding: fp32 identity [rank, rank]
    Part ids;      ///< Rows at the head: token ids, int32.
    Part value;    ///< Replaced rows or the replaced tensor.
    uint64_t total = 0;
};

AdapterBlock blockOf(const LowRankUpdate& update);
/// `on_head`: the copy at the output head, else the one of the embedding gather.
AdapterBlock blockOf(const RowReplacement& rows, bool on_head);
AdapterBlock blockOf(const TensorReplacement& replacement);

/// Rows, bytes and workspace of everything in the three lists.
AdapterFootprint footprintOf(const std::vector<LowRankUpdate>& updates,
                             const std::vector<RowReplacement>& rows,
                             const std::vector<TensorReplacement>& replacements);

} // namespace engine
