// SPDX-License-Identifier: Apache-2.0
#include "app/store/chat_database.h"

#include "app/store/durable_folder.h"
#include "app/store/search_text.h"
#include "app/store/turn_compare.h"
#include "engine/base/result.h"
#include "ui/chat/chat_json.h"
#include "ui/common/error_words.h"
#include "ui/common/private_files.h"
#include "ui/common/unique_id.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>

#ifdef Q_OS_UNIX
#include <sys/stat.h>
#endif

#include <algorithm>

namespace app {

namespace {

struct Text {
    Q_DECLARE_TR_FUNCTIONS(app::ChatDatabase)
};

QString compact(const QJsonObject& object) {
    return QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact));
}

QDateTime timeFromMs(qint64 ms) {
    return QDateTime::fromMSecsSinceEpoch(ms, Qt::UTC);
}

/// What a search looks at: the text and the names of attachments. The thoughts of a model are
/// not searched: they are long, and nobody remembers a chat by them.
QString searchable(const ui::ChatTurn& turn) {
    QString text = turn.text;
    for (const ui::Attachment& attachment : turn.attachments) {
        text += QLatin1Char(' ') + attachment.name;
    }
    return text;
}

QByteArray isDeleted() {
    return "(typeof(deleted) = 'integer' AND deleted > " + QByteArray::number(kEarliestDeletion) +
           ")";
}

engine::Error noSuchChat(const QString& id) {
    return storeError(
        StoreProblem::Other,
        QCoreApplication::translate("app::ChatDatabase",
                                    "There is no chat %1 any more. It may have been deleted in an "
                                    "earlier session.")
            .arg(id));
}

/// Device and inode: which file a name means now. Zeros where there is none, or no such numbers.
std::pair<quint64, quint64> placeOf([[maybe_unused]] const QString& file) {
#ifdef Q_OS_UNIX
    struct stat facts {};
    if (::stat(QFile::encodeName(file).constData(), &facts) == 0) {
        return {facts.st_dev, facts.st_ino};
    }
#endif
    return {};
}

} // namespace

ChatDatabase::ChatDatabase(StoreOptions options)
    : options_(std::move(options)), attachments_(options_.folder + QStringLiteral("/attachments")) {
}

QString ChatDatabase::file() const {
    return options_.folder + QStringLiteral("/chats.sqlite");
}

void ChatDatabase::close() {
    database_.close();
    last_saved_ = {};
    place_ = log_place_ = {};
}

bool ChatDatabase::isGone() const {
    return place_.second != 0 && placeOf(file()) != place_;
}

engine::Result<OpenReport> ChatDatabase::bringBack(QString& note) {
    const QString name = QDir::toNativeSeparators(file());
    const bool is_replaced = QFileInfo::exists(file());
    // Complete or not at all. SQLite takes what it still holds open, which has no name any more.
    const QString copy = file() + QStringLiteral(".new");
    bool is_copied = false;
    if (!is_replaced && makeDurableFolder(options_.folder)) {
        QFile::remove(copy);
        auto copied = database_.prepare("VACUUM INTO ?1");
        if (copied.has_value()) {
            copied->bind(1, copy);
            is_copied = copied->run().has_value();
        }
    }
    // SQLite leaves the log of a file that is gone; to the next one it would be as its own.
    const QString log = file() + QStringLiteral("-wal");
    if (log_place_.second != 0 && placeOf(log) == log_place_) {
        QFile::remove(log);
    }
    close();
    is_copied = is_copied && QFile::rename(copy, file());
    syncFolder(options_.folder);
    note = is_replaced ? Text::tr("The file with the chats was replaced while Belfry was running: "
                                  "%1. What is saved from now on goes into the new one.")
                             .arg(name)
           : is_copied
               ? Text::tr("The file with the chats was deleted or moved while Belfry was running. "
                          "They were written to %1 again; pictures and sounds that are gone with "
                          "their folder keep their names.")
                     .arg(name)
               : Text::tr("The file with the chats was deleted or moved while Belfry was running. "
                          "A new one was begun, %1: the open chat is saved there.")
                     .arg(name);
    return open();
}

engine::Result<void> ChatDatabase::openFile() {
    if (!makeDurableFolder(options_.folder)) {
        const QString why =
            QFileInfo(options_.folder).isDir()
                ? Text::tr("The folder %1 belongs to another user, so chats are not saved. Make "
                           "it yours (chown).")
                : Text::tr("The folder %1 cannot be created, so chats are not saved. "
                           "Create it or make its parent folder writable.");
        return storeError(StoreProblem::ReadOnly,
                          why.arg(QDir::toNativeSeparators(options_.folder)));
    }
    // What an earlier version made readable for others is closed before it grows.
    ui::makeAllPrivate(options_.folder);
    const QFileInfo log(file() + QStringLiteral("-wal"));
    const bool has_log = log.size() > 0;
    if (has_log && QFileInfo(file()).size() == 0) {
        return damaged(Text::tr("it is empty, and its log is not")); // SQLite would remove that
    }
    ENGINE_TRY(database_.open(file(), options_.vfs));
    for (const char* suffix : {"", "-wal", "-shm"}) {
        ui::makePrivate(file() + QString::fromLatin1(suffix));
    }
    // Only now, with the lock, and before the first change: SQLite writes that over the place.
    if (has_log) {
        ENGINE_TRY(checkLog());
    }
    ENGINE_TRY(checkAll());
    ENGINE_TRY(createTables());
    ENGINE_TRY(createPins());
    database_.keepLog(false);
    place_ = placeOf(file());
    log_place_ = placeOf(file() + QStringLiteral("-wal"));
    return purge();
}

engine::Result<void> ChatDatabase::purge() {
    {
        Transaction transaction(database_);
        ENGINE_TRY(transaction.begin());
        ENGINE_TRY(database_.run(("DELETE FROM chats WHERE " + isDeleted()).constData()));
        ENGINE_TRY(database_.run("DELETE FROM pins WHERE chat NOT IN (SELECT id FROM chats)"));
        ENGINE_TRY(transaction.commit());
    }
    // A file that was set aside may need attachments that nothing else names.
    const QDir folder(options_.folder);
    if (!folder.entryList({QStringLiteral("chats.sqlite.damaged-*")}, QDir::Files).isEmpty()) {
        return {};
    }
    ENGINE_ASSIGN(auto used, database_.prepare("SELECT DISTINCT hash FROM attachments"));
    QSet<QString> wanted;
    for (;;) {
        ENGINE_ASSIGN(const bool has_row, used.step());
        if (!has_row) {
            break;
        }
        wanted.insert(used.text(0));
    }
    attachments_.collect(wanted);
    return {};
}

void ChatDatabase::storeAttachments(ui::ChatDocument& chat, QStringList& notes) {
    ui::visitAllTurns(chat.turns, [&](ui::ChatTurn& turn) {
        for (ui::Attachment& attachment : turn.attachments) {
            if (!attachment.hash.isEmpty() || attachment.file.isEmpty()) {
                continue;
            }
            auto stored = attachments_.add(attachment.file);
            if (!stored.has_value()) {
                // The words are saved all the same; the file stays where the user has it.
                notes.append(ui::errorWords(stored.error()));
                continue;
            }
            if (attachment.name.isEmpty()) {
                attachment.name = QFileInfo(attachment.file).fileName();
            }
            attachment.hash = stored->hash;
            attachment.file = stored->file;
            attachment.bytes = stored->bytes;
        }
    });
}

engine::Result<void> ChatDatabase::save(ui::ChatDocument& chat, QStringList& notes) {
    auto done = saveChat(chat, notes);
    if (!done.has_value()) {
        return explained(done.error());
    }
    return done;
}

engine::Result<void> ChatDatabase::saveChat(ui::ChatDocument& chat, QStringList& notes) {
    if (is_read_only_ || !database_.isOpen()) {
        return storeError(StoreProblem::ReadOnly,
                          Text::tr("Chats cannot be saved in %1. Make the folder writable; what "
                                   "is not saved yet is kept in memory and saved then.")
                              .arg(QDir::toNativeSeparators(options_.folder)));
    }
    if (chat.id.isEmpty()) {
        chat.id = ui::makeUniqueId();
    }
    ui::visitAllTurns(chat.turns, [](ui::ChatTurn& turn) {
        if (turn.id.isEmpty()) {
            turn.id = ui::makeUniqueId();
        }
    });
    storeAttachments(chat, notes);
    if (last_saved_.id != chat.id) {
        last_saved_ = {};
        ENGINE_ASSIGN(auto stored, find(chat.id));
        if (stored.has_value()) {
            last_saved_ = *std::move(stored);
        }
    }
    const bool is_new = last_saved_.id.isEmpty();
    const bool is_same = !is_new && isSameContent(chat, last_saved_);
    const QDateTime now = QDateTime::currentDateTimeUtc();
    if (!chat.created.isValid()) {
        chat.created = is_new ? now : last_saved_.created;
    }
    if (!is_same && (!chat.modified.isValid() || chat.modified <= last_saved_.modified)) {
        chat.modified = now;
    } else if (!chat.modified.isValid()) {
        chat.modified = last_saved_.modified;
    }
    if (last_saved_.is_title_set_by_user) {
        chat.title = last_saved_.title;
        chat.is_title_set_by_user = true;
    } else if (!chat.is_title_set_by_user) {
        chat.title = ui::titleFromTurns(chat);
    }
    if (is_same && chat.title == last_saved_.title) {
        return {};
    }
    auto written = writeChat(chat, last_saved_.turns);
    if (written.has_value()) {
        last_saved_ = chat;
    } else {
        last_saved_ = {}; // what the file holds now is read again next time
    }
    return written;
}

engine::Result<void> ChatDatabase::writeChat(const ui::ChatDocument& chat,
                                             const std::vector<ui::ChatTurn>& stored) {
    Transaction transaction(database_);
    ENGINE_TRY(transaction.begin());
    ENGINE_ASSIGN(
        auto row,
        database_.prepare(
            "INSERT INTO chats (id, title, folded_title, is_title_set, created, modified, model, "
            "settings) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO UPDATE SET "
            "title = ?2, folded_title = ?3, is_title_set = ?4, modified = ?6, model = ?7, "
            "settings = ?8"));
    row.bind(1, chat.id)
        .bind(2, chat.title)
        .bind(3, foldForSearch(chat.title))
        .bind(4, chat.is_title_set_by_user ? 1 : 0)
        .bind(5, chat.created.toMSecsSinceEpoch())
        .bind(6, chat.modified.toMSecsSinceEpoch())
        .bind(7, chat.model)
        .bind(8, compact(ui::settingsToJson(chat)));
    ENGINE_TRY(row.run());
    for (size_t i = 0; i < chat.turns.size(); ++i) {
        if (i >= stored.size() || !isSameTurn(chat.turns[i], stored[i])) {
            ENGINE_TRY(writeTurn(chat.id, static_cast<qint64>(i), chat.turns[i]));
        }
    }
    if (stored.size() > chat.turns.size()) {
        ENGINE_ASSIGN(auto rest,
                      database_.prepare("DELETE FROM turns WHERE chat = ?1 AND position >= ?2"));
        rest.bind(1, chat.id).bind(2, static_cast<qint64>(chat.turns.size()));
        ENGINE_TRY(rest.run());
    }
    return transaction.commit();
}

engine::Result<void>
ChatDatabase::writeTurn(const QString& chat, qint64 position, const ui::ChatTurn& turn) {
    QJsonObject data = ui::turnToJson(turn);
    const QJsonArray versions = data.take(QStringLiteral("versions")).toArray();
    ENGINE_ASSIGN(auto row,
                  database_.prepare(
                      "INSERT INTO turns (chat, position, folded, data) VALUES (?1, ?2, ?3, ?4) "
                      "ON CONFLICT (chat, position) DO UPDATE SET folded = ?3, data = ?4"));
    row.bind(1, chat)
        .bind(2, position)
        .bind(3, foldForSearch(searchable(turn)))
        .bind(4, compact(data));
    ENGINE_TRY(row.run());
    ENGINE_TRY(writeVersions(chat, position, versions));
    ENGINE_ASSIGN(auto old,
                  database_.prepare("DELETE FROM attachments WHERE chat = ?1 AND position = ?2"));
    old.bind(1, chat).bind(2, position);
    ENGINE_TRY(old.run());
    QStringList hashes; // those of other versions are needed as long as the turn is
    const auto collect = [&](const ui::ChatTurn& one) {
        for (const ui::Attachment& attachment : one.attachments) {
            if (!attachment.hash.isEmpty()) {
                hashes.append(attachment.hash);
            }
        }
    };
    collect(turn);
    for (const auto& version : turn.versions) {
        ui::visitAllTurns(version, collect);
    }
    hashes.removeDuplicates();
    for (const QString& hash : hashes) {
        ENGINE_ASSIGN(auto use,
                      database_.prepare(
                          "INSERT INTO attachments (chat, position, hash) VALUES (?1, ?2, ?3)"));
        use.bind(1, chat).bind(2, position).bind(3, hash);
        ENGINE_TRY(use.run());
    }
    return {};
}

engine::Result<void>
ChatDatabase::writeVersions(const QString& chat, qint64 position, const QJsonArray& versions) {
    ENGINE_ASSIGN(auto old,
                  database_.prepare("DELETE FROM versions WHERE chat = ?1 AND position = ?2"));
    old.bind(1, chat).bind(2, position);
    ENGINE_TRY(old.run());
    for (qsizetype number = 0; number < versions.size(); ++number) {
        ENGINE_ASSIGN(auto row, database_.prepare("INSERT INTO versions (chat, position, number, "
                                                  "data) VALUES (?1, ?2, ?3, ?4)"));
        row.bind(1, chat)
            .bind(2, position)
            .bind(3, static_cast<qint64>(number))
            .bind(4,
                  QString::fromUtf8(
                      QJsonDocument(versions.at(number).toArray()).toJson(QJsonDocument::Compact)));
        ENGINE_TRY(row.run());
    }
    return {};
}

engine::Result<QHash<qint64, QJsonArray>> ChatDatabase::loadVersions(const QString& id) {
    QHash<qint64, QJsonArray> versions;
    auto rows = database_.prepare(
        "SELECT position, data FROM versions WHERE chat = ?1 ORDER BY position, number");
    if (!rows.has_value()) {
        return versions; // a file of the first form that can only be read
    }
    rows->bind(1, id);
    for (;;) {
        ENGINE_ASSIGN(const bool has_row, rows->step());
        if (!has_row) {
            return versions;
        }
        versions[rows->integer(0)].append(QJsonDocument::fromJson(rows->bytes(1)).array());
    }
}

engine::Result<std::vector<ui::ChatTurn>> ChatDatabase::loadTurns(const QString& id) {
    ENGINE_ASSIGN(
        auto rows,
        database_.prepare(
            "SELECT data, position, folded FROM turns WHERE chat = ?1 ORDER BY position"));
    rows.bind(1, id);
    ENGINE_ASSIGN(const auto versions, loadVersions(id));
    std::vector<ui::ChatTurn> turns;
    for (;;) {
        ENGINE_ASSIGN(const bool has_row, rows.step());
        if (!has_row) {
            break;
        }
        bool is_whole = true;
        turns.push_back(turnOf(rows.bytes(0), rows.bytes(2), rows.integer(1),
                               versions.value(rows.integer(1)), is_whole));
    }
    findAttachments(turns);
    return turns;
}

engine::Result<std::optional<ui::ChatDocument>> ChatDatabase::find(const QString& id) {
    ENGINE_ASSIGN(auto found,
                  database_.prepare("SELECT title, is_title_set, created, modified, settings "
                                    "FROM chats WHERE id = ?1"));
    found.bind(1, id);
    ENGINE_ASSIGN(const bool has_row, found.step());
    if (!has_row) {
        return std::optional<ui::ChatDocument>();
    }
    ui::ChatDocument chat;
    chat.id = id;
    chat.title = found.text(0);
    chat.is_title_set_by_user = found.integer(1) != 0;
    chat.created = timeFromMs(found.integer(2));
    chat.modified = timeFromMs(found.integer(3));
    ui::settingsFromJson(QJsonDocument::fromJson(found.bytes(4)).object(), chat);
    ENGINE_ASSIGN(chat.turns, loadTurns(id));
    return std::optional<ui::ChatDocument>(std::move(chat));
}

engine::Result<ui::ChatDocument> ChatDatabase::load(const QString& id) {
    ENGINE_ASSIGN(auto chat, find(id));
    if (!chat.has_value()) {
        return noSuchChat(id);
    }
    return *std::move(chat);
}

engine::Result<std::vector<ui::ChatSummary>> ChatDatabase::list(const QString& query) {
    const QStringList words = searchWords(query);
    QByteArray sql = "SELECT id, title, created, modified, model, "
                     "(SELECT count(*) FROM turns WHERE chat = chats.id), ";
    // A file of an earlier version that only can be read has no pins.
    sql += database_.prepare("SELECT chat FROM pins").has_value()
               ? "id IN (SELECT chat FROM pins) AS pinned "
               : "0 AS pinned ";
    sql += "FROM chats WHERE NOT " + isDeleted();
    for (qsizetype i = 1; i <= words.size(); ++i) {
        const QByteArray number = QByteArray::number(i);
        sql += " AND (instr(folded_title, ?" + number +
               ") OR EXISTS (SELECT 1 FROM turns WHERE chat = chats.id AND instr(folded, ?" +
               number + ")))";
    }
    sql += " ORDER BY pinned DESC, modified DESC, id DESC";
    ENGINE_ASSIGN(auto rows, database_.prepare(sql.constData()));
    for (qsizetype i = 0; i < words.size(); ++i) {
        rows.bind(static_cast<int>(i) + 1, words.at(i));
    }
    std::vector<ui::ChatSummary> chats;
    for (;;) {
        ENGINE_ASSIGN(const bool has_row, rows.step());
        if (!has_row) {
            break;
        }
        chats.push_back({rows.text(0),
                         rows.text(1),
                         timeFromMs(rows.integer(2)),
                         timeFromMs(rows.integer(3)),
                         rows.text(4),
                         rows.integer(5),
                         {},
                         rows.integer(6) != 0});
    }
    if (words.isEmpty()) {
        return chats;
    }
    ENGINE_ASSIGN(auto place, database_.prepare("SELECT data FROM turns WHERE chat = ?1 AND "
                                                "instr(folded, ?2) ORDER BY position LIMIT 1"));
    for (ui::ChatSummary& chat : chats) {
        for (const QString& word : words) {
            place.bind(1, chat.id).bind(2, word);
            ENGINE_ASSIGN(const bool has_row, place.step());
            if (has_row) {
                const ui::ChatTurn turn =
                    ui::turnFromJson(QJsonDocument::fromJson(place.bytes(0)).object());
                chat.excerpt = excerptAround(searchable(turn), words);
            }
            ENGINE_TRY(place.run());
            if (!chat.excerpt.isEmpty()) {
                break;
            }
        }
    }
    return chats;
}

engine::Result<void> ChatDatabase::rename(const QString& id, const QString& title) {
    // An empty title gives the name back to the first question.
    const QString plain = title.simplified();
    ENGINE_ASSIGN(auto chat, load(id));
    chat.is_title_set_by_user = !plain.isEmpty();
    chat.title = plain.isEmpty() ? ui::titleFromTurns(chat) : plain;
    ENGINE_ASSIGN(
        auto row,
        database_.prepare(
            "UPDATE chats SET title = ?2, folded_title = ?3, is_title_set = ?4 WHERE id = ?1"));
    row.bind(1, id)
        .bind(2, chat.title)
        .bind(3, foldForSearch(chat.title))
        .bind(4, chat.is_title_set_by_user ? 1 : 0);
    ENGINE_TRY(row.run());
    if (last_saved_.id == id) {
        last_saved_.title = chat.title;
        last_saved_.is_title_set_by_user = chat.is_title_set_by_user;
    }
    return {};
}

engine::Result<void> ChatDatabase::pin(const QString& id, bool is_pinned) {
    ENGINE_ASSIGN(auto row,
                  database_.prepare(is_pinned ? "INSERT OR IGNORE INTO pins (chat) VALUES (?1)"
                                              : "DELETE FROM pins WHERE chat = ?1"));
    row.bind(1, id);
    return row.run();
}

engine::Result<void> ChatDatabase::mark(const QString& id, bool is_deleted) {
    ENGINE_ASSIGN(auto row, database_.prepare("UPDATE chats SET deleted = ?2 WHERE id = ?1"));
    row.bind(1, id);
    if (is_deleted) {
        row.bind(2, QDateTime::currentMSecsSinceEpoch());
    } else {
        row.bindNull(2);
    }
    return row.run();
}

engine::Result<void> ChatDatabase::remove(const QString& id) {
    return mark(id, true);
}

engine::Result<void> ChatDatabase::restore(const QString& id) {
    return mark(id, false);
}

} // namespace app
