// SPDX-License-Identifier: Apache-2.0
#include "ui/style/usual_widgets.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace ui {

QPushButton* pushButton(
    const char* name, const QString& text, QWidget* parent, const char* picture, ButtonKind kind) {
    auto* button = named(name, new QPushButton(text, parent));
    if (picture != nullptr) {
        button->setIcon(icon(QString::fromLatin1(picture)));
    }
    if (kind != ButtonKind::Normal) {
        setButtonKind(button, kind);
    }
    return button;
}

QLabel* wrappedLabel(const char* name, QWidget* parent) {
    auto* label = named(name, new QLabel(parent));
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

QLabel* selectableLabel(const char* name, QWidget* parent) {
    QLabel* label = wrappedLabel(name, parent);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QHBoxLayout* rowIn(QWidget* parent, QMargins margins, int spacing) {
    auto* row = new QHBoxLayout(parent);
    row->setContentsMargins(margins);
    row->setSpacing(spacing);
    return row;
}

QVBoxLayout* columnIn(QWidget* parent, QMargins margins, int spacing) {
    auto* column = new QVBoxLayout(parent);
    column->setContentsMargins(margins);
    column->setSpacing(spacing);
    return column;
}

void setTextOrHide(QLabel* label, const QString& text) {
    label->setText(text);
    label->setVisible(!text.isEmpty());
}

} // namespace ui
