// SPDX-License-Identifier: Apache-2.0
// Rows of a table with the air that the rest of the window has.
#pragma once

#include "ui/style/theme.h"

#include <QStyledItemDelegate>

namespace ui {

class RowDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                                 const QModelIndex& index) const override {
        return QStyledItemDelegate::sizeHint(option, index) + QSize(Theme::kPadding, 12);
    }
};

} // namespace ui
