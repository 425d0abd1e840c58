// SPDX-License-Identifier: Apache-2.0
// PEFT's matching steps: exclude_modules, modules_to_save, target_modules,
// layers_to_transform, then the rank and alpha tables in file order.
#include "engine/lora/target_matching.h"

#include "engine/families/gemma4/names.h"
#include "engine/lora/name_pattern.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace engine {

namespace {

/// For all patterns of one file: a few bytes of a pattern can become kilobytes.
constexpr size_t kMaxCompiledMib = 16;

bool equalsOrEndsWith(std::string_view name, std::string_view entry) {
    if (name == entry) {
        return true;
    }
    return name.size() > entry.size() && name.ends_with(entry) &&
           name[name.size() - entry.size() - 1] == '.';
}

} // namespace

struct TargetMatcher::State {
    AdapterConfig config;
    std::unordered_set<std::string> updated_modules;
    /// A pattern of target_modules or its layers is unreadable, or there is no config.
    bool are_targets_by_file = false;
    bool are_ranks_by_file = false;
    std::vector<Sentence> notes;
    std::optional<NamePattern> targets, excluded;
    std::vector<NamePattern> saved;
    std::vector<NamePattern> layers;
    std::vector<std::pair<NamePattern, int64_t>> ranks;
    std::vector<std::pair<NamePattern, double>> alphas;

    [[nodiscard]] Result<bool> isExcluded(std::string_view module) const {
        if (config.excluded.kind == ModuleSelector::Kind::List) {
            return std::any_of(config.excluded.names.begin(), config.excluded.names.end(),
                               [&](const auto& entry) { return equalsOrEndsWith(module, entry); });
        }
        return excluded ? excluded->matchesWhole(module) : false;
    }

    [[nodiscard]] Result<bool> isSavedWhole(std::string_view module) const {
        for (const NamePattern& pattern : saved) {
            ENGINE_ASSIGN(const bool is_saved, pattern.matchesStart(module));
            if (is_saved) {
                return true;
            }
        }
        return false;
    }

    /// Whether layers_to_transform has the layer number of a name, by the first pattern that finds
    /// a match.
    [[nodiscard]] Result<bool> isInLayers(std::string_view module) const {
        for (const NamePattern& pattern : layers) {
            std::string_view found;
            ENGINE_ASSIGN(const bool is_match, pattern.matchesStart(module, &found));
            if (!is_match) {
                continue;
            }
            int64_t number = 0;
            const char* end = found.data() + found.size();
            const auto [at, error] = std::from_chars(found.data(), end, number);
            const auto& wanted = config.layers_to_transform;
            return error == std::errc{} && at == end &&
                   std::find(wanted.begin(), wanted.end(), number) != wanted.end();
        }
        return false;
    }

    [[nodiscard]] Result<TargetState> listed(std::string_view module) const {
        const auto& names = config.targets.names;
        if (std::find(names.begin(), names.end(), module) != names.end()) {
            return TargetState::Targeted; // a full name is exempt from the layer filter
        }
        const bool is_suffix = std::any_of(names.begin(), names.end(), [&](const auto& entry) {
            return equalsOrEndsWith(module, entry);
        });
        if (!is_suffix) {
            return TargetState::NotTargeted;
        }
        if (config.layers_to_transform.empty()) {
            return TargetState::Targeted;
        }
        ENGINE_ASSIGN(const bool is_in_layers, isInLayers(module));
        return is_in_layers ? TargetState::Targeted : TargetState::OtherLayer;
    }
};

TargetMatcher::TargetMatcher(std::unique_ptr<State> state) : state_(std::move(state)) {}
TargetMatcher::TargetMatcher(TargetMatcher&&) noexcept = default;
TargetMatcher& TargetMatcher::operator=(TargetMatcher&&) noexcept = default;
TargetMatcher::~TargetMatcher() = default;

Result<TargetMatcher> TargetMatcher::compile(const AdapterConfig& config,
                                             std::unordered_set<std::string> updated_modules) {
    auto state = std::make_unique<State>();
    state->config = config;
    state->updated_modules = std::move(updated_modules);
    state->are_targets_by_file = config.is_told_by_file;
    state->are_ranks_by_file = config.is_told_by_file;
    const size_t count = 2 + config.modules_to_save.size() + config.layers_patterns.size() +
                         config.rank_patterns.size() + config.alpha_patterns.size();
    size_t bytes_left = kMaxCompiledMib << 20;
    const auto read = [&](const PatternText& text) -> Result<NamePattern> {
        ENGINE_ASSIGN(NamePattern pattern, NamePattern::compile(text, count));
        if (pattern.sizeBytes() > bytes_left) {
            return patternError(ErrorCode::Unsupported, text.member,
                                said("the patterns of this file take more than %1 MiB of memory "
                                     "together, and \"%2\" is one too many; write them with fewer "
                                     "counted repeats",
                                     kMaxCompiledMib, text.pattern.substr(0, 80)));
        }
        bytes_left -= pattern.sizeBytes();
        return pattern;
    };
    // nullopt: the file answers in place of a pattern that cannot be read.
    const auto readOr = [&](const PatternText& text,
                            bool is_of_rank = false) -> Result<std::optional<NamePattern>> {
        auto pattern = read(text);
        if (pattern) {
            return std::optional(std::move(*pattern));
        }
        if (pattern.error().code != ErrorCode::Unsupported || !config.is_zero_initialised) {
            return std::move(pattern).error();
        }
        const Sentence why = pattern.error().told();
        state->notes.push_back(
            is_of_rank ? said("%1; the ranks are taken from the shapes of the factors", why)
                       : said("%1; the modules that have tensors in the file are taken as the "
                              "targeted ones",
                              why));
        return std::optional<NamePattern>();
    };
    if (config.targets.kind == ModuleSelector::Kind::Pattern) {
        ENGINE_ASSIGN(state->targets, readOr({"target_modules", config.targets.pattern}));
        state->are_targets_by_file = !state->targets;
    } else if (config.targets.kind == ModuleSelector::Kind::None) {
        ENGINE_ASSIGN(state->targets, read({"target_modules", defaultAdapterTargets()}));
    }
    if (config.excluded.kind == ModuleSelector::Kind::Pattern) {
        ENGINE_ASSIGN(state->excluded, readOr({"exclude_modules", config.excluded.pattern}));
        state->are_targets_by_file = state->are_targets_by_file || !state->excluded;
    }
    // PEFT embeds the texts below in larger patterns like this. Where it puts no group around them,
    // an alternative in them reaches to the end of the whole.
    for (const std::string& entry : config.modules_to_save) {
        ENGINE_ASSIGN(NamePattern pattern,
                      read({"modules_to_save", entry, R"((^|.*\.))", R"(($|\..*))"}));
        state->saved.push_back(std::move(pattern));
    }
    constexpr std::string_view kIndex = R"(\.(?P<idx>\d+)\.)";
    if (!config.layers_to_transform.empty() && config.layers_patterns.empty()) {
        ENGINE_ASSIGN(NamePattern pattern, read({"layers_pattern", "[^.]*", R"(.*?\.)", kIndex}));
        state->layers.push_back(std::move(pattern));
    }
    if (!config.layers_to_transform.empty()) {
        for (const std::string& entry : config.layers_patterns) {
            ENGINE_ASSIGN(auto pattern,
                          readOr({"layers_pattern", entry, R"((?:^|.*?\.))", kIndex}));
            if (pattern) {
                state->layers.push_back(std::move(*pattern));
            } else {
                state->are_targets_by_file = true;
            }
        }
    }
    for (const RankPattern& entry : config.rank_patterns) {
        ENGINE_ASSIGN(auto pattern, readOr({"rank_pattern", entry.pattern, R"((.*\.)?()", ")$"},
                                           /*is_of_rank=*/true));
        if (pattern) {
            state->ranks.emplace_back(std::move(*pattern), entry.rank);
        } else {
            state->are_ranks_by_file = true;
        }
    }
    for (const AlphaPattern& entry : config.alpha_patterns) {
        ENGINE_ASSIGN(NamePattern pattern,
                      read({"alpha_pattern", entry.pattern, R"((.*\.)?()", ")$"}));
        state->alphas.emplace_back(std::move(pattern), entry.alpha);
    }
    return TargetMatcher(std::move(state));
}

Result<TargetState>
TargetMatcher::classify(std::string_view module, std::string_view canonical, bool is_linear) const {
    const State& s = *state_;
    ENGINE_ASSIGN(const bool is_excluded, s.isExcluded(module));
    if (is_excluded) {
        return TargetState::Excluded;
    }
    ENGINE_ASSIGN(const bool is_saved, s.isSavedWhole(module));
    if (is_saved) {
        return TargetState::SavedWhole;
    }
    bool is_targeted = false;
    if (s.are_targets_by_file) {
        is_targeted = s.updated_modules.contains(std::string(module));
    } else if (s.config.targets.kind == ModuleSelector::Kind::List) {
        return s.listed(module);
    } else if (s.config.targets.kind == ModuleSelector::Kind::AllLinear) {
        is_targeted = is_linear;
    } else {
        const bool is_default = s.config.targets.kind == ModuleSelector::Kind::None;
        ENGINE_ASSIGN(is_targeted, s.targets->matchesWhole(is_default ? canonical : module));
    }
    return is_targeted ? TargetState::Targeted : TargetState::NotTargeted;
}

Result<int64_t> TargetMatcher::rankOf(std::string_view module) const {
    if (state_->are_ranks_by_file) {
        return 0;
    }
    for (const auto& [pattern, rank] : state_->ranks) {
        ENGINE_ASSIGN(const bool is_match, pattern.matchesStart(module));
        if (is_match) {
            return rank;
        }
    }
    return state_->config.rank;
}

Result<double> TargetMatcher::alphaOf(std::string_view module) const {
    for (const auto& [pattern, alpha] : state_->alphas) {
        ENGINE_ASSIGN(const bool is_match, pattern.matchesStart(module));
        if (is_match) {
            return alpha;
        }
    }
    return state_->config.alpha;
}

double TargetMatcher::scalingOf(double alpha, int64_t rank) const {
    const auto divisor = static_cast<double>(rank);
    return alpha / (state_->config.use_rslora ? std::sqrt(divisor) : divisor);
}

const std::vector<Sentence>& TargetMatcher::notes() const {
    return state_->notes;
}

} // namespace engine
