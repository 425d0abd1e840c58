// SPDX-License-Identifier: Apache-2.0
// Buttons, labels and layouts as most of the window has them. Tests find widgets by their names.
#pragma once

#include "ui/style/theme.h"

#include <QMargins>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

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

/// A layout of `parent`, or of none. spacing: -1 is the style's.
QHBoxLayout* rowIn(QWidget* parent, QMargins margins, int spacing = -1);
QVBoxLayout* columnIn(QWidget* parent, QMargins margins, int spacing = -1);
/// A label is hidden as long as it has no text.
void setTextOrHide(QLabel* label, const QString& text);

} // namespace ui
