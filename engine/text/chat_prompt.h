// SPDX-License-Identifier: Apache-2.0
// A conversation, as families write prompts for it (families/chat_turns.h). Video is left out.
#pragma once

#include "engine/api/chat.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

enum class ChatPartKind : uint8_t { Text = 1, Image, Audio };

struct ChatPart {
    ChatPartKind kind = ChatPartKind::Text;
    std::string text; ///< UTF-8; only for Text.

    static ChatPart makeText(std::string text) { return {ChatPartKind::Text, std::move(text)}; }
    static ChatPart image() { return {ChatPartKind::Image, {}}; }
    static ChatPart audio() { return {ChatPartKind::Audio, {}}; }
};

struct ChatMessage {
    std::string role; ///< "system", "developer", "user", "assistant" (or "model"), "tool".
    std::vector<ChatPart> parts;
    /// Reasoning of an assistant message. Rendered only when no user message follows; reasoning of
    /// earlier turns is never replayed.
    std::string thinking = {};
    std::vector<ToolCall> calls = {}; ///< For an assistant message, rendered before its text.
    std::string call_id = {};         ///< For a tool's message: the call that it answers.

    static ChatMessage makeText(std::string role, std::string text) {
        return {std::move(role), {ChatPart::makeText(std::move(text))}, {}, {}, {}};
    }
};

struct ChatTemplateOptions {
    bool thinking = false;
    bool adds_generation_prompt = true;
    std::span<const Tool> tools = {}; ///< What the model is told that it may ask for.
};

/// A prompt that already has `<bos>` and the markers: added tokens match everywhere in it.
std::vector<Segment> rawPrompt(std::string_view text);

/// The segments' texts joined, for display and comparison.
std::string segmentsText(std::span<const Segment> segments);

/// Ids of the control tokens that divide a prompt and a reply; -1 = there is none.
struct ChatTokens {
    TokenId bos = -1, eos = -1;
    TokenId turn_begin = -1, turn_end = -1;
    TokenId channel_begin = -1, channel_end = -1;
    std::string_view thought_header; ///< What begins a channel with thoughts: a literal.
    TokenId think = -1;
    /// For tools, all or none: a vocabulary without them has no tools.
    TokenId call_begin = -1, call_end = -1, quote = -1, response = -1;
    [[nodiscard]] bool hasTools() const { return call_begin >= 0; }
};

} // namespace engine
