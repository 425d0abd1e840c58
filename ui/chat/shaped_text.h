// SPDX-License-Identifier: Apache-2.0
// One run of formatted text, wrapped to a width: a thin owner of QTextLayout that can be drawn with
// a selection and asked what is under a point. The colours of links and code spans are those of
// the theme at the time of shaping.
#pragma once

#include "ui/chat/markdown_inline.h"
#include "ui/chat/math_formula.h"
#include "ui/style/theme.h"

#include <QColor>
#include <QFont>
#include <QList>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <QTextLayout>

#include <memory>
#include <vector>

class QPainter;

namespace ui {

struct TextRange {
    qsizetype start = 0, length = 0;
};

/// What lies behind a text.
struct TextMarks {
    qsizetype selected_from = 0, selected_to = 0; ///< Equal: nothing selected.
    std::vector<TextRange> hits;                  ///< Found in the chat.
    qsizetype current_hit = -1;                   ///< Where the current one of them starts.
};

class ShapedText {
public:
    ShapedText() = default;
    ShapedText(InlineText text, const QFont& font, const QFont& code_font, double line_factor);

    /// Text that reads from the right begins at the right edge of the whole width, not only of its
    /// own longest line.
    void setFillsWidth(bool fills) { fills_width_ = fills; }
    [[nodiscard]] bool isRightToLeft() const { return text_.text.isRightToLeft(); }
    void setAlignment(Qt::Alignment alignment) { alignment_ = alignment; }
    /// Wraps to `width`, at word boundaries or, where nothing else fits, anywhere; returns the
    /// height. Units: device-independent pixels.
    double shape(double width);
    [[nodiscard]] double height() const { return height_; }
    /// Width of the longest line.
    [[nodiscard]] double naturalWidth() const { return natural_width_; }
    [[nodiscard]] const QString& text() const { return text_.text; }

    /// `marks` are those of a longer text that this one is a part of, from `start` on.
    void draw(QPainter& painter,
              const QPointF& position,
              const QColor& color,
              const TextMarks& marks = {},
              qsizetype start = 0) const;
    /// Position in the text nearest to a point relative to the top left corner.
    [[nodiscard]] qsizetype positionAt(const QPointF& point) const;
    /// Where a character stands: its left edge, the height of its line.
    [[nodiscard]] QRectF placeOf(qsizetype position) const;
    /// Address of the link under a point, or empty.
    [[nodiscard]] QString linkAt(const QPointF& point) const;
    /// Source of the formula at a place of the text, or under a point; empty where there is none.
    [[nodiscard]] QString formulaAt(qsizetype position) const;
    [[nodiscard]] QString formulaUnder(const QPointF& point) const;
    /// Where the next character would stand.
    [[nodiscard]] QPointF endPoint() const;
    [[nodiscard]] double lastLineHeight() const;

private:
    struct Formula {
        size_t span; ///< Its place in text_.spans.
        std::shared_ptr<const MathFormula> shape;
        double scale = 1.0;
    };
    [[nodiscard]] QList<QTextLayout::FormatRange> formats();
    void layFormulas(double width);
    [[nodiscard]] QPointF baselineOf(const Formula& formula) const;

    InlineText text_;
    std::vector<Formula> formulas_;
    std::vector<double> bottoms_; ///< Lower edges of the lines.
    QFont font_, code_font_;
    double line_factor_ = 1.35;
    Qt::Alignment alignment_ = Qt::AlignLeft;
    bool fills_width_ = false;
    std::unique_ptr<QTextLayout> layout_;
    double height_ = 0.0, natural_width_ = 0.0;
};

/// The backgrounds of `marks` in the part of the text that begins at `start`.
QList<QTextLayout::FormatRange>
markRanges(const TextMarks& marks, qsizetype start, qsizetype length);

} // namespace ui
