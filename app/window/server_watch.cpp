// SPDX-License-Identifier: Apache-2.0
#include "app/window/server_watch.h"

#include "app/common/version.h"
#include "engine/api/model_address.h"
#include "ui/common/error_words.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/window/main_window.h"

#include <QCoreApplication>
#include <QEvent>
#include <QPointer>
#include <QThreadPool>

#include <algorithm>
#include <utility>

namespace app {

namespace {

ui::ServerState::Kind kindOf(remote::Health::State state) {
    using Kind = ui::ServerState::Kind;
    switch (state) {
    case remote::Health::State::Reachable:
        return Kind::Reachable;
    case remote::Health::State::Loading:
        return Kind::Loading;
    case remote::Health::State::Refused:
        return Kind::Refused;
    case remote::Health::State::Forbidden:
        return Kind::Forbidden;
    case remote::Health::State::Gone:
    case remote::Health::State::Stopped:
        break;
    }
    return Kind::Gone;
}

/// Classifies an error of a load or of a look at the list: what asking again may change.
ui::ServerState::Kind kindOf(const engine::Error& error) {
    using Kind = ui::ServerState::Kind;
    for (const auto& [key, value] : error.details) {
        if (key == "rule" &&
            (value == "RemoteNetwork" || value == "RemoteInterrupted" || value == "RemoteFailed")) {
            return Kind::Gone;
        }
        if (key == "rule" && value == "RemoteBusy") {
            return Kind::Loading;
        }
    }
    return Kind::Refused;
}

} // namespace

ServerWatch::ServerWatch(ui::MainWindow* window,
                         std::shared_ptr<ServerBook> book,
                         models::hub::HttpClientFactory make_http,
                         Pace pace,
                         QObject* parent)
    : QObject(parent), window_(window), book_(std::move(book)), make_http_(std::move(make_http)),
      pace_(pace) {
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &ServerWatch::ask);
    if (make_http_ == nullptr) {
        return;
    }
    connect(window_->session(), &ui::Session::changed, this, &ServerWatch::follow);
    connect(window_, &ui::MainWindow::closing, this, &ServerWatch::forget);
    window_->installEventFilter(this);
}

ServerWatch::~ServerWatch() {
    stop_.request_stop();
}

std::string ServerWatch::userAgent() {
    return "belfry/" + version();
}

bool ServerWatch::eventFilter(QObject* watched, QEvent* event) {
    const bool is_seen = event->type() == QEvent::Show || event->type() == QEvent::Hide ||
                         event->type() == QEvent::WindowStateChange;
    if (is_seen && watched == window_ && !server_.isEmpty()) {
        mayAsk() ? askIn(pace_.first) : timer_.stop();
    }
    return QObject::eventFilter(watched, event);
}

QString ServerWatch::server() const {
    const ui::Session* session = window_->session();
    if (session->isLoaded() && engine::isServerModel(session->loadedModel().toStdString())) {
        return session->loadedModel();
    }
    const bool is_awaited =
        session->modelError() != nullptr && engine::isServerModel(session->model().toStdString());
    return is_awaited ? session->model() : QString();
}

bool ServerWatch::mayAsk() const {
    return !server_.isEmpty() && window_->isVisible() && !window_->isMinimized() &&
           !window_->session()->isBusy() && !window_->session()->isInspecting();
}

void ServerWatch::follow() {
    const QString now = server();
    if (now != server_) {
        forget();
        server_ = now;
        show(Kind::None, {});
    }
    if (server_.isEmpty()) {
        return;
    }
    if (!mayAsk()) {
        timer_.stop(); // what runs tells more
        // A reply may end because the server has gone.
        is_doubted_ = is_doubted_ || window_->session()->state() == ui::Session::State::Generating;
        return;
    }
    if (!timer_.isActive() && !is_asking_) {
        takeSession();
    }
}

void ServerWatch::takeSession() {
    const ui::Session* session = window_->session();
    const engine::Error* error = session->model() == server_ ? session->modelError() : nullptr;
    if (error != nullptr) {
        show(kindOf(*error), ui::errorSentence(*error));
    } else if (state_.kind == Kind::None) {
        show(Kind::Reachable, {}); // it has just told its models
    }
    if (state_.kind != Kind::Refused || is_doubted_) {
        askIn(state_.kind == Kind::Reachable && !is_doubted_ ? pace_.reachable
                                                             : std::max(wait_, pace_.first));
    }
}

void ServerWatch::askIn(std::chrono::milliseconds time) {
    if (mayAsk() && !is_asking_) {
        timer_.start(time);
    }
}

void ServerWatch::ask() {
    if (!mayAsk() || is_asking_) {
        return;
    }
    is_asking_ = true;
    stop_ = std::stop_source();
    const std::string model = server_.toStdString();
    // One that comes back may have come back as another one.
    const std::string name = state_.kind == Kind::Reachable && !is_doubted_
                                 ? std::string()
                                 : engine::serverModelName(model);
    is_doubted_ = false;
    QThreadPool::globalInstance()->start([self = QPointer<ServerWatch>(this), ticket = ++ticket_,
                                          base = engine::serverBase(model), name, book = book_,
                                          make_http = make_http_, stop = stop_.get_token()] {
        remote::Health health;
        const auto connection = book->connection(base);
        if (connection.has_value()) {
            health = remote::askHealth(make_http, *connection, name, userAgent(), stop);
        } else {
            health = {remote::Health::State::Refused, connection.error()};
        }
        QMetaObject::invokeMethod(QCoreApplication::instance(),
                                  [self, ticket, health = std::move(health)] {
                                      if (self != nullptr) {
                                          self->take(ticket, health);
                                      }
                                  });
    });
}

void ServerWatch::take(quint64 ticket, const remote::Health& health) {
    if (ticket != ticket_) {
        return;
    }
    is_asking_ = false;
    if (health.state == remote::Health::State::Stopped) {
        return;
    }
    const bool was_lost = state_.kind != Kind::Reachable;
    const Kind kind = kindOf(health.state);
    show(kind, health.error.has_value() ? ui::errorSentence(*health.error) : QString());
    if (kind == Kind::Reachable) {
        wait_ = std::chrono::milliseconds(0);
        ui::Session* session = window_->session();
        if (was_lost && session->model() == server_ && session->modelError() != nullptr) {
            session->chooseModel(server_); // now it can be used
            return;
        }
        askIn(pace_.reachable);
    } else if (kind != Kind::Refused) {
        wait_ = std::clamp(2 * wait_, pace_.first, pace_.longest);
        askIn(wait_);
    }
}

void ServerWatch::show(Kind kind, const QString& words) {
    ui::ServerState state;
    state.kind = kind;
    state.model = server_;
    state.words = words;
    if (state != state_) {
        state_ = state;
        window_->showServerState(state_);
    }
}

void ServerWatch::forget() {
    timer_.stop();
    stop_.request_stop();
    ++ticket_;
    is_asking_ = is_doubted_ = false;
    wait_ = std::chrono::milliseconds(0);
    server_.clear();
}

} // namespace app
