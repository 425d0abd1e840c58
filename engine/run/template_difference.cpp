// SPDX-License-Identifier: Apache-2.0
#include "engine/run/template_difference.h"

#include "engine/base/json/tree.h"
#include "engine/text/jinja.h"

#include <algorithm>

namespace engine {

namespace {

using jinja::Value;

Value valueOf(const Json& json) {
    switch (json.kind) {
    case Json::Kind::Null:
        return Value::none();
    case Json::Kind::Bool:
        return Value::of(json.boolean);
    case Json::Kind::Number:
        if (const std::optional<int64_t> whole = json.integer()) {
            return Value::of(*whole);
        }
        return Value::of(json.number().value_or(0.0));
    case Json::Kind::String:
        return Value::of(json.text);
    case Json::Kind::Array:
    case Json::Kind::Object:
        break;
    }
    Value::Items items;
    for (const Json& item : json.items) {
        items.push_back(valueOf(item));
    }
    Value::Members members;
    for (const JsonMember& member : json.members) {
        members.emplace_back(member.key, valueOf(member.value));
    }
    return json.is(Json::Kind::Array) ? Value::list(std::move(items))
                                      : Value::map(std::move(members));
}

/// An object from JSON, as transformers hands schemas and arguments to a template; the text where
/// it is none.
Value objectOf(const std::string& text) {
    Json tree;
    const bool is_object =
        readJsonTree(text.empty() ? "{}" : text, {}, tree).stop == JsonStop::Done &&
        tree.is(Json::Kind::Object);
    return is_object ? valueOf(tree) : Value::of(text);
}

Value functionOf(Value::Members members) {
    return Value::map({{"type", Value::of(std::string("function"))},
                       {"function", Value::map(std::move(members))}});
}

Value toolsOf(std::span<const Tool> tools) {
    Value::Items list;
    for (const Tool& tool : tools) {
        Value::Members function = {{"name", Value::of(tool.name)},
                                   {"description", Value::of(tool.description)}};
        if (!tool.parameters.empty()) {
            function.emplace_back("parameters", objectOf(tool.parameters));
        }
        list.push_back(functionOf(std::move(function)));
    }
    return list.empty() ? Value::none() : Value::list(std::move(list));
}

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

Value messageOf(const ChatMessage& message) {
    Value::Members members = {{"role", Value::of(message.role)}};
    const bool is_call_alone = message.parts.empty() && !message.calls.empty();
    members.emplace_back("content", is_call_alone ? Value::none() : contentOf(message));
    if (!message.thinking.empty()) {
        members.emplace_back("reasoning_content", Value::of(message.thinking));
    }
    if (!message.call_id.empty()) {
        members.emplace_back("tool_call_id", Value::of(message.call_id));
    }
    Value::Items calls;
    for (const ToolCall& call : message.calls) {
        Value one =
            functionOf({{"name", Value::of(call.name)}, {"arguments", objectOf(call.arguments)}});
        one.members->emplace_back("id", Value::of(call.id));
        calls.push_back(std::move(one));
    }
    if (!calls.empty()) {
        members.emplace_back("tool_calls", Value::list(std::move(calls)));
    }
    return Value::map(std::move(members));
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

std::optional<Sentence> templateDifference(const ChatTemplateText& own,
                                           std::span<const ChatMessage> messages,
                                           const ChatTemplateOptions& options,
                                           const std::string& prompt) {
    Value::Items list;
    for (const ChatMessage& message : messages) {
        list.push_back(messageOf(message));
    }
    std::map<std::string, Value> variables = {
        {"messages", Value::list(std::move(list))},
        {"add_generation_prompt", Value::of(options.adds_generation_prompt)},
        {"enable_thinking", Value::of(options.thinking)},
        {"tools", toolsOf(options.tools)},
        {"documents", Value::none()},
        {"bos_token", Value::of(std::string("<bos>"))},
        {"eos_token", Value::of(std::string("<eos>"))}};
    for (const auto& [name, token] : own.tokens) {
        variables[name] = Value::of(token);
    }
    const Result<std::string> written = jinja::render(own.source, variables);
    if (!written) {
        return said("%1: its chat template cannot be compared with the prompt that is used (%2)",
                    own.where, written.error().told());
    }
    if (*written == prompt) {
        return std::nullopt;
    }
    const auto parting =
        std::mismatch(written->begin(), written->end(), prompt.begin(), prompt.end());
    const auto at = static_cast<size_t>(parting.first - written->begin());
    return said("%1: its chat template would write this conversation otherwise: %2 where the "
                "prompt that is used has %3",
                own.where, excerpt(*written, at), excerpt(prompt, at));
}

} // namespace engine
