// SPDX-License-Identifier: Apache-2.0
// What "find in the chat" compares, and the texts of a turn in the order in which they are drawn,
// so that hits that are counted without drawing are those that are marked. Pure functions, no
// widgets.
#pragma once

#include "ui/chat/shaped_text.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace ui {

struct ChatTurn;
struct MarkdownBlock;

/// Without case and accents, every kind of white space as a space; each unit stays at its place.
QString foldInPlace(const QString& text);

/// What is looked for.
class FindNeedle {
public:
    /// The text as it is written, or each of its words.
    static FindNeedle phrase(const QString& text);
    static FindNeedle words(const QString& text);

    [[nodiscard]] bool isEmpty() const { return words_.isEmpty(); }
    /// In order, without overlap.
    [[nodiscard]] std::vector<TextRange> hitsIn(const QString& text) const;

private:
    QStringList words_; ///< Folded.
};

/// Text of a block as it is shown.
QString shownText(const MarkdownBlock& block);
/// The texts that are searched in a turn: the question or the answer, without thoughts and notes.
/// Block by block as MessageItem has them from findBegin() to findEnd().
std::vector<QString> findableTexts(bool is_user, const QString& text);

} // namespace ui
