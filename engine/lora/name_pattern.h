// SPDX-License-Identifier: Apache-2.0
// A regular expression of adapter_config.json, which PEFT gives to Python's `re`. PCRE2 runs it
// after what the two spell differently was rewritten, and what they would match differently is
// refused: a pattern never quietly matches other modules than PEFT would. Module names are ASCII
// without line breaks, where both agree on classes and anchors. The file is foreign: limits bound
// the time and the memory of every match.
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8

#include "engine/base/result.h"

#include <pcre2.h>

#include <memory>
#include <string>
#include <string_view>

namespace engine {

/// Longest pattern, in bytes.
inline constexpr size_t kMaxPatternBytes = 4096;

/// A pattern where it stands in the file and in the expression that PEFT makes of it.
struct PatternText {
    std::string_view member; ///< The member of adapter_config.json.
    std::string_view pattern;
    std::string_view before = {}, after = {};
};

class NamePattern {
public:
    /// `share`: the number of patterns that divide the work allowed for one name.
    /// Errors name the member and the pattern. Unsupported: Python takes the pattern, PCRE2 does
    /// not or would read it otherwise. InvalidFile: Python refuses it too, or it is too long.
    static Result<NamePattern> compile(const PatternText& text, size_t share = 1);

    [[nodiscard]] size_t sizeBytes() const; ///< Memory of the compiled pattern.

    /// re.fullmatch. Errors: Unsupported (a match that takes more work than is allowed).
    [[nodiscard]] Result<bool> matchesWhole(std::string_view name) const;
    /// re.match: from the start, not to the end. `index` is set to what the group of that name
    /// matched, empty if it took no part. Errors: as matchesWhole().
    [[nodiscard]] Result<bool> matchesStart(std::string_view name,
                                            std::string_view* index = nullptr) const;

private:
    struct Free {
        void operator()(pcre2_code* code) const { pcre2_code_free(code); }
        void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
        void operator()(pcre2_match_context* limits) const { pcre2_match_context_free(limits); }
    };

    NamePattern() = default;
    Result<bool> match(std::string_view name, uint32_t options, std::string_view* index) const;

    std::string member_, shown_; ///< For errors.
    std::unique_ptr<pcre2_code, Free> code_;
    size_t work_ = 0; ///< Allowed for one name.
};

/// An error about a member of adapter_config.json.
Error patternError(ErrorCode code, std::string_view member, const Sentence& what);

/// The version that PCRE2 states at run time.
std::string patternLibraryVersion();
/// A function of PCRE2, for reports: where it was loaded from.
const void* patternLibrarySymbol();

} // namespace engine
