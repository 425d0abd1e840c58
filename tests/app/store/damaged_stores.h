// SPDX-License-Identifier: Apache-2.0
// Chat files as a broken disk hands them back, for the test and the fuzz target: whatever is in
// them, a start lets a new chat be saved, keeps what it acknowledges, and says what is lost.
#pragma once

#include "app/store/chat_database.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

namespace support {

/// What lies in the folder of a store that a program left behind.
struct StoreFiles {
    QByteArray file, log;
};

/// A store of `chats` chats as it is after its program ended, or was killed before it could: the
/// newest turns are in the log then.
StoreFiles makeStore(int chats, bool was_killed);

struct StartOutcome {
    QString problem; ///< Why a promise is broken; empty: none is.
    QString message; ///< What the user was told.
    bool is_saved = false;
    qint64 turns = 0; ///< From makeStore(), read back as they were written.
    qint64 chats = 0; ///< From makeStore(), in the list.
};

/// Starts on the files, reads everything, saves a turn, ends and starts again.
StartOutcome startOn(const StoreFiles& files);

} // namespace support
