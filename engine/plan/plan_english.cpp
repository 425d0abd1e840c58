// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_english.h"

#include "engine/base/sentence_english.h"

#include <cstddef>
#include <string>
#include <vector>
namespace engine {

std::string inEnglish(const Suggestion& suggestion) {
    return inEnglish(suggestion.words);
}

std::string inEnglish(const Note& note) {
    return inEnglish(note.words);
}

std::string inEnglish(const PlanIssue& issue) {
    std::string message = inEnglish(issue.words);
    for (const CardTrouble& reason : issue.reasons) {
        message += (message.empty()          ? ""
                    : message.ends_with('.') ? " "
                                             : ". ") +
                   inEnglish(reason.words);
    }
    return message;
}

std::string inEnglish(Travel what) {
    switch (what) {
    case Travel::HiddenState:
        return "hidden state";
    case Travel::PerLayerRow:
        return "per-layer embedding row";
    case Travel::PerLayerSlice:
        return "per-layer input slice";
    case Travel::KvMirror:
        return "KV mirror";
    case Travel::SplitInput:
        return "input of a split layer";
    case Travel::SplitOutput:
        return "output of a split layer";
    case Travel::QueriesKeysValues:
        return "queries, keys and values";
    case Travel::AttentionResult:
        return "attention result";
    case Travel::StreamedWeights:
        return "streamed weights";
    case Travel::StreamedAdapter:
        return "streamed adapter";
    }
    return {};
}

std::string layerList(const std::vector<int>& layers) {
    std::string out;
    for (size_t i = 0; i < layers.size();) {
        size_t last = i;
        while (last + 1 < layers.size() && layers[last + 1] == layers[last] + 1) {
            ++last;
        }
        out += (out.empty() ? "" : ", ") + std::to_string(layers[i]);
        if (last > i) {
            out += "-" + std::to_string(layers[last]);
        }
        i = last + 1;
    }
    return out;
}

} // namespace engine
