// SPDX-License-Identifier: Apache-2.0
// Checked access to one JSON object of a configuration file. Reads never fail on the spot: the
// first problem is kept in JsonProblems, the read gives a harmless value, and the caller looks at
// the problems before it uses the values. So readers of configurations stay straight lines.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/json/tree.h"
#include "engine/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What reading found wrong (the first error only) and odd (all warnings).
struct JsonProblems {
    std::optional<Error> error;
    std::vector<Sentence> warnings;
};

class JsonSection {
public:
    /// `object` may be nullptr: then no member is present. `path` is "" or "text_config".
    JsonSection(const Json* object, std::string file, std::string path, JsonProblems& problems);

    /// False when the object itself is absent.
    [[nodiscard]] bool exists() const { return object_ != nullptr; }
    /// True when the member is there and not null.
    [[nodiscard]] bool has(std::string_view key) const;
    /// The member as it is; nullptr when absent or null.
    [[nodiscard]] const Json* find(std::string_view key) const;
    /// The member as an object; a section that does not exist when it is absent or null.
    [[nodiscard]] JsonSection section(std::string_view key) const;

    /// Whole number from min to max. Absent or null: `fallback`, or an error when there is none.
    int64_t integer(std::string_view key,
                    int64_t min,
                    int64_t max,
                    std::optional<int64_t> fallback = std::nullopt) const;
    /// Number from min to max (both included, finite). Absent or null: `fallback`.
    double number(std::string_view key, double min, double max, double fallback) const;
    bool boolean(std::string_view key, bool fallback) const;
    std::string text(std::string_view key, std::string_view fallback) const;
    /// One whole number or a list of them, each from min to max; empty when absent or null.
    std::vector<int64_t> integers(std::string_view key, int64_t min, int64_t max) const;
    /// Strings of a list; empty when absent or null.
    std::vector<std::string> texts(std::string_view key, size_t max_items) const;

    /// Records an InvalidFile error about a member: "config.json: text_config.head_dim is 7, ...".
    void invalid(std::string_view rule, std::string_view key, const Sentence& what) const;
    /// Records an Unsupported error about a member.
    void unsupported(std::string_view key, const Sentence& what) const;
    /// Likewise, in a sentence that names the member itself.
    void unsupportedAs(std::string_view key, Sentence whole) const;
    void warn(std::string_view key, const Sentence& what) const;
    /// `key` with file and path before it.
    [[nodiscard]] std::string fullName(std::string_view key) const;
    [[nodiscard]] JsonProblems& problems() const { return *problems_; }

private:
    /// `key` with its path before it.
    [[nodiscard]] std::string memberName(std::string_view key) const;
    std::optional<int64_t>
    checkedInteger(const Json& value, std::string_view key, int64_t min, int64_t max) const;

    const Json* object_;
    std::string file_;
    std::string path_;
    JsonProblems* problems_;
};

/// The member's value as it stands in the file, cut to a readable length.
Sentence shownJson(const Json& value);
/// A number for a message: the shortest text that reads as the same double.
std::string shownNumber(double value);

} // namespace engine
