// SPDX-License-Identifier: Apache-2.0
// The left pane: new chat, search, the list of chats, and below it what needs a word: a chat that
// was deleted and can come back, chats that cannot be saved. Shows and asks; the store answers.
#pragma once

#include "ui/chat/chat_document.h"
#include "ui/chat/chat_export.h"
#include "ui/style/passing.h"

#include <QFrame>
#include <QString>
#include <QTimer>

#include <vector>

class QLabel;
class QLineEdit;
class QListView;
class QMenu;
class QPushButton;
class QToolButton;

namespace ui {

class HistoryModel;

class HistoryPane : public QFrame {
    Q_OBJECT

public:
    explicit HistoryPane(QWidget* parent = nullptr);

    [[nodiscard]] HistoryModel* model() const { return model_; }
    /// A chat was deleted and can come back.
    [[nodiscard]] bool canUndo() const { return !removed_id_.isEmpty(); }

public Q_SLOTS:
    /// What the store found for `query`; an answer to a search that was changed since is ignored.
    void showChats(const QString& query, const std::vector<ui::ChatSummary>& chats);
    /// Which chat the window shows; empty = a new one.
    void setCurrentChat(const QString& id);
    /// Why chats are not being saved; empty: they are.
    void showSaveProblem(const QString& message);
    /// Puts the cursor into the search field (Ctrl+K).
    void focusSearch();
    /// Deletes the chat that the window shows (Ctrl+Shift+Backspace); it can be undone.
    void removeCurrent();
    void undoRemove();

Q_SIGNALS:
    void newChatRequested();
    /// `found`: the words of the search that it was chosen from; empty without one.
    void chatChosen(const QString& id, const QString& found);
    void searchRequested(const QString& query);
    void renameRequested(const QString& id, const QString& title);
    void removeRequested(const QString& id);
    void pinRequested(const QString& id, bool is_pinned);
    /// A second chat with the same content, called `title`.
    void copyRequested(const QString& id, const QString& title);
    void restoreRequested(const QString& id);
    /// A chat was deleted; `text` names it. For whoever offers the undo while this pane is hidden.
    void undoOffered(const QString& text);
    void undoWithdrawn();
    void exportRequested(const QString& id, const QString& file, ui::ExportFormat format);
    /// Read a chat that was exported as JSON.
    void importRequested(const QString& file);
    void retryRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildFooter();
    void choose(const QModelIndex& index);
    /// nullptr for a heading.
    QMenu* openMenu(const QModelIndex& index, const QPoint& global_position);
    void openMenuByMouse(const QModelIndex& index, const QPoint& global_position);
    void remove(const QModelIndex& index);
    /// The undo lies over the end of the list, so that no chat moves when it comes or goes.
    void placeUndo();
    void withdrawUndo();
    void askForImport();
    void askForFile(const QString& id, const QString& title, ExportFormat format);
    void updateEmptyText();
    [[nodiscard]] QModelIndex current() const;

    HistoryModel* model_;
    QPushButton* new_chat_;
    QToolButton* more_;
    QLineEdit* search_;
    QListView* list_;
    QLabel* empty_;
    QFrame* undo_;
    QLabel* undo_text_;
    QFrame* problem_;
    QLabel* problem_text_;
    QTimer search_timer_;
    Passing* undo_passing_;
    QString current_id_;
    QString removed_id_;
    bool is_listed_ = false; ///< The store has answered at least once.
};

} // namespace ui
