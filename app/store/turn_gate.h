// SPDX-License-Identifier: Apache-2.0
// Holds a request for a reply back until the turns before it are on disk, or until the store has
// said that they cannot be: "every finished turn is on disk before the next begins" without any
// waiting on the GUI thread. The delay is one commit, well under a millisecond on an idle disk.
// While the reply comes, what there is of it is saved once a second as an "interrupted" turn, which
// the finished turn replaces: a crash costs at most the last second of an answer.
#pragma once

#include "engine/api/chat.h"
#include "ui/chat/chat_document.h"

#include <QElapsedTimer>
#include <QObject>

#include <optional>

namespace app {

class ChatStore;

/// Lives on the GUI thread.
class TurnGate : public QObject {
    Q_OBJECT

public:
    explicit TurnGate(ChatStore* store, QObject* parent = nullptr);
    /// How often an unfinished reply is saved; 1,000 ms unless a test says otherwise.
    void setDraftInterval(qint64 ms) { draft_interval_ms_ = ms; }

public Q_SLOTS:
    /// Sends a chat to the store.
    void save(const ui::ChatDocument& chat);
    /// Passes a request on with released(), at once when nothing is being saved.
    void generate(const engine::GenerateRequest& request);
    /// What the engine has answered so far, from its stream of updates.
    void update(quint64 id, const engine::ReplyUpdate& update);
    /// Drops a request that still waits; answers dropped(), as an engine that was stopped would.
    void cancel();

Q_SIGNALS:
    void saveRequested(const ui::ChatDocument& chat, quint64 serial);
    void released(const engine::GenerateRequest& request);
    void dropped(quint64 id, const engine::Reply& reply);

private:
    void finish(quint64 serial);
    void release(const engine::GenerateRequest& request);

    quint64 serial_ = 0;  ///< Number of the save asked for last.
    quint64 settled_ = 0; ///< Number of the save answered last.
    std::optional<engine::GenerateRequest> waiting_;
    ui::ChatDocument saved_chat_; ///< As saved last, without a draft.
    ui::ChatTurn draft_;
    quint64 active_id_ = 0; ///< Request that is being answered; 0 = none.
    QElapsedTimer since_draft_;
    qint64 draft_interval_ms_ = 1000;
};

} // namespace app
