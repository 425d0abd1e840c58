// SPDX-License-Identifier: Apache-2.0
// PEFT's matching steps: exclude_modules, modules_to_save, target_modules,
// layers_to_transform, then the rank and alpha tables in file order.
#include "engine/lora/target_matching.h"

#include "engine/families/gemma4/names.h"
#include "engine/lora/linear_pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

namespace engine {

namespace {

constexpr std::string_view kFile = "adapter_config.json";
constexpr int64_t kMaxAutomatonBytes = int64_t{4} << 20;
/// Of all patterns of one file: a few bytes of a pattern can become thousands of steps.
constexpr size_t kMaxStepsInAll = size_t{1} << 20;

re2::StringPiece piece(std::string_view text) {
    return {text.data(), text.size()};
}

/// A compiled pattern on either engine.
struct Pattern {
    std::unique_ptr<re2::RE2> plain;
    std::optional<LinearPattern> with_look_around;

    [[nodiscard]] size_t steps() const {
        return plain ? static_cast<size_t>(plain->ProgramSize()) : with_look_around->steps();
    }
    [[nodiscard]] bool matchesWhole(std::string_view name) const {
        return plain ? re2::RE2::FullMatch(piece(name), *plain)
                     : with_look_around->matchesWhole(name);
    }
    /// Python's re.match: from the start, not to the end. `captured`: the first group.
    [[nodiscard]] bool matchesStart(std::string_view name, std::string_view& captured) const {
        if (!plain) {
            return with_look_around->matchesStart(name, captured);
        }
        re2::StringPiece found[2];
        const int groups = plain->NumberOfCapturingGroups() > 0 ? 2 : 1;
        if (!plain->Match(piece(name), 0, name.size(), re2::RE2::ANCHOR_START, found, groups)) {
            return false;
        }
        captured =
            groups == 2 ? std::string_view(found[1].data(), found[1].size()) : std::string_view();
        return true;
    }
};

Error patternError(ErrorCode code, std::string_view member, const Sentence& what) {
    return Error{code,
                 said("%1: %2: %3", kFile, member, what),
                 {{"file", std::string(kFile)}, {"member", std::string(member)}}};
}

/// Compiles head + translated pattern + tail; the pattern alone must be valid too.
Result<Pattern> compileOne(std::string_view member,
                           std::string_view source,
                           std::string_view head,
                           std::string_view tail,
                           bool allow_global_flags) {
    auto translated = translatePythonPattern(source, allow_global_flags);
    if (!translated) {
        return patternError(translated.error().code, member, translated.error().told());
    }
    std::string text(head);
    text += translated->text;
    text += tail;
    Pattern pattern;
    if (translated->has_look_around) {
        auto compiled = LinearPattern::compile(text);
        if (!compiled) {
            return patternError(compiled.error().code, member,
                                said("%1: \"%2\"", compiled.error().told(), source.substr(0, 80)));
        }
        pattern.with_look_around = std::move(*compiled);
        return pattern;
    }
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMaxAutomatonBytes);
    pattern.plain = std::make_unique<re2::RE2>(text, options);
    if (!pattern.plain->ok()) {
        const re2::RE2& failed = *pattern.plain;
        const bool is_large = failed.error_code() == re2::RE2::ErrorPatternTooLarge ||
                              failed.error_code() == re2::RE2::ErrorRepeatSize;
        return patternError(is_large ? ErrorCode::Unsupported : ErrorCode::InvalidFile, member,
                            is_large ? said("the pattern needs too large an automaton: \"%1\" (%2)",
                                            source.substr(0, 80), failed.error())
                                     : said("not a valid pattern: \"%1\" (%2)",
                                            source.substr(0, 80), failed.error()));
    }
    return pattern;
}

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
    bool are_targets_by_file = false; ///< A pattern of target_modules or its layers is unreadable.
    bool is_exclusion_by_file = false;
    bool are_ranks_by_file = false;
    std::vector<AdapterNote> notes;
    Pattern targets, excluded;
    std::vector<Pattern> saved;
    std::vector<Pattern> layers;
    std::vector<std::pair<Pattern, int64_t>> ranks;
    std::vector<std::pair<Pattern, double>> alphas;

    [[nodiscard]] bool isExcluded(std::string_view module) const {
        switch (config.excluded.kind) {
        case ModuleSelector::Kind::Pattern:
            return !is_exclusion_by_file && excluded.matchesWhole(module);
        case ModuleSelector::Kind::List:
            return std::any_of(config.excluded.names.begin(), config.excluded.names.end(),
                               [&](const auto& entry) { return equalsOrEndsWith(module, entry); });
        default:
            return false;
        }
    }

    [[nodiscard]] bool isSavedWhole(std::string_view module) const {
        return std::any_of(saved.begin(), saved.end(), [&](const Pattern& pattern) {
            std::string_view unused;
            return pattern.matchesStart(module, unused);
        });
    }

    /// The layer number of a name, by the first pattern that finds a match.
    [[nodiscard]] std::optional<int64_t> layerOf(std::string_view module) const {
        for (const Pattern& pattern : layers) {
            std::string_view found;
            if (!pattern.matchesStart(module, found)) {
                continue;
            }
            int64_t number = 0;
            const char* end = found.data() + found.size();
            const auto [at, error] = std::from_chars(found.data(), end, number);
            if (found.empty() || error != std::errc{} || at != end) {
                return std::nullopt;
            }
            return number;
        }
        return std::nullopt;
    }

    [[nodiscard]] TargetState listed(std::string_view module) const {
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
        const std::optional<int64_t> layer = layerOf(module);
        const auto& wanted = config.layers_to_transform;
        return layer && std::find(wanted.begin(), wanted.end(), *layer) != wanted.end()
                   ? TargetState::Targeted
                   : TargetState::OtherLayer;
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
    size_t steps_left = kMaxStepsInAll;
    const auto compilePattern = [&steps_left](std::string_view member, std::string_view source,
                                              std::string_view head, std::string_view tail,
                                              bool allow_global_flags) -> Result<Pattern> {
        if (steps_left > 0) {
            ENGINE_ASSIGN(Pattern pattern,
                          compileOne(member, source, head, tail, allow_global_flags));
            const size_t steps = pattern.steps();
            steps_left -= std::min(steps, steps_left);
            if (steps_left > 0) {
                return pattern;
            }
        }
        return patternError(ErrorCode::Unsupported, member,
                            said("the patterns of this file together need too large an automaton; "
                                 "\"%1\" is one too many",
                                 source.substr(0, 80)));
    };
    state->updated_modules = std::move(updated_modules);
    // What the file can answer in place of a pattern that cannot be read.
    const auto readOr = [&](bool& is_by_file, Result<Pattern> read, Pattern& target,
                            bool is_of_rank = false) -> Result<void> {
        if (read) {
            target = std::move(*read);
            return {};
        }
        if (read.error().code != ErrorCode::Unsupported || !config.is_zero_initialised) {
            return std::move(read).error();
        }
        is_by_file = true;
        state->notes.emplace_back(adapter_note::PatternUnread{read.error().told(), is_of_rank});
        return {};
    };
    if (config.targets.kind == ModuleSelector::Kind::Pattern) {
        ENGINE_TRY(readOr(state->are_targets_by_file,
                          compilePattern("target_modules", config.targets.pattern, "", "", true),
                          state->targets));
    } else if (config.targets.kind == ModuleSelector::Kind::None) {
        ENGINE_ASSIGN(state->targets,
                      compilePattern("target_modules", defaultAdapterTargets(), "", "", true));
    }
    if (config.excluded.kind == ModuleSelector::Kind::Pattern) {
        ENGINE_TRY(readOr(state->is_exclusion_by_file,
                          compilePattern("exclude_modules", config.excluded.pattern, "", "", true),
                          state->excluded));
        state->are_targets_by_file = state->are_targets_by_file || state->is_exclusion_by_file;
    }
    // PEFT embeds the texts below in larger patterns without a group around them, so an
    // alternative in them reaches to the end of the whole; kept as it is.
    for (const std::string& entry : config.modules_to_save) {
        ENGINE_ASSIGN(Pattern pattern, compilePattern("modules_to_save", entry, "(?:^|.*\\.)",
                                                      "(?:$|\\..*)", false));
        state->saved.push_back(std::move(pattern));
    }
    if (!config.layers_to_transform.empty()) {
        if (config.layers_patterns.empty()) {
            ENGINE_ASSIGN(Pattern pattern, compilePattern("layers_pattern", "[^.]*", ".*?\\.",
                                                          "\\.(\\d+)\\.", false));
            state->layers.push_back(std::move(pattern));
        }
        for (const std::string& entry : config.layers_patterns) {
            Pattern pattern;
            bool is_by_file = false;
            ENGINE_TRY(readOr(
                is_by_file,
                compilePattern("layers_pattern", entry, "(?:^|.*?\\.)", "\\.(\\d+)\\.", false),
                pattern));
            state->are_targets_by_file = state->are_targets_by_file || is_by_file;
            if (!is_by_file) {
                state->layers.push_back(std::move(pattern));
            }
        }
    }
    for (const RankPattern& entry : config.rank_patterns) {
        Pattern pattern;
        bool is_by_file = false;
        ENGINE_TRY(readOr(
            is_by_file, compilePattern("rank_pattern", entry.pattern, "(?:.*\\.)?(?:", ")", false),
            pattern, /*is_of_rank=*/true));
        state->are_ranks_by_file = state->are_ranks_by_file || is_by_file;
        if (!is_by_file) {
            state->ranks.emplace_back(std::move(pattern), entry.rank);
        }
    }
    for (const AlphaPattern& entry : config.alpha_patterns) {
        ENGINE_ASSIGN(Pattern pattern,
                      compilePattern("alpha_pattern", entry.pattern, "(?:.*\\.)?(?:", ")", false));
        state->alphas.emplace_back(std::move(pattern), entry.alpha);
    }
    return TargetMatcher(std::move(state));
}

TargetState
TargetMatcher::classify(std::string_view module, std::string_view canonical, bool is_linear) const {
    const State& s = *state_;
    if (s.isExcluded(module)) {
        return TargetState::Excluded;
    }
    if (s.isSavedWhole(module)) {
        return TargetState::SavedWhole;
    }
    if (s.are_targets_by_file) {
        return s.updated_modules.contains(std::string(module)) ? TargetState::Targeted
                                                               : TargetState::NotTargeted;
    }
    switch (s.config.targets.kind) {
    case ModuleSelector::Kind::List:
        return s.listed(module);
    case ModuleSelector::Kind::AllLinear:
        return is_linear ? TargetState::Targeted : TargetState::NotTargeted;
    case ModuleSelector::Kind::Pattern:
        return s.targets.matchesWhole(module) ? TargetState::Targeted : TargetState::NotTargeted;
    case ModuleSelector::Kind::None:
        break;
    }
    return s.targets.matchesWhole(canonical) ? TargetState::Targeted : TargetState::NotTargeted;
}

std::optional<int64_t> TargetMatcher::rankOf(std::string_view module) const {
    if (state_->are_ranks_by_file) {
        return std::nullopt;
    }
    for (const auto& [pattern, rank] : state_->ranks) {
        if (pattern.matchesWhole(module)) {
            return rank;
        }
    }
    return state_->config.rank;
}

double TargetMatcher::alphaOf(std::string_view module) const {
    for (const auto& [pattern, alpha] : state_->alphas) {
        if (pattern.matchesWhole(module)) {
            return alpha;
        }
    }
    return state_->config.alpha;
}

double TargetMatcher::scalingOf(std::string_view module, int64_t rank) const {
    const auto divisor = static_cast<double>(rank);
    return alphaOf(module) / (state_->config.use_rslora ? std::sqrt(divisor) : divisor);
}

const std::vector<AdapterNote>& TargetMatcher::notes() const {
    return state_->notes;
}

const void* patternLibrarySymbol() {
    return reinterpret_cast<const void*>(&re2::RE2::QuoteMeta);
}

} // namespace engine
