// SPDX-License-Identifier: Apache-2.0
#include "ui/history/history_delegate.h"

#include "ui/history/history_model.h"
#include "ui/style/theme.h"
#include "ui/style/usual_widgets.h"

#include <QAbstractItemView>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace ui {

namespace {

constexpr int kSide = 8;    ///< Between the edge of a row and its text.
constexpr int kButton = 24; ///< Edge of the "more" button.
constexpr int kChatHeight = 36;

QRect moreButton(const QRect& row) {
    return {row.right() - kButton - 3, row.center().y() - kButton / 2 + 1, kButton, kButton};
}

bool isHeading(const QModelIndex& index) {
    return index.data(HistoryModel::IsHeadingRole).toBool();
}

} // namespace

QSize HistoryDelegate::sizeHint(const QStyleOptionViewItem& option,
                                const QModelIndex& index) const {
    if (isHeading(index)) {
        const int top = index.row() == 0 ? 4 : 16;
        return {0, QFontMetrics(scaledFont(88)).height() + top + 6};
    }
    const int line = option.fontMetrics.height();
    const bool has_excerpt = !index.data(HistoryModel::ExcerptRole).toString().isEmpty();
    return {0, std::max(kChatHeight, line + 14) +
                   (has_excerpt ? QFontMetrics(scaledFont(88)).height() + 2 : 0)};
}

void HistoryDelegate::paint(QPainter* painter,
                            const QStyleOptionViewItem& option,
                            const QModelIndex& index) const {
    const Theme& theme = Theme::current();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRect text = option.rect.adjusted(kSide, 0, -kSide, 0);
    if (isHeading(index)) {
        painter->setFont(scaledFont(88));
        painter->setPen(theme.text_muted);
        painter->drawText(text.adjusted(0, 0, 0, -4), Qt::AlignLeft | Qt::AlignBottom,
                          painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight,
                                                            text.width()));
        painter->restore();
        return;
    }
    const bool is_selected = option.state.testFlag(QStyle::State_Selected);
    const bool is_hovered = option.state.testFlag(QStyle::State_MouseOver);
    const bool has_focus = option.state.testFlag(QStyle::State_HasFocus) &&
                           option.state.testFlag(QStyle::State_Active);
    const QRectF box = QRectF(option.rect).adjusted(0.5, 1.5, -0.5, -1.5);
    if (is_selected || is_hovered) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(is_selected ? theme.selection : theme.hover);
        painter->drawRoundedRect(box, Theme::kRadius, Theme::kRadius);
    }
    if (has_focus) {
        painter->setPen(QPen(theme.accent, 2));
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius,
                                 Theme::kRadius);
    }
    const bool has_button = is_hovered || is_selected;
    const QRect words = has_button ? text.adjusted(0, 0, -kButton, 0) : text;
    const QString excerpt = index.data(HistoryModel::ExcerptRole).toString();
    painter->setFont(option.font);
    painter->setPen(theme.text);
    QRect line = words;
    if (!excerpt.isEmpty()) {
        const QFontMetrics small(scaledFont(88));
        const int both = option.fontMetrics.height() + 2 + small.height();
        line = QRect(words.left(), words.center().y() - both / 2, words.width(),
                     option.fontMetrics.height());
        const QRect below(words.left(), line.bottom() + 3, words.width(), small.height());
        painter->setFont(scaledFont(88));
        painter->setPen(theme.text_muted);
        painter->drawText(below, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                          small.elidedText(excerpt, Qt::ElideRight, below.width()));
        painter->setFont(option.font);
        painter->setPen(theme.text);
    }
    painter->drawText(
        line, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
        option.fontMetrics.elidedText(index.data().toString(), Qt::ElideRight, line.width()));
    if (has_button) {
        const QRect button = moreButton(option.rect);
        painter->drawPixmap(button.adjusted(4, 4, -4, -4),
                            iconPixmap(QStringLiteral("more"), 16, theme.text_muted,
                                       painter->device()->devicePixelRatioF()));
    }
    painter->restore();
}

QWidget* HistoryDelegate::createEditor(QWidget* parent,
                                       const QStyleOptionViewItem&,
                                       const QModelIndex&) const {
    auto* editor = named("historyRename", new QLineEdit(parent));
    editor->setAccessibleName(tr("New title of the chat"));
    return editor;
}

void HistoryDelegate::updateEditorGeometry(QWidget* editor,
                                           const QStyleOptionViewItem& option,
                                           const QModelIndex&) const {
    editor->setGeometry(option.rect.adjusted(0, 1, 0, -1));
}

bool HistoryDelegate::editorEvent(QEvent* event,
                                  QAbstractItemModel* model,
                                  const QStyleOptionViewItem& option,
                                  const QModelIndex& index) {
    if (event->type() == QEvent::MouseButtonRelease && !isHeading(index)) {
        auto* mouse = static_cast<QMouseEvent*>(event);
        if (mouse->button() == Qt::LeftButton &&
            moreButton(option.rect).contains(mouse->position().toPoint())) {
            Q_EMIT menuRequested(index, mouse->globalPosition().toPoint());
            return true;
        }
    }
    return QStyledItemDelegate::editorEvent(event, model, option, index);
}

} // namespace ui
