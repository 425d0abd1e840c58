// SPDX-License-Identifier: Apache-2.0
// Draws the rows of the history list: headings small and muted, chats as one line, while searching
// with the place of the match below. The row under the mouse and the current row carry a "more"
// button that opens the menu of the chat.
#pragma once

#include <QStyledItemDelegate>

namespace ui {

class HistoryDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                                 const QModelIndex& index) const override;
    QWidget* createEditor(QWidget* parent,
                          const QStyleOptionViewItem& option,
                          const QModelIndex& index) const override;
    void updateEditorGeometry(QWidget* editor,
                              const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override;
    bool editorEvent(QEvent* event,
                     QAbstractItemModel* model,
                     const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;

Q_SIGNALS:
    void menuRequested(const QModelIndex& index, const QPoint& global_position);
};

} // namespace ui
