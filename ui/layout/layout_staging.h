// SPDX-License-Identifier: Apache-2.0
// What is staged in the layout editor and how it became so: steps with undo and redo, plans that
// are being made, what is loaded, Apply, other computers. No widget: LayoutView shows it. It
// decides nothing about placement: each change leaves as planRequested() and becomes a step when
// its plan comes back; what the user does meanwhile waits in a queue.
#pragma once

#include "engine/api/error.h"
#include "engine/api/load_request.h"
#include "ui/layout/layout_history.h"
#include "ui/layout/what_if.h"

#include <QObject>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ui {

class LayoutStaging : public QObject {
    Q_OBJECT

public:
    /// What the engine does meanwhile.
    enum class Busy { No = 1, Loading, Reply };

    using QObject::QObject;

    /// Steps of what is shown: of the computer looked at, if there is one.
    [[nodiscard]] const LayoutHistory& history() const { return history_; }
    [[nodiscard]] const std::optional<engine::LoadRequest>& root() const { return root_; }
    [[nodiscard]] const std::optional<WhatIfComputer>& whatIf() const { return what_if_; }
    /// The plan of what is loaded; null: nothing is.
    [[nodiscard]] const std::shared_ptr<const engine::PlacementPlan>& applied() const {
        return applied_;
    }
    /// As LayoutView's functions of these names.
    [[nodiscard]] engine::LoadRequest stagedRequest() const;
    [[nodiscard]] std::shared_ptr<const engine::PlacementPlan> stagedPlan() const;
    [[nodiscard]] bool hasChanges() const;
    /// The plan made last for this computer; null before the first.
    [[nodiscard]] std::shared_ptr<const engine::PlacementPlan> planHere() const;
    [[nodiscard]] bool isReloadNeeded() const;
    /// The model of the staged plan is the one that is loaded.
    [[nodiscard]] bool isOfLoadedModel() const;
    /// A step is being planned.
    [[nodiscard]] bool isWaiting() const { return waiting_ > 0; }
    [[nodiscard]] Busy busy() const { return busy_; }
    [[nodiscard]] bool isApplying() const { return apply_pending_.has_value(); }
    /// Apply was asked for while a reply runs and follows it.
    [[nodiscard]] bool isApplyQueued() const { return is_apply_queued_; }
    /// The staged layout needs more than is free, by the system's word alone: it may be tried.
    [[nodiscard]] bool canLoadAnyway() const;
    /// Changes of what is loaded that are staged; a load again counts as one.
    [[nodiscard]] int countWaitingChanges() const;

    void clear();
    void setRequest(const engine::LoadRequest& request);
    void showPlan(quint64 serial, const std::shared_ptr<const engine::PlacementPlan>& plan);
    void showPlanError(quint64 serial, const engine::Error& error);
    void setApplied(const std::shared_ptr<const engine::PlacementPlan>& plan,
                    const std::string& model);
    void setLoadedModel(const std::string& model);
    void setBusy(Busy busy);
    /// What was asked for could not be applied. False: nothing was asked for here.
    bool endApply();

    void stageMoves(std::vector<engine::MapMove> moves, const QString& label, LayoutCuts cuts);
    void stageMap(const std::string& map, const QString& label);
    void stageRequest(engine::LoadRequest request, const QString& label);
    /// A step whose plan is there.
    void push(LayoutStage stage);
    /// The options dialog's answer, for this computer.
    void stageOptions(engine::LoadRequest request);
    void undo();
    void redo();
    void revert();
    void apply();

    void lookAt(const WhatIfComputer& computer);
    /// A published shape ("E2B") that is not on disk, on the computer looked at or on a listed
    /// card.
    void lookAtShape(const QString& shape, const std::optional<GraphicsCard>& card = {});
    void leaveWhatIf();
    /// Simulated GPUs of these sizes, in place of the cards of this computer.
    void simulate(std::vector<uint64_t> sizes, std::string map, const QString& label);
    void simulateWhatIf();

    /// Asks for what `moves` would make of the current step; previewed() answers, perhaps at once.
    void preview(engine::DeviceId lane, std::vector<engine::MapMove> moves, const QString& label);
    void forgetPreviews();
    /// A number for a request of the caller's, from the same row as the plans' serials.
    quint64 takeSerial() { return ++serial_; }

Q_SIGNALS:
    /// What is shown or compared with changed.
    void changed();
    /// Only what can be done changed: something waits, runs or does not any more.
    void stateChanged();
    /// The layout went on: a message about it is old.
    void wentOn();
    /// Other adapters are planned or gone: a message about them is old.
    void adaptersChanged();
    void stagedPlanChanged(const std::shared_ptr<const engine::PlacementPlan>& plan);
    void waitingChangesChanged(int count);
    void planRequested(quint64 serial, const engine::LoadRequest& request);
    void plansForgotten(quint64 serial);
    void applyRequested(const engine::LoadRequest& request);
    /// `error`: why it cannot be; empty when it can.
    void previewed(engine::DeviceId lane, const ui::LayoutStage& stage, const QString& error);
    void previewFailed(engine::DeviceId lane, const engine::Error& error);
    /// A step that breaks a rule of the map, whatever the memory: it was not taken.
    void refused(const QString& label, const std::shared_ptr<const engine::PlacementPlan>& plan);
    /// No plan came of a step. is_about_adapters: the former plan stays, without the new adapters.
    void failed(const QString& label, const engine::Error& error, bool is_about_adapters);

private:
    struct Pending {
        enum class Purpose { Root = 1, Stage, Replace, Preview, Computer };
        Purpose purpose = Purpose::Stage;
        LayoutStage stage;
        engine::DeviceId lane; ///< Preview only.
    };

    void request(Pending pending);
    void take(Pending pending, const std::shared_ptr<const engine::PlacementPlan>& plan);
    /// False: a plan was asked for again instead.
    bool takeComputer(Pending pending, bool is_possible);
    /// The same model and map: what the caller changed is changed, what was staged beyond that
    /// stays.
    void adoptOptions(const engine::LoadRequest& request);
    /// `step` now, or after the plans that are waited for. False: later.
    bool mayStage(std::function<void()> step);
    void runNext();
    void showStep();
    /// Emits changed() or stateChanged(), after what follows from the state here.
    void tell(void (LayoutStaging::*signal)());
    void tellPlan();
    /// History of this computer, also while another is looked at.
    [[nodiscard]] const LayoutHistory& historyHere() const {
        return what_if_.has_value() ? real_history_ : history_;
    }

    std::shared_ptr<const engine::PlacementPlan> applied_;
    std::optional<engine::LoadRequest> root_, applied_request_, apply_pending_;
    LayoutHistory history_, real_history_;
    std::optional<WhatIfComputer> what_if_;
    std::string loaded_model_;
    Busy busy_ = Busy::No;
    bool is_apply_queued_ = false;
    int waiting_changes_ = 0; ///< As told last.
    quint64 serial_ = 0;
    int waiting_ = 0;
    std::map<quint64, Pending> pending_;
    std::deque<std::function<void()>> queue_; ///< What the user did meanwhile.
};

} // namespace ui
