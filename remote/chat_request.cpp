// SPDX-License-Identifier: Apache-2.0
#include "remote/chat_request.h"

#include "engine/base/json/tree.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "remote/media_data.h"

namespace remote {

using engine::Error;
using engine::ErrorCode;
using engine::GenerateRequest;
using engine::Message;
using engine::MessagePart;
using engine::Result;
using engine::said;
using nlohmann::ordered_json;

namespace {

const char* roleName(Message::Role role) {
    switch (role) {
    case Message::Role::System:
        return "system";
    case Message::Role::User:
        return "user";
    case Message::Role::Tool:
        return "tool";
    case Message::Role::Assistant:
        break;
    }
    return "assistant";
}

Result<ordered_json> partJson(const MessagePart& part) {
    switch (part.kind) {
    case MessagePart::Kind::Image: {
        ENGINE_ASSIGN(std::string url, pictureUrl(part.text));
        return ordered_json{{"type", "image_url"}, {"image_url", {{"url", std::move(url)}}}};
    }
    case MessagePart::Kind::Audio: {
        ENGINE_ASSIGN(std::string data, soundData(part));
        return ordered_json{{"type", "input_audio"},
                            {"input_audio", {{"data", std::move(data)}, {"format", "wav"}}}};
    }
    case MessagePart::Kind::Text:
        break;
    }
    return ordered_json{{"type", "text"}, {"text", part.text}};
}

/// Text alone goes as a string, which every server takes.
Result<ordered_json> contentJson(const Message& message) {
    const bool is_text =
        std::all_of(message.parts.begin(), message.parts.end(),
                    [](const MessagePart& part) { return part.kind == MessagePart::Kind::Text; });
    if (is_text) {
        std::string text;
        for (const MessagePart& part : message.parts) {
            text += part.text;
        }
        return ordered_json(std::move(text));
    }
    ordered_json list = ordered_json::array();
    for (const MessagePart& part : message.parts) {
        ENGINE_ASSIGN(ordered_json one, partJson(part));
        list.push_back(std::move(one));
    }
    return list;
}

void addSampling(const GenerateRequest& request, Product product, ordered_json& json) {
    const engine::SamplingParameters& sampling = request.sampling;
    const auto add = [&json](const char* name, auto value, bool is_set) {
        if (is_set) {
            json[name] = value;
        }
    };
    add("temperature", sampling.temperature, sampling.temperature >= 0.0);
    add("top_p", sampling.top_p, sampling.top_p >= 0.0);
    add("seed", sampling.seed, sampling.seed >= 0);
    add("max_tokens", sampling.max_tokens, sampling.max_tokens > 0);
    if (!takesExtensions(product)) {
        return;
    }
    add("top_k", sampling.top_k, sampling.top_k > 0);
    add("min_p", sampling.min_p, sampling.min_p >= 0.0);
    const char* const penalty =
        product == Product::LlamaServer ? "repeat_penalty" : "repetition_penalty";
    add(penalty, sampling.repetition_penalty, sampling.repetition_penalty > 0.0);
    json["chat_template_kwargs"] = {{"enable_thinking", request.is_thinking}};
    if (product == Product::Vllm && request.image_tokens > 0) {
        json["mm_processor_kwargs"] = {{"max_soft_tokens", request.image_tokens}};
    }
}

ordered_json valueOf(const engine::Json& json) {
    using Kind = engine::Json::Kind;
    ordered_json out;
    switch (json.kind) {
    case Kind::Null:
        break;
    case Kind::Bool:
        out = json.boolean;
        break;
    case Kind::Number:
        out = json.integer().has_value() ? ordered_json(*json.integer())
                                         : ordered_json(json.number().value_or(0.0));
        break;
    case Kind::String:
        out = json.text;
        break;
    case Kind::Array:
        out = ordered_json::array();
        for (const engine::Json& item : json.items) {
            out.push_back(valueOf(item));
        }
        break;
    case Kind::Object:
        out = ordered_json::object();
        for (const engine::JsonMember& member : json.members) {
            out[member.key] = valueOf(member.value);
        }
        break;
    }
    return out;
}

Result<void> addTools(const GenerateRequest& request, ordered_json& json) {
    for (const engine::Tool& tool : request.tools) {
        ordered_json function = {{"name", tool.name}, {"description", tool.description}};
        if (!tool.parameters.empty()) {
            ENGINE_ASSIGN(const engine::Json parameters,
                          engine::parseJson(tool.parameters, "parameters of " + tool.name));
            function["parameters"] = valueOf(parameters);
        }
        json["tools"].push_back({{"type", "function"}, {"function", std::move(function)}});
    }
    return {};
}

} // namespace

Result<std::string>
chatRequest(const GenerateRequest& request, const std::string& model, Product product) {
    if (request.messages.empty()) {
        return Error{ErrorCode::Unsupported,
                     said("a server takes messages, not a prompt with the model's own markers; ask "
                          "with --prompt, or load the model on this computer")};
    }
    if (request.continues_reply) {
        return Error{ErrorCode::Unsupported,
                     said("a server begins every reply anew; ask for the rest in words of your "
                          "own, or let it reply once more")};
    }
    ordered_json messages = ordered_json::array();
    for (const Message& message : request.messages) {
        ENGINE_ASSIGN(ordered_json content, contentJson(message));
        ordered_json one = {{"role", roleName(message.role)}, {"content", std::move(content)}};
        if (!message.call_id.empty()) {
            one["tool_call_id"] = message.call_id;
        }
        if (!message.thinking.empty()) {
            one["reasoning_content"] = message.thinking;
        }
        for (const engine::ToolCall& call : message.calls) {
            one["tool_calls"].push_back(
                {{"id", call.id},
                 {"type", "function"},
                 {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
        }
        messages.push_back(std::move(one));
    }
    ordered_json json = {{"model", model},
                         {"messages", std::move(messages)},
                         {"stream", true},
                         {"stream_options", {{"include_usage", true}}}};
    addSampling(request, product, json);
    ENGINE_TRY(addTools(request, json));
    // What is no UTF-8 goes as U+FFFD: a request is text whatever somebody pasted.
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace remote
