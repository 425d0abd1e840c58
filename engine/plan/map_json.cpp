// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/map_json.h"

#include "engine/plan/device_map.h"

#include <utility>

namespace engine {

std::optional<Json> readMapJson(std::string_view text, MapJsonProblem& problem) {
    if (text.size() > kMaxDeviceMapBytes) {
        problem.finding = issue::MapTooLong{text.size(), kMaxDeviceMapBytes};
        problem.at = {1, 1};
        return std::nullopt;
    }
    Json out;
    JsonOutcome outcome = readJsonTree(text, {.max_string_bytes = kMaxDeviceMapBytes}, out);
    if (outcome.stop != JsonStop::Done) {
        problem.finding = issue::NotJson{std::move(outcome.fault)};
        problem.key = std::move(outcome.name);
        problem.at = JsonCursor(text).at(outcome.offset);
        return std::nullopt;
    }
    return out;
}

issue::JsonFound foundJson(const Json& value) {
    using Kind = issue::JsonFound::Kind;
    switch (value.kind) {
    case Json::Kind::Null:
        return {Kind::Null};
    case Json::Kind::Bool:
        return {value.boolean ? Kind::True : Kind::False};
    case Json::Kind::Number:
        return {Kind::Number, value.text.substr(0, 40)};
    case Json::Kind::String:
        return {Kind::Text, value.text};
    case Json::Kind::Object:
        return {Kind::Object};
    case Json::Kind::Array:
        return {Kind::List};
    }
    return {};
}

} // namespace engine
