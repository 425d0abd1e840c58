// SPDX-License-Identifier: Apache-2.0
// What the planner finds wrong or worth knowing, in the user's language: too little memory with its
// largest parts, layers whose parts or cache lie apart, a limit for a device that is not there.
#pragma once

#include "engine/api/placement.h"

#include <QString>

#include <vector>

namespace ui {

/// The issue without its suggestions.
QString issueWords(const engine::PlanIssue& issue);

/// What may happen where a plan that needs more than is free is loaded all the same.
QString loadAnywayWords();

/// "0–3, 5" of rising numbers.
QString layerNumbers(const std::vector<int>& layers);

/// "vision tower", "layers 3–7", "KV cache of 4,096 tokens".
QString partWords(const engine::PlanPart& part);

} // namespace ui
