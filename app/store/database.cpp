// SPDX-License-Identifier: Apache-2.0
#include "app/store/database.h"

#include <QCoreApplication>
#include <QDir>

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <utility>

namespace app {

namespace {

constexpr const char* kReasonKey = "store";

struct ReasonName {
    StoreProblem problem;
    const char* name;
};
constexpr std::array<ReasonName, 6> kReasonNames{{{StoreProblem::DiskFull, "disk_full"},
                                                  {StoreProblem::ReadOnly, "read_only"},
                                                  {StoreProblem::InUse, "in_use"},
                                                  {StoreProblem::Damaged, "damaged"},
                                                  {StoreProblem::TooNew, "too_new"},
                                                  {StoreProblem::Refused, "refused"}}};

struct DatabaseText {
    Q_DECLARE_TR_FUNCTIONS(app::Database)
};

StoreProblem problemOfCode(int extended) {
    switch (extended & 0xff) {
    case SQLITE_FULL:
        return StoreProblem::DiskFull;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return StoreProblem::ReadOnly;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return StoreProblem::InUse;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return StoreProblem::Damaged;
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
    case SQLITE_PROTOCOL:
    case SQLITE_NOLFS:
        return StoreProblem::Other;
    default: // no fault of disk or computer: SQLite does not take what the file says
        return StoreProblem::Refused;
    }
}

QString explain(StoreProblem problem, const QString& file, const QString& detail) {
    const QString name = QDir::toNativeSeparators(file);
    switch (problem) {
    case StoreProblem::DiskFull:
        return DatabaseText::tr(
                   "The disk that holds %1 is full. Free some space; what is not saved yet "
                   "is kept in memory and saved then.")
            .arg(name);
    case StoreProblem::ReadOnly:
        return DatabaseText::tr(
                   "%1 cannot be written (%2). Make the file and its folder writable; what "
                   "is not saved yet is kept in memory and saved then.")
            .arg(name, detail);
    case StoreProblem::InUse:
        return DatabaseText::tr(
                   "%1 is in use by another program, probably a second Belfry. Close that "
                   "one; what is not saved yet is kept in memory and saved then.")
            .arg(name);
    case StoreProblem::Damaged:
        return DatabaseText::tr("%1 is damaged (%2).").arg(name, detail);
    case StoreProblem::TooNew:
    case StoreProblem::Refused:
    case StoreProblem::Other:
        break;
    }
    return DatabaseText::tr(
               "%1 could not be read or written (%2). Check the disk; what is not saved "
               "yet is kept in memory.")
        .arg(name, detail);
}

} // namespace

StoreProblem storeProblem(const engine::Error& error) {
    for (const auto& [key, value] : error.details) {
        if (key == kReasonKey) {
            for (const ReasonName& reason : kReasonNames) {
                if (value == reason.name) {
                    return reason.problem;
                }
            }
        }
    }
    return StoreProblem::Other;
}

engine::Error storeError(StoreProblem problem, const QString& message) {
    engine::Error error{engine::ErrorCode::InvalidFile, message.toStdString()};
    for (const ReasonName& reason : kReasonNames) {
        if (reason.problem == problem) {
            error.details.emplace_back(kReasonKey, reason.name);
        }
    }
    return error;
}

Statement::Statement(Database& database, sqlite3_stmt* statement)
    : database_(database), statement_(statement) {}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement::~Statement() {
    sqlite3_finalize(statement_);
}

Statement& Statement::bind(int index, const QString& text) {
    const QByteArray utf8 = text.toUtf8();
    sqlite3_bind_text64(statement_, index, utf8.constData(), static_cast<quint64>(utf8.size()),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(int index, qint64 value) {
    sqlite3_bind_int64(statement_, index, value);
    return *this;
}

Statement& Statement::bindNull(int index) {
    sqlite3_bind_null(statement_, index);
    return *this;
}

engine::Result<bool> Statement::step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) {
        return true;
    }
    if (code == SQLITE_DONE) {
        return false;
    }
    engine::Error error = database_.lastError();
    sqlite3_reset(statement_);
    return error;
}

engine::Result<void> Statement::run() {
    for (;;) {
        auto row = step();
        if (!row.has_value()) {
            return std::move(row).error();
        }
        if (!*row) {
            sqlite3_reset(statement_);
            sqlite3_clear_bindings(statement_);
            return {};
        }
    }
}

QString Statement::text(int column) const {
    return QString::fromUtf8(bytes(column));
}

QByteArray Statement::bytes(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return {data, sqlite3_column_bytes(statement_, column)};
}

qint64 Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}

bool Statement::isNull(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Database::~Database() {
    close();
}

void Database::close() {
    if (connection_ != nullptr) {
        sqlite3_close_v2(connection_);
        connection_ = nullptr;
    }
}

engine::Result<void> Database::connect(const QByteArray& name, int flags, const QByteArray& vfs) {
    const int code = sqlite3_open_v2(name.constData(), &connection_, flags | SQLITE_OPEN_NOMUTEX,
                                     vfs.isEmpty() ? nullptr : vfs.constData());
    if (code == SQLITE_OK) {
        return {};
    }
    engine::Error error =
        connection_ != nullptr
            ? lastError()
            : storeError(StoreProblem::Other,
                         explain(StoreProblem::Other, file_, DatabaseText::tr("no memory")));
    close();
    return error;
}

engine::Result<void> Database::openImage(const QString& file, const QByteArray& image) {
    close();
    file_ = file;
    ENGINE_TRY(connect(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {}));
    const auto bytes = static_cast<sqlite3_uint64>(image.size());
    auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes + 1)); // 0 gives no memory
    if (copy != nullptr) {
        std::copy(image.begin(), image.end(), copy);
    }
    // Frees the copy, also when it fails.
    const int code =
        sqlite3_deserialize(connection_, "main", copy, image.size(), image.size(),
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
    if (copy == nullptr || code != SQLITE_OK) {
        close();
        return storeError(StoreProblem::Other,
                          explain(StoreProblem::Other, file, DatabaseText::tr("no memory")));
    }
    return run("SELECT count(*) FROM sqlite_master"); // reads the first page
}

void Database::keepLog(bool is_kept) {
    if (connection_ != nullptr) {
        sqlite3_db_config(connection_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_kept ? 1 : 0, nullptr);
    }
}

engine::Result<void> Database::open(const QString& file, const QByteArray& vfs) {
    close();
    file_ = file;
    ENGINE_TRY(connect(file.toUtf8(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs));
    keepLog(true);
    sqlite3_extended_result_codes(connection_, 1);
    // SQLite opens a write-protected file for reading without a word.
    if (sqlite3_db_readonly(connection_, "main") == 1) {
        close();
        return storeError(StoreProblem::ReadOnly, explain(StoreProblem::ReadOnly, file,
                                                          DatabaseText::tr("write-protected")));
    }
    // A second program waits this long for the first to close, then hears that it is in use.
    sqlite3_busy_timeout(connection_, 200);
    for (const char* sql : {"PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=WAL",
                            "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON",
                            // Deleted conversations leave no readable rest in the file.
                            "PRAGMA secure_delete=ON",
                            // Takes the lock now; the message belongs to opening, not to saving.
                            // It only reads: a change could be written over a damaged log.
                            "PRAGMA user_version"}) {
        auto done = run(sql);
        if (!done.has_value()) {
            close();
            return done;
        }
    }
    return {};
}

engine::Result<void> Database::run(const char* sql) {
    auto statement = prepare(sql);
    if (!statement.has_value()) {
        return std::move(statement).error();
    }
    return statement->run();
}

engine::Result<Statement> Database::prepare(const char* sql) {
    if (connection_ == nullptr) {
        return storeError(StoreProblem::Other,
                          explain(StoreProblem::Other, file_, DatabaseText::tr("it is not open")));
    }
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(connection_, sql, -1, &statement, nullptr) != SQLITE_OK) {
        return lastError();
    }
    return Statement(*this, statement);
}

engine::Error Database::lastError() const {
    const int code = sqlite3_extended_errcode(connection_);
    const StoreProblem problem = problemOfCode(code);
    const QString detail =
        QString::fromUtf8(sqlite3_errmsg(connection_)) + QStringLiteral(", SQLite %1").arg(code);
    return storeError(problem, explain(problem, file_, detail));
}

engine::Result<void> Transaction::begin() {
    auto begun = database_.run("BEGIN IMMEDIATE");
    is_open_ = begun.has_value();
    return begun;
}

engine::Result<void> Transaction::commit() {
    auto done = database_.run("COMMIT");
    if (done.has_value()) {
        is_open_ = false;
    }
#ifdef BELFRY_PLANTED_LOST_COMMIT // built once so: tests must notice
    done = engine::Result<void>();
#endif
    return done;
}

Transaction::~Transaction() {
    if (is_open_) {
        (void)database_.run("ROLLBACK"); // SQLite may have rolled back already: nothing to do then
    }
}

} // namespace app
