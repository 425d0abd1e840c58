// SPDX-License-Identifier: Apache-2.0
// The Gemma 4 chat format: messages to prompt segments (what the template wrote, what people
// wrote). Format: ARCHITECTURE.md, 6; of tools tool_text.h. A folder's own Jinja template is
// only compared with (run/template_difference.h).
#pragma once

#include "engine/families/chat_turns.h"

namespace engine {

/// Renders a conversation, `<bos>` included. `is_large`: as for 12B, 26B-A4B and 31B, whose prompts
/// close an empty thought where thinking is off. Media parts become `<|image|>` and `<|audio|>` in
/// the order of the messages. A system message at the start with one text part is rendered as a
/// plain string, with several as a list (each part followed by a space).
/// Messages of tools stand right behind the assistant message whose calls they answer; what comes
/// then is the same turn of the model, so that the prompt ends without a header, and inside of a
/// thought where the model is to think (endsInThought()).
/// Errors: InvalidRequest (no message, a role that is not a plain word, media in the first system
/// message, a tool's message elsewhere, calls without results, those of tool_text.h).
Result<std::vector<Segment>> renderChat(std::span<const ChatMessage> messages,
                                        const ChatTemplateOptions& options,
                                        bool is_large = false);

/// Whether the model's next word belongs to its thoughts.
bool endsInThought(std::span<const ChatMessage> messages, const ChatTemplateOptions& options);

/// Looks them up among the added tokens. Errors: Unsupported, naming the missing token: a chat
/// prompt for this vocabulary would be read as plain text.
Result<ChatTokens> findChatTokens(const Tokenizer& tokenizer);

std::unique_ptr<const ChatTurns>
gemma4Turns(const ModelConfig& config, const Checkpoint& checkpoint, const Tokenizer& tokenizer);

} // namespace engine
