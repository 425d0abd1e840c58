// SPDX-License-Identifier: Apache-2.0
// Lines of code on a frame, coloured, as long as they are: what is wider than the message scrolls
// sideways. A long listing is several blocks that join and scroll together. A line is laid out and
// coloured when it is first drawn; while a reply is written a block takes over the lines that it
// had before.
#pragma once

#include "ui/chat/code_lexer.h"
#include "ui/chat/message_block.h"

#include <QTextLayout>

#include <memory>
#include <optional>
#include <vector>

namespace ui {

/// What the blocks of one listing share.
struct CodeListing {
    double offset = 0.0; ///< How far it is scrolled to the left.
    double widest = 0.0; ///< Line, as far as it is known.
};

class CodeBlock : public MessageBlock {
public:
    /// `before`: the block that this one goes on from, which lives as long; `former`: the same
    /// block when it had less text. Both may be null.
    CodeBlock(const MarkdownBlock& block,
              const ChatStyle& style,
              const CodeBlock* before,
              CodeBlock* former);
    void draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const override;
    BlockHit hit(const QPointF& point) const override;
    QString text() const override { return text_; }
    qsizetype positionAt(const QPointF& point) const override;
    QRectF placeOf(qsizetype position) const override;
    QRectF caret() const override;
    /// Begins within a line of the code before.
    [[nodiscard]] bool isSameLine() const { return is_same_line_; }
    [[nodiscard]] const std::shared_ptr<CodeListing>& listing() const { return listing_; }
    /// Scrolls the listing sideways; returns whether that moved it.
    bool scrollBy(double pixels);
    /// Brings a place of placeOf() into sight.
    void reveal(const QRectF& place);
    /// Pixels of the listing for one of the slider.
    [[nodiscard]] double sliderPace() const;
    bool is_last = true; ///< The next block does not go on with the same code.

protected:
    double doShape(double width) override;

private:
    /// A stretch of a line, laid out: of a very long one only what was seen is.
    struct Part {
        qsizetype start = 0, length = 0; ///< In the line.
        double x = 0.0, width = 0.0;
        std::unique_ptr<QTextLayout> layout;
    };
    struct Line {
        qsizetype start = 0, length = 0;
        LexState after;
        std::vector<CodeSpan> spans;
        std::vector<Part> parts; ///< From the left, as far as they were needed.
    };
    [[nodiscard]] double header() const { return joins_ ? 0.0 : 32.0; }
    [[nodiscard]] double inset() const;
    [[nodiscard]] double room() const;
    [[nodiscard]] double mostOffset() const;
    [[nodiscard]] QRectF slider(const QRectF& rect) const;
    void drawHeader(QPainter& painter, const QRectF& frame, const BlockPaint& paint) const;
    void takeLines(CodeBlock* former);
    void measure();
    /// Colours up to a line that is drawn. `reach`: how many blocks before may be coloured for it.
    void lexTo(size_t line, int reach) const;
    /// Lays out one part more of a line; false where there is none.
    bool addPart(size_t line) const;
    void layPart(Line& line, Part& part) const;
    /// The part that a unit of the line is in.
    const Part& partAt(size_t line, qsizetype position) const;
    [[nodiscard]] size_t lineOf(qsizetype position) const;

    QString text_;
    const CodeLanguage* syntax_;
    const CodeBlock* before_;
    std::shared_ptr<CodeListing> listing_;
    QString language_;
    QFont font_, small_;
    double line_height_;
    double unit_width_; ///< Every letter has this width.
    bool joins_ = false, is_same_line_ = false;
    int indent_ = 0;
    mutable std::vector<Line> lines_;
    mutable size_t lexed_ = 0; ///< Lines that have their colours.
};

} // namespace ui
