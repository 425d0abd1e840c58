// SPDX-License-Identifier: Apache-2.0
#include "engine/text/media_tokens.h"

#include <algorithm>
#include <optional>

namespace engine {

namespace {

/// The kind whose placeholder `id` is.
std::optional<MediaKind> kindOf(TokenId id, const PerMedia<MediaTokens>& tokens) {
    const auto* const kind =
        std::find_if(kMediaKinds.begin(), kMediaKinds.end(),
                     [&](MediaKind one) { return id >= 0 && tokens[one].placeholder == id; });
    return kind == kMediaKinds.end() ? std::nullopt : std::optional(*kind);
}

} // namespace

Phrase mediaName(MediaKind kind) {
    constexpr PerMedia<Phrase> kNames{{phrase("image"), phrase("audio")}};
    return kNames[kind];
}

Result<void> checkPlaceholders(std::span<const TokenId> ids,
                               const PerMedia<MediaTokens>& tokens,
                               const PerMedia<int64_t>& items) {
    PerMedia<int64_t> found;
    for (const TokenId id : ids) {
        if (const auto kind = kindOf(id, tokens)) {
            ++found[*kind];
        }
    }
    for (const MediaKind kind : kMediaKinds) {
        if (found[kind] != items[kind]) {
            return Error{ErrorCode::InvalidRequest,
                         said("the prompt has %1 %2 placeholders, but %3 %2 items were given; the "
                              "numbers must be equal",
                              found[kind], mediaName(kind), items[kind])};
        }
    }
    return {};
}

Result<ExpandedPrompt> expandMedia(std::span<const TokenId> ids,
                                   const PerMedia<MediaTokens>& tokens,
                                   const PerMedia<std::vector<int64_t>>& counts) {
    PerMedia<int64_t> items;
    for (const MediaKind kind : kMediaKinds) {
        items[kind] = static_cast<int64_t>(counts[kind].size());
    }
    ENGINE_TRY(checkPlaceholders(ids, tokens, items));
    size_t num_tokens = ids.size();
    for (const MediaKind kind : kMediaKinds) {
        for (size_t i = 0; i < counts[kind].size(); ++i) {
            if (counts[kind][i] <= 0) {
                return Error{
                    ErrorCode::InvalidRequest,
                    said("%1 %2 is too short: it makes no soft token", mediaName(kind), i + 1)};
            }
            num_tokens += static_cast<size_t>(counts[kind][i]) + 1;
        }
    }
    ExpandedPrompt out;
    out.ids.reserve(num_tokens);
    PerMedia<int64_t> next;
    for (const TokenId id : ids) {
        const auto kind = kindOf(id, tokens);
        if (!kind) {
            out.ids.push_back(id);
            continue;
        }
        const int64_t count = counts[*kind][static_cast<size_t>(next[*kind])];
        out.ids.push_back(tokens[*kind].begin);
        out.spans.push_back({*kind, next[*kind]++, static_cast<int64_t>(out.ids.size()), count});
        out.ids.insert(out.ids.end(), static_cast<size_t>(count), id);
        out.ids.push_back(tokens[*kind].end);
    }
    return out;
}

} // namespace engine
