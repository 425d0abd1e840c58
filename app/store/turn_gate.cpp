// SPDX-License-Identifier: Apache-2.0
#include "app/store/turn_gate.h"

#include "app/store/chat_store.h"

#include <algorithm>
#include <utility>

namespace app {

TurnGate::TurnGate(ChatStore* store, QObject* parent) : QObject(parent) {
    connect(this, &TurnGate::saveRequested, store, &ChatStore::save);
    connect(store, &ChatStore::saved, this,
            [this](const QString&, quint64 serial) { finish(serial); });
    // A full disk must not stop the chat: the store keeps the turn in memory and says so.
    connect(store, &ChatStore::saveFailed, this,
            [this](const QString&, quint64 serial, const QString&) { finish(serial); });
}

void TurnGate::save(const ui::ChatDocument& chat) {
    Q_EMIT saveRequested(chat, ++serial_);
}

void TurnGate::generate(const engine::GenerateRequest& request) {
    if (settled_ == serial_) {
        Q_EMIT released(request);
    } else {
        waiting_ = request;
    }
}

void TurnGate::cancel() {
    if (waiting_.has_value()) {
        engine::Reply reply;
        reply.id = waiting_->id;
        reply.finish_reason = "cancelled";
        waiting_.reset();
        Q_EMIT dropped(reply.id, reply);
    }
}

void TurnGate::finish(quint64 serial) {
    settled_ = std::max(settled_, serial);
    if (settled_ == serial_ && waiting_.has_value()) {
        const engine::GenerateRequest request = *std::exchange(waiting_, std::nullopt);
        Q_EMIT released(request);
    }
}

} // namespace app
