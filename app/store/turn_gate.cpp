// SPDX-License-Identifier: Apache-2.0
#include "app/store/turn_gate.h"

#include "app/store/chat_store.h"
#include "ui/common/unique_id.h"

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
    saved_chat_ = chat;
    const bool is_answered =
        !chat.turns.empty() && chat.turns.back().role != engine::Message::Role::User;
    if (is_answered) {
        active_id_ = 0; // the view has the reply, finished or stopped
    }
    Q_EMIT saveRequested(chat, ++serial_);
}

void TurnGate::release(const engine::GenerateRequest& request) {
    active_id_ = request.id;
    draft_ = {};
    draft_.id = ui::makeUniqueId();
    draft_.role = engine::Message::Role::Assistant;
    draft_.finish_reason = QStringLiteral("interrupted");
    draft_.model = saved_chat_.model;
    draft_.adapters = saved_chat_.adapters;
    since_draft_.start();
    Q_EMIT released(request);
}

void TurnGate::update(quint64 id, const engine::ReplyUpdate& update) {
    if (id == 0 || id != active_id_) {
        return;
    }
    draft_.text += QString::fromStdString(update.text);
    draft_.thinking += QString::fromStdString(update.thinking);
    // Only below the question it belongs to: a chat that was changed meanwhile stays as it is.
    const bool is_asked =
        !saved_chat_.turns.empty() && saved_chat_.turns.back().role == engine::Message::Role::User;
    if (!is_asked || settled_ != serial_ || since_draft_.elapsed() < draft_interval_ms_) {
        return;
    }
    since_draft_.restart();
    ui::ChatDocument chat = saved_chat_;
    draft_.time = QDateTime::currentDateTimeUtc();
    chat.turns.push_back(draft_);
    Q_EMIT saveRequested(chat, ++serial_);
}

void TurnGate::generate(const engine::GenerateRequest& request) {
    if (settled_ == serial_) {
        release(request);
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
        release(request);
    }
}

} // namespace app
