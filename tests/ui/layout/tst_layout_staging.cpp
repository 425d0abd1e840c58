// SPDX-License-Identifier: Apache-2.0
// The layout editor's steps without a widget: the test answers for the planner. A plan is a tensor
// on a device; its map's text says which.
#include "tests/support/program/test_class.h"
#include "ui/layout/layout_staging.h"

#include <QSignalSpy>
#include <QTest>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using engine::DeviceId;
using engine::LoadRequest;
using engine::PlacementPlan;
using ui::LayoutStaging;
using Plan = std::shared_ptr<const PlacementPlan>;

namespace {

std::shared_ptr<PlacementPlan> planOn(DeviceId device) {
    auto plan = std::make_shared<PlacementPlan>();
    plan->map_text = "document " + device.toString();
    plan->fits = true;
    engine::TensorPlacement tensor;
    tensor.tensor = "w";
    tensor.store = tensor.compute = device;
    plan->tensors.push_back(tensor);
    engine::ModulePlacement module;
    module.name = "model.language_model.layers.0";
    module.part = {engine::PartRole::Layer, 0};
    module.store = module.compute = device;
    plan->modules.push_back(module);
    return plan;
}

LoadRequest requestFor(const std::string& model, const std::string& map) {
    LoadRequest request;
    request.model = model;
    request.device_map = map;
    return request;
}

engine::MapMove move(DeviceId device) {
    engine::MapMove move;
    move.module = "model.language_model.layers.0";
    move.store = move.compute = device;
    return move;
}

/// Asks and answers as the planner's thread would.
class Planner : public QObject {
public:
    explicit Planner(LayoutStaging& staging) : staging_(staging) {
        connect(&staging, &LayoutStaging::planRequested, this,
                [this](quint64 serial, const LoadRequest& request) {
                    asked.emplace_back(serial, request);
                });
    }
    /// The oldest question that has no answer yet.
    void answer(const Plan& plan) { staging_.showPlan(take().first, plan); }
    void refuse(const engine::Error& error) { staging_.showPlanError(take().first, error); }

    std::vector<std::pair<quint64, LoadRequest>> asked;

private:
    std::pair<quint64, LoadRequest> take() {
        auto first = asked.front();
        asked.erase(asked.begin());
        return first;
    }
    LayoutStaging& staging_;
};

const DeviceId kCpu = DeviceId::cpu();
const DeviceId kCard = DeviceId::sim(0);

} // namespace

class TestLayoutStaging : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() {
        staging_ = std::make_unique<LayoutStaging>();
        planner_ = std::make_unique<Planner>(*staging_);
        staging_->setRequest(requestFor("m", "cpu"));
        planner_->answer(planOn(kCpu));
    }
    void cleanup() {
        planner_.reset();
        staging_.reset();
    }

    void aPlanIsKeptAsItsDocument() {
        QCOMPARE(staging_->stagedRequest().device_map, planOn(kCpu)->map_text);
        QVERIFY(staging_->hasChanges()); // nothing is loaded
        QVERIFY(!staging_->history().canUndo());
    }

    void stepsWaitForOneAnother() {
        staging_->stageMoves({move(kCard)}, QStringLiteral("first"), {});
        staging_->stageMoves({move(kCpu)}, QStringLiteral("second"), {});
        QCOMPARE(planner_->asked.size(), size_t{1});
        QVERIFY(staging_->isWaiting());
        planner_->answer(planOn(kCard));
        QCOMPARE(planner_->asked.size(), size_t{1}); // the second starts from the first's document
        QCOMPARE(planner_->asked.front().second.device_map, planOn(kCard)->map_text);
        QCOMPARE(planner_->asked.front().second.moves.front().store, kCpu);
        planner_->answer(planOn(kCpu));
        QVERIFY(!staging_->isWaiting());
        QCOMPARE(staging_->history().undoLabel(), QStringLiteral("second"));
    }

    void undoAndRedoTellTheirPlans() {
        stage(kCard, QStringLiteral("there"));
        QSignalSpy told(staging_.get(), &LayoutStaging::stagedPlanChanged);
        staging_->undo();
        QCOMPARE(staging_->stagedPlan()->tensors.front().store, kCpu);
        QCOMPARE(staging_->history().redoLabel(), QStringLiteral("there"));
        staging_->redo();
        QCOMPARE(staging_->stagedPlan()->tensors.front().store, kCard);
        QCOMPARE(told.count(), 2);
        staging_->undo();
        stage(kCard, QStringLiteral("elsewhere")); // what was undone is gone
        QVERIFY(!staging_->history().canRedo());
    }

    void aPreviewChangesNothing() {
        QSignalSpy previewed(staging_.get(), &LayoutStaging::previewed);
        staging_->preview(kCard, {move(kCard)}, QStringLiteral("there"));
        QVERIFY(!staging_->isWaiting()); // steps go on beside it
        const quint64 serial = planner_->asked.front().first;
        planner_->answer(planOn(kCard));
        QCOMPARE(previewed.count(), 1);
        QCOMPARE(staging_->stagedPlan()->tensors.front().store, kCpu);
        QVERIFY(!staging_->history().canUndo());

        staging_->preview(kCard, {move(kCard)}, QStringLiteral("there"));
        QSignalSpy forgotten(staging_.get(), &LayoutStaging::plansForgotten);
        staging_->forgetPreviews();
        QVERIFY(forgotten.front().front().toULongLong() > serial + 1);
        planner_->answer(planOn(kCard)); // too late
        QCOMPARE(previewed.count(), 1);
    }

    void whatBreaksARuleIsNoStep() {
        QSignalSpy refused(staging_.get(), &LayoutStaging::refused);
        auto impossible = planOn(kCard);
        impossible->errors.emplace_back().words = engine::phrase("nothing says where");
        staging_->stageMap("a map", QStringLiteral("a map"));
        planner_->answer(impossible);
        QCOMPARE(refused.count(), 1);
        QCOMPARE(refused.front().front().toString(), QStringLiteral("a map"));
        QCOMPARE(staging_->stagedPlan()->tensors.front().store, kCpu);

        auto too_large = planOn(kCard); // memory is no rule: it can be staged and repaired
        too_large->fits = false;
        too_large->errors.emplace_back().code = "DM09";
        staging_->stageMap("a map", QStringLiteral("a map"));
        planner_->answer(too_large);
        QCOMPARE(refused.count(), 1);
        QCOMPARE(staging_->stagedPlan()->tensors.front().store, kCard);
        QSignalSpy applied(staging_.get(), &LayoutStaging::applyRequested);
        staging_->apply();
        QCOMPARE(applied.count(), 0);
    }

    void applyAndWhatIsLoaded() {
        QSignalSpy asked(staging_.get(), &LayoutStaging::applyRequested);
        QSignalSpy waiting(staging_.get(), &LayoutStaging::waitingChangesChanged);
        staging_->apply();
        staging_->apply(); // it runs already
        QCOMPARE(asked.count(), 1);
        QVERIFY(staging_->isApplying());
        staging_->setApplied(planOn(kCpu), "m");
        QVERIFY(!staging_->isApplying());
        QVERIFY(!staging_->hasChanges());
        QVERIFY(!staging_->isReloadNeeded());
        stage(kCard, QStringLiteral("there"));
        QCOMPARE(waiting.takeLast().front().toInt(), 1);
        staging_->revert();
        QVERIFY(!staging_->hasChanges());
        QCOMPARE(waiting.takeLast().front().toInt(), 0);
        QVERIFY(staging_->history().canUndo()); // a revert is a step
    }

    void applyFollowsTheReply() {
        staging_->apply();
        staging_->setApplied(planOn(kCpu), "m");
        stage(kCard, QStringLiteral("there"));
        QSignalSpy asked(staging_.get(), &LayoutStaging::applyRequested);
        staging_->setBusy(LayoutStaging::Busy::Reply);
        staging_->apply();
        QVERIFY(staging_->isApplyQueued());
        staging_->apply(); // once more takes it back
        QVERIFY(!staging_->isApplyQueued());
        staging_->apply();
        staging_->setBusy(LayoutStaging::Busy::No);
        QCOMPARE(asked.count(), 0);
        QTRY_COMPARE(asked.count(), 1);
        QVERIFY(!staging_->isApplyQueued());
    }

    void aQueuedApplyGoesWithItsChange() {
        staging_->apply();
        staging_->setApplied(planOn(kCpu), "m");
        stage(kCard, QStringLiteral("there"));
        staging_->setBusy(LayoutStaging::Busy::Reply);
        staging_->apply();
        staging_->undo();
        QVERIFY(!staging_->isApplyQueued());
        staging_->redo();
        QVERIFY(!staging_->isApplyQueued());
    }

    void aFailedApplyKeepsTheChange() {
        staging_->apply();
        staging_->setApplied(planOn(kCpu), "m");
        stage(kCard, QStringLiteral("there"));
        staging_->apply();
        QVERIFY(staging_->endApply());
        QVERIFY(!staging_->endApply()); // a load that was not asked for here
        QVERIFY(staging_->hasChanges());
        QCOMPARE(staging_->stagedPlan()->tensors.front().store, kCard);
    }

    void otherComputersKeepTheirOwnSteps() {
        stage(kCard, QStringLiteral("there"));
        ui::WhatIfComputer computer = ui::listedComputer(QStringLiteral("RTX 2060"));
        staging_->lookAt(computer);
        QVERIFY(!planner_->asked.front().second.what_if.empty());
        planner_->answer(planOn(DeviceId::cuda(0)));
        QVERIFY(staging_->whatIf().has_value());
        QVERIFY(!staging_->hasChanges()); // nothing there can be applied here
        QVERIFY(!staging_->history().canUndo());
        QCOMPARE(staging_->planHere()->tensors.front().store, kCard);
        QVERIFY(staging_->stagedRequest().what_if.empty());
        staging_->leaveWhatIf();
        QCOMPARE(staging_->stagedPlan()->tensors.front().store, kCard);
        QCOMPARE(staging_->history().undoLabel(), QStringLiteral("there"));
    }

    void aMapForCardsThatAreNotThereIsFitted() {
        auto impossible = planOn(kCpu);
        impossible->errors.emplace_back().words = engine::phrase("nothing says where");
        staging_->lookAt(ui::listedComputer(QStringLiteral("RTX 2060")));
        planner_->answer(impossible);
        QCOMPARE(planner_->asked.size(), size_t{1});
        QCOMPARE(planner_->asked.front().second.device_map, std::string("fit"));
    }

    void adaptersAreNoSteps() {
        LoadRequest with = requestFor("m", "cpu");
        with.adapters.push_back({});
        with.adapters.front().folder = "a";
        staging_->setRequest(with);
        planner_->answer(planOn(kCpu));
        QVERIFY(!staging_->history().canUndo());
        QCOMPARE(staging_->stagedRequest().adapters.size(), size_t{1});

        QSignalSpy failed(staging_.get(), &LayoutStaging::failed);
        with.adapters.push_back({});
        with.adapters.back().folder = "b";
        staging_->setRequest(with);
        planner_->refuse({engine::ErrorCode::InvalidRequest, "does not fit"});
        QCOMPARE(failed.count(), 1);
        QVERIFY(failed.front().at(2).toBool());
        QCOMPARE(staging_->stagedRequest().adapters.size(), size_t{1}); // the former plan stays

        with.adapters.front().strength = 0.5; // no plan depends on it
        with.adapters.pop_back();
        staging_->setRequest(with);
        QVERIFY(planner_->asked.empty());
        QCOMPARE(staging_->stagedRequest().adapters.front().strength, 0.5);
    }

    void optionsKeepWhatWasMoved() {
        stage(kCard, QStringLiteral("there"));
        LoadRequest longer = requestFor("m", "cpu");
        longer.context = 4096;
        staging_->setRequest(longer);
        QCOMPARE(planner_->asked.front().second.device_map, planOn(kCard)->map_text);
        QCOMPARE(planner_->asked.front().second.context, 4096);
        planner_->answer(planOn(kCard));
        QVERIFY(staging_->history().canUndo());
        staging_->setRequest(requestFor("other", "cpu")); // another model starts over
        planner_->answer(planOn(kCpu));
        QVERIFY(!staging_->history().canUndo());
    }

private:
    void stage(DeviceId device, const QString& label) {
        staging_->stageMoves({move(device)}, label, {});
        planner_->answer(planOn(device));
    }

    std::unique_ptr<LayoutStaging> staging_;
    std::unique_ptr<Planner> planner_;
};

TEST_CLASS_WITH(QApplication, TestLayoutStaging)
#include "tst_layout_staging.moc"
