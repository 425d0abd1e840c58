// SPDX-License-Identifier: Apache-2.0
// One run of formatted text, wrapped to a width: a thin owner of QTextLayout that can be drawn with
// a selection and asked what is under a point. The colours of links and code spans are those of
// the theme at the time of shaping.
#pragma once

#include "ui/chat/markdown_inline.h"
#include "ui/style/theme.h"

#include <QColor>
#include <QFont>
#include <QPointF>
#include <QString>
#include <QTextLayout>

#include <memory>

class QPainter;

namespace ui {

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

    /// Draws with the text in [from, to) selected; from == to: nothing.
    void draw(QPainter& painter,
              const QPointF& position,
              const QColor& color,
              qsizetype from = 0,
              qsizetype to = 0) const;
    /// Position in the text nearest to a point relative to the top left corner.
    [[nodiscard]] qsizetype positionAt(const QPointF& point) const;
    /// Address of the link under a point, or empty.
    [[nodiscard]] QString linkAt(const QPointF& point) const;
    /// Where the next character would stand.
    [[nodiscard]] QPointF endPoint() const;
    [[nodiscard]] double lastLineHeight() const;

private:
    InlineText text_;
    QFont font_, code_font_;
    double line_factor_ = 1.35;
    Qt::Alignment alignment_ = Qt::AlignLeft;
    bool fills_width_ = false;
    std::unique_ptr<QTextLayout> layout_;
    double height_ = 0.0, natural_width_ = 0.0;
};

} // namespace ui
