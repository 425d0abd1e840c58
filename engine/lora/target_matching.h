// SPDX-License-Identifier: Apache-2.0
// Which modules an adapter_config targets, and their rank, alpha and scaling: PEFT's rules on
// module names, step by step (peft/tuners/tuners_utils.py). Where a pattern cannot be read, the
// modules that have tensors in the file are the targeted ones: PEFT saved nothing else.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"
#include "engine/lora/adapter_config.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace engine {

/// Most entries of one list or pattern table.
inline constexpr size_t kMaxPatternEntries = 4096;

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
    /// Errors: as NamePattern::compile(), plus patterns that take too much memory together; for
    /// unreadable patterns only where the file cannot stand in: modules_to_save, alpha_pattern, and
    /// all when init_lora_weights is false (a targeted module without tensors would be noise).
    static Result<TargetMatcher> compile(const AdapterConfig& config,
                                         std::unordered_set<std::string> updated_modules = {});

    /// `module` in the file's spelling, without the PEFT prefix. `is_linear`: an nn.Linear that
    /// is not the output head (what "all-linear" means). `canonical`: the canonical name, used
    /// only for the default targets of a config without target_modules.
    /// Errors, also of the two below: Unsupported (a pattern takes too much work on the name).
    [[nodiscard]] Result<TargetState>
    classify(std::string_view module, std::string_view canonical, bool is_linear) const;

    /// 0 when rank_pattern cannot be read or there is no config; the factors' shapes have the rank.
    [[nodiscard]] Result<int64_t> rankOf(std::string_view module) const;
    [[nodiscard]] Result<double> alphaOf(std::string_view module) const;
    /// alpha / rank, or alpha / sqrt(rank) with use_rslora.
    [[nodiscard]] double scalingOf(double alpha, int64_t rank) const;

    /// Which patterns could not be read, for the report.
    [[nodiscard]] const std::vector<Sentence>& notes() const;

    TargetMatcher(TargetMatcher&&) noexcept;
    TargetMatcher& operator=(TargetMatcher&&) noexcept;
    ~TargetMatcher();

private:
    struct State;
    explicit TargetMatcher(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace engine
