// SPDX-License-Identifier: Apache-2.0
// Which modules an adapter_config targets, and their rank, alpha and scaling: PEFT's rules on
// module names, step by step (peft/tuners/tuners_utils.py), with linear-time regular-expression
// engines: RE2, and linear_pattern.h for patterns with look-around. Where a pattern cannot be read
// at all, the modules that have tensors in the file are the targeted ones: PEFT saved nothing else.
#pragma once

#include "engine/api/adapter_note.h"
#include "engine/base/result.h"
#include "engine/lora/adapter_config.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace engine {

/// Longest pattern, in bytes.
inline constexpr size_t kMaxPatternBytes = 4096;
/// Most entries of one list or pattern table.
inline constexpr size_t kMaxPatternEntries = 4096;

struct TranslatedPattern {
    std::string text;             ///< RE2's syntax, apart from look-arounds, which stay.
    bool has_look_around = false; ///< Then only linear_pattern.h can read it.
};

/// Rewrites a Python regular expression into the syntax of RE2, meaning unchanged for module
/// names (ASCII). Errors: Unsupported (back-reference, possessive quantifier, ...; names the
/// construct and its position), InvalidFile (not a Python pattern, too long).
/// `allow_global_flags`: (?i) at the start; PEFT's pattern keys are embedded, where Python
/// refuses them.
Result<TranslatedPattern> translatePythonPattern(std::string_view pattern, bool allow_global_flags);

enum class TargetState : uint8_t {
    Targeted = 1,
    Excluded,   ///< exclude_modules
    SavedWhole, ///< inside modules_to_save: a full copy, no low-rank update.
    OtherLayer, ///< Name matches, layers_to_transform leaves the layer out.
    NotTargeted,
};

class TargetMatcher {
public:
    /// Compiles all patterns. `updated_modules`: modules, as the file spells them, for which it has
    /// low-rank factors; they stand in for patterns that cannot be read (see notes()).
    /// Errors: as translatePythonPattern, plus patterns whose automaton would be too large; of
    /// unreadable patterns only where the file cannot stand in: modules_to_save, alpha_pattern, and
    /// all when init_lora_weights is false (a targeted module without tensors would be noise).
    static Result<TargetMatcher> compile(const AdapterConfig& config,
                                         std::unordered_set<std::string> updated_modules = {});

    /// `module` in the file's spelling, without the PEFT prefix. `is_linear`: an nn.Linear that
    /// is not the output head (what "all-linear" means). `canonical`: the canonical name, used
    /// only for the default targets of a config without target_modules.
    [[nodiscard]] TargetState
    classify(std::string_view module, std::string_view canonical, bool is_linear) const;

    /// nullopt when rank_pattern cannot be read; the factors' shapes have the rank.
    [[nodiscard]] std::optional<int64_t> rankOf(std::string_view module) const;
    [[nodiscard]] double alphaOf(std::string_view module) const;
    /// alpha / rank, or alpha / sqrt(rank) with use_rslora.
    [[nodiscard]] double scalingOf(std::string_view module, int64_t rank) const;

    /// Which patterns could not be read, for the report.
    [[nodiscard]] const std::vector<AdapterNote>& notes() const;

    TargetMatcher(TargetMatcher&&) noexcept;
    TargetMatcher& operator=(TargetMatcher&&) noexcept;
    ~TargetMatcher();

private:
    struct State;
    explicit TargetMatcher(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A function of the library that patterns are matched with, for reports: where it was loaded from.
const void* patternLibrarySymbol();

} // namespace engine
