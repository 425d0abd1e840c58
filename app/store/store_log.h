// SPDX-License-Identifier: Apache-2.0
// SQLite's log (the file ending in -wal) read by Belfry itself. SQLite takes frames up to the first
// one whose checksum is wrong and forgets the others without a word: right for a write that a power
// cut tore, wrong for a log that was damaged later, because the turns behind the place had been
// acknowledged. Tells the two apart and reads what SQLite would leave. Format:
// https://www.sqlite.org/fileformat.html, "The Write-Ahead Log". Pure functions of bytes.
#pragma once

#include <QByteArray>
#include <QByteArrayView>

#include <vector>

namespace app {

/// A page that the log changes.
struct LogPage {
    enum class State {
        Whole = 1, ///< As it was written, or mended.
        Doubtful,  ///< One word of it is wrong, which one is not known.
        Broken,    ///< More is wrong; a part of it may be right.
    };
    quint32 number = 0;
    QByteArray bytes;
    State state = State::Whole;
};

struct StoreLog {
    /// Changes that were acknowledged go on behind a place that SQLite does not read beyond.
    bool is_damaged = false;
    qsizetype page_bytes = 0;   ///< 0: the log holds nothing.
    quint32 store_pages = 0;    ///< After the last change, as that says itself.
    std::vector<LogPage> pages; ///< All of complete changes, in the order of writing.
};

/// Reads a whole log. Damage within one word of a frame is mended where the checksum, which is
/// linear, tells which word it was and what stood there.
StoreLog readStoreLog(QByteArrayView log);

} // namespace app
