// SPDX-License-Identifier: Apache-2.0
#include "ui/chat/message_accessible.h"

#include <QAccessible>
#include <QPointer>
#include <QWindow>

namespace ui {

namespace {

/// One message. Holds its row only: a row that is gone makes it invalid.
class MessageAccessible : public QAccessibleInterface {
public:
    MessageAccessible(MessageList* list, int row) : list_(list), row_(row) {}

    [[nodiscard]] int row() const { return row_; }
    [[nodiscard]] bool isValid() const override {
        return list_ != nullptr && row_ < list_->model()->rowCount();
    }
    [[nodiscard]] QObject* object() const override { return nullptr; }
    [[nodiscard]] QWindow* window() const override {
        return list_ != nullptr ? list_->window()->windowHandle() : nullptr;
    }
    [[nodiscard]] QAccessibleInterface* parent() const override {
        return QAccessible::queryAccessibleInterface(list_);
    }
    [[nodiscard]] QAccessibleInterface* child(int) const override { return nullptr; }
    [[nodiscard]] QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    [[nodiscard]] int childCount() const override { return 0; }
    [[nodiscard]] int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    [[nodiscard]] QString text(QAccessible::Text kind) const override {
        if (!isValid() || kind != QAccessible::Name) {
            return {};
        }
        return list_->model()->data(list_->model()->index(row_), Qt::AccessibleTextRole).toString();
    }
    void setText(QAccessible::Text, const QString&) override {}
    [[nodiscard]] QRect rect() const override {
        if (!isValid()) {
            return {};
        }
        const QRect rect = list_->rowRect(row_);
        return rect.isEmpty() ? QRect()
                              : QRect(list_->viewport()->mapToGlobal(rect.topLeft()), rect.size());
    }
    [[nodiscard]] QAccessible::Role role() const override { return QAccessible::ListItem; }
    [[nodiscard]] QAccessible::State state() const override {
        QAccessible::State state;
        if (!isValid()) {
            state.invalid = true;
            return state;
        }
        state.focusable = true;
        state.selectable = true;
        state.readOnly = true;
        state.focused = list_->hasFocus() && list_->currentRow() == row_;
        state.selected = list_->currentRow() == row_;
        state.offscreen = list_->rowRect(row_).isEmpty();
        state.busy = list_->model()->streamingRow() == row_;
        return state;
    }

private:
    QPointer<MessageList> list_;
    int row_;
};

QAccessibleInterface* makeInterface(const QString& class_name, QObject* object) {
    if (class_name == QLatin1String("ui::MessageList")) {
        if (auto* list = qobject_cast<MessageList*>(object)) {
            return new MessageListAccessible(list);
        }
    }
    return nullptr;
}

} // namespace

MessageListAccessible::MessageListAccessible(MessageList* list)
    : QAccessibleWidget(list, QAccessible::List) {}

MessageListAccessible::~MessageListAccessible() {
    for (const QAccessible::Id id : items_) {
        QAccessible::deleteAccessibleInterface(id);
    }
}

void MessageListAccessible::install() {
    static const bool is_installed = [] {
        QAccessible::installFactory(makeInterface);
        return true;
    }();
    Q_UNUSED(is_installed);
}

int MessageListAccessible::childCount() const {
    return list()->model()->rowCount();
}

QAccessibleInterface* MessageListAccessible::child(int index) const {
    if (index < 0 || index >= childCount()) {
        return nullptr;
    }
    const auto found = items_.constFind(index);
    if (found != items_.constEnd()) {
        return QAccessible::accessibleInterface(*found);
    }
    auto* item = new MessageAccessible(list(), index);
    items_.insert(index, QAccessible::registerAccessibleInterface(item));
    return item;
}

int MessageListAccessible::indexOfChild(const QAccessibleInterface* child) const {
    const auto* item = dynamic_cast<const MessageAccessible*>(child);
    return item != nullptr ? item->row() : -1;
}

QAccessibleInterface* MessageListAccessible::childAt(int x, int y) const {
    const QPoint local = list()->viewport()->mapFromGlobal(QPoint(x, y));
    const int row = list()->rowAt(local);
    return row >= 0 ? child(row) : nullptr;
}

QAccessibleInterface* MessageListAccessible::focusChild() const {
    return list()->hasFocus() ? child(list()->currentRow()) : nullptr;
}

} // namespace ui
