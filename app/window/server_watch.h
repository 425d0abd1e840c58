// SPDX-License-Identifier: Apache-2.0
// Whether the server that is connected answers, and the coming back of one that did not. Asks its
// /health (remote/health.h), which says nothing of a chat, and only as long as the click that chose
// the server stands: until another model or Disconnect is chosen, while the window is on the screen
// and neither a load nor a reply runs, which tell as much by themselves. A switch that forbids the
// network counts for it as for every request. After a start nobody is asked: a server of an earlier
// session is chosen again by a click alone.
#pragma once

#include "app/window/server_book.h"
#include "ui/common/server_state.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <chrono>
#include <memory>
#include <stop_token>

#include "models/hub/http.h"
#include "remote/health.h"

namespace ui {
class MainWindow;
} // namespace ui

namespace app {

class ServerWatch : public QObject {
    Q_OBJECT

public:
    struct Pace {
        std::chrono::milliseconds reachable{30'000}; ///< From one question to the next.
        /// After a loss; doubled each time up to `longest`.
        std::chrono::milliseconds first{2'000}, longest{60'000};
    };

    /// All must outlive this; `make_http` may be empty: nobody is ever asked.
    ServerWatch(ui::MainWindow* window,
                std::shared_ptr<ServerBook> book,
                models::hub::HttpClientFactory make_http,
                Pace pace,
                QObject* parent = nullptr);
    ServerWatch(ui::MainWindow* window,
                std::shared_ptr<ServerBook> book,
                models::hub::HttpClientFactory make_http)
        : ServerWatch(window, std::move(book), std::move(make_http), Pace()) {}
    ~ServerWatch() override;

    /// Where every request of this program names itself.
    static std::string userAgent();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    using Kind = ui::ServerState::Kind;

    void follow();
    /// What the session knows without another question.
    void takeSession();
    void ask();
    void take(quint64 ticket, const remote::Health& health);
    void show(Kind kind, const QString& words);
    void askIn(std::chrono::milliseconds time);
    void forget();
    [[nodiscard]] QString server() const;
    [[nodiscard]] bool mayAsk() const;

    ui::MainWindow* window_;
    std::shared_ptr<ServerBook> book_;
    models::hub::HttpClientFactory make_http_;
    const Pace pace_;
    QTimer timer_;
    ui::ServerState state_;
    QString server_; ///< Whose state it is.
    std::chrono::milliseconds wait_{0};
    quint64 ticket_ = 0; ///< Number of the question that runs; older answers are ignored.
    bool is_asking_ = false, is_doubted_ = false; ///< Doubted: a reply has just ended.
    std::stop_source stop_;
};

} // namespace app
