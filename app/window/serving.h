// SPDX-License-Identifier: Apache-2.0
// The window's switch "let other programs use this model": a server on this computer whose requests
// go to the engine's thread one by one, between those of the window.
#pragma once

#include "app/engines/engine_worker.h"
#include "app/serve/http_server.h"
#include "app/serve/service.h"
#include "ui/dialogs/serving_state.h"
#include "ui/window/main_window.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <future>
#include <memory>

namespace app {

class Serving : public QObject {
    Q_OBJECT

public:
    static constexpr uint16_t kPort = 8642;

    /// Both outlive it. `token_file`: where the token is kept from one start to the next. `port`:
    /// the one to listen at; where it is taken, or 0, another that is free.
    Serving(ui::MainWindow& window,
            EngineThread& engine,
            QString token_file,
            uint16_t port = kPort);
    ~Serving() override;

private:
    void setOn(bool is_on);
    engine::Result<void> start();
    void stop();
    void follow(const engine::EngineSnapshot& snapshot);
    void tell();

    ui::MainWindow& window_;
    EngineThread& engine_;
    QString token_file_;
    uint16_t port_;
    ui::ServingState state_;
    bool is_loaded_ = false;
    int64_t context_ = 0;
    std::shared_ptr<serve::Service> service_; ///< nullptr: off. Shared with what is queued.
    std::unique_ptr<serve::HttpServer> server_;
    std::future<void> ending_; ///< A server that was switched off says its last words.
    QTimer counts_;
};

} // namespace app
