// SPDX-License-Identifier: Apache-2.0
#include "engine/text/template_prompt.h"

#include "engine/base/json/tree.h"
#include "engine/text/jinja.h"
#include "engine/text/segment_writer.h"

#include <algorithm>

namespace engine {

namespace {

using jinja::Text;
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
Value objectOrText(const std::string& text) {
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
            function.emplace_back("parameters", objectOrText(tool.parameters));
        }
        list.push_back(functionOf(std::move(function)));
    }
    return list.empty() ? Value::none() : Value::list(std::move(list));
}

Value textPart(const std::string& type, const std::string& text) {
    return type == "text" ? Value::map({{"type", Value::of(type)}, {"text", Value::of(text)}})
                          : Value::map({{"type", Value::of(type)}});
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
    // "<|" ~ role ~ "|>" makes a marker of it.
    const bool is_word = std::all_of(message.role.begin(), message.role.end(),
                                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    Value::Members members = {
        {"role", is_word ? Value::of(Text::ofTemplate(message.role)) : Value::of(message.role)}};
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
        Value one = functionOf(
            {{"name", Value::of(call.name)}, {"arguments", objectOrText(call.arguments)}});
        one.members->emplace_back("id", Value::of(call.id));
        calls.push_back(std::move(one));
    }
    if (!calls.empty()) {
        members.emplace_back("tool_calls", Value::list(std::move(calls)));
    }
    return Value::map(std::move(members));
}

} // namespace

Result<std::vector<Segment>> renderTemplate(const ChatTemplateText& own,
                                            std::span<const ChatMessage> messages,
                                            const ChatTemplateOptions& options) {
    Value::Items list;
    for (const ChatMessage& message : messages) {
        list.push_back(messageOf(message));
    }
    std::map<std::string, Value> variables = {
        {"messages", Value::list(std::move(list))},
        {"add_generation_prompt", Value::of(options.adds_generation_prompt)},
        {"enable_thinking", Value::of(options.thinking)},
        {"tools", toolsOf(options.tools)},
        {"documents", Value::none()}};
    for (const auto& [name, token] : own.tokens) {
        variables[name] = Value::of(Text::ofTemplate(token));
    }
    ENGINE_ASSIGN(Text written, jinja::render(own.source, variables));
    written.own.resize(written.bytes.size());
    SegmentWriter out;
    const std::string_view bytes = written.bytes;
    for (size_t at = 0; at < bytes.size();) {
        const char kind = written.own[at];
        const size_t end = std::min(written.own.find_first_not_of(kind, at), bytes.size());
        const std::string_view run = bytes.substr(at, end - at);
        if (kind != 0) {
            out.control(run);
        } else {
            out.message(run);
        }
        at = end;
    }
    return out.take();
}

} // namespace engine
