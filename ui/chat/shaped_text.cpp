// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/shaped_text.h"

#include "ui/chat/math_parse.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QTextCharFormat>
#include <QTextOption>

#include <algorithm>

namespace ui {

namespace {
constexpr QLatin1Char kFormulaLetter('i'); ///< Is laid out, unseen, where a formula is drawn.
} // namespace

ShapedText::ShapedText(InlineText text,
                       const QFont& font,
                       const QFont& code_font,
                       double line_factor)
    : text_(std::move(text)), font_(font), code_font_(code_font), line_factor_(line_factor) {}

/// What a formula takes in its line is the advance of a narrow letter, widened.
void ShapedText::layFormulas(double width) {
    formulas_.clear();
    for (size_t i = 0; i < text_.spans.size(); ++i) {
        const InlineSpan& span = text_.spans[i];
        if (span.math == nullptr) {
            continue;
        }
        Formula formula{i, MathFormula::make(*span.math, span.url, font_, isDisplayMath(span.url))};
        formula.scale = std::min(1.0, width / std::max(formula.shape->width() + 4.0, 1.0));
        formulas_.push_back(std::move(formula));
    }
}

QList<QTextLayout::FormatRange> ShapedText::formats() {
    const Theme& theme = Theme::current();
    QList<QTextLayout::FormatRange> ranges;
    ranges.reserve(static_cast<qsizetype>(text_.spans.size()));
    size_t formula = 0;
    for (const InlineSpan& span : text_.spans) {
        QTextLayout::FormatRange range;
        range.start = static_cast<int>(span.start);
        range.length = static_cast<int>(span.length);
        if ((span.styles & InlineSpan::Bold) != 0) {
            range.format.setFontWeight(QFont::DemiBold);
        }
        if ((span.styles & InlineSpan::Italic) != 0) {
            range.format.setFontItalic(true);
        }
        if ((span.styles & InlineSpan::Strike) != 0) {
            range.format.setFontStrikeOut(true);
        }
        if ((span.styles & InlineSpan::Code) != 0) {
            range.format.setFontFamilies(code_font_.families());
            range.format.setFontFixedPitch(true);
            range.format.setFontPointSize(code_font_.pointSizeF());
            range.format.setBackground(theme.code_background);
        }
        if ((span.styles & InlineSpan::Link) != 0) {
            range.format.setForeground(theme.accent);
            range.format.setFontUnderline(true);
        }
        if (span.math != nullptr) {
            const Formula& one = formulas_[formula++];
            const double letter = QFontMetricsF(font_).horizontalAdvance(kFormulaLetter);
            range.format = QTextCharFormat();
            range.format.setForeground(QColor(0, 0, 0, 0));
            range.format.setFontLetterSpacingType(QFont::AbsoluteSpacing);
            range.format.setFontLetterSpacing(one.shape->width() * one.scale + 2.0 - letter);
        }
        ranges.append(range);
    }
    return ranges;
}

double ShapedText::shape(double width) {
    layFormulas(width);
    QString text = text_.text;
    for (const Formula& formula : formulas_) {
        text[text_.spans[formula.span].start] = kFormulaLetter;
    }
    layout_ = std::make_unique<QTextLayout>(text, font_);
    QTextOption option(alignment_);
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    option.setTextDirection(Qt::LayoutDirectionAuto);
    option.setTabStopDistance(QFontMetricsF(font_).horizontalAdvance(QLatin1Char(' ')) * 4);
    layout_->setTextOption(option);
    layout_->setCacheEnabled(true);
    layout_->setFormats(formats());
    height_ = 0.0;
    natural_width_ = 0.0;
    bottoms_.clear();
    size_t formula = 0;
    layout_->beginLayout();
    while (true) {
        QTextLine line = layout_->createLine();
        if (!line.isValid()) {
            break;
        }
        line.setLineWidth(std::max(width, 1.0));
        const double extra = line.height() * (line_factor_ - 1.0);
        double above = 0.0, below = 0.0; // what formulas need more
        for (; formula < formulas_.size() &&
               text_.spans[formulas_[formula].span].start < line.textStart() + line.textLength();
             ++formula) {
            const Formula& one = formulas_[formula];
            above = std::max(above, one.shape->ascent() * one.scale - line.ascent());
            below = std::max(below, one.shape->descent() * one.scale - line.descent());
        }
        line.setPosition({0.0, height_ + extra / 2.0 + above});
        height_ += line.height() + extra + above + below;
        bottoms_.push_back(height_);
        natural_width_ = std::max(natural_width_, line.naturalTextWidth());
    }
    layout_->endLayout();
    if (alignment_ == Qt::AlignLeft && text_.text.isRightToLeft()) {
        const double edge = fills_width_ ? width : natural_width_;
        for (int i = 0; i < layout_->lineCount(); ++i) {
            QTextLine line = layout_->lineAt(i);
            line.setPosition({std::max(0.0, edge - line.naturalTextWidth()), line.y()});
        }
    }
    return height_;
}

QPointF ShapedText::baselineOf(const Formula& formula) const {
    const auto at = static_cast<int>(text_.spans[formula.span].start);
    const QTextLine line = layout_->lineForTextPosition(at);
    return {std::min(line.cursorToX(at), line.cursorToX(at + 1)) + 1.0, line.y() + line.ascent()};
}

QString ShapedText::formulaAt(qsizetype position) const {
    for (const InlineSpan& span : text_.spans) {
        if (span.math != nullptr && span.start == position) {
            return span.url;
        }
    }
    return {};
}

QString ShapedText::formulaUnder(const QPointF& point) const {
    for (const Formula& one : formulas_) {
        const QPointF baseline = baselineOf(one);
        const QRectF place(baseline.x(), baseline.y() - one.shape->ascent() * one.scale,
                           one.shape->width() * one.scale,
                           (one.shape->ascent() + one.shape->descent()) * one.scale);
        if (place.adjusted(-2.0, -4.0, 2.0, 4.0).contains(point)) {
            return text_.spans[one.span].url;
        }
    }
    return {};
}

QList<QTextLayout::FormatRange>
markRanges(const TextMarks& marks, qsizetype start, qsizetype length) {
    const Theme& theme = Theme::current();
    QList<QTextLayout::FormatRange> ranges;
    const auto add = [&](qsizetype from, qsizetype to, const QColor& fill, const QColor& color) {
        from = std::max<qsizetype>(from - start, 0);
        to = std::min(to - start, length);
        if (to > from) {
            QTextLayout::FormatRange range;
            range.start = static_cast<int>(from);
            range.length = static_cast<int>(to - from);
            range.format.setBackground(fill);
            if (color.isValid()) {
                range.format.setForeground(color);
            }
            ranges.append(range);
        }
    };
    add(marks.selected_from, marks.selected_to, theme.selection, {});
    for (const TextRange& hit : marks.hits) {
        const bool is_current = hit.start == marks.current_hit;
        add(hit.start, hit.start + hit.length, is_current ? theme.found_current : theme.found,
            is_current ? theme.on_found_current : theme.text);
    }
    return ranges;
}

void ShapedText::draw(QPainter& painter,
                      const QPointF& position,
                      const QColor& color,
                      const TextMarks& marks,
                      qsizetype start) const {
    if (layout_ == nullptr) {
        return;
    }
    painter.setPen(color);
    // Lines that are not on the screen cost nothing.
    const QRectF screen(0.0, 0.0, painter.device()->width(), painter.device()->height());
    layout_->draw(&painter, position, markRanges(marks, start, text_.text.size()), screen);
    for (const Formula& one : formulas_) {
        one.shape->draw(painter, position + baselineOf(one), color, one.scale);
    }
}

QRectF ShapedText::placeOf(qsizetype position) const {
    if (layout_ == nullptr || layout_->lineCount() == 0) {
        return {};
    }
    const QTextLine line = layout_->lineForTextPosition(
        static_cast<int>(std::clamp<qsizetype>(position, 0, text_.text.size())));
    return {line.cursorToX(static_cast<int>(position)), line.y(), 1.0, line.height()};
}

qsizetype ShapedText::positionAt(const QPointF& point) const {
    if (layout_ == nullptr || layout_->lineCount() == 0) {
        return 0;
    }
    int index = layout_->lineCount() - 1;
    for (int i = 0; i < layout_->lineCount(); ++i) {
        if (point.y() < bottoms_[static_cast<size_t>(i)]) {
            index = i;
            break;
        }
    }
    return layout_->lineAt(index).xToCursor(point.x());
}

QString ShapedText::linkAt(const QPointF& point) const {
    if (layout_ == nullptr || point.y() < 0 || point.y() > height_) {
        return {};
    }
    const qsizetype position = positionAt(point);
    for (const InlineSpan& span : text_.spans) {
        if ((span.styles & InlineSpan::Link) == 0 || position < span.start ||
            position > span.start + span.length) {
            continue;
        }
        const QTextLine line = layout_->lineForTextPosition(static_cast<int>(position));
        const double from =
            line.cursorToX(static_cast<int>(std::max<qsizetype>(span.start, line.textStart())));
        const double to = line.cursorToX(static_cast<int>(
            std::min<qsizetype>(span.start + span.length, line.textStart() + line.textLength())));
        if (point.x() >= std::min(from, to) && point.x() <= std::max(from, to)) {
            return span.url;
        }
    }
    return {};
}

QPointF ShapedText::endPoint() const {
    if (layout_ == nullptr || layout_->lineCount() == 0) {
        return {0.0, 0.0};
    }
    const QTextLine line = layout_->lineAt(layout_->lineCount() - 1);
    return {line.cursorToX(static_cast<int>(text_.text.size())), line.y()};
}

double ShapedText::lastLineHeight() const {
    return layout_ == nullptr || layout_->lineCount() == 0
               ? QFontMetricsF(font_).height()
               : layout_->lineAt(layout_->lineCount() - 1).height();
}

} // namespace ui
