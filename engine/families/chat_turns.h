// SPDX-License-Identifier: Apache-2.0
// How a model's conversations are written and how its replies end and divide: what its family makes
// of the checkpoint and its tokenizer, once a load.
#pragma once

#include "engine/files/checkpoint.h"
#include "engine/model/model_config.h"
#include "engine/text/chat_prompt.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct ChatTurns {
    ChatTurns() = default;
    ChatTurns(const ChatTurns&) = delete;
    ChatTurns& operator=(const ChatTurns&) = delete;
    virtual ~ChatTurns() = default;

    /// The prompt. What messages say is in segments in which no added token matches.
    /// Errors: InvalidRequest (roles, places of media), Unsupported (the folder's files do not say
    /// how, or not for such a conversation).
    [[nodiscard]] virtual Result<std::vector<Segment>>
    render(std::span<const ChatMessage> messages, const ChatTemplateOptions& options) const = 0;
    /// Whether the model's next word belongs to its thoughts.
    [[nodiscard]] virtual bool endsInThought(std::span<const ChatMessage> /*messages*/,
                                             const ChatTemplateOptions& /*options*/) const {
        return false;
    }

    /// A call in a reply, as ReplyParser::calls() has it, for which these turns have tokens.
    [[nodiscard]] virtual ToolCall readCall(std::string_view /*written*/,
                                            std::span<const Tool> /*tools*/) const {
        return {};
    }

    ChatTokens tokens;          ///< That divide a reply; none: all of it is the answer.
    std::vector<int64_t> stops; ///< That end a reply, beside those of generation_config.json.
    std::string reply_begin, reply_end;     ///< Around a reply in a prompt; empty: not known.
    std::string thought_begin, thought_end; ///< Around thoughts in a reply; empty: there are none.
    bool is_of_folder = false;              ///< Written by the folder's own chat template.
};

/// Turns of a model by its config's family.
std::unique_ptr<const ChatTurns>
makeTurns(const ModelConfig& config, const Checkpoint& checkpoint, const Tokenizer& tokenizer);

/// Turns that the chat template in force in the checkpoint writes. The token that it puts behind a
/// reply ends one.
std::unique_ptr<const ChatTurns>
folderTurns(const ModelConfig& config, const Checkpoint& checkpoint, const Tokenizer& tokenizer);

} // namespace engine
