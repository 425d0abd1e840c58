// SPDX-License-Identifier: Apache-2.0
#include "engine/text/chat_prompt.h"

namespace engine {

std::vector<Segment> rawPrompt(std::string_view text) {
    return {Segment{std::string(text), true}};
}

std::string segmentsText(std::span<const Segment> segments) {
    std::string out;
    for (const Segment& segment : segments) {
        out += segment.text;
    }
    return out;
}

namespace {

/// One kind of media while a prompt is expanded.
struct MediaCursor {
    MediaKind kind = MediaKind::Image;
    Phrase name;
    TokenId placeholder = -1, begin = -1, end = -1;
    std::span<const int64_t> counts;
    int64_t num_found = 0;
};

} // namespace

PlaceholderCounts countPlaceholders(std::span<const TokenId> ids, const MediaTokens& tokens) {
    PlaceholderCounts counts;
    for (const TokenId id : ids) {
        counts.images += id >= 0 && id == tokens.image ? 1 : 0;
        counts.audios += id >= 0 && id == tokens.audio ? 1 : 0;
    }
    return counts;
}

Result<ExpandedPrompt> expandMedia(std::span<const TokenId> ids,
                                   const MediaTokens& tokens,
                                   std::span<const int64_t> image_counts,
                                   std::span<const int64_t> audio_counts) {
    const PlaceholderCounts found = countPlaceholders(ids, tokens);
    MediaCursor cursors[] = {
        {MediaKind::Image, phrase("image"), tokens.image, tokens.image_begin, tokens.image_end,
         image_counts, found.images},
        {MediaKind::Audio, phrase("audio"), tokens.audio, tokens.audio_begin, tokens.audio_end,
         audio_counts, found.audios},
    };
    size_t num_tokens = ids.size();
    for (const MediaCursor& cursor : cursors) {
        const auto num_items = static_cast<int64_t>(cursor.counts.size());
        if (cursor.num_found != num_items) {
            return Error{ErrorCode::InvalidRequest,
                         said("the prompt has %1 %2 placeholders, but %3 %2 items were given; the "
                              "numbers must be equal",
                              cursor.num_found, cursor.name, num_items),
                         {}};
        }
        for (size_t i = 0; i < cursor.counts.size(); ++i) {
            if (cursor.counts[i] <= 0) {
                return Error{ErrorCode::InvalidRequest,
                             said("%1 %2 is too short: it makes no soft token", cursor.name, i + 1),
                             {}};
            }
            num_tokens += static_cast<size_t>(cursor.counts[i]) + 1;
        }
    }
    ExpandedPrompt out;
    out.ids.reserve(num_tokens);
    int64_t items[] = {0, 0};
    for (const TokenId id : ids) {
        size_t which = 0;
        while (which < 2 && (id < 0 || cursors[which].placeholder != id)) {
            ++which;
        }
        if (which == 2) {
            out.ids.push_back(id);
            continue;
        }
        const MediaCursor& cursor = cursors[which];
        const int64_t count = cursor.counts[static_cast<size_t>(items[which])];
        out.ids.push_back(cursor.begin);
        out.spans.push_back(
            {cursor.kind, items[which], static_cast<int64_t>(out.ids.size()), count});
        out.ids.insert(out.ids.end(), static_cast<size_t>(count), cursor.placeholder);
        out.ids.push_back(cursor.end);
        ++items[which];
    }
    return out;
}

} // namespace engine
