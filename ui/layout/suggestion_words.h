// SPDX-License-Identifier: Apache-2.0
// The planner's steps in the user's language. The planner writes them for the command line, in
// English, with option names and paths; the window names parts and devices as everywhere else.
// Messages about a whole plan: issue_words.h.
#pragma once

#include <QString>

#include <string>

namespace ui {

/// One suggestion of a plan's issue. What is not recognised is returned as it is.
QString suggestionWords(const std::string& suggestion);

/// "2.50", "MiB" as the planner writes bytes; 0 when it is something else.
quint64 plannerBytes(const QString& number, const QString& unit);

} // namespace ui
