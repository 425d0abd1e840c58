// SPDX-License-Identifier: Apache-2.0
#include "engine/run/prompt_builder.h"

#include "engine/run/media_kinds.h"

#include <algorithm>
#include <utility>

namespace engine {

void ReplyMemory::remember(const std::string& text, std::vector<int32_t> ids) {
    if (!text.empty()) {
        ids_.insert_or_assign(text, std::move(ids));
    }
}

const std::vector<int32_t>* ReplyMemory::find(const std::string& text) const {
    const auto it = ids_.find(text);
    return it == ids_.end() ? nullptr : &it->second;
}

namespace {
/// Thoughts and answer as one key; no text of a reply holds a zero byte.
std::string cutKey(const std::string& thinking, const std::string& text) {
    std::string key("cut");
    key += '\0';
    key += thinking;
    key += '\0';
    key += text;
    return key;
}
} // namespace

void ReplyMemory::rememberCut(const std::string& thinking,
                              const std::string& text,
                              std::vector<int32_t> ids) {
    if (!ids.empty()) {
        ids_.insert_or_assign(cutKey(thinking, text), std::move(ids));
    }
}

const std::vector<int32_t>* ReplyMemory::findCut(const std::string& thinking,
                                                 const std::string& text) const {
    const auto it = ids_.find(cutKey(thinking, text));
    return it == ids_.end() ? nullptr : &it->second;
}

MediaParts mediaParts(const GenerateRequest& request) {
    MediaParts parts;
    for (const Message& message : request.messages) {
        for (const MessagePart& part : message.parts) {
            if (const auto kind = mediaKind(part)) {
                parts[*kind].push_back(part);
            }
        }
    }
    for (const std::string& path : request.raw_images) {
        parts[MediaKind::Image].push_back({MessagePart::Kind::Image, path});
    }
    for (const std::string& path : request.raw_audios) {
        parts[MediaKind::Audio].push_back({MessagePart::Kind::Audio, path});
    }
    return parts;
}

PerMedia<MediaTokens> mediaTokens(const ModelConfig& config) {
    const auto id = [](int64_t token) { return static_cast<TokenId>(token); };
    PerMedia<MediaTokens> tokens;
    tokens[MediaKind::Image] = {id(config.image_token_id), id(config.boi_token_id),
                                id(config.eoi_token_id)};
    tokens[MediaKind::Audio] = {id(config.audio_token_id), id(config.boa_token_id),
                                id(config.eoa_token_id)};
    return tokens;
}

Result<std::vector<int32_t>> continuedIds(const GenerateRequest& request,
                                          const Tokenizer& tokenizer,
                                          const ChatTurns& turns,
                                          const ReplyMemory& replies) {
    if (!request.continues_reply) {
        return std::vector<int32_t>();
    }
    std::string text;
    bool is_reply =
        !request.messages.empty() && request.messages.back().role == Message::Role::Assistant;
    if (is_reply) {
        for (const MessagePart& part : request.messages.back().parts) {
            is_reply = is_reply && part.kind == MessagePart::Kind::Text;
            text += part.text;
        }
    }
    if (!is_reply || (text.empty() && request.continued_thinking.empty())) {
        return Error{ErrorCode::InvalidRequest,
                     said("to be continued, the last message must be a reply of the model with "
                          "text; ask for a new reply instead")};
    }
    if (const std::vector<int32_t>* known = replies.findCut(request.continued_thinking, text)) {
        return *known;
    }
    // From an earlier session: written out as the model writes it. Nothing is trimmed: a space at
    // the end is part of what was said.
    std::vector<Segment> segments;
    if (!request.continued_thinking.empty() && !turns.thought_begin.empty()) {
        segments.push_back({turns.thought_begin, true});
        segments.push_back({request.continued_thinking, false});
        if (!text.empty()) {
            segments.push_back({turns.thought_end, true});
        }
    }
    if (!text.empty()) {
        segments.push_back({text, false});
    }
    return tokenizer.encodeSegments(segments);
}

std::vector<ChatMessage> chatMessages(const GenerateRequest& request) {
    std::vector<ChatMessage> messages;
    const size_t count = request.messages.size() - (request.continues_reply ? 1U : 0U);
    for (size_t i = 0; i < count; ++i) {
        const Message& message = request.messages[i];
        ChatMessage chat;
        chat.role = message.role == Message::Role::System ? "system"
                    : message.role == Message::Role::User ? "user"
                    : message.role == Message::Role::Tool ? "tool"
                                                          : "assistant";
        chat.thinking = message.thinking;
        chat.calls = message.calls;
        chat.call_id = message.call_id;
        for (const MessagePart& part : message.parts) {
            switch (part.kind) {
            case MessagePart::Kind::Text:
                chat.parts.push_back(ChatPart::makeText(part.text));
                break;
            case MessagePart::Kind::Image:
                chat.parts.push_back(ChatPart::image());
                break;
            case MessagePart::Kind::Audio:
                chat.parts.push_back(ChatPart::audio());
                break;
            }
        }
        messages.push_back(std::move(chat));
    }
    return messages;
}

ChatTemplateOptions chatOptions(const GenerateRequest& request) {
    ChatTemplateOptions options;
    options.thinking = request.is_thinking;
    options.tools = request.tools;
    return options;
}

bool usesTools(const GenerateRequest& request) {
    return !request.tools.empty() || std::any_of(request.messages.begin(), request.messages.end(),
                                                 [](const Message& message) {
                                                     return !message.calls.empty() ||
                                                            message.role == Message::Role::Tool;
                                                 });
}

Result<std::vector<int32_t>> promptIds(const GenerateRequest& request,
                                       const Tokenizer& tokenizer,
                                       const ChatTurns& turns,
                                       const ReplyMemory& replies) {
    if (!request.raw_ids.empty()) {
        return request.raw_ids;
    }
    if (!request.raw_prompt.empty()) {
        return tokenizer.encodeSegments(rawPrompt(request.raw_prompt));
    }
    if (usesTools(request) && !turns.tokens.hasTools()) {
        return Error{ErrorCode::Unsupported,
                     said("this model's tokenizer.json has no tokens for calls of tools "
                          "(<|tool_call> and others); ask without tools")};
    }
    ENGINE_ASSIGN(const std::vector<int32_t> continued,
                  continuedIds(request, tokenizer, turns, replies));
    const std::vector<ChatMessage> messages = chatMessages(request);
    const ChatTemplateOptions options = chatOptions(request);
    ENGINE_ASSIGN(const std::vector<Segment> segments, turns.render(messages, options));

    // A reply of ours goes back in as the ids it was made of: its text, tokenised afresh, may give
    // others, and then the cache would not match. It stands between two control tokens, so no
    // word reaches across the seam.
    std::vector<int32_t> ids;
    std::vector<Segment> pending;
    for (size_t i = 0; i < segments.size(); ++i) {
        const Segment& segment = segments[i];
        const bool is_reply = !segment.matches_added_tokens && i > 0 && i + 1 < segments.size() &&
                              !turns.reply_begin.empty() &&
                              segments[i - 1].text.ends_with(turns.reply_begin) &&
                              segments[i + 1].text.starts_with(turns.reply_end);
        const std::vector<int32_t>* known = is_reply ? replies.find(segment.text) : nullptr;
        if (known == nullptr) {
            pending.push_back(segment);
            continue;
        }
        const std::vector<int32_t> before = tokenizer.encodeSegments(pending);
        ids.insert(ids.end(), before.begin(), before.end());
        ids.insert(ids.end(), known->begin(), known->end());
        pending.clear();
    }
    const std::vector<int32_t> rest = tokenizer.encodeSegments(pending);
    ids.insert(ids.end(), rest.begin(), rest.end());
    ids.insert(ids.end(), continued.begin(), continued.end());
    return ids;
}

} // namespace engine
