// SPDX-License-Identifier: Apache-2.0
// The inline part of Markdown: emphasis, code spans, links, strike-through, escapes. Takes the text
// of one block and gives the text to show with the ranges that look different. Follows CommonMark's
// delimiter rules as far as models write them; leaves out HTML, references and footnotes, which
// stay as typed. A formula in LaTeX is one unit of the text, to be drawn there; one that is not
// understood stays as it is, in the style of code. Pure functions, no widgets.
#pragma once

#include <QHash>
#include <QString>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace ui {

struct MathNode;

/// Stands in a text where a formula is drawn.
inline constexpr QChar kFormulaUnit(QChar::ObjectReplacementCharacter);

struct InlineSpan {
    enum Style : uint8_t { Bold = 1, Italic = 2, Code = 4, Strike = 8, Link = 16, Math = 32 };
    qsizetype start = 0, length = 0; ///< In UTF-16 units of InlineText::text.
    uint8_t styles = 0;              ///< Bits of Style.
    QString url;                     ///< With Link: http, https or mailto only. Math: its source.
    std::shared_ptr<const MathNode> math = nullptr;
};

/// What a formula without dollars or brackets around it begins with.
inline constexpr QLatin1String kMathBegin("\\begin{");

struct InlineText {
    QString text;                  ///< What is shown: markers removed.
    std::vector<InlineSpan> spans; ///< In order, without overlap.
};

/// Line feeds in `source` stay line breaks (as QChar::LineSeparator), because models mean them so.
InlineText parseInline(const QString& source);
/// The same of a cell, whose marks are not read where it is longer than any that is meant as one.
InlineText parseCell(const QString& source);
/// The name that `text` begins with, up to a brace: "a}..." gives "a". Empty where there is none or
/// it is too long.
QStringView mathName(QStringView text);

/// Where formulas end. Remembers that no end follows: a text of nothing but beginnings is searched
/// once.
class MathEnds {
public:
    explicit MathEnds(const QString& source) : source_(source) {}
    /// Behind the end of the formula that begins at `at`, or -1: \( \), \[ \], $$ $$, $ $ on one
    /// line where the dollars are no prices, and \begin{x} \end{x}. Ask from left to right.
    qsizetype endAt(qsizetype at);

private:
    static constexpr qsizetype kNowhere = std::numeric_limits<qsizetype>::max();
    qsizetype closedBy(qsizetype from, QStringView closing, qsizetype& none_from) const;
    qsizetype dollarEnd(qsizetype at);
    qsizetype namedEnd(qsizetype at);

    const QString& source_;
    qsizetype no_dollars_ = kNowhere, no_round_ = kNowhere, no_square_ = kNowhere;
    qsizetype no_dollar_before_ = 0; ///< No single dollar up to here has an end.
    bool has_ends_ = false;
    QHash<QString, std::vector<qsizetype>> ends_; ///< Behind "\end{", by name.
};

/// The same text without any marks, for copies as plain text of things that are not Markdown.
InlineText plainInline(const QString& source);

} // namespace ui
