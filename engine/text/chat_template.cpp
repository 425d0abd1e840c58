// SPDX-License-Identifier: Apache-2.0
// Rendering follows the July 2026 revision of Google's templates as described in the Gemma 4
// specification, section 6.2; the result for plain chats is the same in earlier revisions.
#include "engine/text/chat_template.h"

#include "engine/text/tokenizer_data.h"

#include <algorithm>

namespace engine {

namespace {

/// Python's str.isspace(): what the reference's trim removes.
bool isSpace(uint32_t c) {
    return (c >= 0x09U && c <= 0x0dU) || (c >= 0x1cU && c <= 0x20U) || c == 0x85U || c == 0xa0U ||
           c == 0x1680U || (c >= 0x2000U && c <= 0x200aU) || c == 0x2028U || c == 0x2029U ||
           c == 0x202fU || c == 0x205fU || c == 0x3000U;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty()) {
        const text::Character c = text::firstCharacter(text);
        if (!c.is_valid || !isSpace(c.code_point)) {
            break;
        }
        text.remove_prefix(c.size);
    }
    while (!text.empty()) {
        size_t begin = text.size() - 1;
        while (begin > 0 && (static_cast<uint8_t>(text[begin]) & 0xc0U) == 0x80U) {
            --begin;
        }
        const text::Character c = text::firstCharacter(text.substr(begin));
        if (!c.is_valid || !isSpace(c.code_point)) {
            break;
        }
        text.remove_suffix(text.size() - begin);
    }
    return text;
}

/// An assistant's text without its reasoning: of every piece before a `<channel|>` (and of the
/// last one) what stands before its first `<|channel>`.
std::string withoutChannels(std::string_view text) {
    constexpr std::string_view kOpen = "<|channel>";
    constexpr std::string_view kClose = "<channel|>";
    std::string out;
    while (true) {
        const size_t close = text.find(kClose);
        const std::string_view piece = text.substr(0, close);
        out += piece.substr(0, piece.find(kOpen));
        if (close == std::string_view::npos) {
            return out;
        }
        text.remove_prefix(close + kClose.size());
    }
}

/// Collects segments; neighbours of one kind become one segment.
class Writer {
public:
    void control(std::string_view text) { write(text, true); }
    void message(std::string_view text) { write(text, false); }
    [[nodiscard]] std::vector<Segment> take() { return std::move(segments_); }

private:
    void write(std::string_view text, bool matches_added_tokens) {
        if (text.empty()) {
            return;
        }
        if (segments_.empty() || segments_.back().matches_added_tokens != matches_added_tokens) {
            segments_.push_back({std::string(), matches_added_tokens});
        }
        segments_.back().text += text;
    }

    std::vector<Segment> segments_;
};

bool isSystemRole(const std::string& role) {
    return role == "system" || role == "developer";
}

bool isAssistantRole(const std::string& role) {
    return role == "assistant" || role == "model";
}

Result<void> checkRole(const ChatMessage& message, size_t index) {
    const auto fail = [&](ErrorCode code, const Sentence& what) {
        return Error{code, said("message %1: %2", index + 1, what), {}};
    };
    if (message.role == "tool") {
        return fail(ErrorCode::Unsupported,
                    said("tool results are not supported; send them as text in a user message"));
    }
    const bool is_word = !message.role.empty() && message.role.size() <= 32 &&
                         std::all_of(message.role.begin(), message.role.end(),
                                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    if (!is_word) {
        return fail(ErrorCode::InvalidRequest, said("the role must be a word of 1 to 32 lower-case "
                                                    "letters, such as user, assistant or system"));
    }
    return {};
}

Result<void> writeSystemTurn(const ChatMessage* message, bool thinking, Writer& out) {
    out.control("<|turn>system\n");
    if (thinking) {
        out.control("<|think|>\n");
    }
    if (message != nullptr) {
        const bool is_list = message->parts.size() > 1;
        for (const ChatPart& part : message->parts) {
            if (part.kind != ChatPartKind::Text) {
                return Error{ErrorCode::InvalidRequest,
                             said("message 1: a system message holds text only; put images and "
                                  "audio into a user message"),
                             {}};
            }
            out.message(trimmed(part.text));
            if (is_list) {
                out.control(" ");
            }
        }
    }
    out.control("<turn|>\n");
    return {};
}

void writeParts(const ChatMessage& message, Writer& out) {
    for (const ChatPart& part : message.parts) {
        switch (part.kind) {
        case ChatPartKind::Text:
            if (isAssistantRole(message.role)) {
                out.message(trimmed(withoutChannels(part.text)));
            } else {
                out.message(trimmed(part.text));
            }
            break;
        case ChatPartKind::Image:
            out.control("<|image|>");
            break;
        case ChatPartKind::Audio:
            out.control("<|audio|>");
            break;
        }
    }
}

} // namespace

Result<std::vector<Segment>> renderChat(std::span<const ChatMessage> messages,
                                        const ChatTemplateOptions& options) {
    if (messages.empty()) {
        return Error{
            ErrorCode::InvalidRequest, said("the chat has no message; give at least one"), {}};
    }
    size_t after_last_user = 0;
    for (size_t i = 0; i < messages.size(); ++i) {
        ENGINE_TRY(checkRole(messages[i], i));
        if (messages[i].role == "user") {
            after_last_user = i + 1;
        }
    }
    Writer out;
    out.control("<bos>");
    size_t first = 0;
    const bool has_system = isSystemRole(messages[0].role);
    if (has_system || options.thinking) {
        ENGINE_TRY(writeSystemTurn(has_system ? messages.data() : nullptr, options.thinking, out));
        first = has_system ? 1 : 0;
    }
    for (size_t i = first; i < messages.size(); ++i) {
        const ChatMessage& message = messages[i];
        const bool is_assistant = isAssistantRole(message.role);
        // An assistant message right after another continues its turn's place without a header.
        if (!is_assistant || i == first || !isAssistantRole(messages[i - 1].role)) {
            out.control("<|turn>" + (is_assistant ? std::string("model") : message.role) + "\n");
        }
        if (is_assistant && i >= after_last_user && !message.thinking.empty()) {
            out.control("<|channel>thought\n");
            out.message(message.thinking);
            out.control("\n<channel|>");
        }
        writeParts(message, out);
        out.control("<turn|>\n");
    }
    if (options.adds_generation_prompt) {
        out.control("<|turn>model\n");
        if (options.is_large && !options.thinking) {
            out.control("<|channel>thought\n<channel|>");
        }
    }
    return out.take();
}

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

Result<ChatTokens> findChatTokens(const Tokenizer& tokenizer) {
    ChatTokens tokens;
    const std::pair<const char*, TokenId*> wanted[] = {
        {"<bos>", &tokens.bos},
        {"<eos>", &tokens.eos},
        {"<|turn>", &tokens.turn_begin},
        {"<turn|>", &tokens.turn_end},
        {"<|channel>", &tokens.channel_begin},
        {"<channel|>", &tokens.channel_end},
        {"<|think|>", &tokens.think},
    };
    for (const auto& [spelling, id] : wanted) {
        const std::optional<TokenId> found = tokenizer.idOf(spelling);
        if (!found.has_value() || !tokenizer.isAdded(*found)) {
            return Error{ErrorCode::Unsupported,
                         said("tokenizer.json: the added token %1 of the Gemma 4 chat format is "
                              "missing, so that no chat prompt can be written; use a raw prompt, "
                              "or the tokenizer.json of a Gemma 4 model",
                              spelling),
                         {{"rule", "ChatToken"}, {"token", spelling}}};
        }
        if (tokenizer.isBuiltByMerge(*found)) {
            return Error{ErrorCode::InvalidFile,
                         said("tokenizer.json: merges build the control token %1, so that text "
                              "typed by anybody could act as one",
                              spelling),
                         {{"rule", "ChatToken"}, {"token", spelling}}};
        }
        *id = *found;
    }
    return tokens;
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
