// SPDX-License-Identifier: Apache-2.0
// Connects the window with the engine thread, the planner and the chat store: the only place that
// knows all sides. Every object must outlive the connections.
#pragma once

#include "app/engines/engine_worker.h"
#include "app/store/chat_store.h"
#include "app/store/turn_gate.h"
#include "app/window/planner_thread.h"
#include "app/window/settings_store.h"
#include "ui/window/main_window.h"

#include <QObject>

#include <map>
#include <utility>

namespace app {

/// Carries what needs memory between two signals: tickets of media costs, the session state that
/// a crash leaves behind, the question of a reply that waits for the store.
class Wiring : public QObject {
    Q_OBJECT

public:
    /// `store` and `settings` may be nullptr: the window works without keeping anything.
    Wiring(ui::MainWindow* window,
           EngineThread* engine,
           PlannerThread* planner,
           ChatStore* store,
           const SettingsStore* settings,
           QObject* parent = nullptr);

    /// Opens `id`, or a new chat when it is empty.
    void openChat(const QString& id);

public Q_SLOTS:
    void newChat();
    /// Writes draft, open chat and an orderly end; called when the window closes.
    void finishSession();

private:
    void connectEngine();
    void connectRecent();
    void connectReplies();
    void connectMedia();
    void connectCompare();
    void connectStore();
    void connectHistory();
    void showPrevious(const PreviousSession& previous);
    void saveSession(bool is_over);

    ui::MainWindow* window_;
    EngineThread* engine_;
    PlannerThread* planner_;
    ChatStore* store_;
    const SettingsStore* settings_;
    QHash<QString, engine::LoadRequest> model_options_; ///< Options of the last load, by folder.
    TurnGate* gate_ = nullptr;
    std::map<quint64, QString> cost_files_; ///< By ticket.
    quint64 next_ticket_ = 1;
    SessionState session_state_;
    std::pair<QString, QString> found_; ///< A chat that is on its way, and the words to mark in it.
    ui::ChatDraft removed_draft_;       ///< Draft of the chat that was deleted last.
};

} // namespace app
