// SPDX-License-Identifier: Apache-2.0
#include "app/serve/api_words.h"

#include "engine/api/device_loss.h"
#include "engine/base/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace serve {

using OrderedJson = nlohmann::ordered_json;

namespace {

std::string dumped(const OrderedJson& value) {
    return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string event(const OrderedJson& value) {
    return "data: " + dumped(value) + "\n\n";
}

OrderedJson nullable(const std::string& text) {
    return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

OrderedJson errorTree(const ApiError& error) {
    return {{"error",
             {{"message", error.message},
              {"type", error.type},
              {"param", nullable(error.param)},
              {"code", nullable(error.code)}}}};
}

OrderedJson modelTree(const ModelCard& card, int64_t context, int64_t created) {
    OrderedJson tree = {
        {"id", card.id}, {"object", "model"}, {"created", created}, {"owned_by", "belfry"}};
    tree["parent"] = nullable(card.parent);
    if (context > 0) {
        tree["max_model_len"] = context;
    }
    return tree;
}

OrderedJson usageTree(const Usage& usage) {
    return {{"prompt_tokens", usage.prompt_tokens},
            {"completion_tokens", usage.completion_tokens},
            {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
            {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}}};
}

/// Text of a token, half characters replaced: "bytes" has them whole.
std::string tokenText(const std::string& bytes) {
    return engine::isValidUtf8(bytes) ? bytes : "\xef\xbf\xbd";
}

/// JSON has no infinity.
double finite(double logprob) {
    constexpr double kLeast = -9999.0;
    return std::max(logprob, kLeast);
}

OrderedJson choiceTree(const engine::TokenLogprob::Choice& choice) {
    OrderedJson bytes = OrderedJson::array();
    for (const char c : choice.bytes) {
        bytes.push_back(static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
    return {{"token", tokenText(choice.bytes)},
            {"logprob", finite(choice.logprob)},
            {"bytes", std::move(bytes)}};
}

OrderedJson chatLogprobs(const std::vector<engine::TokenLogprob>& tokens) {
    OrderedJson content = OrderedJson::array();
    for (const engine::TokenLogprob& token : tokens) {
        OrderedJson tree = choiceTree(token.said);
        tree["top_logprobs"] = OrderedJson::array();
        for (const auto& choice : token.likeliest) {
            tree["top_logprobs"].push_back(choiceTree(choice));
        }
        content.push_back(std::move(tree));
    }
    return {{"content", std::move(content)}, {"refusal", nullptr}};
}

OrderedJson completionLogprobs(const std::vector<engine::TokenLogprob>& tokens) {
    OrderedJson words = OrderedJson::array();
    OrderedJson values = OrderedJson::array();
    OrderedJson tops = OrderedJson::array();
    for (const engine::TokenLogprob& token : tokens) {
        words.push_back(tokenText(token.said.bytes));
        values.push_back(finite(token.said.logprob));
        OrderedJson top = OrderedJson::object();
        for (const auto& choice : token.likeliest) {
            top[tokenText(choice.bytes)] = finite(choice.logprob);
        }
        tops.push_back(std::move(top));
    }
    return {{"tokens", std::move(words)},
            {"token_logprobs", std::move(values)},
            {"top_logprobs", std::move(tops)}};
}

/// `is_stream`: with the place of each, as pieces of a stream have it.
OrderedJson callsTree(const std::vector<engine::ToolCall>& calls, bool is_stream) {
    OrderedJson list = OrderedJson::array();
    for (const engine::ToolCall& call : calls) {
        OrderedJson tree = OrderedJson::object();
        if (is_stream) {
            tree["index"] = list.size();
        }
        tree["id"] = call.id;
        tree["type"] = "function";
        tree["function"] = {{"name", call.name}, {"arguments", call.arguments}};
        list.push_back(std::move(tree));
    }
    return list;
}

bool isChat(const ReplyFrame& frame) {
    return frame.kind == ApiRequest::Kind::Chat;
}

OrderedJson frameTree(const ReplyFrame& frame, bool is_stream) {
    const char* object = !isChat(frame) ? "text_completion"
                         : is_stream    ? "chat.completion.chunk"
                                        : "chat.completion";
    return {{"id", frame.id},
            {"object", object},
            {"created", frame.created},
            {"model", frame.model},
            {"system_fingerprint", nullptr}};
}

/// A frame of a stream with one choice; `delta` is the text itself for completions.
OrderedJson
chunk(const ReplyFrame& frame, OrderedJson delta, OrderedJson logprobs, OrderedJson finish_reason) {
    OrderedJson tree = frameTree(frame, true);
    OrderedJson choice = {{"index", 0}};
    choice[isChat(frame) ? "delta" : "text"] = std::move(delta);
    choice["logprobs"] = std::move(logprobs);
    choice["finish_reason"] = std::move(finish_reason);
    tree["choices"] = OrderedJson::array({std::move(choice)});
    return tree;
}

} // namespace

std::string errorJson(const ApiError& error) {
    return dumped(errorTree(error));
}

HttpAnswer errorAnswer(const ApiError& error) {
    HttpAnswer answer;
    answer.status = error.status;
    answer.body = errorJson(error);
    if (error.status == 429 || error.status == 503) {
        answer.fields.emplace_back("Retry-After", "5");
    }
    return answer;
}

ApiError engineError(const engine::Error& error) {
    using engine::ErrorCode;
    ApiError out;
    out.message = error.message;
    const bool is_theirs = error.code == ErrorCode::InvalidRequest ||
                           error.code == ErrorCode::InvalidFile ||
                           error.code == ErrorCode::Unsupported;
    if (!is_theirs) {
        // An engine in a process of its own that is there again soon: the same may be asked again.
        const bool comes_back = engine::wasStartedAgain(error);
        out.status = comes_back ? 503 : 500;
        out.type = "server_error";
        if (comes_back) {
            out.code = "engine_restarted";
            return out;
        }
    }
    const bool is_too_long =
        std::any_of(error.details.begin(), error.details.end(),
                    [](const auto& detail) { return detail.first == "context"; });
    out.code = is_too_long ? "context_length_exceeded" : "";
    return out;
}

std::string modelJson(const ModelCard& card, int64_t context, int64_t created) {
    return dumped(modelTree(card, context, created));
}

std::string modelsJson(const std::vector<ModelCard>& cards, int64_t context, int64_t created) {
    OrderedJson data = OrderedJson::array();
    for (const ModelCard& card : cards) {
        data.push_back(modelTree(card, context, created));
    }
    return dumped({{"object", "list"}, {"data", std::move(data)}});
}

std::string replyJson(const ReplyFrame& frame,
                      const ReplyPiece& whole,
                      bool has_logprobs,
                      std::string_view finish_reason,
                      const Usage& usage) {
    OrderedJson tree = frameTree(frame, false);
    OrderedJson choice = {{"index", 0}};
    if (isChat(frame)) {
        choice["message"] = {{"role", "assistant"}, {"content", whole.text}};
        if (!whole.calls.empty()) {
            choice["message"]["content"] = nullable(whole.text);
            choice["message"]["tool_calls"] = callsTree(whole.calls, false);
        }
        if (!whole.thinking.empty()) {
            choice["message"]["reasoning_content"] = whole.thinking;
        }
    } else {
        choice["text"] = whole.text;
    }
    choice["logprobs"] = !has_logprobs   ? OrderedJson(nullptr)
                         : isChat(frame) ? chatLogprobs(whole.logprobs)
                                         : completionLogprobs(whole.logprobs);
    choice["finish_reason"] = finish_reason;
    tree["choices"] = OrderedJson::array({std::move(choice)});
    tree["usage"] = usageTree(usage);
    return dumped(tree);
}

std::string firstEvent(const ReplyFrame& frame) {
    return isChat(frame)
               ? event(chunk(frame, {{"role", "assistant"}, {"content", ""}}, nullptr, nullptr))
               : std::string();
}

std::string pieceEvent(const ReplyFrame& frame, const ReplyPiece& piece, bool has_logprobs) {
    OrderedJson delta = piece.text;
    if (isChat(frame)) {
        delta = OrderedJson::object();
        if (!piece.thinking.empty()) {
            delta["reasoning_content"] = piece.thinking;
        }
        if (!piece.calls.empty()) {
            delta["tool_calls"] = callsTree(piece.calls, true);
        }
        if (!piece.text.empty() || (piece.thinking.empty() && piece.calls.empty())) {
            delta["content"] = piece.text;
        }
    }
    OrderedJson logprobs = nullptr;
    if (has_logprobs && !piece.logprobs.empty()) {
        logprobs =
            isChat(frame) ? chatLogprobs(piece.logprobs) : completionLogprobs(piece.logprobs);
    }
    return event(chunk(frame, std::move(delta), std::move(logprobs), nullptr));
}

std::string lastEvent(const ReplyFrame& frame, std::string_view finish_reason) {
    return event(chunk(frame, isChat(frame) ? OrderedJson::object() : OrderedJson(""), nullptr,
                       finish_reason));
}

std::string usageEvent(const ReplyFrame& frame, const Usage& usage) {
    OrderedJson tree = frameTree(frame, true);
    tree["choices"] = OrderedJson::array();
    tree["usage"] = usageTree(usage);
    return event(tree);
}

std::string errorEvent(const ApiError& error) {
    return event(errorTree(error));
}

} // namespace serve
