// SPDX-License-Identifier: Apache-2.0
// The planner's steps in the user's language. Messages about a whole plan: issue_words.h.
#pragma once

#include "engine/api/placement.h"

#include <QString>

namespace ui {

/// One suggestion of a plan's issue.
QString suggestionWords(const engine::Suggestion& suggestion);
/// What the step does: "vision tower to CPU".
QString stepWords(const engine::SuggestedStep& step);

} // namespace ui
