// SPDX-License-Identifier: Apache-2.0
// The tables of the chat file: making them, bringing an earlier form to this one, checking them.
#include "app/store/chat_database.h"
#include "engine/base/result.h"
#include "ui/common/error_words.h"

#include <QCoreApplication>
#include <QDir>

namespace app {

namespace {

/// 1: chats, turns, attachments. 2: versions of the conversation that are not shown. Later forms
/// stand in user_version and in application_id, so that one wrong byte does not look like one.
constexpr qint64 kSchema = 2;

struct TablesText {
    Q_DECLARE_TR_FUNCTIONS(app::ChatDatabase)
};

} // namespace

engine::Error ChatDatabase::damaged(const QString& what) const {
    return storeError(
        StoreProblem::Damaged,
        TablesText::tr("%1 is damaged (%2).").arg(QDir::toNativeSeparators(file()), what));
}

engine::Error ChatDatabase::explained(engine::Error error) {
    const StoreProblem problem = storeProblem(error);
    if (problem != StoreProblem::Other && problem != StoreProblem::Refused) {
        return error;
    }
    if (database_.isOpen()) {
        if (auto whole = checkAll(); !whole.has_value()) {
            return std::move(whole).error();
        }
    }
    // The statements are always the same: it is the header or the text of the tables that changed,
    // at which no check looks.
    return problem == StoreProblem::Refused ? damaged(ui::errorWords(error)) : error;
}

engine::Result<void> ChatDatabase::checkAll() {
    {
        ENGINE_ASSIGN(auto check, database_.prepare("PRAGMA integrity_check(1)"));
        ENGINE_TRY(check.step());
        if (const QString verdict = check.text(0); verdict != QLatin1String("ok")) {
            return damaged(verdict);
        }
    }
    ENGINE_ASSIGN(auto check, database_.prepare("PRAGMA foreign_key_check"));
    ENGINE_ASSIGN(const bool is_broken, check.step());
    return is_broken ? engine::Result<void>(damaged(check.text(0))) : engine::Result<void>();
}

engine::Result<void> ChatDatabase::createTables() {
    const auto number = [this](const char* sql) -> engine::Result<qint64> {
        ENGINE_ASSIGN(auto statement, database_.prepare(sql));
        ENGINE_TRY(statement.step());
        return statement.integer(0);
    };
    ENGINE_ASSIGN(const qint64 version, number("PRAGMA user_version"));
    ENGINE_ASSIGN(const qint64 written_again, number("PRAGMA application_id"));
    if (version == kSchema) {
        return checkTables();
    }
    if (version < 0 || (version > kSchema && version != written_again)) {
        return damaged(QStringLiteral("user_version %1").arg(version));
    }
    if (version > kSchema) {
        return storeError(
            StoreProblem::TooNew,
            TablesText::tr(
                "%1 was written by a later version of Belfry (its form is number %2, this "
                "program knows number %3), so chats are not saved. Start the later version, "
                "or move the file away.")
                .arg(QDir::toNativeSeparators(file()))
                .arg(version)
                .arg(kSchema));
    }
    Transaction transaction(database_);
    ENGINE_TRY(transaction.begin());
    if (version < 1) {
        ENGINE_TRY(createFirstTables());
    }
    // One row per version, so that a turn that changes does not write them all again.
    for (const char* sql : {
             "CREATE TABLE versions (chat TEXT NOT NULL, position INTEGER NOT NULL, "
             "number INTEGER NOT NULL, data TEXT NOT NULL, "
             "PRIMARY KEY (chat, position, number), "
             "FOREIGN KEY (chat, position) REFERENCES turns (chat, position) "
             "ON DELETE CASCADE) WITHOUT ROWID",
             "PRAGMA user_version = 2",
         }) {
        ENGINE_TRY(database_.run(sql));
    }
    ENGINE_TRY(transaction.commit());
    return version < 1 ? engine::Result<void>() : checkTables();
}

engine::Result<void> ChatDatabase::createFirstTables() {
    for (const char* sql : {
             "CREATE TABLE chats (id TEXT PRIMARY KEY, title TEXT NOT NULL, "
             "folded_title TEXT NOT NULL, is_title_set INTEGER NOT NULL, "
             "created INTEGER NOT NULL, modified INTEGER NOT NULL, " // ms since 1970, UTC
             "model TEXT NOT NULL, settings TEXT NOT NULL, deleted INTEGER) WITHOUT ROWID",
             "CREATE INDEX chats_by_time ON chats (modified)",
             "CREATE TABLE turns (chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE, "
             "position INTEGER NOT NULL, folded TEXT NOT NULL, data TEXT NOT NULL, "
             "PRIMARY KEY (chat, position))",
             "CREATE TABLE attachments (chat TEXT NOT NULL, position INTEGER NOT NULL, "
             "hash TEXT NOT NULL, FOREIGN KEY (chat, position) REFERENCES turns (chat, position) "
             "ON DELETE CASCADE)",
             "CREATE INDEX attachments_by_turn ON attachments (chat, position)",
         }) {
        ENGINE_TRY(database_.run(sql));
    }
    return {};
}

engine::Result<void> ChatDatabase::createPins() {
    ENGINE_TRY(
        database_.run("CREATE TABLE IF NOT EXISTS pins (chat TEXT PRIMARY KEY) WITHOUT ROWID"));
    if (auto pins = database_.prepare("SELECT chat FROM pins"); !pins.has_value()) {
        return storeError(StoreProblem::Damaged, ui::errorWords(pins.error()));
    }
    return {};
}

engine::Result<void> ChatDatabase::checkTables() {
    // A flipped byte in the schema is a plain SQL error to SQLite; here it means a broken file.
    for (const char* sql : {
             "SELECT id, title, folded_title, is_title_set, created, modified, model, settings, "
             "deleted FROM chats",
             "SELECT chat, position, folded, data FROM turns",
             "SELECT chat, position, hash FROM attachments",
             "SELECT chat, position, number, data FROM versions",
         }) {
        auto statement = database_.prepare(sql);
        if (!statement.has_value()) {
            return storeError(StoreProblem::Damaged, ui::errorWords(statement.error()));
        }
    }
    return {};
}

} // namespace app
