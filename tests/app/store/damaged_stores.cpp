// SPDX-License-Identifier: Apache-2.0
#include "tests/app/store/damaged_stores.h"

#include "tests/app/store/fault_vfs.h"
#include "tests/app/store/sample_chats.h"
#include "tests/support/qt_files.h"

#include <QFile>
#include <QTemporaryDir>

namespace support {

namespace {

constexpr int kTurns = 6;

/// As the store does it.
engine::Result<void> save(app::ChatDatabase& database, ui::ChatDocument& chat, QStringList& told) {
    auto saved = database.save(chat, told);
    if (!saved.has_value() && app::storeProblem(saved.error()) == app::StoreProblem::Damaged) {
        auto replaced = database.replaceDamaged(saved.error());
        if (replaced.has_value()) {
            told.append(replaced->message);
            saved = database.save(chat, told);
        }
    }
    return saved;
}

/// Counts what came back as it was written; false where a chat can be read only in part.
void readAll(app::ChatDatabase& database, StartOutcome& out, QStringList& told) {
    const auto listed = database.list({});
    if (!listed.has_value()) {
        told.append(QString::fromStdString(listed.error().message));
        return;
    }
    out.chats = static_cast<qint64>(listed->size());
    for (const ui::ChatSummary& summary : *listed) {
        const auto chat = database.load(summary.id);
        if (!chat.has_value()) {
            told.append(QString::fromStdString(chat.error().message));
            continue;
        }
        qint64 same = 0;
        for (const ui::ChatTurn& turn : chat->turns) {
            // A turn that is missing moves those behind it, so the number in its name counts.
            const int position = turn.id.mid(chat->id.size() + 1).toInt();
            const ui::ChatTurn written = sampleTurn(chat->id, position);
            same += turn.id == written.id && turn.text == written.text ? 1 : 0;
            told.append(turn.notes.filter(QStringLiteral("damaged")));
        }
        out.turns += same;
    }
}

} // namespace

StoreFiles makeStore(int chats, bool was_killed) {
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("chats.sqlite"));
    app::ChatDatabase database({folder.path(), faultVfs()});
    QStringList notes;
    StoreFiles files;
    bool is_done = database.open().has_value();
    for (int i = 0; i < chats; ++i) {
        ui::ChatDocument chat = sampleChat(QString::number(i), 0);
        for (int turn = 0; turn < kTurns; ++turn) {
            chat.turns.push_back(sampleTurn(chat.id, turn));
            is_done = is_done && database.save(chat, notes).has_value();
        }
    }
    if (!was_killed) {
        database.close();
    }
    files.file = support::bytesOf(file);
    files.log = support::bytesOf(file + QStringLiteral("-wal"));
    return is_done ? files : StoreFiles();
}

StartOutcome startOn(const StoreFiles& files) {
    StartOutcome out;
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("chats.sqlite"));
    writeFile(file, files.file);
    if (!files.log.isEmpty()) {
        writeFile(file + QStringLiteral("-wal"), files.log);
    }
    QStringList told;
    ui::ChatDocument fresh = sampleChat(QStringLiteral("fresh"), 2);
    {
        app::ChatDatabase database({folder.path(), faultVfs()});
        const auto opened = database.open();
        if (!opened.has_value()) {
            out.message = QString::fromStdString(opened.error().message);
            out.problem = app::storeProblem(opened.error()) == app::StoreProblem::TooNew
                              ? QString()
                              : QStringLiteral("not opened: ") + out.message;
            return out;
        }
        if (!opened->message.isEmpty()) {
            told.append(opened->message);
        }
        readAll(database, out, told);
        const auto saved = save(database, fresh, told);
        if (!saved.has_value()) {
            out.problem =
                QStringLiteral("not saved: ") + QString::fromStdString(saved.error().message);
            return out;
        }
    }
    out.is_saved = true;
    out.message = told.join(QLatin1Char(' '));
    app::ChatDatabase database({folder.path(), faultVfs()});
    const auto opened = database.open();
    if (!opened.has_value()) {
        out.problem =
            QStringLiteral("not opened again: ") + QString::fromStdString(opened.error().message);
        return out;
    }
    const auto back = database.load(fresh.id);
    if (!back.has_value() || asText(*back) != asText(fresh)) {
        out.problem = QStringLiteral("acknowledged and not there: ") + opened->message;
    }
    return out;
}

} // namespace support
