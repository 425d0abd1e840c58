// SPDX-License-Identifier: Apache-2.0
// A formula in a line of its own, in the middle of the column. One that is far wider than the
// column is shown as its source. What is copied is always the source.
#pragma once

#include "ui/chat/math_formula.h"
#include "ui/chat/message_block.h"

#include <memory>

namespace ui {

class MathBlock : public MessageBlock {
public:
    MathBlock(std::shared_ptr<const MathNode> node,
              const MarkdownBlock& block,
              const ChatStyle& style);
    void draw(QPainter& painter, const QRectF& rect, const BlockPaint& paint) const override;
    BlockHit hit(const QPointF& point) const override;
    QString text() const override { return QString(kFormulaUnit); }
    QString formulaAt(qsizetype position) const override;
    qsizetype positionAt(const QPointF& point) const override;
    QRectF placeOf(qsizetype position) const override;
    QRectF caret() const override;

protected:
    double doShape(double width) override;

private:
    [[nodiscard]] QRectF place(const QRectF& rect) const;

    std::shared_ptr<const MathNode> node_;
    std::shared_ptr<const MathFormula> formula_; ///< Null where its source is shown.
    ShapedText source_text_;
    QString source_;
    QFont font_;
    double scale_ = 1.0, inset_ = 0.0;
};

} // namespace ui
