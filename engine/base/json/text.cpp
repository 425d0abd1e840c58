// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/text.h"

namespace engine {

namespace {

void append(const Json& value, std::string& out) {
    switch (value.kind) {
    case Json::Kind::Null:
        out += "null";
        return;
    case Json::Kind::Bool:
        out += value.boolean ? "true" : "false";
        return;
    case Json::Kind::Number:
        out += value.text;
        return;
    case Json::Kind::String:
        out += jsonString(value.text);
        return;
    case Json::Kind::Array:
        out += '[';
        for (size_t i = 0; i < value.items.size(); ++i) {
            out += i > 0 ? "," : "";
            append(value.items[i], out);
        }
        out += ']';
        return;
    case Json::Kind::Object:
        out += '{';
        for (size_t i = 0; i < value.members.size(); ++i) {
            out += i > 0 ? "," : "";
            out += jsonString(value.members[i].key) + ':';
            append(value.members[i].value, out);
        }
        out += '}';
        return;
    }
}

} // namespace

std::string jsonText(const Json& value) {
    std::string out;
    append(value, out); // no deeper than kDeepestJsonTree
    return out;
}

std::string jsonString(std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (byte < 0x20U) {
            out += "\\u00";
            out += kHex[byte >> 4U];
            out += kHex[byte & 0xfU];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

} // namespace engine
