// SPDX-License-Identifier: Apache-2.0
#include "remote/chat_request.h"

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
        messages.push_back({{"role", roleName(message.role)}, {"content", std::move(content)}});
    }
    ordered_json json = {{"model", model},
                         {"messages", std::move(messages)},
                         {"stream", true},
                         {"stream_options", {{"include_usage", true}}}};
    addSampling(request, product, json);
    // What is no UTF-8 goes as U+FFFD: a request is text whatever somebody pasted.
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace remote
