// SPDX-License-Identifier: Apache-2.0
// JSON as device maps have it: the limits of their texts, and how values stand in complaints and in
// written maps.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/json/text.h"
#include "engine/base/json/tree.h"
#include "engine/base/utf8.h"

#include <optional>
#include <string>
#include <string_view>

namespace engine {

struct MapJsonProblem {
    Sentence words;
    std::string key; ///< The repeated member, if that is the problem.
    JsonPosition at;
};

/// Reads one JSON value. nullopt: the text is not acceptable, `problem` says why and where.
std::optional<Json> readMapJson(std::string_view text, MapJsonProblem& problem);

/// A value for complaints, shortened: "an object", "the number 1.5".
Sentence foundJson(const Json& value);

} // namespace engine
