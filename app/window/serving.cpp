// SPDX-License-Identifier: Apache-2.0
#include "app/window/serving.h"

#include "app/serve/access_token.h"
#include "app/serve/job.h"
#include "engine/base/paths.h"

#include <QMetaObject>

#include <atomic>
#include <utility>

namespace app {

namespace {

constexpr int kCountsMs = 500;
/// Programs keep the name that they were set up with, whichever model is loaded.
constexpr const char* kModelName = "belfry";

/// Puts one request after the other into the engine's queue, so that what the window asks waits
/// for one of them at most.
void postNext(EngineWorker* worker,
              const std::shared_ptr<serve::Service>& service,
              const std::shared_ptr<std::atomic<bool>>& is_posted) {
    if (is_posted->exchange(true)) {
        return;
    }
    QMetaObject::invokeMethod(
        worker,
        [worker, service, is_posted] {
            worker->answerNext(service);
            is_posted->store(false);
            if (service->counts().waiting > 0) {
                postNext(worker, service, is_posted);
            }
        },
        Qt::QueuedConnection);
}

} // namespace

Serving::Serving(ui::MainWindow& window, EngineThread& engine, QString token_file, uint16_t port)
    : window_(window), engine_(engine), token_file_(std::move(token_file)), port_(port) {
    state_.model = QString::fromLatin1(kModelName);
    connect(&window_, &ui::MainWindow::servingSwitched, this, &Serving::setOn);
    connect(engine_.worker(), &EngineWorker::snapshotChanged, this,
            [this](const std::shared_ptr<const engine::EngineSnapshot>& snapshot) {
                follow(*snapshot);
            });
    counts_.setInterval(kCountsMs);
    connect(&counts_, &QTimer::timeout, this, &Serving::tell);
}

Serving::~Serving() {
    stop();
}

void Serving::setOn(bool is_on) {
    state_.error.reset();
    if (is_on && service_ == nullptr) {
        if (const auto started = start(); !started.has_value()) {
            stop();
            state_.error = started.error();
        }
    } else if (!is_on) {
        stop();
    }
    tell();
}

engine::Result<void> Serving::start() {
    serve::ServiceOptions options;
    ENGINE_ASSIGN(options.gate.tokens,
                  serve::tokensOf(engine::pathFromUtf8(token_file_.toStdString())));
    state_.token = QString::fromStdString(options.gate.tokens.front());
    options.model = kModelName;
    options.switches_adapters = false; // they are chosen in the window
    ENGINE_ASSIGN(auto media, serve::MediaFolder::create());
    service_ = std::make_shared<serve::Service>(std::move(options), std::move(media));
    auto is_posted = std::make_shared<std::atomic<bool>>(false);
    service_->setOnWaiting([worker = engine_.worker(), weak = std::weak_ptr(service_), is_posted] {
        if (const auto service = weak.lock()) {
            postNext(worker, service, is_posted);
        }
    });
    const std::vector<std::string> addresses = {"127.0.0.1", "::1"};
    auto server = serve::HttpServer::open(addresses, port_, serve::ServerLimits(), *service_);
    if (!server.has_value()) {
        server = serve::HttpServer::open(addresses, 0, serve::ServerLimits(), *service_);
    }
    ENGINE_ASSIGN(server_, std::move(server));
    state_.address = QStringLiteral("http://127.0.0.1:%1/v1").arg(server_->port());
    if (is_loaded_) {
        service_->setReady(context_);
    }
    counts_.start();
    return {};
}

void Serving::stop() {
    counts_.stop();
    if (service_ == nullptr) {
        return;
    }
    service_->shutDown();
    // Up to a second in which answers go out: not the window's.
    ending_ = std::async(
        std::launch::async,
        [server = std::move(server_), service = std::move(service_)]() mutable { server.reset(); });
}

void Serving::follow(const engine::EngineSnapshot& snapshot) {
    using State = engine::EngineSnapshot::State;
    // Progress of a model that is there already: its engine's process ended, and it comes back.
    const bool is_returning = snapshot.bytes_total > 0 && snapshot.state != State::Moving;
    is_loaded_ =
        !is_returning && (snapshot.state == State::Ready || snapshot.state == State::Generating ||
                          snapshot.state == State::Moving);
    context_ = snapshot.context_size;
    if (service_ != nullptr) {
        is_loaded_ ? service_->setReady(context_) : service_->setLoading();
    }
}

void Serving::tell() {
    using Kind = ui::ServingState::Kind;
    state_.kind = Kind::Off;
    if (service_ != nullptr) {
        const serve::ServiceCounts counts = service_->counts();
        state_.answered = counts.answered;
        state_.waiting = static_cast<int>(counts.waiting);
        state_.kind = counts.is_running ? Kind::Answering
                      : is_loaded_      ? Kind::Ready
                                        : Kind::NoModel;
    }
    window_.showServing(state_);
}

} // namespace app
