// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/math_block.h"

#include <QPainter>

#include <algorithm>
#include <utility>

namespace ui {

namespace {
constexpr double kAround = 6.0;        ///< Above and below a formula.
constexpr double kSmallestScale = 0.6; ///< What had to be smaller is shown as source.
constexpr double kStepOfLists = 24.0;
} // namespace

MathBlock::MathBlock(std::shared_ptr<const MathNode> node,
                     const MarkdownBlock& block,
                     const ChatStyle& style)
    : node_(std::move(node)), source_text_(plainInline(block.text), style.code, style.code, 1.2),
      source_(block.text), font_(style.text), inset_(block.indent * kStepOfLists) {
    estimate(style.line_height * 2.0 + 2.0 * kAround);
}

double MathBlock::doShape(double width) {
    const double room = std::max(width - inset_, 1.0);
    formula_ = MathFormula::make(*node_, source_, font_, true);
    scale_ = std::min(1.0, room / std::max(formula_->width(), 1.0));
    if (scale_ < kSmallestScale) {
        formula_.reset();
        return source_text_.shape(room);
    }
    return (formula_->ascent() + formula_->descent()) * scale_ + 2.0 * kAround;
}

QRectF MathBlock::place(const QRectF& rect) const {
    if (formula_ == nullptr) {
        return rect.adjusted(inset_, 0.0, 0.0, 0.0);
    }
    const double width = formula_->width() * scale_;
    const double x = rect.x() + inset_ + (rect.width() - inset_ - width) / 2.0;
    return {x, rect.y(), width, rect.height()};
}

void MathBlock::draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const {
    const Theme& theme = Theme::current();
    const QRectF whole = place(rect);
    if (paint.selected_to > paint.selected_from) {
        painter.fillRect(whole.adjusted(-4.0, 0.0, 4.0, 0.0), theme.selection);
    }
    if (formula_ == nullptr) {
        source_text_.draw(painter, whole.topLeft(), theme.text);
        return;
    }
    const QPointF baseline(whole.x(), whole.y() + kAround + formula_->ascent() * scale_);
    formula_->draw(painter, baseline, theme.text, scale_);
}

BlockHit MathBlock::hit(const QPointF& point) const {
    BlockHit result;
    result.kind = BlockHit::Kind::Text;
    if (place({0.0, 0.0, extent, height() - gap_above}).contains(point)) {
        result.value = source_;
    }
    return result;
}

QString MathBlock::formulaAt(qsizetype position) const {
    return position == 0 ? source_ : QString();
}

qsizetype MathBlock::positionAt(const QPointF& point) const {
    return point.x() < inset_ + (extent - inset_) / 2.0 ? 0 : 1;
}

QRectF MathBlock::placeOf(qsizetype position) const {
    Q_UNUSED(position);
    return {inset_, 0.0, 1.0, height() - gap_above};
}

QRectF MathBlock::caret() const {
    const QRectF whole = place({0.0, 0.0, extent, height() - gap_above});
    return {whole.right() + 4.0, whole.bottom() - 20.0, 8.0, 16.0};
}

} // namespace ui
