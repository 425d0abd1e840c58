// SPDX-License-Identifier: Apache-2.0
// How likely a token was, and which others were: for callers that ask for log-probabilities.
#pragma once

#include "engine/api/chat.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <span>

namespace engine {

/// log softmax of the row [vocab] at `id`, and at its `count` largest entries (the lower id first
/// on ties). Sums in double. `id` must be in the row.
TokenLogprob
tokenLogprob(std::span<const float> logits, int32_t id, int64_t count, const Tokenizer& tokenizer);

} // namespace engine
