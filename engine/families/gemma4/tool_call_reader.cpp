// SPDX-License-Identifier: Apache-2.0
// readToolCall(): lenient, as a model may write anything.
#include "engine/base/ascii.h"
#include "engine/base/json/text.h"
#include "engine/families/gemma4/tool_text.h"
#include "engine/text/reply_parser.h"

#include <algorithm>
#include <optional>

namespace engine {

namespace {

constexpr int kDeepest = 32; ///< Containers in one another; what is deeper is text.

/// What of a schema is meant for `key`; nullptr where it says nothing.
const Json* memberSchema(const Json* schema, std::string_view key) {
    const Json* properties = schema == nullptr ? nullptr : schema->find("properties");
    return properties == nullptr ? nullptr : properties->find(key);
}

bool wantsString(const Json* schema) {
    const Json* type = schema == nullptr ? nullptr : schema->find("type");
    return type != nullptr && type->isString("string");
}

/// A word without quotes as JSON.
std::string bareWord(std::string_view word, const Json* schema) {
    Json read;
    const bool is_literal = !wantsString(schema) &&
                            readJsonTree(word, {}, read).stop == JsonStop::Done &&
                            !read.is(Json::Kind::Object) && !read.is(Json::Kind::Array);
    if (is_literal) {
        return jsonText(read);
    }
    std::string text(word);
    text.erase(std::remove(text.begin(), text.end(), kToolQuote), text.end());
    return text == "None" ? "null" : jsonString(text);
}

class CallReader {
public:
    explicit CallReader(std::string_view text) : text_(text) {}

    /// "NAME" of "call:NAME{".
    std::string name() {
        skip();
        if (text_.substr(at_).starts_with("call:")) {
            at_ += 5;
        } else if (peek() == ':') {
            ++at_;
        }
        const size_t end = std::min(text_.find_first_of("{(", at_), text_.size());
        const std::string_view name = trimmed(text_.substr(at_, end - at_));
        at_ = end;
        std::string out(name);
        out.erase(std::remove(out.begin(), out.end(), kToolQuote), out.end());
        return out;
    }
    /// From an opening brace to its end, or that of the text.
    std::string object(const Json* schema, int depth);

private:
    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    [[nodiscard]] bool isAtEnd() const { return at_ >= text_.size(); }
    void skip() {
        while (!isAtEnd() && std::string_view(" \t\r\n").find(peek()) != std::string_view::npos) {
            ++at_;
        }
    }
    std::string quotedText() {
        ++at_;
        const size_t end = std::min(text_.find(kToolQuote, at_), text_.size());
        const std::string_view text = text_.substr(at_, end - at_);
        at_ = std::min(end + 1, text_.size());
        return std::string(text);
    }
    std::string key();
    std::string list(const Json* schema, int depth);
    std::string value(const Json* schema, int depth);

    std::string_view text_;
    size_t at_ = 0;
};

std::string CallReader::key() {
    skip();
    if (peek() == kToolQuote) {
        std::string key = quotedText();
        skip();
        return key;
    }
    const size_t end = std::min(text_.find_first_of(":,})", at_), text_.size());
    std::string key(trimmed(text_.substr(at_, end - at_)));
    key.erase(std::remove(key.begin(), key.end(), kToolQuote), key.end());
    at_ = end;
    if (key.size() >= 2 && key.front() == '"' && key.back() == '"') {
        key = key.substr(1, key.size() - 2); // as JSON has it
    }
    return key;
}

std::string CallReader::object(const Json* schema, int depth) {
    std::string out = "{";
    ++at_; // the brace
    while (!isAtEnd()) {
        skip();
        if (peek() == '}' || peek() == ')') {
            ++at_;
            break;
        }
        if (peek() == ',') {
            ++at_;
            continue;
        }
        const std::string name = key();
        if (peek() != ':') {
            if (!isAtEnd() && peek() != ',' && peek() != '}' && peek() != ')') {
                ++at_; // what nobody expects: it must go on
            }
            continue; // a name without a value says nothing
        }
        ++at_;
        out += (out.size() > 1 ? "," : "") + jsonString(name) + ':';
        out += value(memberSchema(schema, name), depth);
    }
    return out + '}';
}

std::string CallReader::list(const Json* schema, int depth) {
    std::string out = "[";
    ++at_;
    const Json* items = schema == nullptr ? nullptr : schema->find("items");
    while (!isAtEnd()) {
        skip();
        if (peek() == ']') {
            ++at_;
            break;
        }
        if (peek() == ',') {
            ++at_;
            continue;
        }
        const size_t before = at_;
        const std::string item = value(items, depth);
        if (at_ == before) {
            ++at_; // a brace that closes nothing
            continue;
        }
        out += (out.size() > 1 ? "," : "") + item;
    }
    return out + ']';
}

std::string CallReader::value(const Json* schema, int depth) {
    skip();
    if (peek() == kToolQuote) {
        return jsonString(quotedText());
    }
    if (peek() == '{' && depth < kDeepest) {
        return object(schema, depth + 1);
    }
    if (peek() == '[' && depth < kDeepest) {
        return list(schema, depth + 1);
    }
    const size_t from = peek() == '"' ? std::min(text_.find('"', at_ + 1), text_.size()) : at_;
    const size_t end = std::min(text_.find_first_of(",}])", from), text_.size());
    const std::string_view word = trimmed(text_.substr(at_, end - at_));
    at_ = end;
    return bareWord(word, word.starts_with('"') ? nullptr : schema);
}

} // namespace

ToolCall readToolCall(std::string_view written, std::span<const Tool> tools) {
    CallReader reader(written);
    ToolCall call;
    call.name = reader.name();
    const auto tool = std::find_if(tools.begin(), tools.end(),
                                   [&](const Tool& one) { return one.name == call.name; });
    Json schema;
    const bool has_schema = tool != tools.end() && !tool->parameters.empty() &&
                            readJsonTree(tool->parameters, {}, schema).stop == JsonStop::Done;
    call.arguments = reader.object(has_schema ? &schema : nullptr, 0);
    return call;
}

} // namespace engine
