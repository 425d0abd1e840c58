// SPDX-License-Identifier: Apache-2.0
// Turns by a folder's own chat template. What ends a reply is seen in a conversation that is
// written on trial.
#include "engine/families/chat_turns.h"
#include "engine/families/stored_templates.h"
#include "engine/text/template_prompt.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace engine {

namespace {

struct FolderTurns final : ChatTurns {
    FolderTurns(std::optional<ChatTemplateText> text, const Tokenizer& tokenizer)
        : own_(std::move(text)) {
        is_of_folder = true;
        std::vector<ChatMessage> messages = {ChatMessage::makeText("user", "question"),
                                             ChatMessage::makeText("assistant", "reply")};
        auto whole = render(messages, {.adds_generation_prompt = false});
        if (!whole) { // some templates want a system message
            messages.insert(messages.begin(), ChatMessage::makeText("system", "system"));
            whole = render(messages, {.adds_generation_prompt = false});
        }
        if (whole && whole->size() > 2 && whole->back().matches_added_tokens &&
            (*whole)[whole->size() - 2] == Segment{"reply", false}) {
            reply_begin = replyBegin({messages.data(), messages.size() - 1});
            reply_end = whole->back().text;
            const auto ids = tokenizer.encodeSegments({&whole->back(), 1});
            const auto end = std::find_if(ids.begin(), ids.end(),
                                          [&](TokenId id) { return tokenizer.isAdded(id); });
            if (end != ids.end() && !tokenizer.isBuiltByMerge(*end)) {
                stops = {*end};
            }
        }
    }

    [[nodiscard]] Result<std::vector<Segment>>
    render(std::span<const ChatMessage> messages,
           const ChatTemplateOptions& options) const override {
        if (!own_) {
            return Error{ErrorCode::Unsupported,
                         said("the model's folder has no chat template, so that no chat prompt can "
                              "be written; use a raw prompt")};
        }
        std::vector<ChatMessage> plain(messages.begin(), messages.end());
        for (ChatMessage& message : plain) {
            // Templates of models without media expect a text.
            std::string text;
            for (const ChatPart& part : message.parts) {
                text += part.text;
            }
            message.parts = {ChatPart::makeText(std::move(text))};
        }
        Result<std::vector<Segment>> segments = renderTemplate(*own_, plain, options);
        if (!segments) {
            return Error{segments.error().code,
                         said("%1: the chat template cannot write this conversation (%2)",
                              own_->where, segments.error().told())};
        }
        return segments;
    }

private:
    /// What a template adds where a reply is to follow.
    [[nodiscard]] std::string replyBegin(std::span<const ChatMessage> question) const {
        const auto open = render(question, {});
        const auto closed = render(question, {.adds_generation_prompt = false});
        const std::string with = open ? segmentsText(*open) : std::string();
        const std::string without = closed ? segmentsText(*closed) : std::string();
        return with.starts_with(without) ? with.substr(without.size()) : std::string();
    }

    std::optional<ChatTemplateText> own_;
};

} // namespace

std::unique_ptr<const ChatTurns>
folderTurns(const ModelConfig&, const Checkpoint& checkpoint, const Tokenizer& tokenizer) {
    return std::make_unique<const FolderTurns>(readChatTemplateText(checkpoint), tokenizer);
}

} // namespace engine
