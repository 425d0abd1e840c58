// SPDX-License-Identifier: Apache-2.0
// The planner's messages in English, with option names and paths as a terminal's user writes them:
// for the command line, JSON and logs. The one place that has them.
#pragma once

#include "engine/api/placement.h"
#include "engine/files/oddity_english.h"
#include "engine/plan/map_english.h"

#include <string>
#include <vector>

namespace engine {

std::string inEnglish(const Suggestion& suggestion);
std::string inEnglish(const Note& note);
/// The message of an error or warning, without its place and suggestions.
std::string inEnglish(const PlanIssue& issue);
/// "3 tensors, the first: ...".
std::string inEnglish(const note::Tensors& tensors);
/// "the key "model.vision_tower"", "default", "the load options", "the rules".
std::string inEnglish(const note::SetBy& by);

/// "hidden state", "KV mirror".
std::string inEnglish(Travel what);

/// "15-18, 20": rising numbers of layers.
std::string layerList(const std::vector<int>& layers);

/// Each of them.
template <typename T>
std::vector<std::string> inEnglish(const std::vector<T>& all) {
    std::vector<std::string> texts;
    texts.reserve(all.size());
    for (const T& one : all) {
        texts.push_back(inEnglish(one));
    }
    return texts;
}

} // namespace engine
