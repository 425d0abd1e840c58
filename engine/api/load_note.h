// SPDX-License-Identifier: Apache-2.0
// What is worth knowing of a load: what the plan says, what is odd about the files, what became of
// the weight cache, and what was left out. The window shows none of them; English:
// engine/run/load_english.h.
#pragma once

#include "engine/api/placement.h"
#include "engine/api/sentence.h"

#include <variant>

namespace engine {

using LoadNote = std::variant<Sentence, PlanIssue, Note>;

} // namespace engine
