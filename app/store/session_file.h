// SPDX-License-Identifier: Apache-2.0
// What the program was doing, in a small JSON file beside the chats: which chat was open, what was
// being loaded, whether the session ended in order. Read once at start, so that a crash reopens
// the chat and does not load again what crashed.
#pragma once

#include "engine/base/result.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QMetaType>
#include <QString>

namespace app {

struct SessionState {
    QString chat;         ///< Id of the open chat; empty = a new one.
    QJsonArray drafts;    ///< What is written and not sent yet, by chat (ui/chat/chat_json.h).
    QString loading;      ///< Model folder that is being loaded now; empty = none.
    QString loaded;       ///< Model folder that is loaded, at an orderly end chosen; empty = none.
    QJsonObject options;  ///< How it was loaded: layout, weights, context, adapters (load_json.h).
    bool is_over = false; ///< The program ended in order.
};

/// What the last session left behind.
struct PreviousSession {
    bool exists = false; ///< False at the very first start, and when the file cannot be read.
    SessionState state;

    [[nodiscard]] bool hasCrashed() const { return exists && !state.is_over; }
    /// The model whose load the last session did not survive; empty = none.
    [[nodiscard]] QString crashedWhileLoading() const {
        return hasCrashed() ? state.loading : QString();
    }
};

class SessionFile {
public:
    explicit SessionFile(const QString& folder);

    [[nodiscard]] PreviousSession read() const;
    /// Replaces the file in one step: a crash leaves the old or the new one, never half of one.
    engine::Result<void> write(const SessionState& state) const;

private:
    QString file_;
};

} // namespace app

Q_DECLARE_METATYPE(app::SessionState)
Q_DECLARE_METATYPE(app::PreviousSession)
