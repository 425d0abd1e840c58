// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/map_json.h"

#include "engine/plan/device_map.h"

#include <utility>

namespace engine {

std::optional<Json> readMapJson(std::string_view text, MapJsonProblem& problem) {
    if (text.size() > kMaxDeviceMapBytes) {
        problem.words = said("the text has %1 bytes; a device map has at most %2", text.size(),
                             kMaxDeviceMapBytes);
        problem.at = {1, 1};
        return std::nullopt;
    }
    Json out;
    JsonOutcome outcome = readJsonTree(text, {.max_string_bytes = kMaxDeviceMapBytes}, out);
    if (outcome.stop != JsonStop::Done) {
        problem.words = std::move(outcome.seen);
        problem.key = std::move(outcome.name);
        problem.at = JsonCursor(text).at(outcome.offset);
        return std::nullopt;
    }
    return out;
}

Sentence foundJson(const Json& value) {
    switch (value.kind) {
    case Json::Kind::Null:
        return asItIs("null");
    case Json::Kind::Bool:
        return asItIs(value.boolean ? "true" : "false");
    case Json::Kind::Number:
        return said("the number %1", value.text.substr(0, 40));
    case Json::Kind::String:
        return asItIs(inQuotes(value.text));
    case Json::Kind::Object:
        return phrase("an object");
    case Json::Kind::Array:
        return phrase("an array");
    }
    return {};
}

} // namespace engine
