// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/map_json.h"

#include "engine/plan/device_map.h"

#include <utility>

namespace engine {

std::optional<Json> readMapJson(std::string_view text, MapJsonProblem& problem) {
    if (text.size() > kMaxDeviceMapBytes) {
        problem.message = "the text has " + std::to_string(text.size()) +
                          " bytes; a device map has at most " + std::to_string(kMaxDeviceMapBytes);
        problem.at = {1, 1};
        return std::nullopt;
    }
    Json out;
    JsonOutcome outcome = readJsonTree(text, {.max_string_bytes = kMaxDeviceMapBytes}, out);
    if (outcome.stop != JsonStop::Done) {
        problem.message = std::move(outcome.full_detail);
        problem.key = std::move(outcome.name);
        problem.at = JsonCursor(text).at(outcome.offset);
        return std::nullopt;
    }
    return out;
}

std::string describeJson(const Json& value) {
    switch (value.kind) {
    case Json::Kind::Null:
        return "null";
    case Json::Kind::Bool:
        return value.boolean ? "true" : "false";
    case Json::Kind::Number:
        return "the number " + value.text.substr(0, 40);
    case Json::Kind::String:
        return inQuotes(value.text);
    case Json::Kind::Object:
        return "an object";
    case Json::Kind::Array:
        return "an array";
    }
    return "a value";
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
