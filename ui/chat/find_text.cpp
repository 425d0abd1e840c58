// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/find_text.h"

#include "ui/chat/markdown_blocks.h"
#include "ui/chat/markdown_inline.h"
#include "ui/chat/math_parse.h"
#include "ui/chat/message_item.h"

#include <algorithm>

namespace ui {

namespace {

QChar foldedUnit(QChar unit) {
    if (unit.unicode() < 0x80) {
        return unit.isSpace() ? QLatin1Char(' ') : unit.toLower();
    }
    if (unit.isSpace()) {
        return QLatin1Char(' ');
    }
    const QString parts =
        unit.decompositionTag() == QChar::Canonical ? unit.decomposition() : QString();
    return (parts.isEmpty() || parts.at(0).isSurrogate() ? unit : parts.at(0)).toCaseFolded();
}

} // namespace

QString foldInPlace(const QString& text) {
    QString folded(text.size(), Qt::Uninitialized);
    std::transform(text.begin(), text.end(), folded.begin(), foldedUnit);
    return folded;
}

FindNeedle FindNeedle::phrase(const QString& text) {
    FindNeedle needle;
    const QString folded = foldInPlace(text.normalized(QString::NormalizationForm_C));
    if (!folded.trimmed().isEmpty()) {
        needle.words_.append(folded);
    }
    return needle;
}

FindNeedle FindNeedle::words(const QString& text) {
    FindNeedle needle;
    needle.words_ = foldInPlace(text.normalized(QString::NormalizationForm_C))
                        .split(QLatin1Char(' '), Qt::SkipEmptyParts);
    return needle;
}

std::vector<TextRange> FindNeedle::hitsIn(const QString& text) const {
    std::vector<TextRange> hits;
    if (words_.isEmpty() || text.isEmpty()) {
        return hits;
    }
    const QString folded = foldInPlace(text);
    for (const QString& word : words_) {
        for (qsizetype at = folded.indexOf(word); at >= 0;
             at = folded.indexOf(word, at + word.size())) {
            hits.push_back({at, word.size()});
        }
    }
    if (words_.size() > 1) {
        std::sort(hits.begin(), hits.end(), [](const TextRange& a, const TextRange& b) {
            return a.start != b.start ? a.start < b.start : a.length > b.length;
        });
        qsizetype end = 0;
        std::erase_if(hits, [&](const TextRange& hit) {
            const bool overlaps = hit.start < end;
            end = overlaps ? end : hit.start + hit.length;
            return overlaps;
        });
    }
    return hits;
}

QString shownText(const MarkdownBlock& block) {
    switch (block.kind) {
    case MarkdownBlock::Kind::Code:
        return plainInline(block.text).text;
    case MarkdownBlock::Kind::Table: {
        QStringList rows;
        for (const QStringList& row : block.rows) {
            QStringList cells;
            for (const QString& cell : row) {
                cells.append(parseCell(cell).text);
            }
            rows.append(cells.join(QLatin1Char('\t')));
        }
        return rows.join(QChar(QChar::LineSeparator));
    }
    case MarkdownBlock::Kind::Rule:
        return {};
    case MarkdownBlock::Kind::Paragraph:
    case MarkdownBlock::Kind::Heading:
        break;
    }
    return parseInline(block.text).text;
}

std::vector<QString> findableTexts(bool is_user, const QString& text) {
    if (is_user) {
        return plainPieces(text);
    }
    MarkdownParser parser;
    parser.append(text);
    std::vector<QString> texts;
    texts.reserve(parser.blocks().size());
    for (const MarkdownBlock& block : parser.blocks()) {
        texts.push_back(displayFormula(block) != nullptr ? QString(kFormulaUnit)
                                                         : shownText(block));
    }
    return texts;
}

} // namespace ui
