// SPDX-License-Identifier: Apache-2.0
#include "ui/library/model_row.h"

#include "ui/style/theme.h"

#include <QPainter>

#include <algorithm>

namespace ui {

namespace {

constexpr int kSide = 12;
constexpr int kIcon = 16; ///< At the usual text size.
constexpr int kIndent = 28;
constexpr int kFactsPercent = 90;
constexpr int kAir = 9; ///< Above and below the two lines.

QColor colourOf(ModelRow::Tone tone) {
    const Theme& theme = Theme::current();
    switch (tone) {
    case ModelRow::Tone::Good:
        return theme.success;
    case ModelRow::Tone::Warning:
        return theme.warning;
    case ModelRow::Tone::Bad:
        return theme.danger;
    case ModelRow::Tone::Plain:
        break;
    }
    return theme.text_muted;
}

void drawLine(QPainter* painter, const QRect& rect, const QString& text, Qt::Alignment side) {
    const int flags = static_cast<int>(side | Qt::AlignVCenter) | int{Qt::TextSingleLine};
    painter->drawText(rect, flags,
                      painter->fontMetrics().elidedText(text, Qt::ElideRight, rect.width()));
}

void drawBox(QPainter* painter, const QStyleOptionViewItem& option) {
    const Theme& theme = Theme::current();
    const QRectF box = QRectF(option.rect).adjusted(1.5, 1.5, -1.5, -1.5);
    const bool is_selected = option.state.testFlag(QStyle::State_Selected);
    if (is_selected || option.state.testFlag(QStyle::State_MouseOver)) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(is_selected ? theme.selection : theme.hover);
        painter->drawRoundedRect(box, Theme::kRadius, Theme::kRadius);
    }
    if (option.state.testFlag(QStyle::State_HasFocus) &&
        option.state.testFlag(QStyle::State_Active)) {
        painter->setPen(QPen(theme.accent, 2));
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(box, Theme::kRadius, Theme::kRadius);
    }
}

} // namespace

QSize ModelRowDelegate::sizeHint(const QStyleOptionViewItem& option,
                                 const QModelIndex& index) const {
    const QFontMetrics small(scaledFont(kFactsPercent));
    if (index.data(ModelRow::IsHeadingRole).toBool()) {
        return {0, small.height() + (index.row() == 0 ? 8 : 22)};
    }
    return {0, option.fontMetrics.height() + 3 + small.height() + 2 * kAir};
}

void ModelRowDelegate::paint(QPainter* painter,
                             const QStyleOptionViewItem& option,
                             const QModelIndex& index) const {
    const Theme& theme = Theme::current();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QFont small_font = scaledFont(kFactsPercent);
    const QFontMetrics small(small_font);
    if (index.data(ModelRow::IsHeadingRole).toBool()) {
        painter->setFont(small_font);
        painter->setPen(theme.text_muted);
        drawLine(painter,
                 QRect(option.rect.left() + kSide, option.rect.bottom() - small.height() - 3,
                       option.rect.width() - 2 * kSide, small.height()),
                 index.data().toString(), Qt::AlignLeft);
        painter->restore();
        return;
    }
    drawBox(painter, option);
    const int indent = index.data(ModelRow::IsIndentedRole).toBool() ? kIndent : 0;
    const QRect inner = option.rect.adjusted(kSide + indent, kAir, -kSide, -kAir);
    const int line = option.fontMetrics.height();
    const int side = kIcon * textZoom() / 100;
    const auto tone = index.data(ModelRow::ToneRole).value<ModelRow::Tone>();
    const auto picture = index.data(Qt::DecorationRole).value<QIcon>();
    picture.paint(painter, QRect(inner.left(), inner.top() + (line - side) / 2, side, side));
    QRect text = inner.adjusted(side + 10, 0, 0, 0);
    const QString verdict = index.data(ModelRow::VerdictRole).toString();
    if (!verdict.isEmpty()) {
        painter->setFont(small_font);
        const int width = std::min(small.horizontalAdvance(verdict) + 2, text.width() / 2);
        painter->setPen(colourOf(tone));
        drawLine(painter, QRect(text.right() + 1 - width, text.top(), width, line), verdict,
                 Qt::AlignRight);
        text.setRight(text.right() - width - kSide);
    }
    const QString name = index.data().toString();
    const int name_width = std::min(option.fontMetrics.horizontalAdvance(name), text.width());
    painter->setFont(option.font);
    painter->setPen(theme.text);
    drawLine(painter, QRect(text.left(), text.top(), text.width(), line), name, Qt::AlignLeft);
    const QRect behind(text.left() + name_width + 8, text.top(), text.width() - name_width - 8,
                       line);
    const QString revision = index.data(ModelRow::RevisionRole).toString();
    painter->setFont(small_font);
    painter->setPen(theme.text_muted);
    if (!revision.isEmpty() && behind.width() > small.averageCharWidth() * 4) {
        drawLine(painter, behind, revision, Qt::AlignLeft);
    }
    drawLine(
        painter,
        QRect(text.left(), inner.top() + line + 3, inner.right() - text.left() + 1, small.height()),
        index.data(ModelRow::FactsRole).toString(), Qt::AlignLeft);
    painter->restore();
}

} // namespace ui
