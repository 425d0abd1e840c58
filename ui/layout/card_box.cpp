// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/card_box.h"

#include <QCompleter>
#include <QFocusEvent>
#include <QLineEdit>
#include <QStandardItemModel>

#include <algorithm>

namespace ui {

CardBox::CardBox(const char* name, QWidget* parent) : QComboBox(parent) {
    setObjectName(QString::fromLatin1(name));
    setEditable(true);
    setInsertPolicy(QComboBox::NoInsert);
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(16);
    setMaxVisibleItems(18);
    lineEdit()->setTextMargins(6, 0, 0, 0); // where other lists have their text
    lineEdit()->setToolTip(tr("Type a part of a name to search"));
    completer()->setCompletionMode(QCompleter::PopupCompletion);
    completer()->setFilterMode(Qt::MatchContains);
    completer()->setCaseSensitivity(Qt::CaseInsensitive);
    connect(this, &QComboBox::activated, this, &CardBox::take);
    fill();
}

void CardBox::addFirst(const QString& text) {
    first_ = text;
    setCurrentIndex(-1); // it is the usual one
    fill();
}

void CardBox::setOwn(const std::vector<WhatIfComputer>& computers) {
    own_ = computers;
    fill();
}

void CardBox::fill() {
    const QString kept = currentData().toString();
    clear();
    if (!first_.isEmpty()) {
        addItem(first_, QString());
    }
    addGroup(tr("Of your own"), own_);
    for (const CardGroup& group : cardGroups()) {
        addGroup(group.name, group.computers);
    }
    chosen_ = std::max(findData(kept), first_.isEmpty() ? 1 : 0);
    setCurrentIndex(chosen_);
}

void CardBox::addGroup(const QString& name, const std::vector<WhatIfComputer>& computers) {
    if (computers.empty()) {
        return;
    }
    addItem(name);
    auto* heading = qobject_cast<QStandardItemModel*>(model())->item(count() - 1);
    heading->setFlags(Qt::NoItemFlags); // neither chosen nor found by typing
    QFont bold = heading->font();
    bold.setBold(true);
    heading->setFont(bold);
    for (const WhatIfComputer& computer : computers) {
        addItem(cardWords(computer), toText(computer));
    }
}

void CardBox::choose(const WhatIfComputer& computer) {
    const int index = findData(computer.name.isEmpty() ? QString() : toText(computer));
    if (index >= 0) {
        chosen_ = index;
        setCurrentIndex(index);
    }
}

WhatIfComputer CardBox::computer() const {
    const QString text = itemData(chosen_).toString();
    return text.isEmpty() ? WhatIfComputer() : computerFromText(text);
}

void CardBox::take(int index) {
    if (model()->flags(model()->index(index, 0)).testFlag(Qt::ItemIsSelectable)) {
        chosen_ = index;
        lineEdit()->setCursorPosition(0); // a long name is read from its beginning
        Q_EMIT computerChosen();
    } else {
        setCurrentIndex(chosen_);
    }
}

void CardBox::focusOutEvent(QFocusEvent* event) {
    QComboBox::focusOutEvent(event);
    if (event->reason() != Qt::PopupFocusReason) {
        setCurrentIndex(chosen_);
        setEditText(itemText(chosen_)); // what was typed and not chosen goes
        lineEdit()->setCursorPosition(0);
    }
}

} // namespace ui
