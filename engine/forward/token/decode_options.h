// SPDX-License-Identifier: Apache-2.0
// Ways in which a token may be decoded where its devices have them. All of them give the same
// tokens; without one the next best is taken. For tests and comparisons.
#pragma once

#include <cstdint>

namespace engine {

struct DecodeOptions {
    /// The device finds the candidates of a token that the host draws (token_choice.h); false: the
    /// row of logits travels.
    bool has_candidates = true;
    /// A decoder that several devices share takes fused steps for its parts (split_steps.h); false:
    /// single functions.
    bool has_split_steps = true;
    /// Drafts are fused steps, chosen by the device (draft_step.h); false: single functions.
    bool has_draft_steps = true;
    /// From so many rows on weights of the host's memory are lent to the card of their layer.
    int64_t least_lent_rows = 16;
    /// At most so many experts of a layer at a time.
    int64_t most_lent_experts = int64_t{1} << 30;
};

} // namespace engine
