// SPDX-License-Identifier: Apache-2.0
// The tokens that stand for media in a prompt: one placeholder an item in the text; begin, soft
// tokens and end in what the model is given.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"
#include "engine/model/media_kind.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// "image", "audio".
Phrase mediaName(MediaKind kind);

/// Ids that an item of one kind is spelled with, from config.json (ModelConfig's *_token_id); -1:
/// the model takes no such thing.
struct MediaTokens {
    TokenId placeholder = -1, begin = -1, end = -1;
};

/// The soft tokens of one item in the expanded prompt: rows [first_token, first_token + count) are
/// replaced by the tower's output. Begin and end tokens lie outside the span.
struct MediaSpan {
    MediaKind kind = MediaKind::Image;
    int64_t item = 0; ///< Index among the items of this kind.
    int64_t first_token = 0;
    int64_t count = 0;

    friend bool operator==(const MediaSpan&, const MediaSpan&) = default;
};

struct ExpandedPrompt {
    std::vector<TokenId> ids;
    std::vector<MediaSpan> spans; ///< In prompt order.
};

/// Errors: InvalidRequest when `ids` has more or fewer placeholders of a kind than there are items.
Result<void> checkPlaceholders(std::span<const TokenId> ids,
                               const PerMedia<MediaTokens>& tokens,
                               const PerMedia<int64_t>& items);

/// Replaces the k-th placeholder of a kind by begin, counts[kind][k] times the placeholder, end.
/// One pass from left to right over `ids`; what is inserted is not looked at again.
/// Errors: checkPlaceholders(), and InvalidRequest when an item has no soft tokens (a clip too
/// short to hear).
Result<ExpandedPrompt> expandMedia(std::span<const TokenId> ids,
                                   const PerMedia<MediaTokens>& tokens,
                                   const PerMedia<std::vector<int64_t>>& counts);

} // namespace engine
