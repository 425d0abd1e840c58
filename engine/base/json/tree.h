// SPDX-License-Identifier: Apache-2.0
// The one JSON tree: members in the order of the text, numbers as written, every key and value with
// its line and column. For small files (configurations, device maps); large ones take the events.
// Built without recursion, and destroyed without allocating, so that running out of memory anywhere
// is an exception like any other.
#pragma once

#include "engine/base/json/events.h"
#include "engine/base/json/position.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct JsonMember;

struct Json {
    enum class Kind : uint8_t { Null = 1, Bool, Number, String, Array, Object };
    Kind kind = Kind::Null;
    bool boolean = false;            ///< Bool.
    std::string text;                ///< String: unescaped UTF-8. Number: as written.
    std::vector<Json> items;         ///< Array.
    std::vector<JsonMember> members; ///< Object, in the order of the text.
    JsonPosition at;                 ///< Where the value begins.

    [[nodiscard]] bool is(Kind k) const { return kind == k; }
    [[nodiscard]] bool isString(std::string_view value) const {
        return kind == Kind::String && text == value;
    }
    /// The value of an object's member; nullptr if there is none (or no object).
    [[nodiscard]] const Json* find(std::string_view key) const;
    /// A Number without fraction and exponent that fits; nullopt for anything else.
    [[nodiscard]] std::optional<int64_t> integer() const;
    /// A Number as the nearest double, 0 where it is too small for one; nullopt where it is too
    /// large, and for anything else.
    [[nodiscard]] std::optional<double> number() const;
    /// "null", "a boolean", "a number", "a string", "a list", "an object": for messages.
    [[nodiscard]] Phrase kindName() const;
};

struct JsonMember {
    std::string key;
    JsonPosition key_at;
    Json value;
};

/// The text of a String, and of one that is a member of an object; empty where there is none.
std::string textOf(const Json* value);
std::string textOf(const Json& object, std::string_view key);

/// Trees are copied and destroyed recursively: none is deeper than this, whatever limits say.
inline constexpr int kDeepestJsonTree = 64;
/// Nor has one more values, a value being some hundred bytes: the largest file that becomes a tree
/// and describes every token of a vocabulary has 51,000.
inline constexpr size_t kMostJsonTreeValues = 400'000;

/// Puts events into a tree; the reader's limits bound it. A handler that takes some members for
/// itself passes it the events of the others.
class JsonTreeBuilder : public JsonHandler {
public:
    /// `text` is the text that is read; empty: values get no positions.
    JsonTreeBuilder(Json& root, std::string_view text)
        : root_(root), has_positions_(!text.empty()), cursor_(text) {}

    bool onObjectBegin() override;
    bool onObjectEnd() override;
    bool onArrayBegin() override;
    bool onArrayEnd() override;
    bool onKey(std::string_view key) override;
    bool onString(std::string_view value) override;
    bool onNumber(std::string_view literal) override;
    bool onBool(bool value) override;
    bool onNull() override;

    /// Open objects and arrays.
    [[nodiscard]] size_t depth() const { return open_.size(); }
    /// The innermost of them; there must be one.
    [[nodiscard]] const Json& innermost() const { return *open_.back(); }
    /// Key of the member whose value comes next.
    [[nodiscard]] std::string_view key() const { return key_; }

private:
    JsonPosition position();
    Json& add(Json::Kind kind);

    Json& root_;
    bool has_positions_;
    JsonCursor cursor_;
    /// A container grows only while it is the innermost open one, so these stay valid.
    std::vector<Json*> open_;
    std::string key_;
    JsonPosition key_at_;
};

/// Reads one value into `out` (a fresh one); member names are unique within their object. What
/// `out` holds is of use only when the outcome is Done.
JsonOutcome readJsonTree(std::string_view text, const JsonLimits& limits, Json& out);

/// The same for a file. Errors: as jsonError().
Result<Json>
parseJson(std::string_view text, std::string_view file_name, const JsonLimits& limits = {});

} // namespace engine
