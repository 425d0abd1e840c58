// SPDX-License-Identifier: Apache-2.0
#include "app/store/search_text.h"

#include <algorithm>
#include <vector>

namespace app {

namespace {

constexpr qsizetype kExcerptBefore = 24;
constexpr qsizetype kExcerptLength = 80;
constexpr qsizetype kFoldedAtOnce = 64;

bool isMark(QChar character) {
    return character.category() == QChar::Mark_NonSpacing ||
           character.category() == QChar::Mark_Enclosing;
}

QString foldWord(const QString& text) {
    QString folded;
    // In pieces: a decomposition puts the marks behind a letter in order, which takes the square of
    // their number, and all of a text may be marks. Most of them go anyway.
    for (qsizetype begin = 0; begin < text.size();) {
        qsizetype end = std::min(begin + kFoldedAtOnce, text.size());
        end += end < text.size() && text.at(end).isLowSurrogate() ? 1 : 0;
        // By way of capitals, because that also makes "ss" of a sharp s and one letter of both
        // sigmas.
        const QString upper =
            text.mid(begin, end - begin).normalized(QString::NormalizationForm_KD).toUpper();
        for (const QChar character : upper.toLower()) {
            if (!isMark(character)) {
                folded.append(character);
            }
        }
        begin = end;
    }
    return folded;
}

} // namespace

QString foldForSearch(const QString& text) {
    const bool is_ascii = std::all_of(text.begin(), text.end(),
                                      [](QChar character) { return character.unicode() < 128; });
    return is_ascii ? text.simplified().toLower() : foldWord(text.simplified());
}

QStringList searchWords(const QString& query) {
    return foldForSearch(query).split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

QString excerptAround(const QString& text, const QStringList& words) {
    const QString line = text.simplified();
    // Folding can change the length, so it is done piece by piece, with the place each came from.
    QString folded;
    std::vector<qsizetype> origin;
    for (qsizetype i = 0; i < line.size();) {
        const qsizetype length = line.at(i).isHighSurrogate() && i + 1 < line.size() ? 2 : 1;
        const QString piece = foldWord(line.mid(i, length));
        folded += piece;
        origin.insert(origin.end(), static_cast<size_t>(piece.size()), i);
        i += length;
    }
    qsizetype found = -1;
    for (const QString& word : words) {
        const qsizetype place = folded.indexOf(word);
        if (place >= 0 && (found < 0 || place < found)) {
            found = place;
        }
    }
    if (found < 0) {
        return {};
    }
    const qsizetype match = origin.at(static_cast<size_t>(found));
    qsizetype start = std::max<qsizetype>(0, match - kExcerptBefore);
    if (start > 0) {
        const qsizetype space = line.indexOf(QLatin1Char(' '), start);
        start = space >= 0 && space < match ? space + 1 : match;
    }
    qsizetype end = std::min(line.size(), start + kExcerptLength);
    if (end < line.size()) {
        const qsizetype space = line.lastIndexOf(QLatin1Char(' '), end);
        if (space > match + words.first().size()) {
            end = space;
        } else if (line.at(end - 1).isHighSurrogate()) {
            --end;
        }
    }
    QString excerpt = line.mid(start, end - start);
    if (start > 0) {
        excerpt.prepend(QChar(0x2026));
    }
    if (end < line.size()) {
        excerpt.append(QChar(0x2026));
    }
    return excerpt;
}

} // namespace app
