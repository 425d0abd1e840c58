// SPDX-License-Identifier: Apache-2.0
// From a request to token ids: renders the conversation, keeps typed control tokens from becoming
// control tokens, puts the model's own earlier tokens back where the conversation repeats a reply
// (so that the cache matches row by row), and expands media placeholders.
#pragma once

#include "engine/api/chat.h"
#include "engine/base/result.h"
#include "engine/families/chat_turns.h"
#include "engine/model/model_config.h"
#include "engine/text/media_tokens.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace engine {

/// Ids of replies this session generated, by their text.
class ReplyMemory {
public:
    void remember(const std::string& text, std::vector<int32_t> ids);
    [[nodiscard]] const std::vector<int32_t>* find(const std::string& text) const;
    void clear() { ids_.clear(); }

    /// A reply that was cut short, thoughts and control tokens included, so that it can be
    /// continued from the very tokens it was made of. Nothing is kept for an empty one.
    void
    rememberCut(const std::string& thinking, const std::string& text, std::vector<int32_t> ids);
    [[nodiscard]] const std::vector<int32_t>* findCut(const std::string& thinking,
                                                      const std::string& text) const;

private:
    std::unordered_map<std::string, std::vector<int32_t>> ids_;
};

/// Media parts of a request in prompt order.
using MediaParts = PerMedia<std::vector<MessagePart>>;
MediaParts mediaParts(const GenerateRequest& request);

PerMedia<MediaTokens> mediaTokens(const ModelConfig& config);

/// Ids of the reply that a request with continues_reply goes on with; empty for other requests.
/// Errors: InvalidRequest when the last message is no reply with text or thoughts.
Result<std::vector<int32_t>> continuedIds(const GenerateRequest& request,
                                          const Tokenizer& tokenizer,
                                          const ChatTurns& turns,
                                          const ReplyMemory& replies);

/// The messages of a request for the chat format, without the reply that continues_reply goes on
/// with.
std::vector<ChatMessage> chatMessages(const GenerateRequest& request);

/// How its messages are rendered; holds on to the request's tools.
ChatTemplateOptions chatOptions(const GenerateRequest& request);

/// Whether the model may ask for tools, or has done so.
bool usesTools(const GenerateRequest& request);

/// Ids with one placeholder per medium, continuedIds() at their end.
/// Errors: InvalidRequest (empty request), Unsupported (tools, and a vocabulary that has no tokens
/// for them), those of ChatTurns::render().
Result<std::vector<int32_t>> promptIds(const GenerateRequest& request,
                                       const Tokenizer& tokenizer,
                                       const ChatTurns& turns,
                                       const ReplyMemory& replies);

} // namespace engine
