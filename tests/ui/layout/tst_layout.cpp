// SPDX-License-Identifier: Apache-2.0
// The layout editor with the real planner: mouse and keyboard end in the same plan, prices are
// shown while a block is held, undo and revert, splitting and joining, presets, map files, other
// computers, plans that do not fit. The model is the published E2B shape: headers only.
#include "tests/support/program/test_class.h"
#include "tests/support/thread_spy.h"
#include "tests/ui/layout/layout_fixture.h"
#include "ui/layout/card_box.h"
#include "ui/layout/plan_options_dialog.h"

#include <QAbstractButton>
#include <QAccessible>
#include <QClipboard>
#include <QCompleter>
#include <QDialogButtonBox>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QTemporaryDir>

#include <algorithm>

using engine::DeviceId;
using support::e2bRequest;
using support::LayoutFixture;

namespace {

/// 26B on the card of 8 GB that is looked at first.
void lookAtExperts(LayoutFixture& f) {
    auto* menu = f.view.findChild<QMenu*>(QStringLiteral("layoutWhatIfMenu"));
    Q_EMIT menu->aboutToShow();
    menu->findChild<QAction*>(QStringLiteral("whatIf.model.26B-A4B"))->trigger();
    QTRY_VERIFY(f.view.blockWidget(QStringLiteral("layers.0-29")) != nullptr);
}

} // namespace

class TestLayout : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void dragAndKeyboardAgree();
    void assistantIsABlock();
    void arrowsStartAtTheOwnLane();
    void priceWhileHeld();
    void escapeAndOutside();
    void undoRedoRevert();
    void splitAndJoin();
    void arrowsReachEveryBlock();
    void overFullIsToldBeforeApply();
    void namedRepairIsDone();
    void applyDuringAReply();
    void fourBitsInTheWindowsWords();
    void adapterNoticeGoesWithIt();
    void impossibleDropIsRefused();
    void presetsAndFit();
    void mapFiles();
    void listedCards();
    void otherComputers();
    void modelsThatAreNotHere();
    void configWithoutWeights();
    void headOfItsOwn();
    void optionsKeepTheMap();
    void simulatedGpus();
    void everythingIsNamed();
    void expertsAreBlocks();
    void expertsOnACardLookedAt();
    void pictures();
};

void TestLayout::initTestCase() {
    ui::applyTheme(*qApp);
}

void TestLayout::dragAndKeyboardAgree() {
    LayoutFixture mouse(e2bRequest("gpu"));
    QVERIFY(mouse.isReady());
    QVERIFY(mouse.drag(QStringLiteral("vision"), DeviceId::cpu(), true));
    QVERIFY(!mouse.view.isHolding());
    const auto* tower = LayoutFixture::module(*mouse.view.stagedPlan(), "model.vision_tower");
    QVERIFY(tower->store == DeviceId::cpu() && tower->compute == DeviceId::cpu());
    // The projector is drawn with its tower and moves along.
    QVERIFY(LayoutFixture::module(*mouse.view.stagedPlan(), "model.embed_vision")->store ==
            DeviceId::cpu());

    LayoutFixture keys(e2bRequest("gpu"));
    QVERIFY(keys.isReady());
    ui::BlockWidget* block = keys.view.blockWidget(QStringLiteral("vision"));
    block->setFocus();
    QTest::keyClick(block, Qt::Key_M);
    QVERIFY(keys.view.isHolding());
    QTest::keyClick(block, Qt::Key_2); // the second lane: the CPU
    QTest::keyClick(block, Qt::Key_Return);
    QTRY_VERIFY(!keys.view.isHolding());
    QCOMPARE(keys.mapText(), mouse.mapText());
    // The focus follows the block.
    QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("block.vision"));
    QVERIFY(keys.view.blockWidget(QStringLiteral("vision"))->block().store == DeviceId::cpu());

    // And the context menu.
    LayoutFixture menu(e2bRequest("gpu"));
    QVERIFY(menu.isReady());
    block = menu.view.blockWidget(QStringLiteral("vision"));
    Q_EMIT block->menuRequested(block->mapToGlobal(QPoint(5, 5)));
    auto* popup = menu.view.findChild<QMenu*>(QStringLiteral("layoutBlockMenu"));
    QVERIFY(popup != nullptr);
    popup->actions().front()->menu()->actions().at(1)->trigger();
    popup->close();
    QTRY_COMPARE(menu.mapText(), mouse.mapText());
}

/// The drafting assistant is moved as everything else is: its bytes come along, in the lane and in
/// the meter; without one there is no block.
void TestLayout::assistantIsABlock() {
    const QString id = QStringLiteral("assistant");
    LayoutFixture none(e2bRequest("gpu"));
    QVERIFY(none.isReady());
    QVERIFY(none.view.blockWidget(id) == nullptr);
    const auto weightsOf = [](const engine::PlacementPlan& plan, DeviceId device) {
        for (const engine::DevicePlan& one : plan.devices) {
            if (one.id == device) {
                return one.parts[engine::MemoryPart::Weights];
            }
        }
        return uint64_t{0};
    };
    const uint64_t without = weightsOf(*none.view.stagedPlan(), DeviceId::sim(0));

    engine::LoadRequest request = e2bRequest("gpu");
    request.draft = "auto"; // the published one, random weights
    LayoutFixture f(request);
    QVERIFY(f.isReady());
    ui::BlockWidget* block = f.view.blockWidget(id);
    QVERIFY(block != nullptr);
    QVERIFY(block->block().store == DeviceId::sim(0));
    const uint64_t bytes = LayoutFixture::module(*f.view.stagedPlan(), "assistant")->bytes;
    QVERIFY(bytes > 0);
    QCOMPARE(block->block().bytes, bytes);
    QCOMPARE(weightsOf(*f.view.stagedPlan(), DeviceId::sim(0)), without + bytes);
    const uint64_t cpu_before = weightsOf(*f.view.stagedPlan(), DeviceId::cpu());
    QVERIFY(f.drag(id, DeviceId::cpu(), true));
    QTRY_VERIFY(f.view.blockWidget(id)->block().store == DeviceId::cpu());
    QCOMPARE(weightsOf(*f.view.stagedPlan(), DeviceId::sim(0)), without);
    QCOMPARE(weightsOf(*f.view.stagedPlan(), DeviceId::cpu()), cpu_before + bytes);
    QVERIFY2(f.mapText().find("assistant") != std::string::npos, f.mapText().c_str());
    // And by keys, back.
    block = f.view.blockWidget(id);
    block->setFocus();
    QTest::keyClick(block, Qt::Key_M);
    QTest::keyClick(block, Qt::Key_1);
    QTest::keyClick(block, Qt::Key_Return);
    QTRY_VERIFY(f.view.blockWidget(id)->block().store == DeviceId::sim(0));
}

void TestLayout::arrowsStartAtTheOwnLane() {
    const auto target = [](LayoutFixture& f) {
        QStringList targets;
        for (const DeviceId device : {DeviceId::sim(0), DeviceId::cpu(), DeviceId::disk()}) {
            if (f.view.lane(device)->isTarget()) {
                targets.append(QString::fromStdString(device.toString()));
            }
        }
        return targets.join(QLatin1Char(' '));
    };
    LayoutFixture f(e2bRequest("towers-cpu"));
    QVERIFY(f.isReady());
    const std::string map = f.mapText();
    ui::BlockWidget* block = f.view.blockWidget(QStringLiteral("vision")); // in the middle lane
    block->setFocus();
    QTest::keyClick(block, Qt::Key_M);
    QVERIFY(f.view.isHolding());
    QCOMPARE(target(f), QString());         // nothing is proposed
    QTest::keyClick(block, Qt::Key_Return); // and nothing happens
    QVERIFY(f.view.isHolding());
    QTest::keyClick(block, Qt::Key_Left);
    QCOMPARE(target(f), QStringLiteral("sim:0"));
    QTest::keyClick(block, Qt::Key_Left); // there is no lane further
    QCOMPARE(target(f), QStringLiteral("sim:0"));
    QTest::keyClick(block, Qt::Key_Right); // over its own to the next
    QCOMPARE(target(f), QStringLiteral("disk"));
    QTest::keyClick(block, Qt::Key_Escape);
    QTest::keyClick(block, Qt::Key_M);
    QTest::keyClick(block, Qt::Key_M); // taken up and put down
    QVERIFY(!f.view.isHolding());
    QCOMPARE(f.mapText(), map);
    // The same from the lane at the left edge.
    ui::BlockWidget* layers = f.view.blockWidget(QStringLiteral("layers.0-34"));
    layers->setFocus();
    QTest::keyClick(layers, Qt::Key_M);
    QTest::keyClick(layers, Qt::Key_Left);
    QCOMPARE(target(f), QString());
    QTest::keyClick(layers, Qt::Key_Right);
    QCOMPARE(target(f), QStringLiteral("cpu"));
    QTest::keyClick(layers, Qt::Key_Escape);
    // And to the end.
    QTest::keyClick(block, Qt::Key_M);
    QTest::keyClick(block, Qt::Key_Left);
    QTest::keyClick(block, Qt::Key_Return);
    QTRY_VERIFY(!f.view.isHolding());
    QTRY_VERIFY(f.view.blockWidget(QStringLiteral("vision"))->block().store == DeviceId::sim(0));
}

void TestLayout::priceWhileHeld() {
    LayoutFixture f(e2bRequest("lean"));
    QVERIFY(f.isReady());
    auto* lane = f.view.lane(DeviceId::sim(0));
    const QString before = lane->usageText();
    QVERIFY(f.drag(QStringLiteral("ple"), DeviceId::sim(0), false));
    QVERIFY(f.view.isHolding());
    QVERIFY(lane->isTarget());
    // Every lane tells: the header what it would hold, the chip what a drop means.
    QVERIFY(lane->usageText() != before);
    QVERIFY(lane->preview()->is_possible);
    QTRY_VERIFY(f.view.lane(DeviceId::disk())->preview().has_value());
    auto* price = f.view.findChild<ui::PriceCard*>();
    QVERIFY2(price->text().contains(QStringLiteral("4.")), qPrintable(price->text()));
    QVERIFY2(price->text().contains(QStringLiteral("each token")), qPrintable(price->text()));
    QTest::mouseRelease(f.view.blockWidget(QStringLiteral("ple")), Qt::LeftButton, {},
                        QPoint(-4000, -4000));
    QVERIFY(!f.view.isHolding());
    QVERIFY(!f.view.hasChanges() || f.view.stagedPlan() != nullptr);
    QCOMPARE(lane->usageText(), before);
}

void TestLayout::escapeAndOutside() {
    LayoutFixture f(e2bRequest("lean"));
    QVERIFY(f.isReady());
    const std::string map = f.mapText();
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::sim(0), false));
    QTest::keyClick(f.view.blockWidget(QStringLiteral("vision")), Qt::Key_Escape);
    QVERIFY(!f.view.isHolding());
    QTest::mouseRelease(f.view.blockWidget(QStringLiteral("vision")), Qt::LeftButton);
    QCOMPARE(f.mapText(), map);
    QVERIFY(!f.view.findChild<ui::PriceCard*>()->isVisible());
    QVERIFY(!f.view.findChild<ui::DragGhost*>()->isVisible());
}

void TestLayout::undoRedoRevert() {
    LayoutFixture f(e2bRequest("gpu"));
    QVERIFY(f.isReady());
    f.view.setApplied(f.view.stagedPlan());
    const std::string first = f.mapText();
    auto* apply = f.view.findChild<QPushButton*>(QStringLiteral("layoutApply"));
    QVERIFY(!apply->isEnabled());
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::cpu(), true));
    QVERIFY(f.drag(QStringLiteral("audio"), DeviceId::cpu(), true));
    const std::string second = f.mapText();
    QVERIFY(apply->isEnabled());
    QVERIFY2(apply->text().contains(QLatin1Char('2')), qPrintable(apply->text()));
    QVERIFY(f.view.blockWidget(QStringLiteral("audio"))->block().is_changed);
    QTest::keyClick(&f.view, Qt::Key_Z, Qt::ControlModifier);
    QTest::keyClick(&f.view, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(f.mapText(), first);
    QVERIFY(!apply->isEnabled());
    QTest::keyClick(&f.view, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QTest::keyClick(&f.view, Qt::Key_Y, Qt::ControlModifier);
    QCOMPARE(f.mapText(), second);
    QTest::mouseClick(f.view.findChild<QPushButton*>(QStringLiteral("layoutRevert")),
                      Qt::LeftButton);
    QCOMPARE(f.mapText(), first);
    f.view.undo(); // Revert is a step like any other
    QCOMPARE(f.mapText(), second);
    QSignalSpy asked(&f.view, &ui::LayoutView::applyRequested);
    QTest::keyClick(&f.view, Qt::Key_Return, Qt::ControlModifier);
    QCOMPARE(asked.count(), 1);
    QCOMPARE(asked.front().front().value<engine::LoadRequest>().device_map, second);
    // An error leaves the change staged and the loaded layout as it was.
    f.view.showApplyError({engine::ErrorCode::OutOfMemory, "sim:0: asked 1 GiB, free 0"});
    QCOMPARE(f.mapText(), second);
    QVERIFY(apply->isEnabled());
    auto* notice = f.view.findChild<ui::NoticeBar*>();
    QVERIFY(notice->isVisible());
    QVERIFY(notice->text().contains(QStringLiteral("sim:0: asked 1 GiB")));
}

void TestLayout::splitAndJoin() {
    LayoutFixture f(e2bRequest("gpu"));
    QVERIFY(f.isReady());
    ui::BlockWidget* all = f.view.blockWidget(QStringLiteral("layers.0-34"));
    QVERIFY(all != nullptr);
    all->setFocus();
    QTest::keyClick(all, Qt::Key_S);
    QCOMPARE(all->cutMark(), 17);
    QTest::keyClick(all, Qt::Key_Left);
    QTest::keyClick(all, Qt::Key_Left);
    QTest::keyClick(all, Qt::Key_Return);
    QVERIFY(f.view.blockWidget(QStringLiteral("layers.0-14")) != nullptr);
    ui::BlockWidget* rest = f.view.blockWidget(QStringLiteral("layers.15-34"));
    QVERIFY(rest != nullptr);
    // A part moves alone; the map is a range.
    QVERIFY(f.drag(QStringLiteral("layers.15-34"), DeviceId::cpu(), true));
    QVERIFY(LayoutFixture::module(*f.view.stagedPlan(), "model.language_model.layers.15")->store ==
            DeviceId::cpu());
    QVERIFY(LayoutFixture::module(*f.view.stagedPlan(), "model.language_model.layers.14")->store ==
            DeviceId::sim(0));
    QVERIFY(!f.view.stagedPlan()->warnings.empty()); // they read the KV of layers on the card
    QVERIFY(!f.view.blockWidget(QStringLiteral("layers.15-34"))->block().warnings.isEmpty());
    QVERIFY(f.drag(QStringLiteral("layers.15-34"), DeviceId::sim(0), true));
    ui::BlockWidget* first = f.view.blockWidget(QStringLiteral("layers.0-14"));
    first->setFocus();
    QTest::keyClick(first, Qt::Key_J);
    QVERIFY(f.view.blockWidget(QStringLiteral("layers.0-34")) != nullptr);
    // With the mouse, at the mark over the columns.
    all = f.view.blockWidget(QStringLiteral("layers.0-34"));
    Q_EMIT all->cutRequested(4);
    QVERIFY(f.view.blockWidget(QStringLiteral("layers.0-3")) != nullptr);
    // The projector and the head come apart, too.
    ui::BlockWidget* tower = f.view.blockWidget(QStringLiteral("vision"));
    tower->setFocus();
    QTest::keyClick(tower, Qt::Key_S);
    QVERIFY(f.view.blockWidget(QStringLiteral("vision-projector")) != nullptr);
    QTest::keyClick(f.view.blockWidget(QStringLiteral("vision")), Qt::Key_J);
    QVERIFY(f.view.blockWidget(QStringLiteral("vision-projector")) == nullptr);
}

void TestLayout::arrowsReachEveryBlock() {
    LayoutFixture f(e2bRequest("lean"));
    QVERIFY(f.isReady());
    ui::BlockWidget* block = f.view.lane(DeviceId::sim(0))->blocks().front();
    block->setFocus();
    std::set<QString> seen;
    for (size_t i = 0; i < f.view.lane(DeviceId::sim(0))->blocks().size(); ++i) {
        seen.insert(QApplication::focusWidget()->objectName());
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Down);
    }
    QCOMPARE(seen.size(), f.view.lane(DeviceId::sim(0))->blocks().size());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Right);
    const auto* there = qobject_cast<ui::BlockWidget*>(QApplication::focusWidget());
    QVERIFY(there != nullptr && there->block().store == DeviceId::cpu());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Left);
    QVERIFY(qobject_cast<ui::BlockWidget*>(QApplication::focusWidget())->block().store ==
            DeviceId::sim(0));
}

void TestLayout::overFullIsToldBeforeApply() {
    LayoutFixture f(e2bRequest("lean", 3 * support::kGiB));
    QVERIFY(f.isReady());
    QVERIFY(f.view.stagedPlan()->fits);
    f.view.applyPreset(QStringLiteral("gpu"));
    QTRY_VERIFY(!f.view.stagedPlan()->fits);
    auto* apply = f.view.findChild<QPushButton*>(QStringLiteral("layoutApply"));
    QVERIFY(!apply->isEnabled());
    auto* notice = f.view.findChild<ui::NoticeBar*>();
    QVERIFY(notice->isVisible());
    QVERIFY2(notice->text().contains(QStringLiteral("too much")), qPrintable(notice->text()));
    QVERIFY(!notice->details().isEmpty());
    // Planning everything anew is the second way.
    QTest::mouseClick(notice->findChild<QPushButton*>(QStringLiteral("layoutNoticeSecond")),
                      Qt::LeftButton);
    QTRY_VERIFY(f.view.stagedPlan()->fits);
    QVERIFY(apply->isEnabled());
    // The trouble is over; what had to move for it can be read.
    QVERIFY2(notice->text().startsWith(QStringLiteral("Not everything fits on one device")),
             qPrintable(notice->text()));
    QVERIFY(notice->details().join(QLatin1Char('\n')).contains(QStringLiteral("to CPU")));
}

void TestLayout::namedRepairIsDone() {
    // Enough memory for all but one tower.
    LayoutFixture f(e2bRequest("gpu"));
    QVERIFY(f.isReady());
    const auto gpuBytes = [&] {
        for (const engine::DevicePlan& device : f.view.stagedPlan()->devices) {
            if (device.id == DeviceId::sim(0)) {
                return device.parts.total();
            }
        }
        return uint64_t{0};
    };
    engine::LoadRequest request = e2bRequest("gpu");
    request.sim_gpus = {gpuBytes() - (uint64_t{64} << 20U)};
    LayoutFixture tight(request);
    QVERIFY(tight.isReady());
    QVERIFY(!tight.view.stagedPlan()->fits);
    auto* notice = tight.view.findChild<ui::NoticeBar*>();
    QVERIFY2(notice->text().contains(QStringLiteral("Try: ")), qPrintable(notice->text()));
    QVERIFY2(notice->text().contains(QStringLiteral("enough by itself")),
             qPrintable(notice->text()));
    auto* action = notice->findChild<QPushButton*>(QStringLiteral("layoutNoticeAction"));
    QCOMPARE(action->text(), QStringLiteral("Make it fit"));
    const QString named = notice->text()
                              .section(QStringLiteral("Try: "), 1)
                              .section(QLatin1Char(':'), 0, 0); // "per-layer embeddings to CPU"
    const QString part = named.section(QStringLiteral(" to "), 0, 0);
    const std::string module = part == QStringLiteral("audio tower")    ? "model.audio_tower"
                               : part == QStringLiteral("vision tower") ? "model.vision_tower"
                               : part == QStringLiteral("per-layer embeddings")
                                   ? "model.language_model.embed_tokens_per_layer"
                                   : "";
    QVERIFY2(!module.empty(), qPrintable(named));
    QTest::mouseClick(action, Qt::LeftButton);
    QTRY_VERIFY(tight.view.stagedPlan()->fits);
    // That and nothing else.
    for (const char* other :
         {"model.audio_tower", "model.vision_tower", "model.language_model.embed_tokens_per_layer",
          "model.language_model.layers.0", "model.language_model.layers.34"}) {
        const auto* row = LayoutFixture::module(*tight.view.stagedPlan(), other);
        QVERIFY2(row != nullptr &&
                     row->store == (module == other ? DeviceId::cpu() : DeviceId::sim(0)),
                 other);
    }
    QTest::keyClick(&tight.view, Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY(!tight.view.stagedPlan()->fits);
}

void TestLayout::applyDuringAReply() {
    using Busy = ui::LayoutView::Busy;
    LayoutFixture f(e2bRequest("gpu"));
    QVERIFY(f.isReady());
    f.view.setApplied(f.view.stagedPlan());
    auto* apply = f.view.findChild<QPushButton*>(QStringLiteral("layoutApply"));
    auto* summary = f.view.findChild<QLabel*>(QStringLiteral("layoutSummary"));
    QSignalSpy waiting(&f.view, &ui::LayoutView::waitingChangesChanged);
    QSignalSpy wanted(&f.view, &ui::LayoutView::applyRequested);
    QVERIFY(!apply->isEnabled());
    QVERIFY(apply->toolTip().contains(QStringLiteral("Nothing to apply")));
    f.view.setBusy(Busy::Reply);
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::cpu(), true));
    QCOMPARE(waiting.last().first().toInt(), 1);
    // It says why and what can be done.
    QVERIFY(apply->isEnabled());
    QCOMPARE(apply->text(), QStringLiteral("Apply after this reply"));
    QVERIFY(apply->toolTip().contains(QStringLiteral("reply is being written")));
    QVERIFY(summary->text().contains(QStringLiteral("a reply runs")));
    QTest::mouseClick(apply, Qt::LeftButton);
    QCOMPARE(apply->text(), QStringLiteral("Applies after this reply"));
    QTest::mouseClick(apply, Qt::LeftButton); // taken back
    QCOMPARE(apply->text(), QStringLiteral("Apply after this reply"));
    f.view.setBusy(Busy::No);
    QCoreApplication::processEvents();
    QCOMPARE(wanted.size(), 0);
    QCOMPARE(apply->text(), QStringLiteral("Apply 1 change"));
    f.view.setBusy(Busy::Reply);
    QTest::mouseClick(apply, Qt::LeftButton);
    // The next message goes first.
    f.view.setBusy(Busy::No);
    f.view.setBusy(Busy::Reply);
    QCoreApplication::processEvents();
    QCOMPARE(wanted.size(), 0);
    f.view.setBusy(Busy::No);
    QTRY_COMPARE(wanted.size(), 1);
    f.view.setApplied(f.view.stagedPlan());
    QTRY_COMPARE(waiting.last().first().toInt(), 0);
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::sim(0), true));
    f.view.setBusy(Busy::Loading);
    QVERIFY(!apply->isEnabled());
    QVERIFY(apply->toolTip().contains(QStringLiteral("being loaded")));
    QVERIFY(summary->text().contains(QStringLiteral("loading")));
}

void TestLayout::fourBitsInTheWindowsWords() {
    engine::LoadRequest request = e2bRequest("fit", 3 * support::kGiB);
    request.quant = "none";
    request.head = "auto";
    LayoutFixture f(request);
    QVERIFY(f.isReady());
    const auto& notes = f.view.stagedPlan()->notes;
    QVERIFY(std::any_of(notes.begin(), notes.end(), [](const engine::Note& note) {
        return note.kind == engine::NoteKind::FourBits;
    }));
    auto* notice = f.view.findChild<ui::NoticeBar*>();
    const QString said = notice->text() + notice->details().join(QLatin1Char('\n'));
    QVERIFY2(said.contains(QStringLiteral("In 4 bits it would be about")), qPrintable(said));
    QVERIFY2(!said.contains(QStringLiteral("--")), qPrintable(said));
    auto* action = notice->findChild<QPushButton*>(QStringLiteral("layoutNoticeAction"));
    QVERIFY(action->isVisible());
    QCOMPARE(action->text(), QStringLiteral("Use 4 bits"));
    QTest::mouseClick(action, Qt::LeftButton);
    QTRY_COMPARE(QString::fromStdString(f.view.stagedRequest().quant), QStringLiteral("nf4"));
    QVERIFY(f.view.stagedPlan()->fits);
    QVERIFY(!action->isVisible()); // said and done
}

void TestLayout::adapterNoticeGoesWithIt() {
    engine::LoadRequest request = e2bRequest("gpu");
    LayoutFixture f(request);
    QVERIFY(f.isReady());
    auto* notice = f.view.findChild<ui::NoticeBar*>();
    request.adapters = {{"/nonexistent/adapter", 1.0, true}};
    f.view.setRequest(request);
    QTRY_VERIFY(notice->text().contains(QStringLiteral("does not fit this model")));
    request.adapters.clear();
    f.view.setRequest(request);
    QVERIFY2(!notice->text().contains(QStringLiteral("does not fit")), qPrintable(notice->text()));
    // Taken away before the answer comes: it is not told of any more.
    request.adapters = {{"/nonexistent/adapter", 1.0, true}};
    f.view.setRequest(request);
    request.adapters.clear();
    f.view.setRequest(request);
    QTest::qWait(300);
    QVERIFY2(!notice->text().contains(QStringLiteral("does not fit")), qPrintable(notice->text()));
}

void TestLayout::impossibleDropIsRefused() {
    LayoutFixture f(e2bRequest("gpu"));
    QVERIFY(f.isReady());
    const std::string map = f.mapText();
    const QString kv = QStringLiteral("kv.sim:0");
    QVERIFY(f.view.blockWidget(kv) != nullptr);
    f.drag(kv, DeviceId::disk(), true);
    QCOMPARE(f.mapText(), map);
    auto* notice = f.view.findChild<ui::NoticeBar*>();
    QVERIFY(notice->isVisible());
    // The cache can go to the CPU and come back to its layers.
    QVERIFY(f.drag(kv, DeviceId::cpu(), true));
    QVERIFY(f.view.blockWidget(QStringLiteral("kv.cpu")) != nullptr);
    QTest::keyClick(f.view.blockWidget(QStringLiteral("kv.cpu")), Qt::Key_J);
    QTRY_COMPARE(f.mapText(), map);
}

void TestLayout::presetsAndFit() {
    LayoutFixture f(e2bRequest("cpu"));
    QVERIFY(f.isReady());
    for (const char* preset : {"gpu", "towers-cpu", "ple-cpu", "lean", "fit", "cpu"}) {
        f.view.applyPreset(QString::fromLatin1(preset));
        engine::Engine engine;
        const auto plan = engine.plan(e2bRequest(preset));
        QVERIFY(plan.has_value());
        QTRY_COMPARE(f.mapText(), plan->map_text);
    }
    f.view.undo();
    f.view.undo();
    QVERIFY(f.mapText().find("embed_tokens_per_layer") != std::string::npos);
}

void TestLayout::mapFiles() {
    LayoutFixture f(e2bRequest("gpu"));
    QVERIFY(f.isReady());
    QTemporaryDir folder;
    const auto write = [&folder](const char* name, const QByteArray& text) {
        QFile file(folder.filePath(QString::fromLatin1(name)));
        if (file.open(QIODevice::WriteOnly)) {
            file.write(text);
        }
        return file.fileName();
    };
    // accelerate's dictionary: "cpu" is stored there and computed on the card.
    Q_EMIT f.view.mapFileChosen(
        write("hf.json", R"({"": 0, "model.vision_tower": "cpu", "model.audio_tower": "disk"})"));
    QTRY_VERIFY(LayoutFixture::module(*f.view.stagedPlan(), "model.audio_tower")->store ==
                DeviceId::disk());
    QVERIFY(LayoutFixture::module(*f.view.stagedPlan(), "model.vision_tower")->compute ==
            DeviceId::sim(0));
    const std::string imported = f.mapText();
    // A wrong key is told with its line, and nothing changes.
    auto* notice = f.view.findChild<ui::NoticeBar*>();
    Q_EMIT f.view.mapFileChosen(
        write("typo.json",
              "{\n \"version\": 1, \"default\": \"cpu\",\n \"map\": {\"vison_tower\": \"cpu\"}}"));
    QTRY_VERIFY(notice->isVisible() && notice->text().contains(QStringLiteral("vison_tower")));
    QVERIFY2(notice->text().contains(QStringLiteral("3")), qPrintable(notice->text()));
    QCOMPARE(f.mapText(), imported);
    Q_EMIT f.view.mapFileChosen(write("broken.json", "{ not json"));
    QTRY_VERIFY(notice->text().contains(QStringLiteral("broken.json")));
    Q_EMIT f.view.mapFileChosen(write("empty.json", ""));
    QTRY_VERIFY(notice->text().contains(QStringLiteral("empty.json")));
    Q_EMIT f.view.mapFileChosen(folder.filePath(QStringLiteral("missing.json")));
    QTRY_VERIFY(notice->text().contains(QStringLiteral("missing.json")));

    // Saved and opened again: the same plan.
    const QString saved = folder.filePath(QStringLiteral("saved.json"));
    Q_EMIT f.view.saveRequested(saved, QString::fromStdString(imported));
    QTRY_VERIFY(QFile::exists(saved));
    f.view.applyPreset(QStringLiteral("gpu"));
    QTRY_VERIFY(f.mapText() != imported);
    Q_EMIT f.view.mapFileChosen(saved);
    QTRY_COMPARE(f.mapText(), imported);

    // Copy as accelerate's dictionary.
    support::ThreadSpy exported(f.planner.worker(), &app::PlannerWorker::exported);
    f.view.findChild<QMenu*>(QStringLiteral("layoutMoreMenu"))->popup(QPoint(0, 0));
    QAction* copy = nullptr;
    for (QAction* action : f.view.findChildren<QAction*>()) {
        copy = action->objectName() == QStringLiteral("more.copyAccelerate") ? action : copy;
    }
    QVERIFY(copy != nullptr);
    copy->trigger();
    QTRY_COMPARE(exported.count(), 1);
    QTRY_VERIFY(QApplication::clipboard()->text().contains(
        QStringLiteral("\"model.vision_tower\": \"cpu\"")));
}

void TestLayout::listedCards() {
    QSet<QString> names;
    QSet<QString> slow;
    for (const ui::CardGroup& group : ui::cardGroups()) {
        double before = 0;
        for (const ui::WhatIfComputer& computer : group.computers) {
            QVERIFY2(!names.contains(computer.name), qPrintable(computer.name));
            names.insert(computer.name);
            const ui::GraphicsCard& card = computer.cards.front();
            QVERIFY2(card.gib >= before && card.gib >= 6 && card.read_gb_per_s > 50,
                     qPrintable(computer.name)); // by memory
            before = card.gib;
            if (!computer.tellsSpeed()) {
                slow.insert(group.name);
            }
            QCOMPARE(ui::toText(ui::computerFromText(ui::toText(computer))), ui::toText(computer));
        }
    }
    QVERIFY(names.size() >= 45);
    QCOMPARE(slow.size(), 3); // AMD, Intel, Apple
    QCOMPARE(ui::listedComputer(QStringLiteral("2x RTX 3090")).cards.size(), size_t{2});
    // The list is searched by a part of a name; headings are not chosen.
    ui::CardBox box("cards");
    QSignalSpy chosen(&box, &ui::CardBox::computerChosen);
    box.completer()->setCompletionPrefix(QStringLiteral("4070 s"));
    QCOMPARE(box.completer()->currentCompletion().section(QStringLiteral(" ·"), 0, 0),
             QStringLiteral("RTX 4070 Super"));
    box.setCurrentIndex(0);
    Q_EMIT box.activated(0);
    QCOMPARE(chosen.count(), 0);
    box.choose(ui::listedComputer(QStringLiteral("L4")));
    QCOMPARE(box.computer().name, QStringLiteral("L4"));
}

void TestLayout::otherComputers() {
    LayoutFixture f(e2bRequest("lean"));
    QVERIFY(f.isReady());
    const std::string here = f.mapText();
    f.view.lookAt(ui::listedComputer(QStringLiteral("RTX 3060")));
    QTRY_VERIFY(f.view.lane(DeviceId::cuda(0)) != nullptr);
    QVERIFY(f.view.isWhatIf());
    const double slow = f.view.stagedPlan()->estimate.decode_tokens_per_s;
    QVERIFY(!f.view.findChild<QPushButton*>(QStringLiteral("layoutApply"))->isVisible());
    // Moves work there as well, and do not touch what is staged here.
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::cuda(0), true));
    QVERIFY(f.mapText().find("cuda:0") != std::string::npos);
    QCOMPARE(f.view.stagedRequest().device_map, here);
    f.view.lookAt(ui::listedComputer(QStringLiteral("RTX 4090")));
    QTRY_VERIFY(f.view.stagedPlan()->estimate.decode_tokens_per_s > 1.5 * slow);
    // A card without kernels: what fits is told, and no speed.
    f.view.lookAt(ui::listedComputer(QStringLiteral("RX 7900 XTX")));
    QTRY_COMPARE(f.view.stagedPlan()->estimate.decode_tokens_per_s, 0.0);
    QVERIFY(f.view.stagedPlan()->fits);
    f.view.simulateWhatIf();
    QTRY_VERIFY(!f.view.isWhatIf() && f.view.stagedRequest().sim_gpus.front() > 20 * support::kGiB);
    f.view.undo();
    QCOMPARE(f.mapText(), here);
    // A part of a name finds it.
    auto* menu = f.view.findChild<QMenu*>(QStringLiteral("layoutWhatIfMenu"));
    Q_EMIT menu->aboutToShow();
    auto* search = menu->findChild<QLineEdit*>(QStringLiteral("whatIf.search"));
    search->setText(QStringLiteral("5090 lap"));
    Q_EMIT search->returnPressed();
    QTRY_COMPARE(f.view.lane(DeviceId::cuda(0)) != nullptr, true);
    QVERIFY(f.view.isWhatIf());
    f.view.leaveWhatIf();
    // A computer of one's own survives being written down.
    ui::WhatIfComputer own{QStringLiteral("two small ones"),
                           ui::listedComputer(QStringLiteral("2x RTX 3060")).cards, 16};
    QCOMPARE(ui::toText(ui::computerFromText(ui::toText(own))), ui::toText(own));
    f.view.lookAt(own);
    QTRY_VERIFY(f.view.lane(DeviceId::cuda(1)) != nullptr);
    f.view.leaveWhatIf();
    QCOMPARE(f.mapText(), here);
    QVERIFY(f.view.lane(DeviceId::cuda(1)) == nullptr);
}

void TestLayout::modelsThatAreNotHere() {
    // Published models of which nothing is on disk: planned from their shapes, for the card looked
    // at; the layout of this computer is untouched.
    LayoutFixture f(e2bRequest("lean"));
    QVERIFY(f.isReady());
    const std::string here = f.mapText();
    uint64_t smaller = 0;
    for (const char* name : {"E2B", "E4B", "31B"}) {
        auto* menu = f.view.findChild<QMenu*>(QStringLiteral("layoutWhatIfMenu"));
        QVERIFY(menu != nullptr);
        Q_EMIT menu->aboutToShow();
        auto* action =
            menu->findChild<QAction*>(QStringLiteral("whatIf.model.") + QString::fromLatin1(name));
        QVERIFY2(action != nullptr, name);
        action->trigger();
        const auto title = QStringLiteral("Gemma 4 %1 on ").arg(QString::fromLatin1(name));
        auto* button = f.view.findChild<QAbstractButton*>(QStringLiteral("layoutWhatIf"));
        QVERIFY(button != nullptr);
        QTRY_VERIFY2(button->text().contains(title), qPrintable(button->text()));
        QVERIFY(f.view.isWhatIf());
        // The name stands there first, the plan comes from the planner's thread.
        const auto bytes = [&f] {
            uint64_t sum = 0;
            for (const engine::ModulePlacement& module : f.view.stagedPlan()->modules) {
                sum += module.bytes;
            }
            return sum;
        };
        QTRY_VERIFY2(f.view.lane(DeviceId::cuda(0)) != nullptr && bytes() > smaller, name);
        smaller = bytes();
        QVERIFY(!f.view.findChild<QPushButton*>(QStringLiteral("layoutApply"))->isVisible());
    }
    f.view.leaveWhatIf();
    QCOMPARE(f.mapText(), here);
    QVERIFY(f.view.lane(DeviceId::cuda(0)) == nullptr);
}

void TestLayout::configWithoutWeights() {
    // A folder that holds a model's config.json alone: layouts can be tried on it.
    const QTemporaryDir folder;
    QVERIFY(
        QFile::copy(QString::fromStdString(app::demoModelFolder()) + QStringLiteral("/config.json"),
                    folder.filePath(QStringLiteral("config.json"))));
    engine::LoadRequest request;
    request.model = folder.path().toStdString();
    request.device_map = "gpu";
    request.sim_gpus = {8 * support::kGiB};
    LayoutFixture f(request);
    QVERIFY(f.isReady());
    QVERIFY(f.model != nullptr && f.model->is_header_only);
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::cpu(), true));
    QTRY_VERIFY(f.mapText().find("cpu") != std::string::npos);
    QVERIFY(f.view.stagedPlan()->fits);
    f.view.lookAt(ui::listedComputer(QStringLiteral("RTX 2060")));
    QTRY_VERIFY(f.view.lane(DeviceId::cuda(0)) != nullptr);
}

void TestLayout::headOfItsOwn() {
    // A head that the files hold is a block that moves alone and never joins the embedding.
    const QTemporaryDir folder;
    QFile from(QString::fromStdString(app::demoModelFolder()) + QStringLiteral("/config.json"));
    QVERIFY(from.open(QIODevice::ReadOnly));
    QByteArray config = from.readAll();
    config.replace("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
    QFile to(folder.filePath(QStringLiteral("config.json")));
    QVERIFY(to.open(QIODevice::WriteOnly) && to.write(config) == config.size());
    to.close();
    engine::LoadRequest request;
    request.model = folder.path().toStdString();
    request.device_map = "gpu";
    request.sim_gpus = {8 * support::kGiB};
    LayoutFixture f(request);
    QVERIFY(f.isReady());
    QVERIFY(f.view.stagedPlan()->has_stored_head);
    ui::BlockWidget* head = f.view.blockWidget(QStringLiteral("head"));
    QVERIFY(head != nullptr && head->block().is_stored_apart);
    QVERIFY(head->block().bytes > 0);
    QVERIFY(!f.view.blockWidget(QStringLiteral("embedding"))->block().is_tied);
    QVERIFY(f.drag(QStringLiteral("embedding"), DeviceId::cpu(), true));
    QVERIFY(LayoutFixture::module(*f.view.stagedPlan(), "lm_head")->store == DeviceId::sim(0));
    QVERIFY(f.drag(QStringLiteral("head"), DeviceId::cpu(), true));
    QVERIFY(LayoutFixture::module(*f.view.stagedPlan(), "lm_head")->store == DeviceId::cpu());
    QVERIFY(f.mapText().find("duplicate_tied") == std::string::npos);
    const std::string map = f.mapText();
    head = f.view.blockWidget(QStringLiteral("head"));
    head->setFocus();
    QTest::keyClick(head, Qt::Key_J);
    QCOMPARE(f.mapText(), map);
    auto* notice = f.view.findChild<ui::NoticeBar*>();
    QVERIFY(notice != nullptr && notice->isVisibleTo(&f.view));
}

void TestLayout::optionsKeepTheMap() {
    LayoutFixture f(e2bRequest("gpu"));
    QVERIFY(f.isReady());
    QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::cpu(), true));
    const std::string map = f.mapText();
    const uint64_t bytes = ui::devicePlan(*f.view.stagedPlan(), DeviceId::sim(0))->parts.total();
    engine::LoadRequest request = e2bRequest("gpu");
    request.context = 32768;
    f.view.setRequest(request);
    QTRY_VERIFY(ui::devicePlan(*f.view.stagedPlan(), DeviceId::sim(0))->parts.total() > bytes);
    QCOMPARE(f.mapText(), map);
    QCOMPARE(f.view.stagedRequest().context, int64_t{32768});
}

void TestLayout::simulatedGpus() {
    engine::LoadRequest bare = e2bRequest("cpu");
    bare.sim_gpus.clear();
    LayoutFixture f(bare);
    QVERIFY(f.isReady());
    QVERIFY(f.view.lane(DeviceId::sim(0)) == nullptr);
    QTest::mouseClick(f.view.findChild<QPushButton*>(QStringLiteral("layoutAddSim")),
                      Qt::LeftButton);
    auto* dialog = f.view.findChild<ui::PlanOptionsDialog*>();
    QVERIFY(dialog != nullptr);
    auto* sims = dialog->findChild<QLineEdit*>(QStringLiteral("optionSims"));
    auto* ok = dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
    sims->setText(QStringLiteral("eight"));
    QVERIFY(!ok->isEnabled()); // and says what it expects
    QVERIFY(dialog->findChild<QLabel*>(QStringLiteral("optionProblem"))->isVisible());
    sims->setText(QStringLiteral("8 GiB, 512 MiB"));
    QVERIFY(ok->isEnabled());
    // A limit for what is not there is told here, with the names there are.
    auto* limit = dialog->findChild<QLineEdit*>(QStringLiteral("optionLimits"));
    limit->setText(QStringLiteral("sim:2 = 1 GiB"));
    QVERIFY(!ok->isEnabled());
    QVERIFY(dialog->findChild<QLabel*>(QStringLiteral("optionNames"))
                ->text()
                .contains(QStringLiteral("sim:1")));
    limit->setText(QStringLiteral("sim:1 = 1 GiB, cpu = 4 GiB"));
    QVERIFY(ok->isEnabled());
    dialog->findChild<QLineEdit*>(QStringLiteral("optionLimits"))
        ->setText(QStringLiteral("sim:0 = 2,5 GiB"));
    QTest::mouseClick(ok, Qt::LeftButton);
    QTRY_VERIFY(f.view.lane(DeviceId::sim(1)) != nullptr);
    const engine::DevicePlan* card = ui::devicePlan(*f.view.stagedPlan(), DeviceId::sim(0));
    QCOMPARE(card->capacity, 8 * support::kGiB);
    QCOMPARE(card->limit, 5 * support::kGiB / 2);
    QVERIFY(f.view.stagedPlan()->fits); // fitted onto the new cards
    QVERIFY(card->parts.total() > 0);
    QVERIFY(!f.view.findChild<QPushButton*>(QStringLiteral("layoutAddSim"))->isVisible());
    f.view.undo();
    QVERIFY(f.view.lane(DeviceId::sim(0)) == nullptr);
}

void TestLayout::everythingIsNamed() {
    LayoutFixture f(e2bRequest("lean"));
    QVERIFY(f.isReady());
    int controls = 0;
    for (QWidget* widget : f.view.findChildren<QWidget*>()) {
        if (!widget->isVisible() || (widget->focusPolicy() & Qt::TabFocus) == 0) {
            continue;
        }
        ++controls;
        QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(widget);
        QVERIFY2(accessible != nullptr && !accessible->text(QAccessible::Name).isEmpty(),
                 qPrintable(widget->objectName()));
    }
    QVERIFY(controls > 10);
    for (const char* id : {"layers.0-34", "vision", "audio", "ple", "head"}) {
        ui::BlockWidget* block = f.view.blockWidget(QString::fromLatin1(id));
        QVERIFY2(block != nullptr, id);
        QVERIFY(block->accessibleDescription().contains(QStringLiteral("iB")));
    }
}

/// Screenshots for people, where $BELFRY_SCREENSHOTS says; elsewhere that every state paints.
/// Routed experts stand apart from their layers and move by mouse and by keys; what a token reads
/// of them and what a move costs is told; layers take along the experts that are with them, no
/// others.
void TestLayout::expertsAreBlocks() {
    const auto expertRequest = [] {
        engine::LoadRequest request = e2bRequest("gpu", 32 * support::kGiB);
        request.model = "shape:26b";
        request.quant = "nf4-dq+experts";
        request.sim_gpus.push_back(32 * support::kGiB);
        return request;
    };
    const auto storeOf = [](LayoutFixture& f, const char* id) {
        ui::BlockWidget* block = f.view.blockWidget(QLatin1String(id));
        return block == nullptr ? QStringLiteral("none")
                                : QString::fromStdString(block->block().store.toString());
    };
    const auto moveByKeys = [](LayoutFixture& f, const char* id, Qt::Key lane) {
        ui::BlockWidget* block = f.view.blockWidget(QLatin1String(id));
        block->setFocus();
        QTest::keyClick(block, Qt::Key_M);
        QTest::keyClick(block, lane);
        QTest::keyClick(block, Qt::Key_Return);
    };
    LayoutFixture f(expertRequest());
    QVERIFY(f.isReady());
    const ui::LayoutBlock layers = f.view.blockWidget(QStringLiteral("layers.0-29"))->block();
    const ui::LayoutBlock experts = f.view.blockWidget(QStringLiteral("experts.0-29"))->block();
    QCOMPARE(ui::blockTitle(experts), QStringLiteral("Experts of layers 0 – 29"));
    QVERIFY(experts.bytes > 5 * layers.bytes);
    QCOMPARE(experts.readPerToken(), experts.bytes / 16);
    const QString subtitle = ui::blockSubtitle(experts, *f.view.stagedPlan());
    QVERIFY2(subtitle.contains(QStringLiteral("read per token · 8 of 128")), qPrintable(subtitle));
    QVERIFY(f.drag(QStringLiteral("experts.0-29"), DeviceId::cpu(), false));
    auto* price = f.view.findChild<ui::PriceCard*>();
    QVERIFY2(price->text().contains(QStringLiteral("each token")), qPrintable(price->text()));
    QTest::keyClick(f.view.blockWidget(QStringLiteral("experts.0-29")), Qt::Key_Escape);
    QVERIFY(f.drag(QStringLiteral("experts.0-29"), DeviceId::cpu(), true));
    QTRY_COMPARE(storeOf(f, "experts.0-29"), QStringLiteral("cpu"));
    QCOMPARE(storeOf(f, "layers.0-29"), QStringLiteral("sim:0"));
    QVERIFY2(f.mapText().find("\"model.language_model.layers.[0-29].experts\"") !=
                 std::string::npos,
             f.mapText().c_str());

    LayoutFixture keys(expertRequest());
    QVERIFY(keys.isReady());
    moveByKeys(keys, "experts.0-29", Qt::Key_3);
    QTRY_COMPARE(keys.mapText(), f.mapText());
    QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("block.experts.0-29"));
    // Cut by a key; the later half goes back to the card.
    ui::BlockWidget* block = keys.view.blockWidget(QStringLiteral("experts.0-29"));
    QTest::keyClick(block, Qt::Key_S);
    QTest::keyClick(block, Qt::Key_Return);
    QVERIFY(keys.view.blockWidget(QStringLiteral("experts.0-14")) != nullptr);
    QVERIFY(keys.view.blockWidget(QStringLiteral("layers.0-29")) != nullptr);
    moveByKeys(keys, "experts.15-29", Qt::Key_1);
    QTRY_COMPARE(storeOf(keys, "experts.15-29"), QStringLiteral("sim:0"));
    QCOMPARE(storeOf(keys, "experts.0-14"), QStringLiteral("cpu"));
    // Experts that are elsewhere stay there, the others go along.
    moveByKeys(keys, "layers.0-29", Qt::Key_2); // the second card
    QTRY_COMPARE(storeOf(keys, "layers.0-29"), QStringLiteral("sim:1"));
    QCOMPARE(storeOf(keys, "experts.0-14"), QStringLiteral("cpu"));
    QCOMPARE(storeOf(keys, "experts.15-29"), QStringLiteral("sim:1"));
    keys.view.undo();
    QTRY_COMPARE(storeOf(keys, "experts.15-29"), QStringLiteral("sim:0"));
}

/// "What if" a card of 8 GB with 26B: the best fit keeps all layers there and says which experts
/// leave; the preset puts all of them into main memory.
void TestLayout::expertsOnACardLookedAt() {
    LayoutFixture f(e2bRequest("lean"));
    QVERIFY(f.isReady());
    lookAtExperts(f);
    QTRY_VERIFY(f.view.blockWidget(QStringLiteral("layers.0-29")) != nullptr);
    QVERIFY(f.view.stagedPlan()->fits);
    QVERIFY(f.view.blockWidget(QStringLiteral("layers.0-29"))->block().store == DeviceId::cuda(0));
    int away = -1;
    for (ui::BlockWidget* block : f.view.lane(DeviceId::cpu())->blocks()) {
        away = block->block().kind == ui::BlockKind::Experts ? block->block().last : away;
    }
    QVERIFY(away > 0 && away < 29);
    auto* presets = f.view.findChild<QMenu*>(QStringLiteral("layoutPresetsMenu"));
    Q_EMIT presets->aboutToShow();
    auto* preset = presets->findChild<QAction*>(QStringLiteral("preset.experts-cpu"));
    QVERIFY(preset != nullptr && preset->isEnabled());
    preset->trigger();
    QTRY_VERIFY(f.view.blockWidget(QStringLiteral("experts.0-29")) != nullptr);
    QVERIFY(f.view.blockWidget(QStringLiteral("experts.0-29"))->block().store == DeviceId::cpu());
    f.view.leaveWhatIf();
    Q_EMIT presets->aboutToShow();
    QVERIFY(!presets->findChild<QAction*>(QStringLiteral("preset.experts-cpu"))->isEnabled());
}

void TestLayout::pictures() {
    const QString folder = qEnvironmentVariable("BELFRY_SCREENSHOTS");
    for (const bool is_dark : {false, true}) {
        const char* mode = is_dark ? "dark" : "light";
        ui::setThemeChoice(is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light);
        const auto save = [&](QWidget& widget, const char* name) {
            QCoreApplication::processEvents();
            const QPixmap picture = widget.grab();
            QVERIFY(!picture.isNull());
            if (!folder.isEmpty()) {
                picture.save(QStringLiteral("%1/%2-%3.png")
                                 .arg(folder, QLatin1String(name), QLatin1String(mode)));
            }
        };
        LayoutFixture f(e2bRequest("towers-cpu"));
        QVERIFY(f.isReady());
        f.view.setApplied(f.view.stagedPlan());
        save(f.view, "layout");
        QVERIFY(f.drag(QStringLiteral("vision"), DeviceId::sim(0), false));
        save(f.view, "layout-drag");
        QTest::keyClick(f.view.blockWidget(QStringLiteral("vision")), Qt::Key_Escape);
        QVERIFY(f.drag(QStringLiteral("ple"), DeviceId::cpu(), true));
        ui::BlockWidget* layers = f.view.blockWidget(QStringLiteral("layers.0-34"));
        Q_EMIT layers->cutRequested(15);
        f.view.blockWidget(QStringLiteral("audio"))->setFocus();
        QTest::keyClick(f.view.blockWidget(QStringLiteral("audio")), Qt::Key_M);
        QTest::keyClick(f.view.blockWidget(QStringLiteral("audio")), Qt::Key_3);
        QTest::qWait(100);
        save(f.view, "layout-keyboard");
        QTest::keyClick(f.view.blockWidget(QStringLiteral("audio")), Qt::Key_Escape);
        save(f.view, "layout-staged");
        f.meter.setPrediction(f.view.stagedPlan());
        f.meter.show();
        save(f.meter, "meter-planned");
        engine::LoadRequest bare = e2bRequest("cpu");
        bare.sim_gpus.clear();
        LayoutFixture h(bare, {520, 620});
        QVERIFY(h.isReady());
        QVERIFY(h.view.findChild<QPushButton*>(QStringLiteral("layoutAddSim"))->isVisible());
        save(h.view, "layout-narrow");
        LayoutFixture g(e2bRequest("gpu", 3 * support::kGiB), {820, 620});
        QVERIFY(g.isReady());
        save(g.view, "layout-overfull");
        g.view.lookAt(ui::listedComputer(QStringLiteral("RTX 3060")));
        QTRY_VERIFY(g.view.lane(DeviceId::cuda(0)) != nullptr);
        save(g.view, "layout-whatif");
        lookAtExperts(f);
        save(f.view, "layout-experts");
        for (ui::BlockWidget* block : f.view.lane(DeviceId::cpu())->blocks()) {
            if (block->block().kind == ui::BlockKind::Experts) {
                QVERIFY(f.drag(block->block().id, DeviceId::cuda(0), false));
                save(f.view, "layout-experts-drag");
                QTest::keyClick(block, Qt::Key_Escape);
                break;
            }
        }
    }
    ui::setThemeChoice(ui::ThemeChoice::System);
}

TEST_CLASS_WITH(QApplication, TestLayout)
#include "tst_layout.moc"
