// SPDX-License-Identifier: Apache-2.0
// The chat file when it is damaged or cannot be written: what is in file and log is read without
// SQLite and carried over into a new file, or shown from memory.
#include "app/store/chat_database.h"
#include "app/store/durable_folder.h"
#include "app/store/page_rows.h"
#include "app/store/store_log.h"
#include "engine/base/result.h"
#include "ui/chat/chat_json.h"
#include "ui/common/error_words.h"
#include "ui/common/private_files.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>

#include <algorithm>
#include <utility>

namespace app {

namespace {

struct RecoveryText {
    Q_DECLARE_TR_FUNCTIONS(app::ChatDatabase)
};

/// SQLite only reads a file whose header names a form behind the two that it writes; Belfry writes
/// no such one. https://www.sqlite.org/fileformat.html, "File format version numbers"
bool isOfLaterForm(const QByteArray& file) {
    constexpr qsizetype kWriteVersionAt = 18;
    constexpr int kLatest = 2;
    return file.size() > kWriteVersionAt &&
           static_cast<unsigned char>(file.at(kWriteVersionAt)) > kLatest;
}

QByteArray contentOf(const QString& file) {
    QFile input(file);
    return input.open(QIODevice::ReadOnly) ? input.readAll() : QByteArray();
}

/// File and log as they are on the disk. No connection may be open: closing a file gives up the
/// locks that this process has on it.
StoreImage imageOf(const QString& file) {
    return makeStoreImage(contentOf(file), readStoreLog(contentOf(file + QStringLiteral("-wal"))));
}

void removeStore(const QString& file) {
    for (const char* suffix : {"", "-wal", "-shm"}) {
        QFile::remove(file + QString::fromLatin1(suffix));
    }
}

/// The log goes where SQLite expects it.
void moveLog(const QString& from, const QString& to) {
    for (const char* suffix : {"-wal", "-shm"}) {
        const QString part = from + QString::fromLatin1(suffix);
        if (QFileInfo::exists(part)) {
            QFile::rename(part, to + QString::fromLatin1(suffix));
        }
    }
}

/// JSON of which a letter may have become none.
QJsonDocument lenientJson(const QByteArray& text) {
    const QJsonDocument document = QJsonDocument::fromJson(text);
    return document.isNull() ? QJsonDocument::fromJson(QString::fromUtf8(text).toUtf8()) : document;
}

QString keptAs(const QString& aside) {
    return RecoveryText::tr(
               "The file with the chats was damaged. It was kept as %1; what could be read "
               "from it is in the list again.")
        .arg(QDir::toNativeSeparators(aside));
}

} // namespace

engine::Result<OpenReport> ChatDatabase::open() {
    close();
    is_read_only_ = false;
    const QString aside = finishReplacing();
    auto opened = openFile();
    if (!opened.has_value()) {
        const engine::Error error = explained(opened.error());
        const StoreProblem problem = storeProblem(error);
        close();
        if (problem == StoreProblem::Damaged || problem == StoreProblem::Refused ||
            (problem == StoreProblem::ReadOnly && isOfLaterForm(contentOf(file())))) {
            return replaceDamaged(error);
        }
        if (problem == StoreProblem::ReadOnly || problem == StoreProblem::DiskFull) {
            return openReadOnly(error);
        }
        return engine::Error(error);
    }
    OpenReport report;
    if (!aside.isEmpty()) {
        report.set_aside = aside;
        report.message = keptAs(aside);
    }
    return report;
}

engine::Result<void> ChatDatabase::checkLog() {
    if (!readStoreLog(contentOf(file() + QStringLiteral("-wal"))).is_damaged) {
        return {};
    }
    return damaged(RecoveryText::tr("its log goes on behind a place that cannot be read"));
}

engine::Result<OpenReport> ChatDatabase::openReadOnly(const engine::Error& why) {
    close();
    if (!QFileInfo::exists(file())) {
        return engine::Error(why); // nothing to read either
    }
    // SQLite would read such a file without its log, and the newest chats stand in that.
    StoreImage image = imageOf(file());
    rebuildHeader(image);
    ENGINE_TRY(database_.openImage(file(), image.bytes));
    // A disk that was full from the beginning leaves a file without tables: nothing to read.
    if (!database_.prepare("SELECT 1 FROM chats, turns").has_value()) {
        close();
        return engine::Error(why);
    }
    is_read_only_ = true;
    OpenReport report;
    report.is_read_only = true;
    report.message = ui::errorWords(why);
    if (image.is_log_damaged) {
        report.message +=
            QLatin1Char(' ') + RecoveryText::tr("The log of the latest changes is damaged, "
                                                "so that some of them may be missing.");
    }
    return report;
}

QString ChatDatabase::finishReplacing() {
    const QString fresh = file() + QStringLiteral(".recovering");
    if (QFileInfo::exists(file()) || !QFileInfo::exists(fresh)) {
        return {};
    }
    // The names end in the time: the last one is the one whose file is missing here.
    QStringList kept =
        QDir(options_.folder)
            .entryList({QStringLiteral("chats.sqlite.damaged-*")}, QDir::Files, QDir::Name);
    kept.removeIf([](const QString& name) {
        return name.endsWith(QLatin1String("-wal")) || name.endsWith(QLatin1String("-shm"));
    });
    const QString aside = options_.folder + QLatin1Char('/') +
                          (kept.isEmpty() ? QStringLiteral("chats.sqlite.damaged-1") : kept.last());
    moveLog(file(), aside);
    return QFile::rename(fresh, file()) ? aside : QString();
}

engine::Result<OpenReport> ChatDatabase::replaceDamaged(const engine::Error& why) {
    database_.keepLog(true);
    close();
    is_read_only_ = false;
    const QString base = file() + QStringLiteral(".damaged-") +
                         QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"));
    QString aside = base;
    for (int n = 2; QFileInfo::exists(aside) || QFileInfo::exists(aside + QStringLiteral("-wal"));
         ++n) {
        aside = base + QStringLiteral("-%1").arg(n);
    }
    // The new file is complete before the old one loses its name: a crash at any moment leaves
    // one of the two, and the next start goes on from there.
    const QString fresh = file() + QStringLiteral(".recovering");
    const QString part = fresh + QStringLiteral("-part");
    removeStore(fresh);
    removeStore(part);
    const StoreImage image = imageOf(file());
    auto recovered = recover(image, part);
    if (!recovered.has_value() || !QFile::rename(part, fresh)) {
        close(); // the disk does not take them: the damaged file stays where it is, and is shown
        removeStore(part);
        return openReadOnly(recovered.has_value() ? why : recovered.error());
    }
    OpenReport report = *std::move(recovered);
    if (QFileInfo::exists(file()) && !QFile::rename(file(), aside)) {
        removeStore(fresh);
        return engine::Error(why);
    }
    moveLog(file(), aside);
    if (!QFile::rename(fresh, file())) {
        return engine::Error(why); // the next start finds both
    }
    syncFolder(options_.folder);
    auto opened = openFile();
    if (!opened.has_value()) {
        close();
        return std::move(opened).error();
    }
    report.set_aside = aside;
    report.message =
        (image.is_log_damaged
             ? RecoveryText::tr(
                   "The log with the latest changes of the chats was damaged. File and log "
                   "were kept as %1 and %1-wal; %2 chats could be read from them and are in "
                   "the list again.")
             : RecoveryText::tr(
                   "The file with the chats was damaged. It was kept as %1; %2 chats could "
                   "be read from it and are in the list again."))
            .arg(QDir::toNativeSeparators(aside))
            .arg(report.recovered_chats);
    if (report.incomplete_chats > 0) {
        report.message +=
            QLatin1Char(' ') + RecoveryText::tr("Turns are missing or damaged in %1 of them.")
                                   .arg(report.incomplete_chats);
    }
    if (report.recovered_chats > 0) {
        report.message += QLatin1Char(' ') + RecoveryText::tr("None of them is pinned any more.");
    }
    return report;
}

engine::Result<OpenReport> ChatDatabase::recover(const StoreImage& image, const QString& target) {
    QHash<QString, ChatRows> all = readRows(image);
    ENGINE_TRY(database_.open(target, options_.vfs));
    database_.keepLog(false);
    ui::makePrivate(target);
    ENGINE_TRY(createTables());
    // The file counts only once it has its name, and closing waits for the disk.
    ENGINE_TRY(database_.run("PRAGMA synchronous=NORMAL"));
    OpenReport report;
    for (auto rows = all.begin(); rows != all.end(); ++rows) {
        bool is_whole = true;
        ui::ChatDocument chat = chatOf(rows.key(), *rows, is_whole);
        *rows = {};
        QStringList notes;
        if (chat.turns.empty()) {
            continue;
        }
        const auto saved = saveChat(chat, notes);
        if (saved.has_value()) {
            ++report.recovered_chats;
            report.incomplete_chats += is_whole ? 0 : 1;
        } else if (storeProblem(saved.error()) != StoreProblem::Refused) {
            return engine::Error(saved.error());
        }
    }
    close();
    return report;
}

ui::ChatDocument
ChatDatabase::chatOf(const QString& id, const ChatRows& rows, bool& is_whole) const {
    ui::ChatDocument chat;
    if (rows.chat.is_deleted) {
        return chat;
    }
    ui::settingsFromJson(lenientJson(rows.chat.settings).object(), chat);
    chat.id = id;
    chat.title = rows.chat.title;
    chat.is_title_set_by_user = rows.chat.is_title_set;
    if (rows.chat.created > 0) {
        chat.created = QDateTime::fromMSecsSinceEpoch(rows.chat.created, Qt::UTC);
        chat.modified = QDateTime::fromMSecsSinceEpoch(rows.chat.modified, Qt::UTC);
    }
    qint64 next = 0;
    for (const auto& [position, turn] : rows.turns) {
        if (turn.data.isEmpty()) {
            continue; // only other versions of it were found
        }
        is_whole = is_whole && position == next++;
        QJsonArray versions;
        for (const auto& entry : turn.versions) {
            versions.append(lenientJson(entry.second).array());
        }
        chat.turns.push_back(turnOf(turn.data, turn.folded, position, versions, is_whole));
    }
    is_whole = is_whole && chat.created.isValid();
    if (!chat.turns.empty() && !chat.created.isValid()) {
        chat.created = chat.turns.front().time;
        chat.modified = chat.turns.back().time;
    }
    findAttachments(chat.turns);
    return chat;
}

ui::ChatTurn ChatDatabase::turnOf(const QByteArray& data,
                                  const QByteArray& folded,
                                  qint64 position,
                                  const QJsonArray& versions,
                                  bool& is_whole) {
    QJsonDocument document = QJsonDocument::fromJson(data);
    const bool is_plain = document.isObject();
    if (!is_plain) {
        document = lenientJson(data);
    }
    QJsonObject object = document.object();
    if (!document.isObject()) {
        // What the search looks at has the words too, though not as they were written.
        object.insert(QStringLiteral("role"),
                      position % 2 == 0 ? QStringLiteral("user") : QStringLiteral("assistant"));
        object.insert(QStringLiteral("text"), QString::fromUtf8(folded));
    }
    if (!versions.isEmpty()) {
        object.insert(QStringLiteral("versions"), versions);
    }
    ui::ChatTurn turn = ui::turnFromJson(object);
    if (!is_plain) {
        is_whole = false;
        turn.notes.append(
            RecoveryText::tr("This turn was damaged on the disk, so that not all of it is "
                             "as it was written."));
    }
    return turn;
}

void ChatDatabase::findAttachments(std::vector<ui::ChatTurn>& turns) const {
    ui::visitAllTurns(turns, [this](ui::ChatTurn& turn) {
        for (ui::Attachment& attachment : turn.attachments) {
            // The folder may have been moved since: the content's name decides.
            const QString file = attachments_.find(attachment.hash);
            if (!file.isEmpty()) {
                attachment.file = file;
            }
        }
    });
}

} // namespace app
