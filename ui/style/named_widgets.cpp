// SPDX-License-Identifier: Apache-2.0
#include "ui/style/named_widgets.h"

#include <QLabel>
#include <QPushButton>

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

void setTextOrHide(QLabel* label, const QString& text) {
    label->setText(text);
    label->setVisible(!text.isEmpty());
}

} // namespace ui
