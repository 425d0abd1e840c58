// SPDX-License-Identifier: Apache-2.0
#include "engine/run/load_english.h"

#include "engine/base/sentence_english.h"
#include "engine/plan/plan_english.h"
#include "engine/run/planning.h"

#include <variant>

namespace engine {

std::string inEnglish(const LoadNote& note) {
    const auto* const issue = std::get_if<PlanIssue>(&note);
    const auto* const of_plan = std::get_if<Note>(&note);
    return issue != nullptr     ? describe(*issue)
           : of_plan != nullptr ? inEnglish(*of_plan)
                                : inEnglish(std::get<Sentence>(note));
}

std::vector<std::string> inEnglish(const std::vector<LoadNote>& notes) {
    std::vector<std::string> texts;
    texts.reserve(notes.size());
    for (const LoadNote& note : notes) {
        texts.push_back(inEnglish(note));
    }
    return texts;
}

} // namespace engine
