// SPDX-License-Identifier: Apache-2.0
// The block part of Markdown, made for text that arrives piece by piece: append() looks again only
// at the last block, so that a reply of any length costs the same per token. Knows paragraphs,
// headings, nested lists, quotes, fenced code, formulas over several lines, tables and rules;
// everything else (HTML, references, indented code) is shown as it is written. Long paragraphs,
// headings and code are cut into pieces that are drawn without a gap, so that no single block is
// expensive to lay out; a very long line is read in parts, and what has more blocks or cells than
// anybody reads is shown as it is written. No widgets.
#pragma once

#include <QString>
#include <QStringList>

#include <cstdint>
#include <memory>
#include <vector>

namespace ui {

struct MarkdownBlock {
    enum class Kind : uint8_t { Paragraph = 1, Heading, Code, Table, Rule };
    Kind kind = Kind::Paragraph;
    QString text;              ///< Inline source; for code the lines themselves.
    int level = 0;             ///< Heading: 1 to 6.
    int indent = 0;            ///< Depth in lists: 0 = none.
    int quotes = 0;            ///< Depth of block quotes.
    QString marker;            ///< First block of a list item: "•", "3.", "☐", "☑".
    QString language;          ///< Code: the word behind the fence.
    bool joins = false;        ///< Goes on where the block before stopped (long code or paragraph).
    bool is_same_line = false; ///< Code that joins: within a line.
    bool is_math = false;      ///< Code: a formula.
    bool is_open = false;      ///< Code whose closing fence has not come yet.
    std::vector<QStringList> rows;             ///< Table: the first one is the head.
    std::vector<Qt::AlignmentFlag> alignments; ///< Table: per column.
};

struct MathNode;
/// The formula that is all of a block, to be drawn in a line of its own; else null.
std::shared_ptr<const MathNode> displayFormula(const MarkdownBlock& block);

class MarkdownParser {
public:
    void clear();
    /// Adds text at the end. Afterwards blocks before firstChanged() are as they were.
    void append(const QString& text);
    [[nodiscard]] const std::vector<MarkdownBlock>& blocks() const { return blocks_; }
    [[nodiscard]] size_t firstChanged() const { return first_changed_; }
    [[nodiscard]] const QString& source() const { return source_; }

    static constexpr qsizetype kLongestParagraph = 3000; ///< UTF-16 units before a cut.
    static constexpr int kLongestCode = 40;              ///< Lines before a cut.
    static constexpr int kLongestTable = 60;             ///< Rows before a cut.
    static constexpr qsizetype kLongestLine = 16'000;    ///< UTF-16 units that are read at once.
    static constexpr size_t kMostBlocks = 50'000;        ///< What follows is read no more.
    static constexpr qsizetype kMostCells = 200'000;     ///< The same, of all tables.
    static constexpr qsizetype kMostColumns = 256;
    static constexpr int kDeepest = 32; ///< Lists and quotes that are shown inside of each other.

private:
    /// What the lines before a place mean for the line at it.
    struct State {
        std::vector<int> list_columns; ///< Where the content of each open list item starts.
        QChar fence;                   ///< Null outside fenced code.
        int fence_length = 0, fence_indent = 0;
        QString language;
        QString math_end; ///< What ends the formula that is open; empty outside.
        bool is_in_paragraph = false;
        bool is_after_blank = true;
        bool is_in_line = false; ///< The line before is cut and goes on here.
        bool is_plain = false;   ///< There are too many blocks or cells.
        int quotes = 0;
        qsizetype cells = 0; ///< Cells of all tables so far.
    };
    void parseFrom(qsizetype position);
    /// Behind the line that begins at `from`, its line feed left out, or where it is cut.
    [[nodiscard]] qsizetype lineEnd(qsizetype from) const;
    void line(const QString& text, const QString& next);
    /// What is behind a cut.
    void restOfLine(const QString& text);
    void plainLine(const QString& text);
    void codeLine(const QString& text);
    /// `goes_on`: it is no line of its own.
    void codeText(const QString& text, bool goes_on = false);
    /// False where `text` is not the first line of a formula of several lines.
    bool startsMath(const QString& text);
    void mathLine(const QString& text);
    bool startsTable(const QString& text, const QString& next);
    // Take a line without quotes and indent (`bare`) if it is such a one.
    bool startsFence(const QString& bare, int columns);
    bool startsHeading(const QString& bare);
    bool goesOnInTable(const QString& bare);
    bool goesOnInParagraph(const QString& bare);
    /// What stands behind the marker, which is shown as `marker`.
    void listItem(QString content, const QString& marker);
    /// Paragraphs or headings of at most kLongestParagraph; all but the first join, or all.
    void addPieces(const MarkdownBlock& like, const QString& text, bool joins);
    void addRow(QStringList cells);
    /// Begins again here when more text comes.
    void resumeHere();
    MarkdownBlock& open(MarkdownBlock::Kind kind);

    QString source_;
    std::vector<MarkdownBlock> blocks_;
    State state_;
    qsizetype line_start_ = 0;
    // Where to begin again: the start of the last block and the state there.
    qsizetype resume_position_ = 0;
    State resume_state_;
    size_t resume_blocks_ = 0;  ///< Blocks before that place.
    MarkdownBlock resume_last_; ///< The last of them, before later lines were added to it.
    State line_state_;          ///< Before the current line.
    size_t first_changed_ = 0;
};

} // namespace ui
