// SPDX-License-Identifier: Apache-2.0
// SQLite as the chat store needs it: one connection, prepared statements, errors as values with a
// reason that the window can act on. The only place that opens an SQLite connection. The mode is
// WAL with synchronous=FULL: a committed transaction survives a killed program and a power cut.
// The connection holds an exclusive lock, so that a second program on the same file gets a clear
// answer instead of a second writer (SQLite before 3.51.3 can lose a WAL that two connections
// reset at once).
#pragma once

#include "engine/base/result.h"

#include <QByteArray>
#include <QString>

struct sqlite3;
struct sqlite3_stmt;

namespace app {

/// Why the store could not do something.
enum class StoreProblem {
    DiskFull = 1,
    ReadOnly, ///< The folder or file cannot be written or created.
    InUse,    ///< Another program holds the file.
    Damaged,  ///< The file is not a database, or breaks its rules.
    TooNew,   ///< Written by a later version of the program.
    Refused,  ///< SQLite does not take a statement: the tables or their rows are others.
    Other,
};

/// The reason behind an error of the store; Other for errors from elsewhere.
StoreProblem storeProblem(const engine::Error& error);
/// An error of the store. `message` is complete: object, expected, found, next step.
engine::Error storeError(StoreProblem problem, const QString& message);

class Database;

/// A prepared statement. Values are bound from 1 as in SQL, columns are read from 0.
class Statement {
public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    Statement& bind(int index, const QString& text);
    Statement& bind(int index, qint64 value);
    Statement& bindNull(int index);
    /// True: a row can be read. False: done.
    engine::Result<bool> step();
    /// Runs to the end and makes the statement ready for new values.
    engine::Result<void> run();

    [[nodiscard]] QString text(int column) const;
    [[nodiscard]] QByteArray bytes(int column) const;
    [[nodiscard]] qint64 integer(int column) const;
    [[nodiscard]] bool isNull(int column) const;

private:
    friend class Database;
    Statement(Database& database, sqlite3_stmt* statement);

    Database& database_;
    sqlite3_stmt* statement_;
};

class Database {
public:
    Database() = default;
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Opens or creates a file. `vfs` names another SQLite file system (tests inject faults with
    /// one); empty = the system's. Until keepLog(false), closing leaves the log as it is: what is
    /// damaged must not be written into the file.
    engine::Result<void> open(const QString& file, const QByteArray& vfs = {});
    /// Reads a complete file that is in memory; nothing can be written. `file` is what it is
    /// called.
    engine::Result<void> openImage(const QString& file, const QByteArray& image);
    void keepLog(bool is_kept);
    void close();
    [[nodiscard]] bool isOpen() const { return connection_ != nullptr; }
    [[nodiscard]] QString file() const { return file_; }

    engine::Result<void> run(const char* sql);
    engine::Result<Statement> prepare(const char* sql);
    /// The connection's last error as an error of the store.
    [[nodiscard]] engine::Error lastError() const;

private:
    engine::Result<void> connect(const QByteArray& name, int flags, const QByteArray& vfs);

    sqlite3* connection_ = nullptr;
    QString file_;
};

/// Rolls back when it goes out of scope without commit().
class Transaction {
public:
    explicit Transaction(Database& database) : database_(database) {}
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    engine::Result<void> begin();
    engine::Result<void> commit();

private:
    Database& database_;
    bool is_open_ = false;
};

} // namespace app
