// SPDX-License-Identifier: Apache-2.0
// A graphics card that stops answering in the middle of a chat, through a fake driver: the window
// says so with one button that loads again, every part goes where it was and the chat stays. When
// even that fails the button starts a new process.
#include "tests/app/program_fixture.h"
#include "tests/support/cuda/fake_driver.h"

#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>

using engine::DeviceId;
using support::FakeDriver;
using support::Program;

namespace {

constexpr kernels::cuda::CuResult kIllegalAddress = 700;

/// The planner asks on its own thread: it gets the list, not the driver (single-threaded).
support::ProgramCards cardsOf(const FakeDriver& fake) {
    support::ProgramCards cards;
    cards.engine = std::make_shared<const engine::GpuAccess>(
        engine::cudaAccess(&fake.driver(), "", FakeDriver::images()));
    auto planner = std::make_shared<engine::GpuAccess>();
    planner->list = [list = cards.engine->list()] { return list; };
    cards.planner = planner;
    return cards;
}

} // namespace

class TestLostCard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void loadsAgain();
};

void TestLostCard::loadsAgain() {
    const QTemporaryDir folder;
    FakeDriver fake;
    Program program(folder.path(), {}, cardsOf(fake));
    // The driver belongs to the engine's thread while the program runs.
    const auto on_engine = [&](auto work) {
        QMetaObject::invokeMethod(program.engine_thread->worker(), work,
                                  Qt::BlockingQueuedConnection);
    };
    engine::LoadRequest options = program.session().request();
    options.device_map = "gpu";
    program.session().setOptions(options);
    program.session().chooseModel(QStringLiteral("demo"));
    QTRY_VERIFY(program.window->layoutView()->stagedPlan() != nullptr);
    QVERIFY(program.load());
    // A layout of the user's own, so that "where it was" is not what a preset would give.
    options = program.session().request();
    options.device_map = "towers-cpu";
    program.session().apply(options);
    QTRY_COMPARE_WITH_TIMEOUT(program.session().state(), ui::Session::State::Ready, 20000);
    QCOMPARE(program.session().request().device_map, std::string("towers-cpu"));
    const auto place_of = [&](const char* name) {
        const auto plan = program.session().snapshot()->plan;
        for (const engine::ModulePlacement& module : plan->modules) {
            if (module.name == name) {
                return QString::fromStdString(module.store.toString());
            }
        }
        return QString();
    };
    QCOMPARE(place_of("model.vision_tower"), QStringLiteral("cpu"));
    ui::ChatDocument document;
    document.sampling.max_tokens = 4;
    program.chat().setChat(document);
    program.ask(QStringLiteral("Hello"));
    QVERIFY(program.waitForReply(2));

    on_engine([&] { fake.failCall(1, kIllegalAddress, true); });
    program.ask(QStringLiteral("Are you there?"));
    ui::NoticeStrip* notice = program.window->notice();
    QTRY_VERIFY_WITH_TIMEOUT(notice->isVisible(), 20000);
    auto* button = program.find("noticeAction");
    QTRY_VERIFY(button->isVisible());
    QCOMPARE(button->text(), QStringLiteral("Load again"));
    const auto* detail = program.find<QLabel>("noticeDetail");
    QVERIFY2(detail->text().contains(QStringLiteral("CUDA_ERROR_ILLEGAL_ADDRESS")),
             qPrintable(detail->text()));
    QTRY_VERIFY(!program.session().isBusy());
    program.shot("lost-card");

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
    QCOMPARE(place_of("model.vision_tower"), QStringLiteral("cpu"));
    QCOMPARE(place_of("model.language_model.layers.0"), QStringLiteral("cuda:0"));
    QVERIFY(program.chat().chat().turns.size() >= 2); // what was answered is still there
    const size_t turns = program.chat().chat().turns.size();
    program.ask(QStringLiteral("And now?"));
    QTRY_VERIFY_WITH_TIMEOUT(!program.chat().isGenerating() &&
                                 program.session().state() == ui::Session::State::Ready,
                             20000);
    QVERIFY(program.chat().chat().turns.size() > turns);
    QVERIFY(!notice->isVisible());
}

QTEST_MAIN(TestLostCard)
#include "tst_lost_card.moc"
