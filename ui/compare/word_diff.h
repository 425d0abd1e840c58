// SPDX-License-Identifier: Apache-2.0
// Which words of two answers differ: the longest common subsequence of their words, so that one
// inserted word marks one word and not the rest of the answer.
#pragma once

#include <QString>

#include <vector>

namespace ui {

/// A stretch of text, in QChar positions.
struct TextRange {
    qsizetype start = 0, length = 0;
};

struct WordDiff {
    std::vector<TextRange> changed; ///< In `text`: words that `reference` does not have there.
    qsizetype common_words = 0;     ///< Words before the first difference.
    bool is_same = false;           ///< Same words in the same order.
};

/// Compares `text` with `reference`. Answers of more than some 4,000 words are compared up to the
/// first difference, and all that follows counts as changed.
WordDiff compareWords(const QString& reference, const QString& text);

} // namespace ui
