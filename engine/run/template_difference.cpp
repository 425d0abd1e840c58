// SPDX-License-Identifier: Apache-2.0
#include "engine/run/template_difference.h"

#include "engine/text/jinja.h"

#include <algorithm>

namespace engine {

namespace {

using jinja::Value;

Value textPart(const std::string& type, const std::string& text) {
    Value::Members members = {{"type", Value::of(type)}};
    if (type == "text") {
        members.emplace_back("text", Value::of(text));
    }
    return Value::map(std::move(members));
}

/// As transformers hands messages to a template: one text as a string, media as a list of parts.
Value contentOf(const ChatMessage& message) {
    if (message.parts.size() == 1 && message.parts.front().kind == ChatPartKind::Text) {
        return Value::of(message.parts.front().text);
    }
    Value::Items parts;
    for (const ChatPart& part : message.parts) {
        const char* type = part.kind == ChatPartKind::Text    ? "text"
                           : part.kind == ChatPartKind::Image ? "image"
                                                              : "audio";
        parts.push_back(textPart(type, part.text));
    }
    return Value::list(std::move(parts));
}

/// A piece of a prompt around the place where two part, on one line.
std::string excerpt(const std::string& text, size_t at) {
    constexpr size_t kBefore = 24;
    constexpr size_t kAfter = 48;
    const auto isInside = [&](size_t i) {
        return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U;
    };
    size_t first = at > kBefore ? at - kBefore : 0;
    while (isInside(first)) {
        ++first;
    }
    size_t last = std::min(text.size(), at + kAfter);
    while (isInside(last)) {
        ++last;
    }
    std::string out = first > 0 ? "..." : "";
    for (const char c : text.substr(first, last - first)) {
        const bool is_control = static_cast<unsigned char>(c) < 0x20U;
        out += c == '\n' ? "\\n" : is_control ? "?" : std::string(1, c);
    }
    return "\"" + out + (last < text.size() ? "...\"" : "\"");
}

} // namespace

std::optional<ReplyNote> templateDifference(const ChatTemplateText& own,
                                            std::span<const ChatMessage> messages,
                                            const ChatTemplateOptions& options,
                                            const std::string& prompt) {
    Value::Items list;
    for (const ChatMessage& message : messages) {
        list.push_back(
            Value::map({{"role", Value::of(message.role)}, {"content", contentOf(message)}}));
    }
    std::map<std::string, Value> variables = {
        {"messages", Value::list(std::move(list))},
        {"add_generation_prompt", Value::of(options.adds_generation_prompt)},
        {"enable_thinking", Value::of(options.thinking)},
        {"tools", Value::none()},
        {"documents", Value::none()},
        {"bos_token", Value::of(std::string("<bos>"))},
        {"eos_token", Value::of(std::string("<eos>"))}};
    for (const auto& [name, token] : own.tokens) {
        variables[name] = Value::of(token);
    }
    const Result<std::string> written = jinja::render(own.source, variables);
    if (!written) {
        return reply_note::TemplateUnreadable{own.where, written.error().told()};
    }
    if (*written == prompt) {
        return std::nullopt;
    }
    const auto parting =
        std::mismatch(written->begin(), written->end(), prompt.begin(), prompt.end());
    const auto at = static_cast<size_t>(parting.first - written->begin());
    return reply_note::TemplateDiffers{own.where, excerpt(*written, at), excerpt(prompt, at)};
}

} // namespace engine
