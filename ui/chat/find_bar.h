// SPDX-License-Identifier: Apache-2.0
// Find in the chat: a card over the upper right corner of the messages, in no layout, so that
// nothing moves when it comes or goes. Counts with ChatFinder, marks in the MessageList.
#pragma once

#include <QFrame>
#include <QPointer>

class QLabel;
class QLineEdit;
class QToolButton;

namespace ui {

class ChatFinder;
class ChatModel;
class FindNeedle;
class MessageList;

class FindBar : public QFrame {
    Q_OBJECT

public:
    FindBar(ChatModel* model, MessageList* list, QWidget* parent);

    [[nodiscard]] ChatFinder* finder() const { return finder_; }
    /// With the cursor in its field; what was looked for before is selected.
    void open();
    /// Marks each word of a search in the list of chats and shows the first; the focus stays where
    /// it is. Goes again by itself where none of them is in the text.
    void showWords(const QString& words);
    /// The next hit (+1) or the one before (-1).
    void step(int by);
    void leave();
    /// At the right end of `area`, which is in the parent's coordinates.
    void placeIn(const QRect& area);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void search(const FindNeedle& needle);
    void showCounts();
    void comeUp();

    MessageList* list_;
    ChatFinder* finder_;
    QLineEdit* field_;
    QLabel* count_;
    QToolButton *before_, *next_;
    QPointer<QWidget> had_focus_;
    bool goes_without_hit_ = false;
};

} // namespace ui
