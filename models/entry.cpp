// SPDX-License-Identifier: Apache-2.0
#include "models/entry.h"

#include "engine/base/ascii.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace models {

namespace {

template <size_t N, typename Enum>
std::string_view nameAt(const std::array<std::string_view, N>& names, Enum value) {
    return names[static_cast<size_t>(value) - 1]; // enumerators start at 1
}

/// "gemma-4-e2b-it" for "unsloth/gemma-4-E2B-it-unsloth-bnb-4bit" and "/models/gemma-4-E2B-it/".
std::string bareName(std::string_view name) {
    while (!name.empty() && (name.back() == '/' || name.back() == '\\')) {
        name.remove_suffix(1);
    }
    const size_t slash = name.find_last_of("/\\");
    std::string bare =
        engine::lowered(slash == std::string_view::npos ? name : name.substr(slash + 1));
    for (const std::string_view suffix : {"-unsloth-bnb-4bit", "-bnb-4bit"}) {
        if (bare.ends_with(suffix)) {
            bare.resize(bare.size() - suffix.size());
            break;
        }
    }
    return bare;
}

/// How well a model answers to an adapter's base: 0 = not at all.
int likeness(const Entry& model, const Entry& adapter) {
    const std::string& base = adapter.base;
    if (!base.empty() &&
        (engine::lowered(model.name) == engine::lowered(base) ||
         engine::utf8Of(model.path) == base || engine::utf8Of(model.real_path) == base)) {
        return 3;
    }
    // One that lies in its model's folder, as trainers leave it there.
    const auto [at, end] = std::mismatch(model.path.begin(), model.path.end(), adapter.path.begin(),
                                         adapter.path.end());
    if (at == model.path.end() && !model.path.empty()) {
        return 2;
    }
    const std::string wanted = bareName(base);
    return !wanted.empty() && bareName(model.name) == wanted ? 1 : 0;
}

} // namespace

std::string_view placeName(Place place) {
    constexpr std::array<std::string_view, 6> kNames = {"hub-cache", "lm-studio", "llama.cpp",
                                                        "ollama",    "folder",    "recent"};
    return nameAt(kNames, place);
}

std::string_view formName(Form form) {
    constexpr std::array<std::string_view, 5> kNames = {"", "safetensors", "gguf", "mlx", "pickle"};
    return nameAt(kNames, form);
}

std::string_view stateName(State state) {
    constexpr std::array<std::string_view, 3> kNames = {"usable", "incomplete", "unusable"};
    return nameAt(kNames, state);
}

std::string_view reasonName(Trouble::Reason reason) {
    constexpr std::array<std::string_view, 5> kNames = {"files-missing", "pickle", "mlx",
                                                        "not-supported", "broken"};
    return nameAt(kNames, reason);
}

std::string_view fitName(Fit fit) {
    constexpr std::array<std::string_view, 4> kNames = {"unknown", "fits", "fits-with-change",
                                                        "does-not-fit"};
    return nameAt(kNames, fit);
}

std::string_view outcomeName(RootReport::Outcome outcome) {
    constexpr std::array<std::string_view, 6> kNames = {"done",          "missing", "unreadable",
                                                        "not-answering", "cut",     "cancelled"};
    return nameAt(kNames, outcome);
}

std::string Entry::revisionShown() const {
    constexpr size_t kShortCommit = 7;
    if (refs.empty()) {
        return commit.substr(0, kShortCommit);
    }
    const bool has_main = std::find(refs.begin(), refs.end(), "main") != refs.end();
    return has_main ? "main" : refs.front();
}

std::vector<Group> groupByBase(const std::vector<Entry>& entries) {
    std::vector<int> order(entries.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        const auto key = [&](int i) {
            const Entry& entry = entries[static_cast<size_t>(i)];
            return std::tuple(entry.state, engine::lowered(entry.name), -entry.modified,
                              entry.path);
        };
        return key(a) < key(b);
    });
    std::vector<Group> groups;
    for (const int i : order) {
        if (entries[static_cast<size_t>(i)].kind == Kind::Model) {
            groups.push_back({i, {}});
        }
    }
    Group homeless;
    for (const int i : order) {
        const Entry& adapter = entries[static_cast<size_t>(i)];
        if (adapter.kind != Kind::Adapter) {
            continue;
        }
        Group* home = nullptr;
        int best = 0;
        for (Group& group : groups) { // usable ones come first: the first of equals is taken
            const int like = likeness(entries[static_cast<size_t>(group.model)], adapter);
            if (like > best) {
                best = like;
                home = &group;
            }
        }
        (home != nullptr ? *home : homeless).adapters.push_back(i);
    }
    if (!homeless.adapters.empty()) {
        groups.push_back(std::move(homeless));
    }
    return groups;
}

std::filesystem::path placeToShow(const Entry& entry) {
    return entry.path;
}

} // namespace models
