// SPDX-License-Identifier: Apache-2.0
#include "app/engines/engine_worker.h"

#include "engine/base/thread_limit.h"
#include "ui/model/folder_facts.h"

#include <QMetaType>
#include <QTimer>

#include <algorithm>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace app {

namespace {

/// Snapshots while loading and updates while decoding: not more often than a screen shows.
constexpr qint64 kUpdateIntervalMs = 33;

/// While nothing is loaded only other programs change the picture: once a second is enough.
constexpr int kIdleIntervals = 4;

std::string utf8(const QString& text) {
    return text.toStdString();
}

/// bad_alloc ends here, as an ordinary answer.
template <typename Work>
auto guarded(Work work) -> decltype(work()) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return engine::Error{engine::ErrorCode::OutOfMemory,
                             engine::said("the system has no memory left for this; close other "
                                          "programs or choose smaller options")};
    } catch (const std::system_error& problem) {
        if (std::optional<engine::Error> shortage = engine::threadShortage(problem)) {
            return *std::move(shortage);
        }
        throw;
    }
}

/// Whether a meter would look different. Main memory changes by a few pages all the time.
bool hasChanged(const std::vector<engine::DeviceMemory>& before,
                const std::vector<engine::DeviceMemory>& now) {
    constexpr uint64_t kNoise = uint64_t{8} << 20U;
    const auto differs = [](const engine::DeviceMemory& a, const engine::DeviceMemory& b) {
        const auto [low, high] = std::minmax(a.used_by_others, b.used_by_others);
        const auto [less, more] = std::minmax(a.budget.used, b.budget.used);
        return a.id != b.id || a.measured != b.measured || high - low >= kNoise ||
               a.budget.state != b.budget.state || a.budget.budget != b.budget.budget ||
               a.budget.spilled != b.budget.spilled || more - less >= kNoise;
    };
    return !std::equal(before.begin(), before.end(), now.begin(), now.end(),
                       [&](const auto& a, const auto& b) { return !differs(a, b); });
}

/// What a load of it will read, at least a byte.
uint64_t weightBytes(const engine::PlacementPlan* plan) {
    uint64_t bytes = 0;
    for (size_t i = 0; plan != nullptr && i < plan->devices.size(); ++i) {
        bytes += plan->devices[i].parts[engine::MemoryPart::Weights];
    }
    return std::max<uint64_t>(bytes, 1);
}

} // namespace

EngineWorker::EngineWorker(const EngineFactory& factory, int meter_interval_ms)
    : engine_(factory.make({[this] { publishWhileBusy(); },
                            [this](const engine::Recovery& recovery) { hear(recovery); }})),
      meter_interval_ms_(meter_interval_ms) {
    last_snapshot_.start();
    last_look_.start();
}

void EngineWorker::startMeter() {
    auto* timer = new QTimer(this);
    timer->setInterval(std::max(1, meter_interval_ms_));
    connect(timer, &QTimer::timeout, this, &EngineWorker::publishWhenChanged);
    timer->start();
}

void EngineWorker::publishWhileBusy() {
    if (last_snapshot_.elapsed() >= meter_interval_ms_) {
        publish(state_);
    }
}

void EngineWorker::publishWhenChanged() {
    // The timer fires between jobs only, so what is loaded does not change under it.
    const bool is_loaded = engine_.state().isLoaded();
    if (state_ == engine::EngineSnapshot::State::Ready && !is_loaded) {
        // An engine in a process of its own that could not be brought back.
        progress_ = {};
        publish(engine::EngineSnapshot::State::Empty);
        const engine::Error unknown = {
            engine::ErrorCode::Internal,
            engine::said("the engine ended more than once, and nothing is loaded any "
                         "more: load the model again, with other options where it "
                         "ends once more")};
        Q_EMIT loadFailed(lost_.message.empty() ? unknown : std::exchange(lost_, {}));
        return;
    }
    if (last_snapshot_.elapsed() < meter_interval_ms_ ||
        (!is_loaded && !told_.empty() &&
         last_look_.elapsed() < qint64{kIdleIntervals} * meter_interval_ms_)) {
        return;
    }
    last_look_.start();
    if (hasChanged(told_, memoryNow()) || is_returning_) {
        is_returning_ = progress_.bytes_total > 0;
        publishAtRest();
    }
}

void EngineWorker::hear(const engine::Recovery& recovery) {
    using Kind = engine::Recovery::Kind;
    progress_ = {};
    switch (recovery.kind) {
    case Kind::Ended:
        // Nothing of it is there: that must not look loaded until the first bytes are told.
        takeProgress({"check", 0, weightBytes(engine_.state().currentPlan().get()), {}});
        is_returning_ = true;
        if (recovery.is_at_rest) {
            Q_EMIT endedAtRest(recovery.why);
        }
        break;
    case Kind::Loading:
        takeProgress(recovery.progress);
        is_returning_ = true;
        break;
    case Kind::Back:
        break;
    case Kind::Lost:
        lost_ = recovery.is_at_rest ? recovery.why : engine::Error();
        break;
    }
    // Between jobs the meter's next look shows it.
    if (state_ == engine::EngineSnapshot::State::Generating &&
        (recovery.kind == Kind::Back || last_snapshot_.elapsed() >= kUpdateIntervalMs)) {
        publish(state_);
    }
}

std::vector<engine::DeviceMemory> EngineWorker::memoryNow() {
    std::vector<engine::DeviceMemory> memory = engine_.state().memory();
    if (!machine_age_.isValid() || machine_age_.elapsed() >= meter_interval_ms_) {
        machine_ = engine_.state().machineMemory();
        machine_age_.start();
    }
    // What is loaded knows its own devices better; the machine's others follow.
    for (const engine::DeviceMemory& device : machine_) {
        if (std::none_of(memory.begin(), memory.end(),
                         [&](const engine::DeviceMemory& m) { return m.id == device.id; })) {
            memory.push_back(device);
        }
    }
    return memory;
}

EngineWorker::~EngineWorker() = default;

void EngineWorker::publish(engine::EngineSnapshot::State state) {
    auto snapshot = std::make_shared<engine::EngineSnapshot>();
    state_ = state;
    snapshot->state = state;
    snapshot->serial = ++serial_;
    const engine::EngineClient& engine = engine_.state();
    snapshot->capabilities = engine.capabilities();
    snapshot->model = engine.summary();
    snapshot->plan = engine.currentPlan();
    snapshot->memory = told_ = memoryNow();
    snapshot->adapters = engine.loadedRequest().adapters;
    if (kept_ != nullptr) {
        snapshot->capabilities = kept_->capabilities;
        snapshot->model = kept_->model;
        snapshot->plan = kept_->plan;
        snapshot->adapters = kept_->adapters;
    }
    snapshot->stage = progress_.stage;
    snapshot->tensor = progress_.tensor;
    snapshot->bytes_done = progress_.bytes_done;
    snapshot->bytes_total = progress_.bytes_total;
    const auto [used, size] = engine.contextUse();
    snapshot->context_used = used;
    snapshot->context_size = size;
    last_snapshot_.restart();
    Q_EMIT snapshotChanged(std::shared_ptr<const engine::EngineSnapshot>(std::move(snapshot)));
}

void EngineWorker::publishAtRest() {
    publish(engine_.state().isLoaded() ? engine::EngineSnapshot::State::Ready
                                       : engine::EngineSnapshot::State::Empty);
}

void EngineWorker::takeProgress(const engine::LoadProgressValue& value) {
    progress_.stage = value.stage;
    progress_.tensor = value.tensor;
    progress_.bytes_done = value.bytes_done;
    progress_.bytes_total = value.bytes_total;
}

engine::ProgressCallback EngineWorker::progress(engine::EngineSnapshot::State state) {
    return [this, state](const engine::LoadProgressValue& value) {
        takeProgress(value);
        if (last_snapshot_.elapsed() >= kUpdateIntervalMs) {
            publish(state);
        }
    };
}

void EngineWorker::inspect(const QString& model, const QStringList& adapters) {
    std::vector<std::string> folders;
    for (const QString& adapter : adapters) {
        folders.push_back(utf8(adapter));
    }
    auto summary =
        guarded([&] { return engine_.reader(utf8(model)).inspect(utf8(model), folders); });
    if (summary.has_value()) {
        Q_EMIT inspected(model,
                         std::make_shared<const engine::ModelSummary>(std::move(summary).value()));
    } else {
        Q_EMIT inspectFailed(model, summary.error());
    }
}

void EngineWorker::load(const engine::LoadRequest& request, const std::stop_token& stop) {
    progress_ = {};
    publish(engine::EngineSnapshot::State::Loading);
    const auto outcome = guarded([&] {
        return engine_.load(request, progress(engine::EngineSnapshot::State::Loading), stop);
    });
    progress_ = {};
    publishAtRest();
    if (outcome.has_value()) {
        Q_EMIT loaded();
    } else {
        Q_EMIT loadFailed(outcome.error());
    }
}

void EngineWorker::unload() {
    engine_.unload();
    progress_ = {};
    publish(engine::EngineSnapshot::State::Empty);
}

void EngineWorker::applyMap(const QString& device_map, const std::stop_token& stop) {
    progress_ = {};
    const auto outcome = guarded([&] {
        return engine_.answering().applyMap(utf8(device_map),
                                            progress(engine::EngineSnapshot::State::Moving), stop);
    });
    progress_ = {};
    publishAtRest();
    if (outcome.has_value()) {
        Q_EMIT mapApplied();
    } else {
        Q_EMIT mapFailed(outcome.error());
    }
}

void EngineWorker::setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                               const std::stop_token& stop) {
    const auto outcome = guarded([&] { return engine_.setAdapters(adapters, stop); });
    publishAtRest();
    if (outcome.has_value()) {
        Q_EMIT adaptersChanged();
    } else {
        Q_EMIT adaptersFailed(outcome.error());
    }
}

void EngineWorker::generate(const engine::GenerateRequest& request, const std::stop_token& stop) {
    publish(engine::EngineSnapshot::State::Generating);
    engine::ReplyUpdate pending;
    QElapsedTimer since;
    since.start();
    bool is_first = true;
    const auto flush = [&] {
        if (!pending.text.empty() || !pending.thinking.empty()) {
            Q_EMIT replyUpdated(request.id, pending);
            pending.text.clear();
            pending.thinking.clear();
            since.restart();
        }
    };
    const engine::UpdateCallback update = [&](const engine::ReplyUpdate& value) {
        pending.text += value.text;
        pending.thinking += value.thinking;
        pending.tokens = value.tokens;
        if (is_first || since.elapsed() >= kUpdateIntervalMs) {
            is_first = false;
            flush();
        }
        publishWhileBusy();
    };
    const auto reply = guarded([&] { return engine_.answering().generate(request, update, stop); });
    flush();
    publishAtRest();
    if (reply.has_value()) {
        Q_EMIT replyFinished(request.id, *reply);
    } else {
        Q_EMIT replyFailed(request.id, reply.error());
    }
}

void EngineWorker::measureEffect(const QString& folder, const std::stop_token& stop) {
    publish(engine::EngineSnapshot::State::Generating);
    const auto effect =
        guarded([&] { return engine_.answering().adapterEffect(utf8(folder), stop); });
    publishAtRest();
    if (effect.has_value()) {
        Q_EMIT effectMeasured(folder, *effect);
    } else {
        Q_EMIT effectFailed(folder, effect.error());
    }
}

void EngineWorker::measureCost(const engine::MessagePart& part,
                               qint64 image_tokens,
                               quint64 ticket) {
    const auto cost = guarded([&] { return engine_.answering().mediaCost(part, image_tokens); });
    if (cost.has_value()) {
        Q_EMIT costMeasured(ticket, *cost);
    } else {
        Q_EMIT costFailed(ticket, cost.error());
    }
}

void EngineWorker::encodeAhead(const engine::MessagePart& part,
                               qint64 image_tokens,
                               const std::stop_token& stop) {
    // A failure here is told when the message is sent; nothing is lost.
    (void)guarded([&] { return engine_.answering().encodeAhead(part, image_tokens, stop); });
}

EngineThread::EngineThread(const EngineFactory& factory, QObject* parent, int meter_interval_ms)
    : QObject(parent), worker_(new EngineWorker(factory, meter_interval_ms)) {
    worker_->moveToThread(&thread_);
    connect(&thread_, &QThread::started, worker_, &EngineWorker::startMeter);
    connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
    thread_.setObjectName(QStringLiteral("engine"));
    thread_.start();
}

EngineThread::~EngineThread() {
    cancel();
    thread_.quit();
    thread_.wait();
}

std::stop_token EngineThread::begin() {
    stop_ = std::stop_source();
    return stop_.get_token();
}

std::stop_token EngineThread::beginAhead(const engine::MessagePart& part) {
    cancelAhead(part);
    return ahead_[{part.text, part.cut_start_s, part.cut_length_s}].get_token();
}

void EngineThread::cancelAhead(const engine::MessagePart& part) {
    if (const auto found = ahead_.extract({part.text, part.cut_start_s, part.cut_length_s})) {
        found.mapped().request_stop();
    }
}

void EngineThread::cancel() {
    stop_.request_stop();
    for (auto& [medium, stop] : ahead_) {
        stop.request_stop();
    }
    ahead_.clear();
}

void registerEngineTypes() {
    qRegisterMetaType<engine::Error>("engine::Error");
    qRegisterMetaType<ui::FolderFactsByPath>("ui::FolderFactsByPath");
    qRegisterMetaType<engine::LoadRequest>("engine::LoadRequest");
    qRegisterMetaType<engine::GenerateRequest>("engine::GenerateRequest");
    qRegisterMetaType<engine::Reply>("engine::Reply");
    qRegisterMetaType<engine::ReplyUpdate>("engine::ReplyUpdate");
    qRegisterMetaType<engine::MessagePart>("engine::MessagePart");
    qRegisterMetaType<engine::MediaCost>("engine::MediaCost");
    qRegisterMetaType<engine::AdapterSummary::Effect>("engine::AdapterSummary::Effect");
    qRegisterMetaType<std::vector<engine::AdapterChoice>>("std::vector<engine::AdapterChoice>");
    qRegisterMetaType<std::stop_token>("std::stop_token");
    qRegisterMetaType<std::shared_ptr<const engine::EngineSnapshot>>(
        "std::shared_ptr<const engine::EngineSnapshot>");
    qRegisterMetaType<std::shared_ptr<const engine::ModelSummary>>(
        "std::shared_ptr<const engine::ModelSummary>");
    qRegisterMetaType<std::shared_ptr<const engine::PlacementPlan>>(
        "std::shared_ptr<const engine::PlacementPlan>");
}

} // namespace app
