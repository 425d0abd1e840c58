// SPDX-License-Identifier: Apache-2.0
// The engine on its own thread. Requests arrive as queued signals with plain values; snapshots and
// results leave the same way. Cancelling does not queue: the caller keeps the job's stop source
// (EngineThread::begin) and the engine looks at the token per tensor, layer or decoding step.
#pragma once

#include "app/engines/engine_factory.h"
#include "engine/api/chat.h"
#include "engine/api/load_request.h"
#include "engine/api/model_summary.h"
#include "engine/api/snapshot.h"

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QThread>

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <tuple>

Q_DECLARE_METATYPE(std::shared_ptr<const engine::EngineSnapshot>)
Q_DECLARE_METATYPE(std::shared_ptr<const engine::ModelSummary>)
Q_DECLARE_METATYPE(std::shared_ptr<const engine::PlacementPlan>)

namespace serve {
class Service;
} // namespace serve

namespace app {

/// Lives on the engine thread; every slot runs there.
class EngineWorker : public QObject {
    Q_OBJECT

public:
    /// The meter's pace: at least so many milliseconds from one snapshot of a running job, or of
    /// an idle model whose surroundings change, to the next.
    static constexpr int kMeterIntervalMs = 250;

    explicit EngineWorker(const EngineFactory& factory, int meter_interval_ms = kMeterIntervalMs);
    ~EngineWorker() override;

public Q_SLOTS:
    /// Begins to look at the memory of an idle model. On the engine thread, once it runs.
    void startMeter();
    void inspect(const QString& model, const QStringList& adapters);
    void load(const engine::LoadRequest& request, const std::stop_token& stop);
    void unload();
    void applyMap(const QString& device_map, const std::stop_token& stop);
    void setAdapters(const std::vector<engine::AdapterChoice>& adapters,
                     const std::stop_token& stop);
    void generate(const engine::GenerateRequest& request, const std::stop_token& stop);
    /// One reply per set of adapters, all with the same seed; then the adapters of before are in
    /// force again (engine_worker_compare.cpp). `loads`: what a set is answered by, where that is
    /// not what is loaded; without a model, or shorter than the sets: it is. What was loaded comes
    /// back, and is what snapshots tell of meanwhile.
    void compare(quint64 id,
                 const engine::GenerateRequest& request,
                 const std::vector<std::vector<engine::AdapterChoice>>& adapter_sets,
                 const std::stop_token& stop,
                 const std::vector<engine::LoadRequest>& loads = {});
    /// What an adapter changes on the loaded model; the adapters in use are back afterwards.
    void measureEffect(const QString& folder, const std::stop_token& stop);
    void measureCost(const engine::MessagePart& part, qint64 image_tokens, quint64 ticket);
    /// The next request of another program, if one waits (engine_worker_serve.cpp).
    void answerNext(const std::shared_ptr<serve::Service>& service);
    void
    encodeAhead(const engine::MessagePart& part, qint64 image_tokens, const std::stop_token& stop);

Q_SIGNALS:
    void snapshotChanged(const std::shared_ptr<const engine::EngineSnapshot>& snapshot);
    void inspected(const QString& model,
                   const std::shared_ptr<const engine::ModelSummary>& summary);
    void inspectFailed(const QString& model, const engine::Error& error);
    void loaded();
    void loadFailed(const engine::Error& error);
    void mapApplied();
    void mapFailed(const engine::Error& error);
    void adaptersChanged();
    void adaptersFailed(const engine::Error& error);
    /// Text since the last update, at most 30 times a second.
    void replyUpdated(quint64 id, const engine::ReplyUpdate& update);
    void replyFinished(quint64 id, const engine::Reply& reply);
    void replyFailed(quint64 id, const engine::Error& error);
    void compareStarted(quint64 id, int column);
    /// A load for a column; below 0: what was loaded before comes back.
    void compareLoading(quint64 id, int column, quint64 bytes_done, quint64 bytes_total);
    void compareUpdated(quint64 id, int column, const engine::ReplyUpdate& update);
    void compareReplied(quint64 id, int column, const engine::Reply& reply);
    void compareFailed(quint64 id, int column, const engine::Error& error);
    /// After the last column, or after a stop.
    void compareFinished(quint64 id);
    void effectMeasured(const QString& folder, const engine::AdapterSummary::Effect& effect);
    void effectFailed(const QString& folder, const engine::Error& error);
    void costMeasured(quint64 ticket, const engine::MediaCost& cost);
    void costFailed(quint64 ticket, const engine::Error& error);
    /// The engine's process ended while nobody had asked for anything; another one loads what it
    /// had loaded.
    void endedAtRest(const engine::Error& why);

private:
    void hear(const engine::Recovery& recovery);
    void publish(engine::EngineSnapshot::State state);
    /// A snapshot after a job.
    void publishAtRest();
    /// Between the layers of long work: a snapshot when the last one is old.
    void publishWhileBusy();
    /// A snapshot when other programs took or gave memory since the last one.
    void publishWhenChanged();
    /// Memory of what is loaded, and of this machine's other devices.
    std::vector<engine::DeviceMemory> memoryNow();
    engine::ProgressCallback progress(engine::EngineSnapshot::State state);
    void takeProgress(const engine::LoadProgressValue& value);
    /// Loads for a column of a comparison.
    engine::Result<void> loadFor(quint64 id,
                                 int column,
                                 const engine::LoadRequest& request,
                                 const std::stop_token& stop);

    EngineSwitch engine_;
    quint64 serial_ = 0;
    QElapsedTimer last_snapshot_, last_look_;
    engine::EngineSnapshot::State state_ = engine::EngineSnapshot::State::Empty;
    std::vector<engine::DeviceMemory> told_;    ///< Memory of the last snapshot.
    std::vector<engine::DeviceMemory> machine_; ///< As of machine_age_.
    QElapsedTimer machine_age_;
    int meter_interval_ms_;
    engine::EngineSnapshot progress_;
    /// While a comparison has other loads: what was loaded before, which snapshots tell of.
    std::shared_ptr<const engine::EngineSnapshot> kept_;
    bool is_returning_ = false; ///< progress_ is of a model on its way back, or was just now.
    engine::Error lost_;        ///< Why it does not come; without a message: nobody said.
};

/// The thread and its worker, owned by the GUI side.
class EngineThread : public QObject {
    Q_OBJECT

public:
    explicit EngineThread(const EngineFactory& factory,
                          QObject* parent = nullptr,
                          int meter_interval_ms = EngineWorker::kMeterIntervalMs);
    /// Stops the job in progress and waits for the thread.
    ~EngineThread() override;

    [[nodiscard]] EngineWorker* worker() const { return worker_; }
    /// A token for a new job; the former job's source is kept until it is replaced.
    std::stop_token begin();
    /// A token for encoding a medium ahead, beside the jobs of begin(). The same file and cut
    /// again: what was under way for it is stopped.
    std::stop_token beginAhead(const engine::MessagePart& part);
    /// Nobody needs it any more.
    void cancelAhead(const engine::MessagePart& part);
    /// Stops what runs now (load, move, reply) and what is encoded ahead: the reply may wait for
    /// it.
    void cancel();

private:
    QThread thread_;
    EngineWorker* worker_;
    std::stop_source stop_;
    std::map<std::tuple<std::string, double, double>, std::stop_source> ahead_; ///< File and cut.
};

/// Makes the engine's value types known to queued connections. Call once at start.
void registerEngineTypes();

} // namespace app
