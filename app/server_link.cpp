// SPDX-License-Identifier: Apache-2.0
#include "app/server_link.h"

#include "app/routed_engine.h"
#include "app/settings_store.h"
#include "app/version.h"
#include "engine/api/model_address.h"
#include "engine/api/placement.h"
#include "engine/api/server_launch.h"
#include "ui/common/error_words.h"
#include "ui/shell/main_window.h"
#include "ui/shell/notice_strip.h"
#include "ui/shell/session.h"
#include "ui/style/format.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <algorithm>
#include <utility>

#include "remote/launch.h"
#include "remote/remote_engine.h"

namespace app {

namespace {

constexpr qsizetype kMostServers = 20;

std::string userAgent() {
    return "belfry/" + version();
}

ui::ServerAnswer answerOf(const remote::Connection& connection, const remote::ModelList& list) {
    ui::ServerAnswer answer;
    answer.base = ui::fromUtf8(connection.server.base);
    answer.host = ui::fromUtf8(connection.server.host);
    answer.product = ui::fromUtf8(std::string(remote::productName(list.product)));
    answer.is_encrypted = connection.server.is_encrypted;
    answer.is_loopback = connection.server.reach == remote::Reach::Loopback;
    for (const remote::ServerModel& model : list.models) {
        answer.models.push_back(
            {ui::fromUtf8(model.id), ui::fromUtf8(model.parent), model.max_context});
    }
    return answer;
}

bool isPlainRefused(const engine::Error& error) {
    return std::find(error.details.begin(), error.details.end(),
                     std::pair<std::string, std::string>("rule", "RemotePlain")) !=
           error.details.end();
}

} // namespace

EngineFactory withServers(EngineFactory here,
                          std::shared_ptr<const ServerBook> book,
                          library::hub::HttpClientFactory make_http) {
    return EngineFactory(EngineFactory::Make([here = std::move(here), book = std::move(book),
                                              make_http = std::move(make_http)](
                                                 std::function<void()> on_step) {
        remote::RemoteEngine::Options options;
        options.make_http = make_http;
        options.user_agent = userAgent();
        options.connections = [book](const std::string& base) { return book->connection(base); };
        return std::make_unique<RoutedEngine>(
            here.make(std::move(on_step)),
            std::make_unique<remote::RemoteEngine>(std::move(options)));
    }));
}

ServerLink::ServerLink(ui::MainWindow* window,
                       std::shared_ptr<ServerBook> book,
                       const SettingsStore* settings,
                       library::hub::HttpClientFactory make_http,
                       QObject* parent)
    : QObject(parent), window_(window), book_(std::move(book)), settings_(settings),
      make_http_(std::move(make_http)) {
    if (settings_ != nullptr) {
        known_ = settings_->readServers();
    }
    window_->setServers(known_);
    connect(window_, &ui::MainWindow::serverTestRequested, this, &ServerLink::test);
    connect(window_, &ui::MainWindow::serverConnectRequested, this, &ServerLink::use);
    connect(window_, &ui::MainWindow::serverLaunchRequested, this,
            [this](const engine::LoadRequest& request,
                   const std::shared_ptr<const engine::ModelSummary>& summary,
                   const std::shared_ptr<const engine::PlacementPlan>& plan,
                   const engine::ServerCards& cards) {
                window_->showServerLaunch(remote::serverLaunch(request, *summary, *plan, cards));
            });
    // What asks a server when the window closes must not keep the program.
    connect(window_, &ui::MainWindow::closing, this, [this] { stop_.request_stop(); });
}

ServerLink::~ServerLink() {
    stop_.request_stop();
}

void ServerLink::test(const ui::ServerWish& wish) {
    stop_.request_stop();
    stop_ = std::stop_source();
    QThreadPool::globalInstance()->start([window = QPointer<ui::MainWindow>(window_), wish,
                                          book = book_, make_http = make_http_,
                                          stop = stop_.get_token()] {
        const auto tell = [&](auto what) {
            QMetaObject::invokeMethod(QCoreApplication::instance(),
                                      [window, what = std::move(what)] {
                                          if (window != nullptr) {
                                              what(*window);
                                          }
                                      });
        };
        const auto fail = [&](const engine::Error& error) {
            tell([error](ui::MainWindow& target) {
                target.showServerProblem(ui::errorWords(error), isPlainRefused(error));
            });
        };
        auto connection =
            book->trial(wish.address.toStdString(), wish.key.toStdString(), wish.allows_plain);
        if (!connection.has_value()) {
            fail(connection.error());
            return;
        }
        const auto list = remote::listModels(make_http, *connection, userAgent(), stop);
        if (stop.stop_requested()) {
            return;
        }
        if (!list.has_value()) {
            fail(list.error());
            return;
        }
        tell([answer = answerOf(*connection, *list)](ui::MainWindow& target) {
            target.showServerAnswer(answer);
        });
    });
}

void ServerLink::use(const ui::ServerWish& wish, const QString& base, const QString& model) {
    if (wish.allows_plain) {
        book_->allowPlain(base);
    }
    if (!wish.key.isEmpty()) {
        const auto kept = book_->keepKey(base.toStdString(), wish.key.toStdString());
        if (!kept.has_value()) {
            window_->notice()->showNotice(tr("The key was not kept"), ui::errorWords(kept.error()),
                                          ui::NoticeStrip::Kind::Error);
            return;
        }
    }
    known_.removeAll(base);
    known_.prepend(base);
    known_ = known_.mid(0, kMostServers);
    window_->setServers(known_);
    if (settings_ != nullptr) {
        settings_->writeServers(known_, book_->plain());
    }
    window_->session()->chooseAndLoad(
        ui::fromUtf8(engine::serverModel(base.toStdString(), model.toStdString())));
}

} // namespace app
