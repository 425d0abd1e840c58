// SPDX-License-Identifier: Apache-2.0
// Holds a request for a reply back until the turns before it are on disk, or until the store has
// said that they cannot be: "every finished turn is on disk before the next begins" without any
// waiting on the GUI thread. The delay is one commit, well under a millisecond on an idle disk.
#pragma once

#include "engine/api/chat.h"
#include "ui/chat/chat_document.h"

#include <QObject>

#include <optional>

namespace app {

class ChatStore;

/// Lives on the GUI thread.
class TurnGate : public QObject {
    Q_OBJECT

public:
    explicit TurnGate(ChatStore* store, QObject* parent = nullptr);

public Q_SLOTS:
    /// Sends a chat to the store.
    void save(const ui::ChatDocument& chat);
    /// Passes a request on with released(), at once when nothing is being saved.
    void generate(const engine::GenerateRequest& request);
    /// Drops a request that still waits; answers dropped(), as an engine that was stopped would.
    void cancel();

Q_SIGNALS:
    void saveRequested(const ui::ChatDocument& chat, quint64 serial);
    void released(const engine::GenerateRequest& request);
    void dropped(quint64 id, const engine::Reply& reply);

private:
    void finish(quint64 serial);

    quint64 serial_ = 0;  ///< Of the save asked for last.
    quint64 settled_ = 0; ///< Of the save answered last.
    std::optional<engine::GenerateRequest> waiting_;
};

} // namespace app
