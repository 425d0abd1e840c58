// SPDX-License-Identifier: Apache-2.0
// JSON with positions, for device maps: a strict reader (RFC 8259) that keeps line and column of
// every key and value, so that each complaint about a map can point at its place. Bounded in size
// and depth, no exceptions, member names unique within their object. Not for large files.
#pragma once

#include "engine/plan/device_map.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct MapJsonMember;

struct MapJson {
    enum class Kind : uint8_t { Null = 1, Bool, Number, String, Object, Array };
    Kind kind = Kind::Null;
    bool boolean = false;
    std::string text; ///< String: unescaped UTF-8. Number: as written.
    MapPosition at;
    std::vector<MapJsonMember> members; ///< Object, in the order of the text.
    std::vector<MapJson> items;         ///< Array.

    [[nodiscard]] const MapJsonMember* find(std::string_view key) const;
};

struct MapJsonMember {
    std::string key;
    MapPosition key_at;
    MapJson value;
};

struct MapJsonProblem {
    std::string message;
    std::string key; ///< The repeated member, if that is the problem.
    MapPosition at;
};

/// Reads one JSON value. nullopt: the text is not acceptable, `problem` says why and where.
std::optional<MapJson> readMapJson(std::string_view text, MapJsonProblem& problem);

/// "an object", "the number 1.5", "the text "gpu"": a value for messages, shortened.
std::string describeJson(const MapJson& value);

/// Text for a message: in double quotes, cut after 60 characters, control characters replaced.
std::string inQuotes(std::string_view text);

/// A JSON string literal.
std::string jsonString(std::string_view text);

} // namespace engine
