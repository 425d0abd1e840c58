// SPDX-License-Identifier: Apache-2.0
#include "app/serve/chat_messages.h"

#include "app/serve/api_fields.h"
#include "app/serve/chat_tools.h"
#include "app/serve/media_data.h"
#include "engine/base/json/text.h"

#include <algorithm>
#include <utility>

namespace serve {

using engine::Json;
using engine::Message;
using engine::MessagePart;

namespace {

using MessageOutcome = std::optional<ApiError>;

std::string at(std::string_view list, size_t index) {
    return std::string(list) + "[" + std::to_string(index) + "]";
}

/// A medium's bytes from base64, kept under its label.
MessageOutcome addMedium(MessagePart::Kind kind,
                         std::string_view base64,
                         const std::string& label,
                         Message& message,
                         ApiRequest& out) {
    if (out.media.size() >= kMostMedia) {
        return wrongMember(label, "the request has more than " + std::to_string(kMostMedia) +
                                      " pictures and recordings; send fewer");
    }
    std::optional<std::string> bytes = fromBase64(base64);
    if (!bytes.has_value() || bytes->empty()) {
        return wrongMember(label, bytes.has_value() ? "holds no bytes"
                                                    : "is not base64: expected A-Z, a-z, 0-9, + "
                                                      "and /, four characters for three bytes");
    }
    message.parts.push_back({kind, label});
    out.media.push_back({label, *std::move(bytes)});
    return std::nullopt;
}

/// The URL of {"url": "..."} or of a bare string.
const std::string* urlIn(const Json* value) {
    if (value != nullptr && value->is(Json::Kind::Object)) {
        value = given(*value, "url");
    }
    return value != nullptr && value->is(Json::Kind::String) ? &value->text : nullptr;
}

MessageOutcome readUrlPart(const Json& part,
                           const char* member,
                           MessagePart::Kind kind,
                           const std::string& label,
                           Message& message,
                           ApiRequest& out) {
    const std::string param = label + "." + member;
    const std::string* url = urlIn(given(part, member));
    if (url == nullptr) {
        return wrongMember(param, "expected an object with the string url");
    }
    const std::optional<DataUrl> data = splitDataUrl(*url);
    if (!data.has_value()) {
        return wrongMember(param,
                           "expected a data: URL with base64, such as data:image/png;base64,...; "
                           "Belfry fetches nothing from the network and opens no file for a "
                           "request, so that nobody can make it reach where they cannot");
    }
    if (MessageOutcome wrong = addMedium(kind, data->base64, label, message, out)) {
        return wrong;
    }
    // Clients label pictures and sounds in many ways, so the bytes decide; the label is worth a
    // word where they tell nothing either.
    const std::string wanted = kind == MessagePart::Kind::Image ? "image/" : "audio/";
    const bool is_binary = data->type.empty() || data->type.ends_with("/octet-stream");
    if (!is_binary && !data->type.starts_with(wanted) && !looksLikeMedium(out.media.back().bytes)) {
        return wrongMember(param, "expected a data: URL of the type " + wanted + "...");
    }
    return std::nullopt;
}

MessageOutcome
readSound(const Json& part, const std::string& label, Message& message, ApiRequest& out) {
    const Json* sound = given(part, "input_audio");
    const Json* data = sound == nullptr ? nullptr : given(*sound, "data");
    if (data == nullptr || !data->is(Json::Kind::String)) {
        return wrongMember(label + ".input_audio", "expected an object with the string data");
    }
    const std::optional<DataUrl> url = splitDataUrl(data->text);
    return addMedium(MessagePart::Kind::Audio, url.has_value() ? url->base64 : data->text, label,
                     message, out);
}

MessageOutcome
readPart(const Json& part, const std::string& label, Message& message, ApiRequest& out) {
    const Json* type = given(part, "type");
    if (type == nullptr || !type->is(Json::Kind::String)) {
        return wrongMember(label, "expected an object with the string type");
    }
    if (type->text == "text") {
        const Json* text = given(part, "text");
        if (text == nullptr && message.role != Message::Role::User) {
            return std::nullopt; // a reply or a result without words
        }
        if (text == nullptr || !text->is(Json::Kind::String)) {
            return wrongMember(label + ".text", "expected a string");
        }
        message.parts.push_back({MessagePart::Kind::Text, text->text});
        return std::nullopt;
    }
    const bool is_media =
        type->text == "image_url" || type->text == "input_audio" || type->text == "audio_url";
    if (is_media && message.role != Message::Role::User) {
        return wrongMember(label, "pictures and recordings go into messages of the user");
    }
    if (type->text == "image_url") {
        return readUrlPart(part, "image_url", MessagePart::Kind::Image, label, message, out);
    }
    if (type->text == "audio_url") {
        return readUrlPart(part, "audio_url", MessagePart::Kind::Audio, label, message, out);
    }
    if (type->text == "input_audio") {
        return readSound(part, label, message, out);
    }
    const Json* refusal = given(part, "refusal");
    if (refusal != nullptr && refusal->is(Json::Kind::String)) { // of an assistant
        message.parts.push_back({MessagePart::Kind::Text, refusal->text});
        return std::nullopt;
    }
    if (message.role == Message::Role::Tool) { // whatever it is that a tool answers
        message.parts.push_back({MessagePart::Kind::Text, engine::jsonText(part)});
        return std::nullopt;
    }
    return wrongMember(label + ".type", "expected text, image_url or input_audio");
}

MessageOutcome readRole(const Json& message, const std::string& label, Message& out) {
    const Json* role = given(message, "role");
    if (role == nullptr || !role->is(Json::Kind::String)) {
        return wrongMember(label + ".role", "expected a string");
    }
    if (role->text == "system" || role->text == "developer") {
        out.role = Message::Role::System;
    } else if (role->text == "user") {
        out.role = Message::Role::User;
    } else if (role->text == "assistant") {
        out.role = Message::Role::Assistant;
    } else if (role->text == "tool") {
        out.role = Message::Role::Tool;
    } else {
        return wrongMember(label + ".role", "expected system, developer, user, assistant or tool");
    }
    return std::nullopt;
}

/// What belongs to a message besides its role and content.
MessageOutcome readRest(const Json& message, const std::string& label, Message& out) {
    const Json* calls = given(message, "tool_calls");
    const bool has_calls = calls != nullptr && !calls->items.empty();
    if (has_calls && out.role != Message::Role::Assistant) {
        return wrongMember(label + ".tool_calls", "expected in messages of the assistant only");
    }
    if (MessageOutcome wrong = has_calls ? readCalls(message, label, out) : std::nullopt) {
        return wrong;
    }
    if (out.role == Message::Role::Tool) {
        const Json* id = given(message, "tool_call_id");
        if (id == nullptr || !id->is(Json::Kind::String)) {
            return wrongMember(label + ".tool_call_id",
                               "expected the id of the call that this message answers");
        }
        out.call_id = id->text;
    }
    const Json* thoughts = given(message, "reasoning_content");
    if (out.role == Message::Role::Assistant && thoughts != nullptr &&
        thoughts->is(Json::Kind::String)) {
        out.thinking = thoughts->text;
    }
    return std::nullopt;
}

/// A list of objects with types, and no list that a tool answered.
bool isListOfParts(const Json& content) {
    return content.is(Json::Kind::Array) &&
           std::all_of(content.items.begin(), content.items.end(),
                       [](const Json& item) { return given(item, "type") != nullptr; });
}

MessageOutcome
readContent(const Json& message, const std::string& param, Message& read, ApiRequest& out) {
    const Json* content = given(message, "content");
    const bool is_result = read.role == Message::Role::Tool;
    if (content != nullptr && content->is(Json::Kind::String)) {
        read.parts.push_back({MessagePart::Kind::Text, content->text});
    } else if (content != nullptr &&
               (isListOfParts(*content) || (content->is(Json::Kind::Array) && !is_result))) {
        for (size_t i = 0; i < content->items.size(); ++i) {
            if (MessageOutcome wrong = readPart(content->items[i], at(param, i), read, out)) {
                return wrong;
            }
        }
    } else if (content != nullptr && is_result) { // numbers, objects: as JSON
        read.parts.push_back({MessagePart::Kind::Text, engine::jsonText(*content)});
    } else if (content != nullptr) {
        return wrongMember(param, "expected a string or a list of parts");
    }
    // A reply of thoughts alone and a tool that answered nothing are turns as well: the client can
    // only repeat them.
    const bool may_be_empty =
        read.role == Message::Role::Assistant || (is_result && message.find("content") != nullptr);
    if (read.parts.empty() && !may_be_empty) {
        return wrongMember(param, content == nullptr ? "expected a string or a list of parts"
                                                     : "has no parts");
    }
    if (read.parts.empty() && read.calls.empty()) {
        read.parts.push_back({MessagePart::Kind::Text, ""});
    }
    return std::nullopt;
}

MessageOutcome
readMessage(const Json& message, const std::string& label, bool is_last, ApiRequest& out) {
    if (!message.is(Json::Kind::Object)) {
        return wrongMember(label, "expected an object with role and content");
    }
    Message read;
    if (MessageOutcome wrong = readRole(message, label, read)) {
        return wrong;
    }
    if (MessageOutcome wrong = readRest(message, label, read)) {
        return wrong;
    }
    if (MessageOutcome wrong = readContent(message, label + ".content", read, out)) {
        return wrong;
    }
    if (is_last && read.role == Message::Role::Assistant) {
        return wrongMember(label + ".role",
                           "the last message must be of the user or of a tool: replies are begun "
                           "anew, not continued");
    }
    out.generate.messages.push_back(std::move(read));
    return std::nullopt;
}

} // namespace

MessageOutcome readMessages(const Json& body, ApiRequest& out) {
    const Json* messages = given(body, "messages");
    if (messages == nullptr || !messages->is(Json::Kind::Array) || messages->items.empty()) {
        return wrongMember("messages", "expected a list with at least one message");
    }
    for (size_t i = 0; i < messages->items.size(); ++i) {
        const bool is_last = i + 1 == messages->items.size();
        if (MessageOutcome wrong =
                readMessage(messages->items[i], at("messages", i), is_last, out)) {
            return wrong;
        }
    }
    return std::nullopt;
}

} // namespace serve
