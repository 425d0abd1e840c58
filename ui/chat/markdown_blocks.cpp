// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/markdown_blocks.h"

#include "ui/chat/markdown_inline.h"

#include <algorithm>

namespace ui {

namespace {

int indentOf(const QString& text) {
    int columns = 0;
    for (const QChar c : text) {
        if (c == QLatin1Char(' ')) {
            ++columns;
        } else if (c == QLatin1Char('\t')) {
            columns += 4 - columns % 4;
        } else {
            break;
        }
    }
    return columns;
}

QString withoutIndent(const QString& text, int columns) {
    qsizetype at = 0;
    int passed = 0;
    while (at < text.size() && passed < columns) {
        if (text.at(at) == QLatin1Char(' ')) {
            ++passed;
        } else if (text.at(at) == QLatin1Char('\t')) {
            passed += 4 - passed % 4;
        } else {
            break;
        }
        ++at;
    }
    return text.mid(at);
}

struct Fence {
    QChar character;
    int length = 0;
    QString language;
};

/// `text` without indent. Backticks or tildes, three or more, then the language.
Fence fenceOf(const QString& text) {
    Fence fence;
    if (text.isEmpty() || (text.at(0) != QLatin1Char('`') && text.at(0) != QLatin1Char('~'))) {
        return fence;
    }
    int length = 0;
    while (length < text.size() && text.at(length) == text.at(0)) {
        ++length;
    }
    const QString rest = text.mid(length).trimmed();
    if (length < 3 || (text.at(0) == QLatin1Char('`') && rest.contains(QLatin1Char('`')))) {
        return fence;
    }
    fence.character = text.at(0);
    fence.length = length;
    fence.language = rest.section(QLatin1Char(' '), 0, 0);
    return fence;
}

int headingLevel(const QString& text) {
    int level = 0;
    while (level < text.size() && text.at(level) == QLatin1Char('#')) {
        ++level;
    }
    const bool is_heading =
        level >= 1 && level <= 6 && (level == text.size() || text.at(level) == QLatin1Char(' '));
    return is_heading ? level : 0;
}

bool isRule(const QString& text) {
    const QString plain = QString(text).remove(QLatin1Char(' '));
    if (plain.size() < 3) {
        return false;
    }
    const QChar c = plain.at(0);
    return (c == QLatin1Char('-') || c == QLatin1Char('*') || c == QLatin1Char('_')) &&
           plain.count(c) == plain.size();
}

struct Marker {
    int width = 0; ///< Columns up to the content; 0 = no list item.
    QString shown;
};

/// `text` without indent.
Marker markerOf(const QString& text) {
    Marker marker;
    qsizetype at = 0;
    if (!text.isEmpty() && QStringLiteral("-*+").contains(text.at(0))) {
        marker.shown = QString(QChar(0x2022));
        at = 1;
    } else {
        while (at < text.size() && at < 9 && text.at(at) >= QLatin1Char('0') &&
               text.at(at) <= QLatin1Char('9')) {
            ++at;
        }
        if (at == 0 || at >= text.size() ||
            (text.at(at) != QLatin1Char('.') && text.at(at) != QLatin1Char(')'))) {
            return {};
        }
        ++at;
        marker.shown = text.left(at);
    }
    if (at < text.size() && text.at(at) != QLatin1Char(' ') && text.at(at) != QLatin1Char('\t')) {
        return {};
    }
    const int spaces = indentOf(text.mid(at));
    marker.width = static_cast<int>(at) + (spaces >= 1 && spaces <= 4 ? spaces : 1);
    return marker;
}

QStringList cellsOf(const QString& text) {
    QString row = text.trimmed();
    if (row.startsWith(QLatin1Char('|'))) {
        row.remove(0, 1);
    }
    if (row.endsWith(QLatin1Char('|')) && !row.endsWith(QLatin1String("\\|"))) {
        row.chop(1);
    }
    QStringList cells;
    QString cell;
    for (qsizetype i = 0; i < row.size(); ++i) {
        if (const qsizetype end = mathEnd(row, i); end > 0) {
            cell += row.mid(i, end - i); // its bars are no edges of cells
            i = end - 1;
        } else if (row.at(i) == QLatin1Char('\\') && i + 1 < row.size() &&
                   row.at(i + 1) == QLatin1Char('|')) {
            cell += QLatin1Char('|');
            ++i;
        } else if (row.at(i) == QLatin1Char('|')) {
            cells.append(cell.trimmed());
            cell.clear();
        } else {
            cell += row.at(i);
        }
    }
    cells.append(cell.trimmed());
    return cells;
}

/// Alignments if this is the line under a table's head, else nothing.
std::vector<Qt::AlignmentFlag> delimiterRow(const QString& text) {
    std::vector<Qt::AlignmentFlag> alignments;
    if (!text.contains(QLatin1Char('-'))) {
        return {};
    }
    for (const QString& cell : cellsOf(text)) {
        QString dashes = cell;
        const bool is_left = dashes.startsWith(QLatin1Char(':'));
        const bool is_right = dashes.endsWith(QLatin1Char(':'));
        dashes.remove(QLatin1Char(':'));
        if (dashes.isEmpty() || dashes.count(QLatin1Char('-')) != dashes.size()) {
            return {};
        }
        alignments.push_back(is_left && is_right ? Qt::AlignHCenter
                             : is_right          ? Qt::AlignRight
                                                 : Qt::AlignLeft);
    }
    return alignments;
}

/// Takes "> > " off the beginning; returns how many there were.
int takeQuotes(QString* text) {
    int quotes = 0;
    for (QString bare = text->trimmed(); bare.startsWith(QLatin1Char('>'));
         bare = text->trimmed()) {
        ++quotes;
        *text = bare.mid(1);
        if (text->startsWith(QLatin1Char(' '))) {
            text->remove(0, 1);
        }
    }
    return quotes;
}

} // namespace

void MarkdownParser::clear() {
    *this = MarkdownParser();
}

void MarkdownParser::append(const QString& text) {
    source_ += text;
    parseFrom(resume_position_);
}

void MarkdownParser::parseFrom(qsizetype position) {
    // Everything from the last block on is made again; a block that joins keeps its forerunner.
    state_ = resume_state_;
    const size_t kept = resume_blocks_;
    blocks_.resize(kept);
    // A line that opened a block may turn out to go on with the one before it.
    const MarkdownBlock shown = kept > 0 ? blocks_.back() : MarkdownBlock();
    if (kept > 0) {
        blocks_.back() = resume_last_;
    }
    line_start_ = position;
    while (line_start_ < source_.size()) {
        qsizetype end = source_.indexOf(QLatin1Char('\n'), line_start_);
        const bool is_last = end < 0;
        if (is_last) {
            end = source_.size();
        }
        QString next;
        if (!is_last) {
            const qsizetype next_end = source_.indexOf(QLatin1Char('\n'), end + 1);
            next = source_.mid(end + 1, (next_end < 0 ? source_.size() : next_end) - end - 1);
        }
        line_state_ = state_;
        QString text = source_.mid(line_start_, end - line_start_);
        if (text.endsWith(QLatin1Char('\r'))) {
            text.chop(1);
        }
        line(text, next);
        line_start_ = end + 1;
    }
    const bool is_same =
        kept == 0 ||
        (blocks_[kept - 1].text == shown.text && blocks_[kept - 1].rows == shown.rows &&
         blocks_[kept - 1].kind == shown.kind && blocks_[kept - 1].is_open == shown.is_open);
    first_changed_ = is_same ? kept : kept - 1;
}

MarkdownBlock& MarkdownParser::open(MarkdownBlock::Kind kind) {
    if (resume_position_ != line_start_ || resume_blocks_ > blocks_.size()) {
        resume_position_ = line_start_;
        resume_state_ = line_state_;
        resume_blocks_ = blocks_.size();
        resume_last_ = blocks_.empty() ? MarkdownBlock() : blocks_.back();
    }
    MarkdownBlock block;
    block.kind = kind;
    block.indent = static_cast<int>(state_.list_columns.size());
    block.quotes = state_.quotes;
    state_.is_in_paragraph = false;
    blocks_.push_back(block);
    return blocks_.back();
}

void MarkdownParser::codeLine(const QString& text) {
    const QString bare = text.trimmed();
    const Fence fence = fenceOf(bare);
    if (fence.character == state_.fence && fence.length >= state_.fence_length &&
        fence.language.isEmpty()) {
        state_.fence = {};
        state_.is_after_blank = false;
        if (!blocks_.empty()) {
            blocks_.back().is_open = false;
        }
        return;
    }
    codeText(withoutIndent(text, state_.fence_indent));
}

void MarkdownParser::codeText(const QString& text) {
    const bool continues = !blocks_.empty() && blocks_.back().kind == MarkdownBlock::Kind::Code &&
                           blocks_.back().is_open;
    if (!continues || blocks_.back().text.count(QLatin1Char('\n')) >= kLongestCode - 1 ||
        blocks_.back().text.size() > 2 * kLongestParagraph) {
        const bool is_first_line = continues && blocks_.back().text.isNull();
        if (continues && !is_first_line) {
            blocks_.back().is_open = false;
        }
        MarkdownBlock& block = open(MarkdownBlock::Kind::Code);
        block.joins = true;
        block.is_open = true;
        block.language = state_.language;
        block.text = text;
        if (block.text.isNull()) {
            block.text = QLatin1String("");
        }
        return;
    }
    MarkdownBlock& block = blocks_.back();
    if (block.text.isNull()) {
        block.text = QLatin1String("");
    } else {
        block.text += QLatin1Char('\n');
    }
    block.text += text;
}

bool MarkdownParser::startsMath(const QString& text) {
    const QString bare = text.trimmed();
    QString end;
    if (bare.startsWith(QLatin1String("$$")) && !bare.startsWith(QLatin1String("$$$"))) {
        end = QStringLiteral("$$");
    } else if (bare.startsWith(QLatin1String("\\["))) {
        end = QStringLiteral("\\]");
    } else if (bare.startsWith(kMathBegin) && bare.contains(QLatin1Char('}'))) {
        end = QStringLiteral("\\end{") +
              bare.mid(kMathBegin.size()).section(QLatin1Char('}'), 0, 0) + QLatin1Char('}');
    }
    // In one line it is a part of the paragraph.
    if (end.isEmpty() || bare.indexOf(end, 2) >= 0) {
        return false;
    }
    MarkdownBlock& block = open(MarkdownBlock::Kind::Code);
    block.language = QStringLiteral("LaTeX");
    block.is_open = true;
    block.text = bare;
    state_.fence_indent = indentOf(text);
    state_.language = block.language;
    state_.math_end = end;
    return true;
}

void MarkdownParser::mathLine(const QString& text) {
    // TeX allows no empty line in a formula: one that was never closed ends there.
    const bool is_empty = text.trimmed().isEmpty();
    if (!is_empty) {
        codeText(withoutIndent(text, state_.fence_indent));
    }
    if (is_empty || text.contains(state_.math_end)) {
        state_.math_end.clear();
        state_.is_after_blank = is_empty;
        blocks_.back().is_open = false;
    }
}

bool MarkdownParser::startsTable(const QString& text, const QString& next) {
    if (!text.contains(QLatin1Char('|')) || !next.contains(QLatin1Char('-'))) {
        return false;
    }
    const auto alignments = delimiterRow(next);
    return !alignments.empty() && static_cast<qsizetype>(alignments.size()) == cellsOf(text).size();
}

bool MarkdownParser::startsFence(const QString& bare, int columns) {
    const Fence fence = fenceOf(bare);
    if (fence.length == 0) {
        return false;
    }
    MarkdownBlock& block = open(MarkdownBlock::Kind::Code);
    block.language = fence.language;
    block.is_open = true;
    block.text = QString();
    state_.fence = fence.character;
    state_.fence_length = fence.length;
    state_.fence_indent = columns;
    state_.language = fence.language;
    return true;
}

bool MarkdownParser::startsHeading(const QString& bare) {
    const int level = headingLevel(bare);
    if (level == 0) {
        return false;
    }
    MarkdownBlock& block = open(MarkdownBlock::Kind::Heading);
    block.level = level;
    block.text = bare.mid(level).trimmed();
    while (block.text.endsWith(QLatin1Char('#'))) {
        block.text.chop(1);
    }
    block.text = block.text.trimmed();
    return true;
}

void MarkdownParser::listItem(QString content, const QString& marker) {
    MarkdownBlock& block = open(MarkdownBlock::Kind::Paragraph);
    block.marker = marker;
    for (const auto& [mark, sign] : {std::pair(QStringLiteral("[ ] "), QChar(0x2610)),
                                     std::pair(QStringLiteral("[x] "), QChar(0x2611)),
                                     std::pair(QStringLiteral("[X] "), QChar(0x2611))}) {
        if (content.startsWith(mark)) {
            content.remove(0, mark.size());
            block.marker = QString(sign);
        }
    }
    block.text = content.trimmed();
    state_.is_in_paragraph = true;
}

bool MarkdownParser::goesOnInTable(const QString& bare) {
    if (blocks_.empty() || line_start_ == 0 || blocks_.back().kind != MarkdownBlock::Kind::Table ||
        line_state_.is_after_blank || !bare.contains(QLatin1Char('|'))) {
        return false;
    }
    MarkdownBlock& table = blocks_.back();
    if (table.rows.size() == 1 && table.alignments.empty()) {
        table.alignments = delimiterRow(bare);
        return true;
    }
    if (static_cast<int>(table.rows.size()) > kLongestTable) {
        // A long table goes on in another one, with the head repeated as in print.
        const QStringList head = table.rows.front();
        const auto alignments = table.alignments;
        MarkdownBlock& next_table = open(MarkdownBlock::Kind::Table);
        next_table.joins = true;
        next_table.alignments = alignments;
        next_table.rows = {head, cellsOf(bare)};
        next_table.rows.back().resize(head.size());
        return true;
    }
    QStringList cells = cellsOf(bare);
    while (cells.size() < static_cast<qsizetype>(table.alignments.size())) {
        cells.append(QString());
    }
    cells.resize(static_cast<qsizetype>(table.alignments.size()));
    table.rows.push_back(cells);
    return true;
}

bool MarkdownParser::goesOnInParagraph(const QString& bare) {
    if (!state_.is_in_paragraph || blocks_.empty() ||
        blocks_.back().kind != MarkdownBlock::Kind::Paragraph) {
        return false;
    }
    if (blocks_.back().text.size() > kLongestParagraph) {
        MarkdownBlock& block = open(MarkdownBlock::Kind::Paragraph);
        block.joins = true;
        block.text = bare;
    } else {
        blocks_.back().text += QLatin1Char('\n') + bare;
    }
    return true;
}

/// A line longer than a block may be is cut between words.
void MarkdownParser::startParagraph(const QString& bare) {
    QString rest = bare;
    bool joins = false;
    while (!rest.isEmpty()) {
        qsizetype cut = rest.size();
        if (cut > kLongestParagraph) {
            cut = rest.lastIndexOf(QLatin1Char(' '), kLongestParagraph);
            cut = cut < kLongestParagraph / 2 ? kLongestParagraph : cut;
            if (rest.at(cut - 1).isHighSurrogate()) {
                --cut;
            }
        }
        MarkdownBlock& block = open(MarkdownBlock::Kind::Paragraph);
        block.joins = joins;
        block.text = rest.left(cut).trimmed();
        rest = rest.mid(cut).trimmed();
        joins = true;
    }
}

void MarkdownParser::line(const QString& full, const QString& next) {
    if (!state_.fence.isNull()) {
        codeLine(full);
        return;
    }
    QString text = full;
    const int quotes = takeQuotes(&text);
    if (!state_.math_end.isEmpty() && (quotes == state_.quotes || text.trimmed().isEmpty())) {
        mathLine(text);
        return;
    }
    state_.math_end.clear();
    if (text.trimmed().isEmpty()) {
        state_.is_in_paragraph = false;
        state_.is_after_blank = true;
        return;
    }
    const bool is_lazy = state_.is_in_paragraph && quotes == 0 && state_.quotes > 0 &&
                         markerOf(text.trimmed()).width == 0;
    if (!is_lazy && quotes != state_.quotes) {
        state_.quotes = quotes;
        state_.is_in_paragraph = false;
        state_.list_columns.clear();
    }
    // Leave the list items that this line is not indented for.
    const int columns = indentOf(text);
    const QString bare = text.trimmed();
    const Marker marker = isRule(bare) ? Marker{} : markerOf(bare);
    const bool continues_paragraph = state_.is_in_paragraph && marker.width == 0 &&
                                     headingLevel(bare) == 0 && fenceOf(bare).length == 0 &&
                                     !bare.startsWith(QLatin1String("$$")) &&
                                     !bare.startsWith(QLatin1String("\\[")) && !isRule(bare);
    if (!continues_paragraph) {
        while (!state_.list_columns.empty() && columns < state_.list_columns.back()) {
            state_.list_columns.pop_back();
        }
    }
    state_.is_after_blank = false;
    if (startsFence(bare, columns) || startsMath(text) || startsHeading(bare)) {
        return;
    }
    if (isRule(bare)) {
        (void)open(MarkdownBlock::Kind::Rule);
        return;
    }
    if (marker.width > 0) {
        state_.list_columns.push_back(columns + marker.width);
        const QString item = withoutIndent(text, columns);
        listItem(item.mid(std::min<qsizetype>(marker.width, item.size())), marker.shown);
        return;
    }
    if (goesOnInTable(bare)) {
        return;
    }
    if (startsTable(bare, next.trimmed())) {
        MarkdownBlock& block = open(MarkdownBlock::Kind::Table);
        block.rows.push_back(cellsOf(bare));
        return;
    }
    if (!goesOnInParagraph(bare)) {
        startParagraph(bare);
    }
    state_.is_in_paragraph = true;
}

} // namespace ui
