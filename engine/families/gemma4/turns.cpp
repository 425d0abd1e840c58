// SPDX-License-Identifier: Apache-2.0
// Rendering follows the July 2026 revision of Google's templates as described in the Gemma 4
// specification, section 6.2; the result for plain chats is the same in earlier revisions.
#include "engine/families/gemma4/turns.h"

#include "engine/families/gemma4/tool_text.h"
#include "engine/text/jinja_text.h"
#include "engine/text/segment_writer.h"

#include <algorithm>

namespace engine {

namespace {

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

bool isSystemRole(const std::string& role) {
    return role == "system" || role == "developer";
}

bool isAssistantRole(const std::string& role) {
    return role == "assistant" || role == "model";
}

bool isToolRole(const std::string& role) {
    return role == "tool";
}

Result<void> checkRole(const ChatMessage& message, size_t index) {
    const auto fail = [&](ErrorCode code, const Sentence& what) {
        return Error{code, said("message %1: %2", index + 1, what), {}};
    };
    const bool is_word = !message.role.empty() && message.role.size() <= 32 &&
                         std::all_of(message.role.begin(), message.role.end(),
                                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    if (!is_word) {
        return fail(ErrorCode::InvalidRequest, said("the role must be a word of 1 to 32 lower-case "
                                                    "letters, such as user, assistant or system"));
    }
    return {};
}

Result<void> writeSystemTurn(const ChatMessage* message,
                             const ChatTemplateOptions& options,
                             SegmentWriter& out) {
    out.control("<|turn>system\n");
    if (options.thinking) {
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
            out.message(jinja::stripped(part.text));
            if (is_list) {
                out.control(" ");
            }
        }
    }
    for (const Tool& tool : options.tools) {
        ENGINE_TRY(writeToolDeclaration(tool, out));
    }
    out.control("<turn|>\n");
    return {};
}

void writeParts(const ChatMessage& message, SegmentWriter& out) {
    for (const ChatPart& part : message.parts) {
        switch (part.kind) {
        case ChatPartKind::Text:
            if (isAssistantRole(message.role)) {
                out.message(jinja::stripped(withoutChannels(part.text)));
            } else {
                out.message(jinja::stripped(part.text));
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

/// The calls of message `index`, then what the tools answered: the messages behind it.
void writeCalls(std::span<const ChatMessage> messages, size_t index, SegmentWriter& out) {
    const ChatMessage& asking = messages[index];
    for (const ToolCall& call : asking.calls) {
        writeToolCall(call, out);
    }
    for (size_t i = index + 1; i < messages.size() && isToolRole(messages[i].role); ++i) {
        const auto call =
            std::find_if(asking.calls.begin(), asking.calls.end(),
                         [&](const ToolCall& one) { return one.id == messages[i].call_id; });
        std::string text;
        for (const ChatPart& part : messages[i].parts) {
            text += part.text;
        }
        writeToolResult(call == asking.calls.end() ? "unknown" : call->name, text, out);
        for (const ChatPart& part : messages[i].parts) {
            out.control(part.kind == ChatPartKind::Image   ? "<|image|>"
                        : part.kind == ChatPartKind::Audio ? "<|audio|>"
                                                           : "");
        }
    }
}

/// Whether the model's turn goes on behind a message that asked for tools: in the message behind
/// their results, or in what it is about to write.
bool staysOpen(const ChatMessage& message, const ChatMessage* next) {
    const bool has_text =
        std::any_of(message.parts.begin(), message.parts.end(), [](const ChatPart& part) {
            return part.kind != ChatPartKind::Text || !jinja::stripped(part.text).empty();
        });
    return !message.calls.empty() && (next == nullptr ? !has_text : isAssistantRole(next->role));
}

/// Every result stands behind its call, and every call has one.
Result<void> checkResults(std::span<const ChatMessage> messages) {
    for (size_t i = 0; i < messages.size(); ++i) {
        const bool is_result = isToolRole(messages[i].role);
        const bool may_be_result =
            i > 0 && (isToolRole(messages[i - 1].role) || !messages[i - 1].calls.empty());
        const bool is_answered = i + 1 < messages.size() && isToolRole(messages[i + 1].role);
        if (is_result && !may_be_result) {
            return Error{ErrorCode::InvalidRequest,
                         said("message %1: a tool's result stands right behind the reply that "
                              "asked for it; expected that reply before it",
                              i + 1),
                         {}};
        }
        if (!is_result && !messages[i].calls.empty() && !is_answered) {
            return Error{ErrorCode::InvalidRequest,
                         said("message %1: it asks for tools, and their results do not follow; "
                              "expected a message of the role tool for every call",
                              i + 1),
                         {}};
        }
    }
    return {};
}

} // namespace

bool endsInThought(std::span<const ChatMessage> messages, const ChatTemplateOptions& options) {
    return options.thinking && options.adds_generation_prompt && !messages.empty() &&
           isToolRole(messages.back().role);
}

Result<std::vector<Segment>> renderChat(std::span<const ChatMessage> messages,
                                        const ChatTemplateOptions& options,
                                        bool is_large) {
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
    ENGINE_TRY(checkResults(messages));
    SegmentWriter out;
    out.control("<bos>");
    size_t first = 0;
    const bool has_system = isSystemRole(messages[0].role);
    if (has_system || options.thinking || !options.tools.empty()) {
        ENGINE_TRY(writeSystemTurn(has_system ? messages.data() : nullptr, options, out));
        first = has_system ? 1 : 0;
    }
    const ChatMessage* before = nullptr; // that is no tool's
    for (size_t i = first; i < messages.size(); ++i) {
        const ChatMessage& message = messages[i];
        if (isToolRole(message.role)) {
            continue; // written with its call
        }
        const bool is_assistant = isAssistantRole(message.role);
        // An assistant message right after another continues its turn's place without a header.
        if (!is_assistant || before == nullptr || !isAssistantRole(before->role)) {
            out.control("<|turn>" + (is_assistant ? std::string("model") : message.role) + "\n");
        }
        if (is_assistant && i >= after_last_user && !message.thinking.empty()) {
            out.control("<|channel>thought\n");
            out.message(message.thinking);
            out.control("\n<channel|>");
        }
        size_t next = i + 1;
        if (!message.calls.empty()) {
            writeCalls(messages, i, out);
            while (next < messages.size() && isToolRole(messages[next].role)) {
                ++next;
            }
        }
        writeParts(message, out);
        if (!staysOpen(message, next < messages.size() ? &messages[next] : nullptr)) {
            out.control("<turn|>\n");
        }
        before = &message;
    }
    if (options.adds_generation_prompt) {
        if (endsInThought(messages, options)) {
            out.control("<|channel>thought\n");
        } else if (!isToolRole(messages.back().role)) {
            out.control("<|turn>model\n");
            if (is_large && !options.thinking) {
                out.control("<|channel>thought\n<channel|>");
            }
        }
    }
    return out.take();
}

Result<ChatTokens> findChatTokens(const Tokenizer& tokenizer) {
    ChatTokens tokens;
    tokens.thought_header = "thought\n";
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
    const std::pair<const char*, TokenId*> of_tools[] = {
        {"<|tool_call>", &tokens.call_begin},
        {"<tool_call|>", &tokens.call_end},
        {"<|\"|>", &tokens.quote},
        {"<|tool_response>", &tokens.response},
    };
    for (const auto& [spelling, id] : of_tools) {
        const std::optional<TokenId> found = tokenizer.idOf(spelling);
        if (!found.has_value() || !tokenizer.isAdded(*found) || tokenizer.isBuiltByMerge(*found)) {
            tokens.call_begin = tokens.call_end = tokens.quote = tokens.response = -1;
            break;
        }
        *id = *found;
    }
    return tokens;
}

namespace {

struct Gemma4Turns final : ChatTurns {
    Gemma4Turns(const ModelConfig& config, const Tokenizer& tokenizer)
        : found(findChatTokens(tokenizer)), is_large(config.is_large_template) {
        if (found) {
            tokens = *found;
            stops = {tokens.turn_end, tokens.eos};
        }
        reply_begin = "<|turn>model\n";
        reply_end = "<turn|>";
        thought_begin = "<|channel>thought\n";
        thought_end = "\n<channel|>";
    }
    [[nodiscard]] Result<std::vector<Segment>>
    render(std::span<const ChatMessage> messages,
           const ChatTemplateOptions& options) const override {
        return found ? renderChat(messages, options, is_large) : found.error();
    }
    [[nodiscard]] bool endsInThought(std::span<const ChatMessage> messages,
                                     const ChatTemplateOptions& options) const override {
        return engine::endsInThought(messages, options);
    }
    [[nodiscard]] ToolCall readCall(std::string_view written,
                                    std::span<const Tool> tools) const override {
        return readToolCall(written, tools);
    }

    Result<ChatTokens> found;
    bool is_large;
};

} // namespace

std::unique_ptr<const ChatTurns>
gemma4Turns(const ModelConfig& config, const Checkpoint&, const Tokenizer& tokenizer) {
    return std::make_unique<const Gemma4Turns>(config, tokenizer);
}

} // namespace engine
