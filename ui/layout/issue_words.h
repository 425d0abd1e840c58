// SPDX-License-Identifier: Apache-2.0
// What the planner finds wrong or worth knowing, in the user's language: too little memory with its
// largest parts, layers whose parts or cache lie apart, a limit for a device that is not there.
#pragma once

#include "engine/api/placement.h"

#include <QString>

namespace ui {

/// The issue without its suggestions.
QString issueWords(const engine::PlanIssue& issue);

/// "vision tower", "layers 3–7", "KV cache of 4,096 tokens".
QString partWords(const engine::PlanPart& part);

} // namespace ui
