// SPDX-License-Identifier: Apache-2.0
// The Gemma 4 chat format: messages to prompt segments (what the template wrote, what people
// wrote), placeholders to media tokens. Format: families/gemma4/ARCHITECTURE.md, 6; of tools
// tool_text.h. Video is left out. A folder's own Jinja template is only compared with
// (run/template_difference.h).
#pragma once

#include "engine/api/chat.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <span>
#include <string>
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
    /// 12B, 26B-A4B, 31B: with thinking off the generation prompt closes an empty thought.
    bool is_large = false;
    bool thinking = false;
    bool adds_generation_prompt = true;
    std::span<const Tool> tools = {}; ///< What the model is told that it may ask for.
};

/// Renders a conversation, `<bos>` included. Media parts become `<|image|>` and `<|audio|>` in
/// the order of the messages. A system message at the start with one text part is rendered as a
/// plain string, with several as a list (each part followed by a space).
/// Messages of tools stand right behind the assistant message whose calls they answer; what comes
/// then is the same turn of the model, so that the prompt ends without a header, and inside of a
/// thought where the model is to think (endsInThought()).
/// Errors: InvalidRequest (no message, a role that is not a plain word, media in the first system
/// message, a tool's message elsewhere, calls without results, those of tool_text.h).
Result<std::vector<Segment>> renderChat(std::span<const ChatMessage> messages,
                                        const ChatTemplateOptions& options);

/// Whether the model's next word belongs to its thoughts.
bool endsInThought(std::span<const ChatMessage> messages, const ChatTemplateOptions& options);

/// A prompt that already has `<bos>` and the markers: added tokens match everywhere in it.
std::vector<Segment> rawPrompt(std::string_view text);

/// The segments' texts joined, for display and comparison.
std::string segmentsText(std::span<const Segment> segments);

/// Ids of the control tokens that the chat format needs; -1 = the vocabulary has none.
struct ChatTokens {
    TokenId bos = -1, eos = -1;
    TokenId turn_begin = -1, turn_end = -1;
    TokenId channel_begin = -1, channel_end = -1;
    TokenId think = -1;
    /// For tools, all or none: a vocabulary without them has no tools.
    TokenId call_begin = -1, call_end = -1, quote = -1, response = -1;
    [[nodiscard]] bool hasTools() const { return call_begin >= 0; }
};

/// Looks them up among the added tokens. Errors: Unsupported, naming the missing token: a chat
/// prompt for this vocabulary would be read as plain text.
Result<ChatTokens> findChatTokens(const Tokenizer& tokenizer);

} // namespace engine
