// SPDX-License-Identifier: Apache-2.0
// Rows of models: a name with its revision, facts below it, a verdict at the right. Headings are
// rows of their own. Shared by the library, the family and what the hub finds.
#pragma once

#include <QStyledItemDelegate>

namespace ui {

class ModelRow {
    Q_GADGET

public:
    enum Role {
        IsHeadingRole = Qt::UserRole + 1,
        IsIndentedRole, ///< Belongs to the row above.
        FactsRole,      ///< The line below the name.
        VerdictRole,    ///< Two or three words.
        ToneRole,       ///< How the verdict is coloured: a Tone.
        RevisionRole,   ///< Muted, behind the name.
        FirstFreeRole,
    };
    enum class Tone { Plain = 1, Good, Warning, Bad };
    Q_ENUM(Tone)
};

class ModelRowDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter,
               const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                                 const QModelIndex& index) const override;
};

} // namespace ui
