// SPDX-License-Identifier: Apache-2.0
// The chat store on its own thread. Slots are called queued, answers come as signals, so the GUI
// thread never touches a file. When the disk is full, the folder is read-only or another program
// holds the file, the chat goes on: what could not be saved stays in memory, is listed and loaded
// like any other chat, and is tried again every few seconds and at each further save.
#pragma once

#include "app/store/chat_database.h"
#include "app/store/session_file.h"
#include "ui/chat/chat_document.h"
#include "ui/chat/chat_export.h"

#include <QObject>
#include <QString>
#include <QThread>
#include <QTimer>

#include <map>
#include <optional>
#include <vector>

namespace app {

class ChatStore : public QObject {
    Q_OBJECT

public:
    explicit ChatStore(const StoreOptions& options);
    ~ChatStore() override;

public Q_SLOTS:
    /// Opens the file and answers with sessionRead(), problemChanged() and listed().
    void open();
    /// Answers saved() once the chat is on disk, else saveFailed(); either way with `serial`,
    /// which the caller chooses. A chat without turns that was never stored is not stored now.
    void save(const ui::ChatDocument& chat, quint64 serial);
    void load(const QString& id);
    /// Chats in which every word of `query` occurs, or all. Later changes are listed by
    /// themselves, with the query asked for last.
    void list(const QString& query);
    void rename(const QString& id, const QString& title);
    void remove(const QString& id);
    void restore(const QString& id);
    void pin(const QString& id, bool is_pinned);
    /// Makes a second chat with the same content, called `title`. Answers copied() or
    /// changeFailed().
    void copy(const QString& id, const QString& title);
    /// Writes a chat to a file of the user, attachments in a folder beside it.
    void exportChat(const QString& id, const QString& file, ui::ExportFormat format);
    /// Reads a chat that was exported as JSON, as a chat of its own, with the files beside it.
    /// Answers imported() or importFailed().
    void importChat(const QString& file);
    /// Only while this program holds the store's lock; kept until it does.
    void saveSession(const app::SessionState& state);
    /// Tries again to save what is only in memory.
    void retry();
    /// Saves what is left and closes the file; nothing may be asked of the store afterwards.
    void close();

Q_SIGNALS:
    void sessionRead(const app::PreviousSession& previous);
    void saved(const QString& id, quint64 serial);
    void saveFailed(const QString& id, quint64 serial, const QString& message);
    /// Attachments have been copied: where they are now, with their hashes.
    void attachmentsStored(const QString& chat,
                           const QString& turn,
                           const std::vector<ui::Attachment>& attachments);
    void loaded(const ui::ChatDocument& chat);
    void loadFailed(const QString& id, const QString& message);
    void listed(const QString& query, const std::vector<ui::ChatSummary>& chats);
    /// Rename, remove or restore did not work.
    void changeFailed(const QString& id, const QString& message);
    void exported(const QString& file);
    void exportFailed(const QString& file, const QString& message);
    void imported(const QString& file, const QString& id);
    void copied(const QString& id);
    void importFailed(const QString& file, const QString& message);
    /// Why chats are not being saved; empty: they are again.
    void problemChanged(const QString& message);
    /// Something the user should know once (a damaged file was set aside, an attachment is gone).
    void noteRaised(const QString& message);
    void closed();

private:
    engine::Result<void> write(ui::ChatDocument& chat);
    bool ensureOpen();
    /// Tells what opening found; true: chats can be saved.
    bool noteOpened(const engine::Result<OpenReport>& opened);
    /// Before anything is saved: the file may have been deleted or replaced meanwhile.
    void followFile();
    void showProblem(const QString& message);
    void raiseNotes(const QStringList& notes);
    void tellAttachments(const ui::ChatDocument& before, const ui::ChatDocument& after);
    engine::Result<ui::ChatDocument> find(const QString& id);
    void relist();
    void finishChange(const QString& id, const engine::Result<void>& done);

    struct Unsaved {
        ui::ChatDocument chat;
        quint64 serial = 0;
        bool is_removed = false;
    };

    ChatDatabase database_;
    SessionFile session_;
    std::map<QString, Unsaved> unsaved_; ///< By chat id.
    std::optional<SessionState> unwritten_session_;
    QString query_;
    QString problem_;
    QStringList raised_; ///< Notes already told, so that no save repeats them.
    QTimer retry_timer_, list_timer_;
    bool is_writable_ = false;
};

/// The store's thread, owned by the GUI side. Connect first, then ask the store to open(); the
/// store must not be used after this object.
class ChatStoreThread : public QObject {
    Q_OBJECT

public:
    explicit ChatStoreThread(const StoreOptions& options, QObject* parent = nullptr);
    /// Waits until everything that was asked before is done and the file is closed.
    ~ChatStoreThread() override;

    [[nodiscard]] ChatStore* store() const { return store_; }

private:
    QThread thread_;
    ChatStore* store_;
};

/// Makes the store's value types known to queued connections. Call once at start.
void registerStoreTypes();

} // namespace app
