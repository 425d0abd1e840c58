// SPDX-License-Identifier: Apache-2.0
// Rows read straight out of the pages of an SQLite file, as its shell's .recover does: every leaf
// on its own, with no regard to header, schema, indexes or to which page names which. So one bad
// byte costs at most the rows of its page. Knows the tables of chat_database.h by the shape of
// their rows. Format: https://www.sqlite.org/fileformat.html. Pure functions of bytes.
#pragma once

#include "app/store/store_log.h"

#include <QByteArray>
#include <QHash>
#include <QString>

#include <map>
#include <utility>
#include <vector>

namespace app {

/// The file and what its log changes as one: what SQLite would show if nothing were damaged.
struct StoreImage {
    QByteArray bytes;
    qsizetype page_bytes = 0;
    QHash<quint32, qsizetype> ages; ///< By page: which change of the log wrote it.
    std::vector<std::pair<LogPage, qsizetype>>
        odd;                     ///< Pages of the log that are not whole, with ages.
    bool is_log_damaged = false; ///< See StoreLog.
};

StoreImage makeStoreImage(QByteArray file, const StoreLog& log);
/// Writes the header anew, whatever stands there: all of it is known of a file that Belfry made.
/// The image can then be read where there is no log (the form of a file without one).
void rebuildHeader(StoreImage& image);

struct ChatRow {
    QString title;
    bool is_title_set = false, is_deleted = false;
    qint64 created = 0, modified = 0;
    QByteArray settings;
};

struct TurnRow {
    QByteArray folded, data;
    std::map<qint64, QByteArray> versions; ///< By number.
};

struct ChatRows {
    ChatRow chat; ///< Without dates where only turns were found.
    std::map<qint64, TurnRow> turns;
};

/// By chat id. Where two pages have the same row, the one that was written later counts.
QHash<QString, ChatRows> readRows(const StoreImage& image);

/// When the first chat can have been deleted, in milliseconds since 1970. What is less, or no
/// number, stands there through damage and deletes nothing.
inline constexpr qint64 kEarliestDeletion = 1'500'000'000'000;

} // namespace app
