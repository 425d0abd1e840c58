// SPDX-License-Identifier: Apache-2.0
#include "remote/chat_stream.h"

#include "engine/base/ascii.h"

#include <algorithm>
#include <utility>

#include "remote/server_error.h"

namespace remote {

using engine::Json;
using engine::phrase;
using engine::ReplyUpdate;
using engine::Result;

namespace {

constexpr size_t kLongestReply = size_t{64} << 20; ///< Bytes; what is longer is no reply.
constexpr int64_t kMostCalls = 128;
constexpr int64_t kMostTokens = int64_t{1} << 40;

engine::JsonLimits limits() {
    engine::JsonLimits limits;
    limits.max_depth = 32;
    limits.max_string_bytes = size_t{16} << 20;
    limits.max_values = 100'000;
    limits.replaces_surrogates = true; // JavaScript cuts texts within a character
    limits.takes_nan = true;           // Python's servers write it as a probability
    return limits;
}

bool isNull(const Json* value) {
    return value == nullptr || value->is(Json::Kind::Null);
}

int64_t countOf(const Json* object, std::string_view key) {
    const Json* const value = object == nullptr ? nullptr : object->find(key);
    const auto number = value == nullptr ? std::nullopt : value->integer();
    return number.has_value() && *number >= 0 && *number <= kMostTokens ? *number : 0;
}

/// The text of "content": a string, or a list of parts of which those of text count. nullopt: it is
/// neither.
std::optional<std::string> contentOf(const Json& content) {
    if (content.is(Json::Kind::String)) {
        return content.text;
    }
    if (!content.is(Json::Kind::Array)) {
        return std::nullopt;
    }
    std::string text;
    for (const Json& part : content.items) {
        text += engine::textOf(part.find("text"));
    }
    return text;
}

/// The words of an error inside an answer; nullopt where there is none.
std::optional<std::string> errorOf(const Json& root) {
    const Json* const error = root.find("error");
    if (isNull(error)) {
        const bool is_error =
            root.find("object") != nullptr && root.find("object")->isString("error");
        return is_error ? std::optional(engine::textOf(root.find("message"))) : std::nullopt;
    }
    return error->is(Json::Kind::String) ? error->text : engine::textOf(error->find("message"));
}

} // namespace

Result<void> ChatStream::addEvent(std::string_view data, ReplyUpdate& update) {
    data = engine::trimmed(data);
    if (addsNothing(data)) {
        return {};
    }
    Json root;
    if (engine::readJsonTree(data, limits(), root).stop == engine::JsonStop::Done) {
        return addObject(root, update);
    }
    if (data.find('\n') == std::string_view::npos) {
        return answerError(host_, phrase("a piece of the reply is no JSON"));
    }
    return addLines(data, update);
}

/// Each line is an event: some proxies lose the blank lines between events, and some servers send
/// lines of JSON alone.
Result<void> ChatStream::addLines(std::string_view data, ReplyUpdate& update) {
    while (!data.empty()) {
        const size_t end = data.find('\n');
        const std::string_view line = engine::trimmed(data.substr(0, end));
        data.remove_prefix(end == std::string_view::npos ? data.size() : end + 1);
        if (addsNothing(line)) {
            continue;
        }
        Json event;
        if (engine::readJsonTree(line, limits(), event).stop != engine::JsonStop::Done) {
            return answerError(host_, phrase("a piece of the reply is no JSON"));
        }
        ENGINE_TRY(addObject(event, update));
    }
    return {};
}

bool ChatStream::addsNothing(std::string_view data) {
    // Some servers quote it or write it in small letters.
    is_done_ =
        is_done_ || (data.size() <= 8 && engine::lowered(engine::trimmed(data, "\"")) == "[done]");
    return is_done_ || data.empty();
}

Result<void> ChatStream::addWhole(std::string_view body, ReplyUpdate& update) {
    body = engine::trimmed(body);
    Json root;
    if (engine::readJsonTree(body, limits(), root).stop == engine::JsonStop::Done) {
        ENGINE_TRY(addObject(root, update));
    } else if (const std::string_view first = engine::trimmed(body.substr(0, body.find('\n')));
               engine::readJsonTree(first, limits(), root).stop == engine::JsonStop::Done) {
        ENGINE_TRY(addLines(body, update));
    } else {
        return answerError(host_, phrase("the reply is neither a stream nor JSON"));
    }
    if (!hasWords() && !hasEnd()) {
        return answerError(host_, phrase("the reply has no \"choices\""));
    }
    return {};
}

Result<void> ChatStream::addObject(const Json& root, ReplyUpdate& update) {
    if (!root.is(Json::Kind::Object)) {
        return answerError(host_, phrase("a piece of the reply is no object"));
    }
    if (const auto words = errorOf(root)) {
        return toldError(host_, *words);
    }
    if (const Json* const usage = root.find("usage"); !isNull(usage)) {
        addUsage(*usage);
    }
    const Json* const choices = root.find("choices");
    if (isNull(choices)) {
        return {}; // a note of the server's own
    }
    if (!choices->is(Json::Kind::Array)) {
        return answerError(host_, phrase("\"choices\" is no list"));
    }
    for (const Json& choice : choices->items) {
        if (!choice.is(Json::Kind::Object)) {
            return answerError(host_, phrase("a choice is no object"));
        }
        if (countOf(&choice, "index") != 0) {
            continue; // one was asked for
        }
        const Json* const delta = choice.find("delta");
        const Json* const message = isNull(delta) ? choice.find("message") : delta;
        if (!isNull(message)) {
            ENGINE_TRY(addMessage(*message, update));
        } else if (const std::string text = engine::textOf(choice, "text"); !text.empty()) {
            ++pieces_; // as /completions answers
            word_bytes_ += text.size();
            addText(text, update);
            if (word_bytes_ > kLongestReply) {
                return answerError(host_, phrase("the reply has no end"));
            }
        }
        // Some servers write "", "null" or false where they mean null: only a word is an end, and
        // the first one counts.
        const std::string reason = engine::textOf(choice.find("finish_reason"));
        if (reason_.empty() && reason != "null" && reason != "None") {
            reason_ = engine::trimmed(reason);
        }
    }
    return {};
}

Result<void> ChatStream::addMessage(const Json& message, ReplyUpdate& update) {
    if (!message.is(Json::Kind::Object)) {
        return answerError(host_, phrase("a message is no object"));
    }
    // vLLM says "reasoning", SGLang and llama-server "reasoning_content"; some say both.
    for (const char* key : {"reasoning_content", "reasoning"}) {
        const Json* const thoughts = message.find(key);
        if (!isNull(thoughts)) {
            const auto text = contentOf(*thoughts);
            if (!text.has_value()) {
                return answerError(host_, phrase("its thoughts are no text"));
            }
            if (!text->empty()) {
                splitter_.leaveAlone();
                word_bytes_ += text->size();
                reply_.thinking += *text;
                update.thinking += *text;
                ++pieces_;
                break;
            }
        }
    }
    if (const Json* const content = message.find("content"); !isNull(content)) {
        const auto text = contentOf(*content);
        if (!text.has_value()) {
            return answerError(host_, phrase("its content is no text"));
        }
        if (!text->empty()) {
            ++pieces_;
            word_bytes_ += text->size();
            addText(*text, update);
        }
    }
    if (word_bytes_ > kLongestReply) {
        return answerError(host_, phrase("the reply has no end"));
    }
    if (const Json* const calls = message.find("tool_calls"); !isNull(calls)) {
        return addCalls(*calls);
    }
    return {};
}

void ChatStream::addText(std::string_view text, ReplyUpdate& update) {
    std::string words;
    std::string thoughts;
    if (splitter_.add(text, words, thoughts)) {
        // What was handed on as text stays in the updates; the reply has it where it belongs.
        reply_.thinking += std::exchange(reply_.text, {});
    }
    reply_.text += words;
    reply_.thinking += thoughts;
    update.text += words;
    update.thinking += thoughts;
}

Result<void> ChatStream::addCalls(const Json& calls) {
    if (!calls.is(Json::Kind::Array)) {
        return answerError(host_, phrase("\"tool_calls\" is no list"));
    }
    size_t place = 0;
    for (const Json& call : calls.items) {
        const Json* const told = call.find("index");
        const auto number = told == nullptr ? std::nullopt : told->integer();
        const int64_t index = number.value_or(static_cast<int64_t>(place));
        if (!call.is(Json::Kind::Object) || index < 0 || index >= kMostCalls) {
            return answerError(host_, phrase("a call of a tool cannot be read"));
        }
        ++place;
        if (calls_.size() <= static_cast<size_t>(index)) {
            calls_.resize(static_cast<size_t>(index) + 1);
        }
        engine::ToolCall& own = calls_[static_cast<size_t>(index)];
        if (const std::string id = engine::textOf(call.find("id")); !id.empty()) {
            own.id = id;
        }
        if (const Json* const function = call.find("function"); function != nullptr) {
            const std::string name = engine::textOf(function->find("name"));
            const std::string arguments = engine::textOf(function->find("arguments"));
            own.name += name;
            own.arguments += arguments;
            call_bytes_ += name.size() + arguments.size();
            if (call_bytes_ > kLongestReply) {
                return answerError(host_, phrase("the reply has no end"));
            }
        }
    }
    return {};
}

void ChatStream::addUsage(const Json& usage) {
    const int64_t prompt = countOf(&usage, "prompt_tokens");
    const int64_t reused = countOf(usage.find("prompt_tokens_details"), "cached_tokens");
    reply_.timing.reused_tokens = std::min(prompt, reused);
    reply_.timing.prefill_tokens = prompt - reply_.timing.reused_tokens;
    reply_.timing.decode_tokens = countOf(&usage, "completion_tokens");
    has_usage_ = true;
}

void ChatStream::finish(ReplyUpdate& update) {
    std::string words;
    std::string thoughts;
    splitter_.finish(words, thoughts);
    reply_.text += words;
    reply_.thinking += thoughts;
    update.text += words;
    update.thinking += thoughts;
}

engine::Reply ChatStream::reply() const {
    engine::Reply reply = reply_;
    reply.host = host_;
    if (!has_usage_) {
        reply.timing.decode_tokens = pieces_; // a token a piece, as far as anybody knows
    }
    for (size_t i = 0; i < calls_.size(); ++i) {
        engine::ToolCall call = calls_[i];
        if (call.name.empty() && call.arguments.empty()) {
            continue;
        }
        if (call.id.empty()) {
            call.id = "call_" + std::to_string(i + 1);
        }
        reply.notes.push_back(
            engine::said("the model asks for the tool %1 with %2, which nothing here runs",
                         call.name, call.arguments));
        reply.tool_calls.push_back(std::move(call));
    }
    const bool is_known = reason_ == "stop" || reason_ == "length" || reason_ == "tool_calls";
    reply.finish_reason = is_known ? reason_ : "stop";
    if (reason_ == "function_call") {
        reply.finish_reason = "tool_calls";
    } else if (!is_known && !reason_.empty()) {
        reply.notes.push_back(
            engine::said("the server ended the reply: %1", reason_.substr(0, 100)));
    }
    return reply;
}

} // namespace remote
