// SPDX-License-Identifier: Apache-2.0
// Which modules an adapter_config targets, and their rank, alpha and scaling: PEFT's rules on
// module names, step by step (peft/tuners/tuners_utils.py), with a linear-time
// regular-expression engine. Python syntax that it does not have is refused by name.
#pragma once

#include "engine/base/result.h"
#include "engine/lora/adapter_config.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace engine {

/// Longest pattern, in bytes.
inline constexpr size_t kMaxPatternBytes = 4096;
/// Most entries of one list or pattern table.
inline constexpr size_t kMaxPatternEntries = 4096;

/// Rewrites a Python regular expression into the syntax of RE2, meaning unchanged for module
/// names (ASCII). Errors: Unsupported (look-around, back-reference, possessive quantifier, ...;
/// names the construct and its position), InvalidFile (not a Python pattern, too long).
/// `allow_global_flags`: (?i) at the start; PEFT's pattern keys are embedded, where Python
/// refuses them.
Result<std::string> translatePythonPattern(std::string_view pattern, bool allow_global_flags);

enum class TargetState : uint8_t {
    Targeted = 1,
    Excluded,   ///< exclude_modules
    SavedWhole, ///< inside modules_to_save: a full copy, no low-rank update.
    OtherLayer, ///< Name matches, layers_to_transform leaves the layer out.
    NotTargeted,
};

class TargetMatcher {
public:
    /// Compiles all patterns. Errors: as translatePythonPattern, plus patterns whose automaton
    /// would be too large.
    static Result<TargetMatcher> compile(const AdapterConfig& config);

    /// `module` in the file's spelling, without the PEFT prefix. `is_linear`: an nn.Linear that
    /// is not the output head (what "all-linear" means). `canonical`: the canonical name, used
    /// only for the default targets of a config without target_modules.
    [[nodiscard]] TargetState
    classify(std::string_view module, std::string_view canonical, bool is_linear) const;

    [[nodiscard]] int64_t rankOf(std::string_view module) const;
    [[nodiscard]] double alphaOf(std::string_view module) const;
    /// alpha / r, or alpha / sqrt(r) with use_rslora.
    [[nodiscard]] double scalingOf(std::string_view module) const;

    TargetMatcher(TargetMatcher&&) noexcept;
    TargetMatcher& operator=(TargetMatcher&&) noexcept;
    ~TargetMatcher();

private:
    struct State;
    explicit TargetMatcher(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace engine
