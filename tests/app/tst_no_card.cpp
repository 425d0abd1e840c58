// SPDX-License-Identifier: Apache-2.0
// A machine whose card cannot be used: the window says why beside the lanes, warns where something
// can be done about it, and lets itself be sent away. One without a driver is told so calmly.
#include "app/start/startup_facts.h"
#include "engine/devices/gpu_access.h"
#include "tests/app/program_fixture.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/program/test_class.h"
#include "ui/dialogs/diagnostics.h"
#include "ui/layout/notice_bar.h"
#include "ui/style/format.h"

#include <QLabel>
#include <QTemporaryDir>
#include <QToolButton>

using kernels::cuda::Trouble;
using support::FakeDriver;
using support::Program;

class TestNoCard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void reason_data();
    void reason();
    void howItWasFitted();
    void nothingToTell();
};

void TestNoCard::reason_data() {
    support::addColumns<Trouble, QString, bool>("trouble", "words", "is_problem");
    QTest::addRow("no driver") << Trouble{Trouble::Kind::NoDriver}
                               << QStringLiteral("No NVIDIA driver on this machine") << false;
    QTest::addRow("old driver") << Trouble{Trouble::Kind::OldDriver, "", "11.4", "12.0"}
                                << QStringLiteral("supports CUDA 11.4, Belfry needs 12.0") << true;
}

void TestNoCard::reason() {
    QFETCH(Trouble, trouble);
    QFETCH(QString, words);
    QFETCH(bool, is_problem);
    QTemporaryDir folder;
    support::ProgramCards cards;
    cards.engine = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(nullptr, trouble, FakeDriver::images()));
    cards.planner = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(nullptr, trouble, FakeDriver::images()));
    Program program(folder.path(), {}, cards);
    program.window->setTab(ui::MainWindow::Tab::Layout);
    program.session().chooseModel(QStringLiteral("demo")); // with the map "fit"
    ui::LayoutView* view = program.window->layoutView();
    QTRY_VERIFY_WITH_TIMEOUT(view->stagedPlan() != nullptr, 20000);
    auto* pane = program.find<QLabel>("layoutNoGpuWhy");
    QTRY_VERIFY(pane != nullptr && pane->isVisible());
    QVERIFY2(pane->text().contains(words), qPrintable(pane->text()));
    auto* bar = program.find<ui::NoticeBar>("layoutNotice");
    QCOMPARE(bar->isVisible(), is_problem);
    program.shot(QTest::currentDataTag());
    if (is_problem) {
        QVERIFY2(bar->text().contains(words), qPrintable(bar->text()));
        program.find<QToolButton>("layoutNoticeClose")->click();
        QVERIFY(!bar->isVisible());
        // It was read: another plan does not bring it back.
        const auto before = view->stagedPlan();
        view->applyPreset(QStringLiteral("fit"));
        QTRY_VERIFY(view->stagedPlan() != before);
        QVERIFY(!bar->isVisible());
    }
    QVERIFY(program.load());
    ui::SystemFacts facts;
    facts.plan_messages = app::planMessages;
    const QString report = ui::diagnosticsReport(facts, program.session(), QString());
    QVERIFY2(report.contains(words), qPrintable(report));
}

void TestNoCard::howItWasFitted() {
    QTemporaryDir folder;
    Program program(folder.path());
    program.window->setTab(ui::MainWindow::Tab::Layout);
    QVERIFY(program.choose(QStringLiteral("shape:e2b"), "fit", 3 * support::kGiB));
    auto* bar = program.find<ui::NoticeBar>("layoutNotice");
    QTRY_VERIFY(bar->isVisible());
    const QString told = bar->details().join(QLatin1Char('\n'));
    QVERIFY2(told.contains(QStringLiteral("Per-layer embedding table to CPU")), qPrintable(told));
    QVERIFY2(told.contains(QStringLiteral("Weighed with")), qPrintable(told));
    program.shot("fitted");
}

void TestNoCard::nothingToTell() {
    QTemporaryDir folder;
    Program program(folder.path());
    program.window->setTab(ui::MainWindow::Tab::Layout);
    engine::LoadRequest options = program.session().request();
    options.quant = "nf4-dq";
    program.session().setOptions(options);
    QVERIFY(program.choose(QStringLiteral("shape:e2b"), "fit", 9 * support::kGiB));
    QVERIFY(!program.window->layoutView()->stagedPlan()->notes.empty()); // that it all fits
    auto* bar = program.find<ui::NoticeBar>("layoutNotice");
    QVERIFY2(!bar->isVisible(), qPrintable(bar->text()));
}

TEST_CLASS_WITH(QApplication, TestNoCard)
#include "tst_no_card.moc"
