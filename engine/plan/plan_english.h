// SPDX-License-Identifier: Apache-2.0
// What a plan says in English, for the command line, JSON and logs.
#pragma once

#include "engine/api/map_export.h"
#include "engine/api/placement.h"
#include "engine/base/sentence_english.h"

#include <string>
#include <vector>

namespace engine {

std::string inEnglish(const Suggestion& suggestion);
std::string inEnglish(const Note& note);
/// The message of an error or warning, without its place and suggestions.
std::string inEnglish(const PlanIssue& issue);
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
