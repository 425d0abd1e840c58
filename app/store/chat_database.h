// SPDX-License-Identifier: Apache-2.0
// Chats in one SQLite file, attachments beside it. Every save is one transaction that is on disk
// when save() returns. Tables (schema 2): chats (one row each, settings as JSON), turns (one row
// each, the turn as JSON beside its searchable text), attachments (which turn uses which content),
// versions (what stood at a turn and below it before it was regenerated or edited, as JSON).
// Knows no threads; ChatStore runs it on one.
#pragma once

#include "app/store/attachment_files.h"
#include "app/store/database.h"
#include "app/store/page_rows.h"
#include "engine/base/result.h"
#include "ui/chat/chat_document.h"

#include <QByteArray>
#include <QHash>
#include <QJsonArray>
#include <QString>
#include <QStringList>

#include <optional>
#include <utility>
#include <vector>

namespace app {

struct StoreOptions {
    QString folder; ///< Created when it is missing.
    QByteArray vfs; ///< Another SQLite file system, for tests; empty = the system's.
};

/// What opening found; the user hears of everything but the plain case.
struct OpenReport {
    bool is_read_only = false;   ///< Chats can be read but not saved.
    QString set_aside;           ///< Where a damaged file was moved; empty = none was damaged.
    qint64 recovered_chats = 0;  ///< Chats that could be read from the damaged file.
    qint64 incomplete_chats = 0; ///< Those that lack something.
    QString message;             ///< For the user; empty in the plain case.
};

class ChatDatabase {
public:
    explicit ChatDatabase(StoreOptions options);

    /// Opens or creates the file, checks all of it, and removes what was deleted in an earlier
    /// session. A damaged file is moved aside with its log, never deleted, and what can be read of
    /// both is carried over. Where nothing can be written, file and log are read.
    engine::Result<OpenReport> open();
    /// Moves a file aside that turned out to be damaged while it was open, and starts a new one
    /// with what can be read of it.
    engine::Result<OpenReport> replaceDamaged(const engine::Error& why);
    void close();
    [[nodiscard]] bool isOpen() const { return database_.isOpen(); }
    [[nodiscard]] bool isReadOnly() const { return is_read_only_; }
    [[nodiscard]] QString file() const;

    /// Writes what differs from what is stored. Fills in what is missing in `chat`: id, ids of
    /// turns, dates, title, hash and file of attachments. `notes` receives what the user should
    /// know although the chat was saved (an attachment that could not be copied). A title that
    /// was set with rename() is kept.
    engine::Result<void> save(ui::ChatDocument& chat, QStringList& notes);
    /// Keeps an opened file with the attachments. A chat that is saved has to name its hash, or the
    /// next start removes it.
    engine::Result<StoredFile> addAttachment(QFile& opened, const QString& name) {
        return attachments_.add(opened, name);
    }
    /// Whether another file lies in the place of the one that is open, or none: deleted, moved or
    /// replaced by somebody while it was open. What is saved would go nowhere.
    [[nodiscard]] bool isGone() const;
    /// Puts the chats back where they were, out of the file that is still open though it has no
    /// name any more; a file that somebody put there is opened as it is. `note` says what was done.
    engine::Result<OpenReport> bringBack(QString& note);
    /// Errors: InvalidFile when there is no such chat.
    engine::Result<ui::ChatDocument> load(const QString& id);
    /// Latest first. With a query only chats in which every word of it occurs.
    engine::Result<std::vector<ui::ChatSummary>> list(const QString& query);
    engine::Result<void> rename(const QString& id, const QString& title);
    /// Out of the lists, until restore() or the next start of the program.
    engine::Result<void> remove(const QString& id);
    engine::Result<void> restore(const QString& id);
    /// Pinned chats are listed above the others.
    engine::Result<void> pin(const QString& id, bool is_pinned);

private:
    engine::Result<void> openFile();
    engine::Result<OpenReport> openReadOnly(const engine::Error& why);
    /// Makes the tables, or brings those of an earlier version of the program to this one's form.
    engine::Result<void> createTables();
    engine::Result<void> createFirstTables();
    /// Pins stand in a table of their own, which earlier versions of the program do not look at.
    engine::Result<void> createPins();
    engine::Result<void> checkTables();
    /// Errors: Damaged, with what SQLite says of the first fault.
    engine::Result<void> checkAll();
    /// Errors: Damaged where acknowledged changes stand behind a place that SQLite stops at.
    engine::Result<void> checkLog();
    [[nodiscard]] engine::Error damaged(const QString& what) const;
    /// What a damaged file breaks can be told as a rule that is broken or a name that is not there:
    /// the error itself, or that the file is damaged where it is.
    engine::Error explained(engine::Error error);
    engine::Result<void> saveChat(ui::ChatDocument& chat, QStringList& notes);
    engine::Result<void> purge();
    /// Ends what a crash interrupted between two renames of replaceDamaged().
    QString finishReplacing();
    /// Saves all chats of the image in a new file, `target`, and closes that.
    engine::Result<OpenReport> recover(const StoreImage& image, const QString& target);
    ui::ChatDocument chatOf(const QString& id, const ChatRows& rows, bool& is_whole) const;
    /// `is_whole` becomes false where only the text could be read. `data` is what was stored.
    static ui::ChatTurn turnOf(const QByteArray& data,
                               const QByteArray& folded,
                               qint64 position,
                               const QJsonArray& versions,
                               bool& is_whole);
    void findAttachments(std::vector<ui::ChatTurn>& turns) const;
    void storeAttachments(ui::ChatDocument& chat, QStringList& notes);
    engine::Result<void> writeChat(const ui::ChatDocument& chat,
                                   const std::vector<ui::ChatTurn>& stored);
    engine::Result<void> writeTurn(const QString& chat, qint64 position, const ui::ChatTurn& turn);
    engine::Result<void>
    writeVersions(const QString& chat, qint64 position, const QJsonArray& versions);
    /// By the position of the turn they belong to.
    engine::Result<QHash<qint64, QJsonArray>> loadVersions(const QString& id);
    engine::Result<std::optional<ui::ChatDocument>> find(const QString& id);
    engine::Result<std::vector<ui::ChatTurn>> loadTurns(const QString& id);
    engine::Result<void> mark(const QString& id, bool is_deleted);

    StoreOptions options_;
    Database database_;
    /// Device and inode of the open file and of its log; 0 where unknown.
    std::pair<quint64, quint64> place_, log_place_;
    AttachmentFiles attachments_;
    bool is_read_only_ = false;
    /// The chat saved last: the next save is most often of the same one, with one turn more.
    ui::ChatDocument last_saved_;
};

} // namespace app
