// SPDX-License-Identifier: Apache-2.0
// Buttons and labels as most of the window has them, under the names that tests find them by.
#pragma once

#include "ui/style/theme.h"

class QLabel;
class QPushButton;

namespace ui {

template <typename Widget>
Widget* named(const char* name, Widget* widget) {
    widget->setObjectName(QString::fromLatin1(name));
    return widget;
}

/// picture: as of icon(); nullptr: none.
QPushButton* pushButton(const char* name,
                        const QString& text,
                        QWidget* parent,
                        const char* picture = nullptr,
                        ButtonKind kind = ButtonKind::Normal);
/// A label of several lines whose text is no markup.
QLabel* wrappedLabel(const char* name, QWidget* parent);
/// The same, of which the mouse selects parts.
QLabel* selectableLabel(const char* name, QWidget* parent);

/// A label is hidden as long as it has no text.
void setTextOrHide(QLabel* label, const QString& text);

} // namespace ui
