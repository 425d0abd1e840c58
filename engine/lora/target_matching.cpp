// SPDX-License-Identifier: Apache-2.0
// PEFT's matching steps on RE2: exclude_modules, modules_to_save, target_modules,
// layers_to_transform, then the rank and alpha tables in file order.
#include "engine/lora/target_matching.h"

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

/// PEFT's default for this model family: q_proj and v_proj of the language model.
constexpr std::string_view kDefaultTargets = R"(.*language_model\..*\.(q_proj|v_proj))";

using Pattern = std::unique_ptr<re2::RE2>;

re2::StringPiece piece(std::string_view text) {
    return {text.data(), text.size()};
}

/// Compiles head + translated pattern + tail; the pattern alone must be valid too.
Result<Pattern> compilePattern(std::string_view member,
                               std::string_view source,
                               std::string_view head,
                               std::string_view tail,
                               bool allow_global_flags) {
    const auto fail = [&](ErrorCode code, const std::string& what) {
        return Error{code,
                     std::string(kFile) + ": " + std::string(member) + ": " + what,
                     {{"file", std::string(kFile)}, {"member", std::string(member)}}};
    };
    auto translated = translatePythonPattern(source, allow_global_flags);
    if (!translated) {
        return fail(translated.error().code, translated.error().message);
    }
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMaxAutomatonBytes);
    std::string text(head);
    text += *translated;
    text += tail;
    auto pattern = std::make_unique<re2::RE2>(text, options);
    if (!pattern->ok()) {
        const bool is_large = pattern->error_code() == re2::RE2::ErrorPatternTooLarge ||
                              pattern->error_code() == re2::RE2::ErrorRepeatSize;
        return fail(is_large ? ErrorCode::Unsupported : ErrorCode::InvalidFile,
                    (is_large ? "the pattern needs too large an automaton: \""
                              : "not a valid pattern: \"") +
                        std::string(source.substr(0, 80)) + "\" (" + pattern->error() + ")");
    }
    return pattern;
}

bool matchesWhole(const re2::RE2& pattern, std::string_view name) {
    return re2::RE2::FullMatch(piece(name), pattern);
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
    Pattern targets, excluded;
    std::vector<Pattern> saved;
    std::vector<Pattern> layers;
    std::vector<std::pair<Pattern, int64_t>> ranks;
    std::vector<std::pair<Pattern, double>> alphas;

    [[nodiscard]] bool isExcluded(std::string_view module) const {
        switch (config.excluded.kind) {
        case ModuleSelector::Kind::Pattern:
            return matchesWhole(*excluded, module);
        case ModuleSelector::Kind::List:
            return std::any_of(config.excluded.names.begin(), config.excluded.names.end(),
                               [&](const auto& entry) { return equalsOrEndsWith(module, entry); });
        default:
            return false;
        }
    }

    [[nodiscard]] bool isSavedWhole(std::string_view module) const {
        return std::any_of(saved.begin(), saved.end(), [&](const Pattern& pattern) {
            return pattern->Match(piece(module), 0, module.size(), re2::RE2::ANCHOR_START, nullptr,
                                  0);
        });
    }

    /// The layer number of a name, by the first pattern that finds a match.
    [[nodiscard]] std::optional<int64_t> layerOf(std::string_view module) const {
        for (const Pattern& pattern : layers) {
            re2::StringPiece found[2];
            if (!pattern->Match(piece(module), 0, module.size(), re2::RE2::ANCHOR_START, found,
                                2)) {
                continue;
            }
            int64_t number = 0;
            const char* begin = found[1].data();
            const char* end = begin + found[1].size();
            const auto [at, error] = std::from_chars(begin, end, number);
            if (found[1].empty() || error != std::errc{} || at != end) {
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

Result<TargetMatcher> TargetMatcher::compile(const AdapterConfig& config) {
    auto state = std::make_unique<State>();
    state->config = config;
    if (config.targets.kind == ModuleSelector::Kind::Pattern) {
        ENGINE_ASSIGN(state->targets,
                      compilePattern("target_modules", config.targets.pattern, "", "", true));
    } else if (config.targets.kind == ModuleSelector::Kind::None) {
        ENGINE_ASSIGN(state->targets,
                      compilePattern("target_modules", kDefaultTargets, "", "", true));
    }
    if (config.excluded.kind == ModuleSelector::Kind::Pattern) {
        ENGINE_ASSIGN(state->excluded,
                      compilePattern("exclude_modules", config.excluded.pattern, "", "", true));
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
            ENGINE_ASSIGN(Pattern pattern, compilePattern("layers_pattern", entry, "(?:^|.*?\\.)",
                                                          "\\.(\\d+)\\.", false));
            state->layers.push_back(std::move(pattern));
        }
    }
    for (const RankPattern& entry : config.rank_patterns) {
        ENGINE_ASSIGN(Pattern pattern,
                      compilePattern("rank_pattern", entry.pattern, "(?:.*\\.)?(?:", ")", false));
        state->ranks.emplace_back(std::move(pattern), entry.rank);
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
    switch (s.config.targets.kind) {
    case ModuleSelector::Kind::List:
        return s.listed(module);
    case ModuleSelector::Kind::AllLinear:
        return is_linear ? TargetState::Targeted : TargetState::NotTargeted;
    case ModuleSelector::Kind::Pattern:
        return matchesWhole(*s.targets, module) ? TargetState::Targeted : TargetState::NotTargeted;
    case ModuleSelector::Kind::None:
        break;
    }
    return matchesWhole(*s.targets, canonical) ? TargetState::Targeted : TargetState::NotTargeted;
}

int64_t TargetMatcher::rankOf(std::string_view module) const {
    for (const auto& [pattern, rank] : state_->ranks) {
        if (matchesWhole(*pattern, module)) {
            return rank;
        }
    }
    return state_->config.rank;
}

double TargetMatcher::alphaOf(std::string_view module) const {
    for (const auto& [pattern, alpha] : state_->alphas) {
        if (matchesWhole(*pattern, module)) {
            return alpha;
        }
    }
    return state_->config.alpha;
}

double TargetMatcher::scalingOf(std::string_view module) const {
    const auto rank = static_cast<double>(rankOf(module));
    return alphaOf(module) / (state_->config.use_rslora ? std::sqrt(rank) : rank);
}

} // namespace engine
