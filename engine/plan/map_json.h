// SPDX-License-Identifier: Apache-2.0
// JSON as device maps have it: the limits of their texts, and how values stand in complaints and in
// written maps.
#pragma once

#include "engine/base/json/tree.h"
#include "engine/base/utf8.h"

#include <optional>
#include <string>
#include <string_view>

namespace engine {

struct MapJsonProblem {
    std::string message;
    std::string key; ///< The repeated member, if that is the problem.
    JsonPosition at;
};

/// Reads one JSON value. nullopt: the text is not acceptable, `problem` says why and where.
std::optional<Json> readMapJson(std::string_view text, MapJsonProblem& problem);

/// "an object", "the number 1.5", "the text "gpu"": a value for messages, shortened.
std::string describeJson(const Json& value);

/// A JSON string literal.
std::string jsonString(std::string_view text);

} // namespace engine
