// SPDX-License-Identifier: Apache-2.0
// What the planner suggests, in the user's language. The planner writes sentences for the command
// line; those it is known to write are said again here with the names of the window.
#pragma once

#include <QString>

#include <string>

namespace ui {

/// "move model.vision_tower ... to cpu: frees 312 MiB, costs about 0.9 s per image" as the window
/// says it; anything else comes back as it is.
QString suggestionWords(const std::string& suggestion);

} // namespace ui
