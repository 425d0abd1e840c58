// SPDX-License-Identifier: Apache-2.0
// A small JSON tree that keeps the order of members and the spelling of numbers, built from the
// strict reader with a limit on nodes. For adapter_config.json, where order decides which pattern
// wins.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

struct JsonNode {
    enum class Kind : uint8_t { Null = 1, Bool, Number, String, Array, Object };
    Kind kind = Kind::Null;
    bool boolean = false;
    std::string text;            ///< String: the value; Number: the literal as written.
    std::vector<JsonNode> items; ///< Array elements, or member values in the order of `names`.
    std::vector<std::string> names;

    [[nodiscard]] bool is(Kind k) const { return kind == k; }
    /// "null", "a boolean", "a number", ... for messages.
    [[nodiscard]] std::string_view kindName() const;
};

/// Most values in one document.
inline constexpr size_t kMaxJsonNodes = 400'000;

/// Errors: InvalidFile (starts with file_name): not JSON, duplicate member, too deep, too many
/// values.
Result<JsonNode> parseJsonTree(std::string_view text, std::string_view file_name);

} // namespace engine
