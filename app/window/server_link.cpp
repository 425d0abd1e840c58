// SPDX-License-Identifier: Apache-2.0
#include "app/window/server_link.h"

#include "app/window/server_watch.h"
#include "app/window/settings_store.h"
#include "engine/api/model_address.h"
#include "engine/api/placement.h"
#include "engine/api/server_launch.h"
#include "ui/common/error_words.h"
#include "ui/model/session.h"
#include "ui/style/format.h"
#include "ui/window/main_window.h"
#include "ui/window/notice_strip.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <functional>
#include <utility>

#include "remote/launch.h"
#include "remote/remote_engine.h"

namespace app {

namespace {

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

ui::ServerProblem problemOf(const engine::Error& error) {
    ui::ServerProblem problem;
    problem.words = ui::errorSentence(error);
    for (const auto& [key, value] : error.details) {
        problem.is_plain = problem.is_plain || (key == "rule" && value == "RemotePlain");
        problem.is_authority = problem.is_authority || key == "certificate" ||
                               (key == "rule" && value == "RemoteAuthority");
    }
    return problem;
}

ui::KnownServers known(const ServerNotes& notes) {
    return {notes.known, notes.keyed, notes.authorities};
}

/// In the window's thread; `what` gets the window, if it is still there.
void tell(const QPointer<ui::MainWindow>& window, std::function<void(ui::MainWindow&)> what) {
    QMetaObject::invokeMethod(QCoreApplication::instance(), [window, what = std::move(what)] {
        if (window != nullptr) {
            what(*window);
        }
    });
}

} // namespace

EngineFactory withServers(EngineFactory here,
                          std::shared_ptr<ServerBook> book,
                          models::hub::HttpClientFactory make_http) {
    return EngineFactory(EngineFactory::Make([here = std::move(here), book = std::move(book),
                                              make_http = std::move(make_http)](
                                                 const EngineEvents& events) {
        remote::RemoteEngine::Options options;
        options.make_http = make_http;
        options.user_agent = ServerWatch::userAgent();
        options.connections = [book](const std::string& base) { return book->connection(base); };
        EngineSwitch engines = here.make(events);
        engines.addServers(std::make_unique<remote::RemoteEngine>(std::move(options)));
        return engines;
    }));
}

ServerLink::ServerLink(ui::MainWindow* window,
                       std::shared_ptr<ServerBook> book,
                       const SettingsStore* settings,
                       models::hub::HttpClientFactory make_http,
                       QObject* parent)
    : QObject(parent), window_(window), book_(std::move(book)), settings_(settings),
      make_http_(std::move(make_http)) {
    showKnown();
    connect(window_, &ui::MainWindow::serversOpened, this, &ServerLink::tellKeyPlace);
    connect(window_, &ui::MainWindow::serverKeyForgotten, this, &ServerLink::forgetKey);
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
        const auto fail = [&](const engine::Error& error) {
            tell(window, [problem = problemOf(error)](ui::MainWindow& target) {
                target.showServerProblem(problem);
            });
        };
        auto connection = book->trial({wish.address.toStdString(), wish.key.toStdString(),
                                       wish.allows_plain, wish.authority.toStdString()});
        if (!connection.has_value()) {
            fail(connection.error());
            return;
        }
        const auto list =
            remote::listModels(make_http, *connection, ServerWatch::userAgent(), stop);
        if (stop.stop_requested()) {
            return;
        }
        if (!list.has_value()) {
            fail(list.error());
            return;
        }
        tell(window, [answer = answerOf(*connection, *list)](ui::MainWindow& target) {
            target.showServerAnswer(answer);
        });
    });
}

void ServerLink::use(const ui::ServerWish& wish, const QString& base, const QString& model) {
    book_->note(base, wish.allows_plain, wish.authority);
    if (!wish.key.isEmpty()) {
        book_->useKey(base.toStdString(), wish.key.toStdString());
    }
    showKnown();
    keep(base, !wish.key.isEmpty());
    window_->session()->chooseAndLoad(
        ui::fromUtf8(engine::serverModel(base.toStdString(), model.toStdString())));
}

void ServerLink::keep(const QString& base, bool has_new_key) {
    if (settings_ != nullptr) {
        settings_->writeServers(book_->notes());
    }
    if (!has_new_key) {
        return;
    }
    // A keyring may ask its user first. Until then, and where it refuses, the key is used anyway.
    QThreadPool::globalInstance()->start(
        [window = QPointer<ui::MainWindow>(window_), book = book_, base = base.toStdString()] {
            const auto kept = book->keepKey(base);
            tell(window, [kept, notes = book->notes()](ui::MainWindow& target) {
                target.setServers(known(notes));
                if (!kept.has_value()) {
                    target.notice()->showNotice(
                        tr("The key was not kept: it is used until Belfry ends"),
                        ui::errorSentence(kept.error()), ui::NoticeStrip::Kind::Error);
                }
            });
        });
}

void ServerLink::forgetKey(const QString& base) {
    QThreadPool::globalInstance()->start(
        [window = QPointer<ui::MainWindow>(window_), book = book_, base = base.toStdString()] {
            const auto gone = book->forgetKey(base);
            tell(window, [gone, notes = book->notes()](ui::MainWindow& target) {
                target.setServers(known(notes));
                if (!gone.has_value()) {
                    target.notice()->showNotice(tr("The key is still kept"),
                                                ui::errorSentence(gone.error()),
                                                ui::NoticeStrip::Kind::Error);
                }
            });
        });
}

void ServerLink::showKnown() {
    window_->setServers(known(book_->notes()));
}

void ServerLink::tellKeyPlace() {
    QThreadPool::globalInstance()->start(
        [window = QPointer<ui::MainWindow>(window_), book = book_] {
            const auto place = book->hasKeyring() ? ui::KeyPlace::Keyring : ui::KeyPlace::File;
            tell(window, [place](ui::MainWindow& target) { target.showKeyPlace(place); });
        });
}

} // namespace app
