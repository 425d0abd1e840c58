// SPDX-License-Identifier: Apache-2.0
// Plans on a thread of its own, so that the layout editor answers while the engine loads or
// generates. Holds an engine that never loads anything; plans need headers only. Requests that a
// newer one has replaced (a block dragged on) are skipped.
#pragma once

#include "app/engines/engine_worker.h"
#include "engine/api/comparison.h"
#include "engine/api/load_request.h"
#include "engine/api/map_export.h"
#include "engine/api/model_summary.h"
#include "ui/explore/fit_values.h"
#include "ui/model/folder_facts.h"
#include "ui/model/load_profile.h"

#include <QImage>
#include <QObject>
#include <QThread>

#include <atomic>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace ui {
class FitPage;
class LayoutView;
class MainWindow;
} // namespace ui

namespace app {

/// Bytes per device.
using HeldBytes = std::map<engine::DeviceId, uint64_t>;

/// Lives on the planner thread.
class PlannerWorker : public QObject {
    Q_OBJECT

public:
    /// `wanted` is the oldest ticket that still matters; it must outlive this object.
    PlannerWorker(engine::EngineOptions options, const std::atomic<quint64>* wanted);

    /// `held`: memory that the loaded model would give back (Engine::plan).
    void plan(quint64 ticket, const engine::LoadRequest& request, const HeldBytes& held);
    void
    exportMap(quint64 ticket, const engine::LoadRequest& request, engine::MapExport::Kind kind);
    void readMap(const QString& file);
    void writeText(const QString& file, const QString& text);
    /// As PNG; answered as writeText() is.
    void writePicture(const QString& file, const QImage& picture);
    /// As plan(), for the load form's comparison; a plan that cannot be made is not answered.
    void planAlternative(quint64 ticket, const engine::LoadRequest& request, const HeldBytes& held);
    /// A point of the page "What fits", and the headers of a model for it; fitFailed() else.
    void planFit(quint64 ticket, const engine::LoadRequest& request, const HeldBytes& held);
    void readFitModel(quint64 ticket, const QString& model);
    /// What belfry-cli has found of a model; none where the file cannot be read.
    void readComparisons(const QString& model);
    void readProfile(const QString& file);
    void writeProfile(const QString& file, const ui::LoadProfile& profile);
    /// Answers foldersChecked() with what lies there. A drive that does not answer keeps this
    /// thread waiting, not the window.
    void checkFolders(const QStringList& folders);

Q_SIGNALS:
    void planned(quint64 ticket, const std::shared_ptr<const engine::PlacementPlan>& plan);
    void planFailed(quint64 ticket, const engine::Error& error);
    void alternativePlanned(quint64 ticket,
                            const std::shared_ptr<const engine::PlacementPlan>& plan);
    void fitPlanned(quint64 ticket, const ui::FitPoint& point);
    void fitModelRead(quint64 ticket, const std::shared_ptr<const engine::ModelSummary>& model);
    void fitFailed(quint64 ticket, const engine::Error& error);
    void comparisonsRead(const QString& model, const std::vector<engine::Comparison>& found);
    void profileRead(const ui::LoadProfile& profile);
    void profileWritten(const QString& file);
    void profileFailed(const QString& file, const engine::Error& error);
    void exported(quint64 ticket, const engine::MapExport& text);
    void exportFailed(quint64 ticket, const engine::Error& error);
    void mapRead(const QString& file, const QString& text);
    void mapReadFailed(const QString& file, const engine::Error& error);
    void textWritten(const QString& file);
    void textWriteFailed(const QString& file, const engine::Error& error);
    void foldersChecked(const ui::FolderFactsByPath& facts);

private:
    const std::atomic<quint64>* wanted_;
    engine::Engine engine_;
};

/// The thread and its worker, owned by the GUI side.
class PlannerThread : public QObject {
    Q_OBJECT

public:
    explicit PlannerThread(engine::EngineOptions options, QObject* parent = nullptr);
    ~PlannerThread() override;

    [[nodiscard]] PlannerWorker* worker() const { return worker_; }
    void plan(quint64 ticket, const engine::LoadRequest& request);
    void planAlternative(quint64 ticket, const engine::LoadRequest& request);
    void planFit(quint64 ticket, const engine::LoadRequest& request);
    /// Tickets below this one need no answer any more.
    void forgetBefore(quint64 ticket) { wanted_ = ticket; }
    /// What the loaded model holds, from the engine's snapshots.
    void setHeldBytes(HeldBytes held) { held_ = std::move(held); }

private:
    std::atomic<quint64> wanted_{0};
    HeldBytes held_;
    QThread thread_;
    PlannerWorker* worker_;
};

/// Connects the layout editor with the planner thread: plans, exports, map files. What remains
/// for the caller: setModel, setRequest, setApplied, setBusy, and the signal applyRequested.
/// Both objects must outlive the connections.
void connectLayout(ui::LayoutView& view, PlannerThread& planner, EngineWorker& worker);

/// Connects the load form: the plan that it compares with, and the files of profiles.
void connectLoadForm(ui::MainWindow& window, PlannerThread& planner);

/// Connects the page "What fits".
void connectFit(ui::FitPage& page, PlannerThread& planner);

} // namespace app
