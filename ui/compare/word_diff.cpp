// SPDX-License-Identifier: Apache-2.0
#include "ui/compare/word_diff.h"

#include <QStringView>

#include <algorithm>
#include <cstdint>

namespace ui {

namespace {

/// Cells of the table of lengths: 16 million of 16 bits, some 30 ms.
constexpr size_t kMaxCells = size_t{16} << 20U;

struct Word {
    QStringView text;
    qsizetype start = 0;
};

std::vector<Word> wordsOf(const QString& text) {
    std::vector<Word> words;
    qsizetype start = -1;
    for (qsizetype i = 0; i <= text.size(); ++i) {
        const bool is_space = i == text.size() || text.at(i).isSpace();
        if (!is_space && start < 0) {
            start = i;
        } else if (is_space && start >= 0) {
            words.push_back({QStringView(text).mid(start, i - start), start});
            start = -1;
        }
    }
    return words;
}

} // namespace

WordDiff compareWords(const QString& reference, const QString& text) {
    const std::vector<Word> a = wordsOf(reference);
    const std::vector<Word> b = wordsOf(text);
    WordDiff diff;
    size_t head = 0;
    while (head < a.size() && head < b.size() && a[head].text == b[head].text) {
        ++head;
    }
    diff.common_words = static_cast<qsizetype>(head);
    diff.is_same = head == a.size() && head == b.size();
    size_t tail = 0;
    while (tail < a.size() - head && tail < b.size() - head &&
           a[a.size() - 1 - tail].text == b[b.size() - 1 - tail].text) {
        ++tail;
    }
    const size_t rows = a.size() - head - tail;
    const size_t columns = b.size() - head - tail;
    std::vector<bool> is_common(columns, false);
    if (rows > 0 && columns > 0 && (rows + 1) * (columns + 1) <= kMaxCells) {
        // lengths[i][j]: common words of a from i on and b from j on.
        const size_t width = columns + 1;
        std::vector<uint16_t> lengths((rows + 1) * width, 0);
        for (size_t i = rows; i-- > 0;) {
            for (size_t j = columns; j-- > 0;) {
                lengths[i * width + j] =
                    a[head + i].text == b[head + j].text
                        ? static_cast<uint16_t>(lengths[(i + 1) * width + j + 1] + 1)
                        : std::max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
            }
        }
        for (size_t i = 0, j = 0; i < rows && j < columns;) {
            if (a[head + i].text == b[head + j].text) {
                is_common[j] = true;
                ++i;
                ++j;
            } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
                ++i;
            } else {
                ++j;
            }
        }
    }
    for (size_t j = 0; j < columns; ++j) {
        if (is_common[j]) {
            continue;
        }
        const Word& word = b[head + j];
        // Neighbours become one stretch, with the space between them.
        const bool is_joined = j > 0 && !is_common[j - 1] && !diff.changed.empty();
        if (is_joined) {
            diff.changed.back().length = word.start + word.text.size() - diff.changed.back().start;
        } else {
            diff.changed.push_back({word.start, word.text.size()});
        }
    }
    return diff;
}

} // namespace ui
