// SPDX-License-Identifier: Apache-2.0
// The main story in the real window with the real engine and store: choose the demo model, add its
// adapter, move the vision tower by drag and by keyboard, apply, ask about a picture and a sound,
// stop, regenerate, change the adapter's strength, close, open again. Then the same window with a
// layout that cannot be. Screenshots go to $BELFRY_SCREENSHOTS when it is set.
#include "tests/app/program_fixture.h"
#include "tests/support/program/test_class.h"
#include "tests/support/thread_spy.h"
#include "ui/chat/message_list.h"
#include "ui/compare/compare_pane.h"
#include "ui/media/sound_range.h"
#include "ui/media/sound_recorder.h"
#include "ui/style/format.h"

#include <QDir>
#include <QFile>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>

using engine::DeviceId;
using support::kGiB;
using support::Program;
using State = ui::Session::State;

class TestMainStory : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void demoIsOneClickAway();
    void fromFolderToAnswerAndBack();
    void partOfALongRecording();
    void impossibleLayoutIsToldBeforeApply();
    void memoryRunsOutDuringApply();
    void brokenFolderExplainsItself();
    void crashWhileLoadingIsNotRepeated();
    void adapterWithoutAPlaceIsToldBeforeLoad();
};

void TestMainStory::demoIsOneClickAway() {
    QTemporaryDir folder;
    Program program(folder.path());
    QVERIFY(QTest::qWaitForWindowExposed(program.window.get()));
    program.shot("1-first-run");
    QTest::mouseClick(program.find("welcomeDemo"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(program.session().state() == State::Ready, 60000);
    program.shot("2-demo-ready");
    const auto cards = program.window->findChildren<QAbstractButton*>(QStringLiteral("sampleCard"));
    QVERIFY(cards.size() >= 3);
    QVERIFY(cards.first()->isVisible());
    QTest::mouseClick(cards.first(), Qt::LeftButton);
    QVERIFY(program.waitForReply(2));
    QVERIFY(!program.chat().chat().turns.back().text.isEmpty());
    QVERIFY(!cards.first()->isVisible());
    program.shot("3-sample-answered");
}

void TestMainStory::fromFolderToAnswerAndBack() {
    QTemporaryDir folder;
    QString chat_id;
    QStringList texts;
    {
        Program program(folder.path());
        const QString demo = QString::fromStdString(program.demo);
        QVERIFY(program.choose(demo, "gpu", 8 * kGiB));
        program.session().addAdapter(demo + QStringLiteral("/adapter"));
        QTRY_VERIFY(program.session().coverage(program.session().adapters().front().folder) !=
                    nullptr);
        QVERIFY(program.load());

        // The vision tower to the CPU by mouse, back and again by keyboard, then Apply.
        QTest::keyClick(program.window.get(), Qt::Key_M, Qt::ControlModifier);
        QCOMPARE(program.window->tab(), ui::MainWindow::Tab::Layout);
        const QString vision = QStringLiteral("vision");
        QVERIFY(program.drag(vision, DeviceId::cpu()));
        QVERIFY(program.waitForPlace(vision, DeviceId::cpu()));
        program.shot("4-dragged");
        ui::LayoutView* layout = program.window->layoutView();
        QTest::keyClick(layout, Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(program.waitForPlace(vision, DeviceId::sim(0)));
        ui::BlockWidget* block = layout->blockWidget(vision);
        block->setFocus();
        QTest::keyClick(block, Qt::Key_M);
        QTRY_VERIFY(layout->isHolding());
        QTest::keyClick(block, Qt::Key_2);
        QTest::keyClick(block, Qt::Key_Return);
        QVERIFY(program.waitForPlace(vision, DeviceId::cpu()));
        QVERIFY(layout->hasChanges());
        QSignalSpy applied(&program.session(), &ui::Session::applied);
        QTest::mouseClick(program.find("layoutApply"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(applied.count(), 1, 30000);
        QTRY_VERIFY(!layout->hasChanges());

        // A picture, then a sound.
        QTest::keyClick(program.window.get(), Qt::Key_1, Qt::ControlModifier);
        program.window->takeFiles({program.sample("circles_and_square.png")});
        program.ask(QStringLiteral("What do you see?"));
        QVERIFY(program.waitForReply(2));
        program.window->takeFiles({program.sample("word_seven.wav")});
        program.ask(QStringLiteral("Which word do you hear?"));
        QVERIFY(program.waitForReply(4));
        QVERIFY(program.chat().chat().turns[3].timing.reused_tokens > 0);
        program.shot("5-picture-and-sound");

        // Stop keeps what is there; regenerate replaces the last reply.
        program.ask(QStringLiteral("What is a tower?"));
        QTRY_VERIFY(program.chat().isGenerating());
        QTest::keyClick(program.input(), Qt::Key_Escape);
        QVERIFY(program.waitForReply(6));
        QTest::keyClick(&program.chat(), Qt::Key_R, Qt::ControlModifier);
        QVERIFY(program.waitForReply(6));
        QTRY_COMPARE(program.chat().chat().turns.back().finish_reason, QStringLiteral("stop"));
        const QString with_adapter = program.chat().chat().turns.back().text;
        QVERIFY(!with_adapter.isEmpty());

        // The adapter's strength acts on the next reply, without loading.
        auto* slider = program.find<QSlider>("adapterStrength");
        QVERIFY(slider != nullptr);
        support::ThreadSpy loaded(program.engine_thread->worker(), &app::EngineWorker::loaded);
        support::ThreadSpy changed(program.engine_thread->worker(),
                                   &app::EngineWorker::adaptersChanged);
        slider->setFocus();
        QTest::keyClick(slider, Qt::Key_Home);
        QTRY_VERIFY(changed.count() >= 1);
        QTRY_COMPARE(program.session().snapshot()->adapters.front().strength, 0.0);
        program.ask(QStringLiteral("What do you see?"));
        QVERIFY(program.waitForReply(8));
        QCOMPARE(loaded.count(), 0);

        // An edited question takes the place of what followed it.
        Q_EMIT program.chat().messageList()->editRequested(6);
        QTRY_COMPARE(program.input()->toPlainText(), QStringLiteral("What do you see?"));
        program.ask(QStringLiteral("What is a tower?"));
        QVERIFY(program.waitForReply(8));
        QCOMPARE(program.chat().chat().turns[6].text, QStringLiteral("What is a tower?"));

        // The same question on the base and on the adapter, side by side.
        QTest::keyClick(slider, Qt::Key_End);
        QTRY_COMPARE(program.session().snapshot()->adapters.front().strength, 2.0);
        QTest::mouseClick(program.find<QAbstractButton>("compareButton"), Qt::LeftButton);
        ui::ComparePane* compare = program.window->comparePane();
        QTRY_VERIFY(compare->isVisible());
        QVERIFY(compare->columns().size() >= 2);
        support::ThreadSpy compared(program.engine_thread->worker(),
                                    &app::EngineWorker::compareFinished);
        compare->run();
        QTRY_COMPARE_WITH_TIMEOUT(compared.count(), 1, 60000);
        QTRY_VERIFY(program.session().state() == State::Ready);
        QCOMPARE(loaded.count(), 0);
        program.shot("7-compare");
        Q_EMIT compare->closeRequested();
        QTRY_VERIFY(program.chat().isVisible());

        for (const ui::ChatTurn& turn : program.chat().chat().turns) {
            texts.append(turn.text);
        }
        chat_id = program.chat().chat().id;
        QVERIFY(!chat_id.isEmpty());
    }
    {
        Program program(folder.path());
        QTRY_COMPARE_WITH_TIMEOUT(program.chat().chat().id, chat_id, 10000);
        QStringList again;
        for (const ui::ChatTurn& turn : program.chat().chat().turns) {
            again.append(turn.text);
        }
        QCOMPARE(again, texts);
        QCOMPARE(program.chat().chat().turns.front().attachments.size(), size_t{1});
        // What was loaded is chosen again, not loaded by itself.
        QTRY_COMPARE_WITH_TIMEOUT(program.session().model(), QString::fromStdString(program.demo),
                                  10000);
        QVERIFY(!program.session().isLoaded());
        program.shot("8-reopened");
    }
}

void TestMainStory::partOfALongRecording() {
    // 75 s of a quiet tone, at a quarter of the usual rate to keep the file small.
    QTemporaryDir folder;
    QByteArray samples;
    for (int i = 0; i < 75 * 4000; ++i) {
        const auto value = static_cast<qint16>(i % 100 < 50 ? 900 : -900);
        samples.append(reinterpret_cast<const char*>(&value), 2);
    }
    const QByteArray whole = ui::wavBytes(samples, 4000);
    QFile file(folder.filePath(QStringLiteral("interview.wav")));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(whole) == whole.size());
    file.close();
    QString chat_id;
    {
        Program program(folder.path());
        QVERIFY(program.choose(QStringLiteral("demo"), "gpu", 8 * kGiB));
        QCOMPARE(program.session().summary()->longest_sound_s, 30.0);
        QVERIFY(program.load());
        program.window->takeFiles({file.fileName()});
        QTRY_VERIFY(program.find("useFirstPart") != nullptr &&
                    program.find("useFirstPart")->isVisible());
        QVERIFY(!program.find("sendButton")->isEnabled());
        QTest::mouseClick(program.find("choosePart"), Qt::LeftButton);
        auto* range = program.find<ui::SoundRange>("soundRange");
        QTRY_VERIFY(range->isVisible());
        QTest::keyClick(range, Qt::Key_PageUp);
        QTest::keyClick(range, Qt::Key_Right);
        auto* detail = program.find<QLabel>("attachmentDetail");
        // The engine's answer for the part: tokens and the place of the tower.
        QTRY_VERIFY(detail->text().contains(ui::deviceName("sim:0")));
        QVERIFY2(detail->text().contains(QStringLiteral("0:11 to 0:41 of 1:15")),
                 qPrintable(detail->text()));
        QVERIFY2(detail->text().contains(QStringLiteral("752")), qPrintable(detail->text()));
        program.ask(QStringLiteral("What do you hear?"));
        QVERIFY(program.waitForReply(2));
        const ui::ChatTurn& reply = program.chat().chat().turns.back();
        // 30 s are 750 soft tokens and two markers; the rest is the text around them.
        QVERIFY2(reply.timing.prefill_tokens > 752 && reply.timing.prefill_tokens < 852,
                 qPrintable(QString::number(reply.timing.prefill_tokens)));
        chat_id = program.chat().chat().id;
    }
    {
        Program program(folder.path());
        QTRY_COMPARE_WITH_TIMEOUT(program.chat().chat().id, chat_id, 10000);
        QVERIFY(!program.chat().chat().turns.front().attachments.empty());
        const ui::Attachment kept = program.chat().chat().turns.front().attachments.front();
        QCOMPARE(kept.cut_start_s, 11.0);
        QCOMPARE(kept.cut_length_s, 30.0);
        QFile stored(kept.file); // the whole recording, in the program's own folder
        QVERIFY(kept.file != file.fileName());
        QVERIFY(stored.open(QIODevice::ReadOnly));
        QCOMPARE(stored.readAll(), whole);
    }
}

void TestMainStory::impossibleLayoutIsToldBeforeApply() {
    QTemporaryDir folder;
    Program program(folder.path());
    // The demo model does not fit into 4 MiB.
    QVERIFY(program.choose(QStringLiteral("demo"), "gpu", 4ULL << 20U));
    program.window->setTab(ui::MainWindow::Tab::Layout);
    QTRY_VERIFY(!program.window->layoutView()->stagedPlan()->fits);
    QVERIFY(!program.find("layoutApply")->isEnabled());
    auto* summary = program.find<QLabel>("layoutSummary");
    QVERIFY(!summary->text().isEmpty());
    program.shot("9-over-full");
}

void TestMainStory::memoryRunsOutDuringApply() {
    QTemporaryDir folder;
    Program program(folder.path());
    QVERIFY(program.choose(QStringLiteral("demo"), "towers-cpu", 8 * kGiB));
    QVERIFY(program.load());
    program.window->setTab(ui::MainWindow::Tab::Layout);
    const QString vision = QStringLiteral("vision");
    QVERIFY(program.drag(vision, DeviceId::sim(0)));
    QVERIFY(program.waitForPlace(vision, DeviceId::sim(0)));
    // Between plan and move another program takes what was free.
    QVERIFY(program.sim != nullptr);
    QTRY_VERIFY(!program.session().snapshot()->memory.empty());
    for (const engine::DeviceMemory& device : program.session().snapshot()->memory) {
        if (device.id == DeviceId::sim(0)) {
            program.setGpuMemory(device.measured.total());
        }
    }
    QSignalSpy failed(&program.session(), &ui::Session::failed);
    QSignalSpy applied(&program.session(), &ui::Session::applied);
    QTest::mouseClick(program.find("layoutApply"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(failed.count() + applied.count() == 1, 30000);
    QCOMPARE(failed.count(), 1);
    QVERIFY(program.window->notice()->isVisible());
    program.shot("11-out-of-memory");
    // Rolled back: the tower is where it was, and the model answers.
    QTRY_VERIFY(program.session().state() == State::Ready);
    for (const engine::ModulePlacement& module : program.session().snapshot()->plan->modules) {
        if (module.name == "model.vision_tower") {
            QCOMPARE(QString::fromStdString(module.store.toString()), QStringLiteral("cpu"));
        }
    }
    program.window->setTab(ui::MainWindow::Tab::Chat);
    program.ask(QStringLiteral("What is a tower?"));
    QVERIFY(program.waitForReply(2));
}

void TestMainStory::brokenFolderExplainsItself() {
    QTemporaryDir folder;
    Program program(folder.path());
    program.session().chooseModel(QStringLiteral("/nonexistent/model"));
    program.window->openModelPanel();
    QTRY_VERIFY(program.session().modelError() != nullptr);
    auto* problem = program.find<QLabel>("chosenModelProblem");
    QTRY_VERIFY(problem->isVisible());
    const QString name = QDir::toNativeSeparators(QStringLiteral("/nonexistent/model"));
    QTRY_VERIFY2(problem->text().contains(name), qPrintable(problem->text()));
    QVERIFY(!program.find("loadButton")->isVisible());
    program.shot("10-broken-folder");
}

void TestMainStory::crashWhileLoadingIsNotRepeated() {
    QTemporaryDir folder;
    const QString data = folder.filePath(QStringLiteral("data"));
    QVERIFY(QDir().mkpath(data));
    app::SessionState left; // as a killed program leaves it
    left.loading = QStringLiteral("demo");
    left.loaded = QStringLiteral("demo");
    QVERIFY(app::SessionFile(data).write(left).has_value());
    Program program(folder.path());
    QTRY_VERIFY(program.window->notice()->isVisible());
    auto* action = program.find("noticeAction");
    QVERIFY(action->isVisible());
    QVERIFY(program.session().model().isEmpty());
    QTest::mouseClick(action, Qt::LeftButton);
    QCOMPARE(program.session().model(), QStringLiteral("demo"));
    QTRY_VERIFY(program.session().summary() != nullptr);
    QVERIFY(!program.session().isLoaded());
}

void TestMainStory::adapterWithoutAPlaceIsToldBeforeLoad() {
    QTemporaryDir folder;
    Program program(folder.path());
    QVERIFY(program.choose(QStringLiteral("demo"), "cpu", 8 * kGiB));
    program.session().addAdapter(folder.path());
    QTRY_VERIFY(program.window->notice()->isVisible());
    QVERIFY(program.session().adapters().empty());
    QVERIFY(!program.session().isLoaded());
}

TEST_CLASS_WITH(QApplication, TestMainStory)
#include "tst_main_story.moc"
