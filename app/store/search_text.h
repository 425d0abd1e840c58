// SPDX-License-Identifier: Apache-2.0
// Text as the search compares it: without case, accents and full-width forms, so that "uber"
// finds "Über". The folded form is stored beside a turn; the excerpt is cut from the original.
#pragma once

#include <QString>
#include <QStringList>

namespace app {

/// The folded form. White space becomes single spaces.
QString foldForSearch(const QString& text);
/// The folded words of what was typed into the search field; all of them must occur in a chat.
QStringList searchWords(const QString& query);
/// About 80 characters of `text` around the first place where one of `words` occurs, on one line,
/// with an ellipsis where something is missing. Empty when none occurs.
QString excerptAround(const QString& text, const QStringList& words);

} // namespace app
