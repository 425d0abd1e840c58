// SPDX-License-Identifier: Apache-2.0
// A graphics card that stops answering in the middle of a reply, through a fake driver. A fault of
// a kernel ends the process for the driver: the window offers a restart at once and the processor
// meanwhile. Anything else may end with the next load: then that is the offer, and every part goes
// where it was. The chat stays, with what there is of the reply.
#include "tests/app/program_fixture.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/program/test_class.h"

#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>

using engine::DeviceId;
using support::FakeDriver;
using support::Program;

namespace {

constexpr kernels::cuda::CuResult kIllegalAddress = 700;
constexpr kernels::cuda::CuResult kUnknown = 999;
constexpr int32_t kPrintable = 405; ///< " the" of the demo model.

/// The planner asks on its own thread: it gets the list, not the driver (single-threaded).
support::ProgramCards cardsOf(const FakeDriver& fake) {
    support::ProgramCards cards;
    cards.engine = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&fake.driver(), {}, FakeDriver::images()));
    auto planner = std::make_shared<engine::GpuAccess>();
    planner->list = [list = cards.engine->list()] { return list; };
    cards.planner = planner;
    return cards;
}

} // namespace

class TestLostCard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void restartOrProcessor();
    void loadsAgain();

private:
    /// The demo model with a layout of the user's own, so that "where it was" is not what a preset
    /// would give, and one answer in the chat.
    static void loadAndAsk(Program& program);
    static QString placeOf(Program& program, const char* name);
};

void TestLostCard::loadAndAsk(Program& program) {
    engine::LoadRequest options = program.session().request();
    options.device_map = "gpu";
    program.session().setOptions(options);
    program.session().chooseModel(QStringLiteral("demo"));
    QTRY_VERIFY(program.window->layoutView()->stagedPlan() != nullptr);
    QVERIFY(program.load());
    options = program.session().request();
    options.device_map = "towers-cpu";
    program.session().apply(options);
    QTRY_COMPARE_WITH_TIMEOUT(program.session().state(), ui::Session::State::Ready, 20000);
    QCOMPARE(program.session().request().device_map, std::string("towers-cpu"));
    QCOMPARE(placeOf(program, "model.vision_tower"), QStringLiteral("cpu"));
    ui::ChatDocument document;
    document.sampling.max_tokens = 6;
    program.chat().setChat(document);
    program.ask(QStringLiteral("Hello"));
    QVERIFY(program.waitForReply(2));
}

QString TestLostCard::placeOf(Program& program, const char* name) {
    for (const engine::ModulePlacement& module : program.session().snapshot()->plan->modules) {
        if (module.name == name) {
            return QString::fromStdString(module.store.toString());
        }
    }
    return {};
}

void TestLostCard::restartOrProcessor() {
    const QTemporaryDir folder;
    FakeDriver fake;
    fake.token = kPrintable;
    Program program(folder.path(), support::settingsAfterGuide(), cardsOf(fake));
    loadAndAsk(program);
    if (QTest::currentTestFailed()) {
        return;
    }
    // The driver belongs to the engine's thread while the program runs.
    QMetaObject::invokeMethod(
        program.engine_thread->worker(),
        [&] {
            fake.fault = [launches = 0](const char* name) mutable {
                launches += std::string_view(name) == "cuGraphLaunch" ? 1 : 0;
                return launches == 3 ? kIllegalAddress : kernels::cuda::kCuSuccess;
            };
        },
        Qt::BlockingQueuedConnection);
    program.ask(QStringLiteral("Are you there?"));
    ui::NoticeStrip* notice = program.window->notice();
    QTRY_VERIFY_WITH_TIMEOUT(notice->isVisible(), 20000);
    auto* button = program.find("noticeAction");
    auto* also = program.find("noticeAlso");
    QTRY_VERIFY(button->isVisible() && also->isVisible());
    // What cannot work is not offered.
    QCOMPARE(button->text(), QStringLiteral("Restart Belfry"));
    QCOMPARE(also->text(), QStringLiteral("Go on on the processor"));
    const auto* detail = program.find<QLabel>("noticeDetail");
    QVERIFY2(detail->text().contains(QStringLiteral("CUDA_ERROR_ILLEGAL_ADDRESS")) &&
                 detail->text().contains(QStringLiteral("loading again cannot work")),
             qPrintable(detail->text()));
    QTRY_VERIFY(!program.session().isBusy());
    QCOMPARE(program.chat().chat().turns.size(), 4U);
    const ui::ChatTurn half = program.chat().chat().turns.back();
    QVERIFY(!half.text.isEmpty());
    QCOMPARE(half.finish_reason, QStringLiteral("failed"));
    program.shot("lost-card");

    QSignalSpy restarts(program.window.get(), &ui::MainWindow::restartRequested);
    QTest::mouseClick(also, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(program.session().isCpuStandingIn() && !program.session().isBusy(),
                             20000);
    QCOMPARE(placeOf(program, "model.language_model.layers.0"), QStringLiteral("cpu"));
    QTRY_VERIFY(notice->isVisible());
    QCOMPARE(button->text(), QStringLiteral("Restart Belfry"));
    QVERIFY(!also->isVisible());
    QCOMPARE(program.chat().chat().turns.back().text, half.text);
    program.ask(QStringLiteral("And now?"));
    QVERIFY(program.waitForReply(6));
    // Loading onto the card is refused with the same way out, and the processor goes on.
    engine::LoadRequest wanted = program.session().request();
    wanted.device_map = "gpu";
    program.session().apply(wanted);
    QTRY_VERIFY(!program.session().isBusy() &&
                detail->text().contains(QStringLiteral("refuses every graphics card")));
    QCOMPARE(button->text(), QStringLiteral("Restart Belfry"));
    QVERIFY(!also->isVisible() && program.session().isCpuStandingIn());
    // A restart goes back to the card, not to what stood in for it.
    QCOMPARE(program.session().request().device_map, std::string("cpu"));
    QCOMPARE(program.session().restartRequest().device_map, std::string("towers-cpu"));
    QTRY_VERIFY(button->isVisible());
    QCOMPARE(restarts.count(), 0);
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(restarts.count(), 1);
    QVERIFY(!notice->isVisible());
}

void TestLostCard::loadsAgain() {
    const QTemporaryDir folder;
    FakeDriver fake;
    Program program(folder.path(), support::settingsAfterGuide(), cardsOf(fake));
    const auto on_engine = [&](auto work) {
        QMetaObject::invokeMethod(program.engine_thread->worker(), work,
                                  Qt::BlockingQueuedConnection);
    };
    loadAndAsk(program);
    if (QTest::currentTestFailed()) {
        return;
    }
    on_engine([&] { fake.failCall(1, kUnknown, true); });
    program.ask(QStringLiteral("Are you there?"));
    ui::NoticeStrip* notice = program.window->notice();
    QTRY_VERIFY_WITH_TIMEOUT(notice->isVisible(), 20000);
    auto* button = program.find("noticeAction");
    QTRY_VERIFY(button->isVisible());
    QCOMPARE(button->text(), QStringLiteral("Load again"));
    QTRY_VERIFY(!program.session().isBusy());

    // It stays away: the next offer is a new process.
    QSignalSpy restarts(program.window.get(), &ui::MainWindow::restartRequested);
    QTest::mouseClick(button, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!program.session().isBusy() && notice->isVisible(), 20000);
    QCOMPARE(button->text(), QStringLiteral("Restart Belfry"));
    QCOMPARE(restarts.count(), 0);
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(restarts.count(), 1);
    QVERIFY(!notice->isVisible());

    // It comes back.
    on_engine([&] { fake.failCall(0, 0, false); });
    program.session().loadAgain();
    QTRY_COMPARE_WITH_TIMEOUT(program.session().state(), ui::Session::State::Ready, 20000);
    QVERIFY(program.session().isLoaded());
    QCOMPARE(program.session().request().device_map, std::string("towers-cpu"));
    QCOMPARE(placeOf(program, "model.vision_tower"), QStringLiteral("cpu"));
    QCOMPARE(placeOf(program, "model.language_model.layers.0"), QStringLiteral("cuda:0"));
    QVERIFY(program.chat().chat().turns.size() >= 2); // what was answered is still there
    const size_t turns = program.chat().chat().turns.size();
    program.ask(QStringLiteral("And now?"));
    QTRY_VERIFY_WITH_TIMEOUT(!program.chat().isGenerating() &&
                                 program.session().state() == ui::Session::State::Ready,
                             20000);
    QVERIFY(program.chat().chat().turns.size() > turns);
    QVERIFY(!notice->isVisible());
}

TEST_CLASS_WITH(QApplication, TestLostCard)
#include "tst_lost_card.moc"
