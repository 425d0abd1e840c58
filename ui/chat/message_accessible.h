// SPDX-License-Identifier: Apache-2.0
// The message view for screen readers: a list with one item per message, whether it is laid out or
// not. Items are made when they are asked for.
#pragma once

#include "ui/chat/message_list.h"

#include <QAccessibleWidget>
#include <QHash>

namespace ui {

class MessageListAccessible : public QAccessibleWidget {
public:
    explicit MessageListAccessible(MessageList* list);
    ~MessageListAccessible() override;
    MessageListAccessible(const MessageListAccessible&) = delete;
    MessageListAccessible& operator=(const MessageListAccessible&) = delete;

    [[nodiscard]] int childCount() const override;
    [[nodiscard]] QAccessibleInterface* child(int index) const override;
    [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override;
    [[nodiscard]] QAccessibleInterface* childAt(int x, int y) const override;
    [[nodiscard]] QAccessibleInterface* focusChild() const override;
    [[nodiscard]] MessageList* list() const { return static_cast<MessageList*>(widget()); }

    /// Makes QAccessible use this for every MessageList. Safe to call again.
    static void install();

private:
    mutable QHash<int, QAccessible::Id> items_;
};

} // namespace ui
