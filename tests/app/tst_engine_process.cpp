// SPDX-License-Identifier: Apache-2.0
// The window in front of an engine in a process of its own, which dies in the middle of a reply:
// the half reply is kept and marked, nothing has to be pressed, the next question is answered, and
// the window goes on handling events meanwhile.
#include "tests/app/program_fixture.h"
#include "tests/support/processes.h"
#include "tests/support/program/test_class.h"
#include "ui/compare/compare_column.h"
#include "ui/compare/compare_pane.h"
#include "ui/style/elided_label.h"

#include <QFile>
#include <QLabel>
#include <QProgressBar>
#include <QTemporaryDir>
#include <QTimer>

#include <atomic>
#include <mutex>
#include <string_view>
#include <vector>

#include "ipc/process_engine.h"

using support::Program;

namespace {

/// Engines of host_program.cpp on a fake card, with faults planned in `folder`.
class Hosts {
public:
    explicit Hosts(QString folder)
        : folder_(std::move(folder)), factory_([this](const app::EngineEvents& events) {
              ipc::ProcessOptions options;
              options.words = {BELFRY_HOST_PROGRAM, "card", folder_.toStdString()};
              options.program = "test";
              options.host.demo_folder = app::demoModelFolder();
              options.host.writable = {folder_.toStdString()};
              options.on_step = events.on_step;
              options.on_recovery = events.on_recovery;
              options.log = [this](const std::string& line) {
                  constexpr std::string_view kStart = "engine: process ";
                  restarts_ += line.find("loads the model again") != std::string::npos ? 1 : 0;
                  if (line.starts_with(kStart)) {
                      const std::lock_guard lock(mutex_);
                      ids_.push_back(std::stoll(line.substr(kStart.size())));
                  }
              };
              return app::EngineSwitch(std::make_unique<ipc::ProcessEngine>(std::move(options)));
          }) {}

    [[nodiscard]] const app::EngineFactory& factory() const { return factory_; }
    [[nodiscard]] int restarts() const { return restarts_; }
    /// All that run.
    void killAll() {
        const std::lock_guard lock(mutex_);
        for (const int64_t id : ids_) {
            support::killProcess(id);
        }
        ids_.clear();
    }
    void plan(const char* where, const QByteArray& what) const {
        QFile file(folder_ + QLatin1Char('/') + QLatin1String(where));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(what);
    }

private:
    QString folder_;
    std::atomic<int> restarts_ = 0;
    std::mutex mutex_;
    std::vector<int64_t> ids_;
    app::EngineFactory factory_;
};

/// Loads and asks once; the next question finds 40 tokens to say.
void loadAndAsk(Program& program) {
    engine::LoadRequest options = program.session().request();
    options.device_map = "towers-cpu";
    program.session().setOptions(options);
    program.session().chooseModel(QStringLiteral("demo"));
    QTRY_VERIFY_WITH_TIMEOUT(program.session().summary() != nullptr, 30000);
    QVERIFY(program.load());
    ui::ChatDocument document;
    document.sampling.max_tokens = 40;
    program.chat().setChat(document);
    program.ask(QStringLiteral("Hello"));
    QVERIFY(program.waitForReply(2));
}

} // namespace

class TestEngineProcess : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void keepsTheHalfReply_data();
    void keepsTheHalfReply();
    void diesBeforeAWord();
    void diesAtRest();
    void showsTheWayBack();
    void dropsAModelThatKills();
    void dropsAColumn();
};

void TestEngineProcess::keepsTheHalfReply_data() {
    support::addColumns<QByteArray, QString, bool>("fault", "name", "is_dark");
    QTest::newRow("killed") << QByteArray("kill") << QString::fromLatin1(support::kKilledName)
                            << false;
    QTest::newRow("crashed") << QByteArray("crash") << QString::fromLatin1(support::kCrashedName)
                             << true;
    QTest::newRow("card fault") << QByteArray("card") << QStringLiteral("ILLEGAL_ADDRESS") << false;
}

void TestEngineProcess::keepsTheHalfReply() {
    QFETCH(const QByteArray, fault);
    QFETCH(const QString, name);
    QFETCH(const bool, is_dark);
    const QTemporaryDir folder;
    const QTemporaryDir faults;
    const Hosts hosts(faults.path());
    ui::Settings settings = support::settingsAfterGuide();
    settings.theme = is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light;
    Program program(folder.path(), settings, {}, &hosts.factory());
    loadAndAsk(program);
    if (QTest::currentTestFailed()) {
        return;
    }
    int beats = 0;
    QTimer heart;
    QObject::connect(&heart, &QTimer::timeout, [&beats] { ++beats; });
    heart.start(5);
    hosts.plan("token", fault);
    program.ask(QStringLiteral("Are you there?"));
    QVERIFY(program.waitForReply(4));
    const ui::ChatTurn half = program.chat().chat().turns.back();
    QVERIFY(!half.text.isEmpty());
    QCOMPARE(half.finish_reason, QStringLiteral("interrupted"));
    QCOMPARE(half.notes.size(), 1);
    QVERIFY2(half.notes.front().contains(name) &&
                 half.notes.front().contains(QStringLiteral("started again")),
             qPrintable(half.notes.front()));
    QVERIFY2(half.notes.front().startsWith(QLatin1Char('T')) &&
                 half.notes.front().endsWith(QStringLiteral("ask again.")),
             qPrintable(half.notes.front()));
    QVERIFY(!program.window->notice()->isVisible()); // nothing to press
    QVERIFY(program.session().isLoaded());
    QCOMPARE(hosts.restarts(), 1);
    const char* const shots[] = {"engine_process_half_reply", "engine_process_half_reply_dark"};
    program.shot(shots[is_dark ? 1 : 0]);
    // The next question, at once: it waits for the model and is answered.
    program.ask(QStringLiteral("And now?"));
    QVERIFY(program.waitForReply(6));
    QVERIFY(!program.chat().chat().turns.back().text.isEmpty());
    QCOMPARE(program.chat().chat().turns.back().finish_reason, QStringLiteral("length"));
    QCOMPARE(program.chat().chat().turns[3].text, half.text);
    QCOMPARE(program.session().request().device_map, std::string("towers-cpu"));
    QVERIFY(beats > 5); // events were handled all the time
    program.shot("engine_process_next_reply");
}

/// Nothing was written: the question is in the message field again, with the reason beside it.
void TestEngineProcess::diesBeforeAWord() {
    const QTemporaryDir folder;
    const QTemporaryDir faults;
    const Hosts hosts(faults.path());
    Program program(folder.path(), support::settingsAfterGuide(), {}, &hosts.factory());
    loadAndAsk(program);
    if (QTest::currentTestFailed()) {
        return;
    }
    hosts.plan("step", "kill");
    program.ask(QStringLiteral("Are you there?"));
    QVERIFY(program.waitForReply(2));
    QCOMPARE(program.input()->toPlainText(), QStringLiteral("Are you there?"));
    QTest::keyClick(program.input(), Qt::Key_Return);
    QVERIFY(program.waitForReply(4));
}

/// Nobody had asked for anything: it is said calmly, and nothing has to be done.
void TestEngineProcess::diesAtRest() {
    const QTemporaryDir folder;
    const QTemporaryDir faults;
    Hosts hosts(faults.path());
    Program program(folder.path(), support::settingsAfterGuide(), {}, &hosts.factory());
    loadAndAsk(program);
    if (QTest::currentTestFailed()) {
        return;
    }
    hosts.killAll();
    QTRY_VERIFY_WITH_TIMEOUT(program.window->notice()->isVisible(), 30000);
    QTRY_COMPARE_WITH_TIMEOUT(hosts.restarts(), 1, 30000);
    program.shot("engine_process_at_rest");
    QString words;
    for (const QLabel* label : program.window->notice()->findChildren<QLabel*>()) {
        words += label->text() + QLatin1Char('\n');
    }
    QVERIFY2(words.contains(QStringLiteral("ended and was started again")) &&
                 words.contains(QStringLiteral("The engine's process")) &&
                 words.contains(QLatin1String(support::kKilledName)),
             qPrintable(words));
    QVERIFY(program.session().isLoaded());
    QVERIFY(program.chat().chat().turns.size() == 2);
    program.ask(QStringLiteral("Are you there?"));
    QVERIFY(program.waitForReply(4));
    QVERIFY(!program.chat().chat().turns.back().text.isEmpty());
}

/// How far the model is that comes back stands where a load's progress does; nothing else changes.
void TestEngineProcess::showsTheWayBack() {
    const QTemporaryDir folder;
    const QTemporaryDir faults;
    const Hosts hosts(faults.path());
    Program program(folder.path(), support::settingsAfterGuide(), {}, &hosts.factory());
    loadAndAsk(program);
    if (QTest::currentTestFailed()) {
        return;
    }
    const auto now = program.session().snapshot();
    QCOMPARE(now->bytes_total, uint64_t{0});
    const auto returning = std::make_shared<engine::EngineSnapshot>(*now);
    returning->stage = "read";
    returning->bytes_done = 3 * support::kGiB;
    returning->bytes_total = 4 * support::kGiB;
    program.session().showSnapshot(returning);
    QCOMPARE(program.find<QLabel>("engineState")->text(), QStringLiteral("Loading again"));
    QVERIFY(program.find<QProgressBar>("loadProgress")->isVisible());
    QCOMPARE(program.find<QProgressBar>("loadProgress")->value(), 750);
    QVERIFY(!program.find("cancelButton")->isVisible() && program.find("ejectButton")->isVisible());
    // Where the room is small a figure goes as a whole.
    auto* detail = program.find<ui::ElidedLabel>("engineStateDetail");
    QTRY_COMPARE(detail->shownText(), detail->text());
    QCOMPARE(detail->text(), QStringLiteral("75 % · 3.0 GiB of 4.0 GiB"));
    program.shot("engine_process_way_back");
    program.window->resize(program.window->minimumSizeHint());
    QTRY_VERIFY(detail->shownText().isEmpty() || detail->shownText() == QStringLiteral("75 %") ||
                detail->shownText() == detail->text());
    program.shot("engine_process_way_back_small");
    program.session().showSnapshot(now);
    QCOMPARE(program.find<QLabel>("engineState")->text(), QStringLiteral("Loaded"));
    QVERIFY(!program.find<QProgressBar>("loadProgress")->isVisible());
}

/// A load that kills the process says so, once; the window stays and another layout loads.
void TestEngineProcess::dropsAModelThatKills() {
    const QTemporaryDir folder;
    const QTemporaryDir faults;
    const Hosts hosts(faults.path());
    Program program(folder.path(), support::settingsAfterGuide(), {}, &hosts.factory());
    hosts.plan("load", "kill");
    program.session().chooseModel(QStringLiteral("demo"));
    QTRY_VERIFY_WITH_TIMEOUT(program.session().summary() != nullptr, 30000);
    program.session().load();
    QTRY_VERIFY_WITH_TIMEOUT(program.window->notice()->isVisible(), 30000);
    QVERIFY(!program.session().isLoaded());
    program.shot("engine_process_load_killed");
    QVERIFY(program.load());
    QCOMPARE(hosts.restarts(), 0);
}

/// A comparison goes on without the column in which the engine died; its words stay.
void TestEngineProcess::dropsAColumn() {
    const QTemporaryDir folder;
    const QTemporaryDir faults;
    const Hosts hosts(faults.path());
    Program program(folder.path(), support::settingsAfterGuide(), {}, &hosts.factory());
    loadAndAsk(program);
    if (QTest::currentTestFailed()) {
        return;
    }
    program.session().addAdapter(QString::fromStdString(program.demo) + QStringLiteral("/adapter"));
    QTRY_COMPARE_WITH_TIMEOUT(program.session().snapshot()->adapters.size(), size_t{1}, 30000);
    QTRY_COMPARE(program.session().state(), ui::Session::State::Ready);
    QTest::mouseClick(program.find<QAbstractButton>("compareButton"), Qt::LeftButton);
    ui::ComparePane* pane = program.window->comparePane();
    QTRY_VERIFY(pane->isVisible());
    QCOMPARE(pane->columns().size(), size_t{2});
    hosts.plan("token", "crash");
    pane->run();
    QTRY_VERIFY_WITH_TIMEOUT(!pane->isRunning(), 60000);
    program.shot("engine_process_compare");
    ui::CompareColumn* first = pane->columns()[0];
    QVERIFY(!first->text().isEmpty() && first->figures().isEmpty());
    const QString why = first->findChild<QLabel*>(QStringLiteral("compareStatus"))->text();
    QVERIFY2(why.startsWith(QStringLiteral("The engine's process")) &&
                 why.contains(QLatin1String(support::kCrashedName)),
             qPrintable(why));
    QVERIFY(!pane->columns()[1]->text().isEmpty() && !pane->columns()[1]->figures().isEmpty());
    QVERIFY(program.session().isLoaded());
    QCOMPARE(hosts.restarts(), 1);
    QVERIFY(!program.window->notice()->isVisible());
}

TEST_CLASS_WITH(QApplication, TestEngineProcess)
#include "tst_engine_process.moc"
