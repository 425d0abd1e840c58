// SPDX-License-Identifier: Apache-2.0
// After Apply the last question is asked again with one click, and both replies stand side by side:
// the program's promise "any placement, the same answer" as a user sees it.
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"
#include "ui/compare/compare_column.h"
#include "ui/compare/compare_pane.h"
#include "ui/style/format.h"

#include <QLabel>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>

using engine::DeviceId;
using support::kGiB;
using support::Program;

class TestAskAgain : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theSameAnswerElsewhere();
    void otherLoadsLeaveTheChatsOwn();
};

void TestAskAgain::theSameAnswerElsewhere() {
    QTemporaryDir folder;
    Program program(folder.path());
    QVERIFY(program.choose(QStringLiteral("demo"), "gpu", 8 * kGiB));
    QVERIFY(program.load());
    program.window->takeFiles({program.sample("circles_and_square.png")});
    program.ask(QStringLiteral("What do you see?"));
    QVERIFY(program.waitForReply(2));
    ui::NoticeStrip* notice = program.window->notice();
    const auto offered = [&] {
        auto* button = notice->findChild<QPushButton*>(QStringLiteral("noticeAction"));
        return notice->isVisible() && button != nullptr && button->isVisible() &&
                       button->text() == QStringLiteral("Ask the last question again")
                   ? button
                   : nullptr;
    };
    QVERIFY(offered() == nullptr); // nothing moved yet
    program.window->setTab(ui::MainWindow::Tab::Layout);
    QVERIFY(program.drag(QStringLiteral("vision"), DeviceId::cpu()));
    QVERIFY(program.waitForPlace(QStringLiteral("vision"), DeviceId::cpu()));
    QTest::mouseClick(program.find("layoutApply"), Qt::LeftButton);
    QTRY_VERIFY(offered() != nullptr);
    QTest::mouseClick(offered(), Qt::LeftButton);
    ui::ComparePane* pane = program.window->comparePane();
    QTRY_VERIFY(pane->isVisible() && !pane->isRunning() && pane->columns().size() == 2 &&
                pane->columns()[1]->isFinished());
    QCOMPARE(pane->columns()[1]->text(), pane->columns()[0]->text());
    QCOMPARE(pane->columns()[0]->text(), program.chat().chat().turns.back().text);
    const QString verdict = program.find<QLabel>("compareVerdict")->text();
    QVERIFY2(verdict.startsWith(QStringLiteral("Identical")) &&
                 verdict.contains(QStringLiteral("VRAM freed")),
             qPrintable(verdict));
    QTRY_COMPARE(program.session().state(), ui::Session::State::Ready);
}

/// A column in 4 bits on the processor: told before it runs, answered, and the layout, the chat and
/// the load form are as they were.
void TestAskAgain::otherLoadsLeaveTheChatsOwn() {
    QTemporaryDir folder;
    Program program(folder.path());
    QVERIFY(program.choose(QStringLiteral("demo"), "gpu", 8 * kGiB));
    QVERIFY(program.load());
    program.ask(QStringLiteral("What is a tower?"));
    QVERIFY(program.waitForReply(2));
    const std::string map = program.session().snapshot()->plan->map_text;
    QTest::mouseClick(program.find<QAbstractButton>("compareButton"), Qt::LeftButton);
    QTest::mouseClick(program.find("compareAdd"), Qt::LeftButton);
    ui::ComparePane* pane = program.window->comparePane();
    QCOMPARE(pane->columns().size(), size_t{2});
    auto* loads = pane->columns()[1]->findChild<QMenu*>(QStringLiteral("compareLoads"));
    const QStringList wanted = {ui::quantName(QStringLiteral("nf4")),
                                ui::presetName(QStringLiteral("cpu"))};
    for (const QString& text : wanted) {
        Q_EMIT loads->aboutToShow();
        for (QAction* action : loads->actions()) {
            if (action->text() == text) {
                action->trigger();
                break;
            }
        }
    }
    QVERIFY(!program.find<QLabel>("compareHint")->text().isEmpty());
    QSignalSpy loading(program.engine_thread->worker(), &app::EngineWorker::compareLoading);
    QTest::mouseClick(program.find("compareRun"), Qt::LeftButton);
    QTRY_VERIFY(pane->columns()[1]->isFinished() && !pane->isRunning());
    QTRY_COMPARE(program.session().state(), ui::Session::State::Ready);
    QVERIFY(loading.size() >= 2); // for the column, and back
    QVERIFY(pane->columns()[0]->isFinished());
    QCOMPARE(program.session().snapshot()->plan->map_text, map);
    QCOMPARE(program.session().loadedRequest().quant, std::string("none"));
    QVERIFY(!program.window->layoutView()->hasChanges());
}

TEST_CLASS_WITH(QApplication, TestAskAgain)
#include "tst_ask_again.moc"
