// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/markdown_blocks.h"

#include "ui/chat/markdown_inline.h"
#include "ui/chat/math_parse.h"

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
    MathEnds math(row);
    for (qsizetype i = 0; i < row.size(); ++i) {
        if (const qsizetype end = math.endAt(i); end > 0) {
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
    QStringView rest(*text);
    for (QStringView bare = rest.trimmed(); bare.startsWith(QLatin1Char('>'));
         bare = rest.trimmed()) {
        ++quotes;
        rest = bare.mid(bare.mid(1).startsWith(QLatin1Char(' ')) ? 2 : 1);
    }
    if (quotes > 0) {
        *text = rest.toString();
    }
    return quotes;
}

} // namespace

std::shared_ptr<const MathNode> displayFormula(const MarkdownBlock& block) {
    const bool is_closed = block.is_math && !block.is_open && !block.joins;
    const bool is_alone = block.kind == MarkdownBlock::Kind::Paragraph && block.marker.isEmpty() &&
                          isDisplayMath(block.text) &&
                          MathEnds(block.text).endAt(0) == block.text.size();
    return is_closed || is_alone ? parseMath(block.text) : nullptr;
}

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
        const qsizetype end = lineEnd(line_start_);
        const bool is_cut = end < source_.size() && source_.at(end) != QLatin1Char('\n');
        line_state_ = state_;
        QString text = source_.mid(line_start_, end - line_start_);
        if (!is_cut && text.endsWith(QLatin1Char('\r'))) {
            text.chop(1);
        }
        state_.is_in_line = false;
        if (blocks_.size() >= kMostBlocks || state_.cells >= kMostCells) {
            plainLine(text);
        } else if (line_state_.is_in_line) {
            restOfLine(text);
        } else {
            const qsizetype next = std::min(end + 1, source_.size());
            line(text, is_cut ? QString() : source_.mid(next, lineEnd(next) - next));
        }
        state_.is_in_line = is_cut;
        line_start_ = is_cut ? end : end + 1;
    }
    const bool is_same =
        kept == 0 ||
        (blocks_[kept - 1].text == shown.text && blocks_[kept - 1].rows == shown.rows &&
         blocks_[kept - 1].kind == shown.kind && blocks_[kept - 1].is_open == shown.is_open);
    first_changed_ = is_same ? kept : kept - 1;
}

qsizetype MarkdownParser::lineEnd(qsizetype from) const {
    const QStringView text = QStringView(source_).mid(from, kLongestLine + 1);
    const qsizetype end = text.indexOf(QLatin1Char('\n'));
    if (end >= 0 || text.size() <= kLongestLine) {
        return from + (end >= 0 ? end : text.size());
    }
    const qsizetype space = text.lastIndexOf(QLatin1Char(' '), kLongestLine - 1);
    const qsizetype cut = space < kLongestLine / 2 ? kLongestLine : space + 1;
    return from + (text.at(cut - 1).isHighSurrogate() ? cut - 1 : cut);
}

void MarkdownParser::resumeHere() {
    if (resume_position_ != line_start_ || resume_blocks_ > blocks_.size()) {
        resume_position_ = line_start_;
        resume_state_ = line_state_;
        resume_blocks_ = blocks_.size();
        resume_last_ = blocks_.empty() ? MarkdownBlock() : blocks_.back();
    }
}

MarkdownBlock& MarkdownParser::open(MarkdownBlock::Kind kind) {
    resumeHere();
    MarkdownBlock block;
    block.kind = kind;
    block.indent = static_cast<int>(std::min<size_t>(state_.list_columns.size(), kDeepest));
    block.quotes = std::min(state_.quotes, kDeepest);
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

void MarkdownParser::codeText(const QString& text, bool goes_on) {
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
        block.is_same_line = goes_on;
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
    } else if (!goes_on) {
        block.text += QLatin1Char('\n');
    }
    block.text += text;
}

void MarkdownParser::restOfLine(const QString& text) {
    resumeHere(); // what the line is, is known
    if (!state_.fence.isNull()) {
        codeText(text, true);
    } else if (!state_.math_end.isEmpty()) {
        codeText(text, true);
        if (text.contains(state_.math_end)) {
            state_.math_end.clear();
            blocks_.back().is_open = false;
        }
    } else if (!text.trimmed().isEmpty()) {
        MarkdownBlock like;
        if (!blocks_.empty() && blocks_.back().kind == MarkdownBlock::Kind::Heading) {
            like.kind = MarkdownBlock::Kind::Heading;
            like.level = blocks_.back().level;
        }
        addPieces(like, text, true);
        state_.is_in_paragraph = like.kind == MarkdownBlock::Kind::Paragraph;
    }
}

void MarkdownParser::plainLine(const QString& text) {
    if (!state_.is_plain) {
        if (!blocks_.empty()) {
            blocks_.back().is_open = false;
        }
        const qsizetype cells = state_.cells;
        state_ = State();
        state_.cells = cells;
        state_.is_plain = true;
        addPieces({}, text, false);
    } else {
        (void)goesOnInParagraph(text);
    }
    state_.is_in_paragraph = true;
}

bool MarkdownParser::startsMath(const QString& text) {
    const QString bare = text.trimmed();
    QString end;
    if (bare.startsWith(QLatin1String("$$")) && !bare.startsWith(QLatin1String("$$$"))) {
        end = QStringLiteral("$$");
    } else if (bare.startsWith(QLatin1String("\\["))) {
        end = QStringLiteral("\\]");
    } else if (bare.startsWith(kMathBegin)) {
        const QStringView name = mathName(QStringView(bare).mid(kMathBegin.size()));
        end = name.isEmpty() ? QString() : QStringLiteral("\\end{%1}").arg(name);
    }
    // In one line it is a part of the paragraph.
    if (end.isEmpty() || bare.indexOf(end, 2) >= 0) {
        return false;
    }
    MarkdownBlock& block = open(MarkdownBlock::Kind::Code);
    block.language = QStringLiteral("LaTeX");
    block.is_math = true;
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
    return !alignments.empty() && static_cast<qsizetype>(alignments.size()) <= kMostColumns &&
           static_cast<qsizetype>(alignments.size()) == cellsOf(text).size();
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
    QString text = bare.mid(level).trimmed();
    while (text.endsWith(QLatin1Char('#'))) {
        text.chop(1);
    }
    MarkdownBlock like;
    like.kind = MarkdownBlock::Kind::Heading;
    like.level = level;
    addPieces(like, text.trimmed(), false);
    return true;
}

void MarkdownParser::listItem(QString content, const QString& marker) {
    MarkdownBlock like;
    like.marker = marker;
    for (const auto& [mark, sign] : {std::pair(QStringLiteral("[ ] "), QChar(0x2610)),
                                     std::pair(QStringLiteral("[x] "), QChar(0x2611)),
                                     std::pair(QStringLiteral("[X] "), QChar(0x2611))}) {
        if (content.startsWith(mark)) {
            content.remove(0, mark.size());
            like.marker = QString(sign);
        }
    }
    addPieces(like, content.trimmed(), false);
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
    QStringList cells = cellsOf(bare);
    cells.resize(static_cast<qsizetype>(table.alignments.size()));
    if (static_cast<int>(table.rows.size()) > kLongestTable ||
        line_start_ - resume_position_ > kLongestLine) {
        // A long table goes on in another one, with the head repeated as in print.
        const QStringList head = table.rows.front();
        const auto alignments = table.alignments;
        MarkdownBlock& next_table = open(MarkdownBlock::Kind::Table);
        next_table.joins = true;
        next_table.alignments = alignments;
        addRow(head);
    }
    addRow(std::move(cells));
    return true;
}

void MarkdownParser::addRow(QStringList cells) {
    state_.cells += cells.size();
    blocks_.back().rows.push_back(std::move(cells));
}

bool MarkdownParser::goesOnInParagraph(const QString& bare) {
    if (!state_.is_in_paragraph || blocks_.empty() ||
        blocks_.back().kind != MarkdownBlock::Kind::Paragraph) {
        return false;
    }
    if (std::max(blocks_.back().text.size(), bare.size()) > kLongestParagraph) {
        addPieces({}, bare, true);
    } else {
        blocks_.back().text += QLatin1Char('\n') + bare;
    }
    return true;
}

void MarkdownParser::addPieces(const MarkdownBlock& like, const QString& text, bool joins) {
    QString rest = text;
    do { // between words, as far as there are any
        qsizetype cut = rest.size();
        if (cut > kLongestParagraph) {
            cut = rest.lastIndexOf(QLatin1Char(' '), kLongestParagraph);
            cut = cut < kLongestParagraph / 2 ? kLongestParagraph : cut;
            if (rest.at(cut - 1).isHighSurrogate()) {
                --cut;
            }
        }
        MarkdownBlock& block = open(like.kind);
        block.level = like.level;
        block.marker = joins ? QString() : like.marker;
        block.joins = joins;
        block.text = rest.left(cut).trimmed();
        rest = rest.mid(cut).trimmed();
        joins = true;
    } while (!rest.isEmpty());
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
        resumeHere(); // nothing goes on behind it
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
        (void)open(MarkdownBlock::Kind::Table);
        addRow(cellsOf(bare));
        return;
    }
    if (!goesOnInParagraph(bare)) {
        addPieces({}, bare, false);
    }
    state_.is_in_paragraph = true;
}

} // namespace ui
