// SPDX-License-Identifier: Apache-2.0
// What the planner finds wrong or worth knowing, and the parts of a plan, in the user's language.
#pragma once

#include "engine/api/placement.h"

#include <QString>

namespace ui {

/// The issue without its suggestions.
QString issueWords(const engine::PlanIssue& issue);

/// What may happen where a plan that needs more than is free is loaded all the same.
QString loadAnywayWords();

/// "vision tower", "layers 3–7", "KV cache of 4,096 tokens".
QString partWords(const engine::PlanPart& part);

} // namespace ui
