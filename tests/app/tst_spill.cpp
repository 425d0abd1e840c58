// SPDX-License-Identifier: Apache-2.0
// A card whose memory Windows shares out, by a fake DXGI: the planner takes the budget for its
// limit; that the budget is nearly used up is told before, and that memory spills after, within two
// seconds and by name, with moves of parts that end it.
#include "app/common/program_paths.h"
#include "engine/devices/spill_watch.h"
#include "engine/run/engine.h"
#include "tests/app/program_fixture.h"
#include "tests/support/cuda/fake_video_memory.h"
#include "tests/support/program/test_class.h"
#include "ui/meter/budget_words.h"

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <algorithm>

using engine::DeviceId;
using engine::MemoryBudget;
using State = engine::MemoryBudget::State;
using support::FakeDriver;
using support::FakeVideoMemory;

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

engine::LoadRequest demoOn(const char* map) {
    engine::LoadRequest request;
    request.model = "demo";
    request.device_map = map;
    request.threads = 1;
    return request;
}

MemoryBudget budgetOf(const engine::Engine& engine) {
    for (const engine::DeviceMemory& memory : engine.memory()) {
        if (memory.id == DeviceId::cuda(0)) {
            return memory.budget;
        }
    }
    return {};
}

/// The loaded placement with the advised moves made, as the layout editor would ask for it.
engine::LoadRequest withAdvice(engine::LoadRequest request,
                               const engine::PlacementPlan& plan,
                               const MemoryBudget& budget) {
    request.device_map = plan.map_text;
    request.moves.clear();
    for (const engine::Repair& step : budget.advice) {
        request.moves.insert(request.moves.end(), step.moves.begin(), step.moves.end());
    }
    return request;
}

} // namespace

class TestSpill : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void told_data();
    void told();
    void ownPagesAreNoSpill();
    void planTakesTheBudget();
    void adviceEndsIt();
    void windowShowsIt_data();
    void windowShowsIt();
};

void TestSpill::told_data() {
    support::addColumns<quint64, quint64, int, quint64>("local", "shared", "state", "spilled");
    // A budget of 8 GiB, and 100 MiB in main memory while there was room.
    const auto row = [](const char* name, quint64 local, quint64 shared, State state,
                        quint64 spilled = 0) {
        QTest::newRow(name) << local * kMiB << shared * kMiB << static_cast<int>(state)
                            << spilled * kMiB;
    };
    row("half used", 4096, 100, State::Fine);
    row("half used, much in main memory", 4096, 5000, State::Fine);
    row("a sixteenth left", 7680, 100, State::Fine);
    row("less left", 7681, 100, State::Near);
    row("all used", 8192, 100, State::Near);
    row("all used, a little in main memory", 8192, 131, State::Near);
    row("all used, more in main memory", 8192, 612, State::Spilling, 512);
    row("more than the budget", 8292, 612, State::Spilling, 512);
}

void TestSpill::told() {
    QFETCH(quint64, local);
    QFETCH(quint64, shared);
    QFETCH(int, state);
    QFETCH(quint64, spilled);
    engine::SpillWatch watch;
    QCOMPARE(static_cast<int>(watch.look({0, 8192 * kMiB, 100 * kMiB}, 0).state),
             static_cast<int>(State::Fine));
    const MemoryBudget budget = watch.look({local, 8192 * kMiB, shared}, 0);
    QCOMPARE(static_cast<int>(budget.state), state);
    QCOMPARE(budget.spilled, spilled);
    QCOMPARE(budget.used, local);
    // What has to go leaves a sixteenth of the budget, with everything back on the card.
    const quint64 goal = 7680 * kMiB;
    QCOMPARE(budget.must_go, state == static_cast<int>(State::Fine) ? 0 : local + spilled - goal);
}

void TestSpill::ownPagesAreNoSpill() {
    engine::SpillWatch watch;
    QCOMPARE(static_cast<int>(watch.look({0, 8192 * kMiB, 100 * kMiB}, 0).state),
             static_cast<int>(State::Fine));
    // The card fills up while 2 GiB of main memory are page-locked for it.
    const MemoryBudget budget = watch.look({8000 * kMiB, 8192 * kMiB, 2148 * kMiB}, 2048 * kMiB);
    QCOMPARE(static_cast<int>(budget.state), static_cast<int>(State::Near));
    QCOMPARE(budget.spilled, quint64{0});
}

void TestSpill::planTakesTheBudget() {
    FakeDriver fake;
    FakeVideoMemory memory;
    engine::EngineOptions options;
    options.demo_folder = app::demoModelFolder();
    options.gpus = support::sharedCards(fake, memory);
    engine::Engine engine(options);
    const auto wide = engine.plan(demoOn("gpu"));
    QVERIFY(wide.has_value());
    QVERIFY(wide->fits);
    const auto card = [](const engine::PlacementPlan& plan) {
        return *std::find_if(plan.devices.begin(), plan.devices.end(),
                             [](const auto& d) { return d.id == DeviceId::cuda(0); });
    };
    // The card has gigabytes free; the system gives less than the model takes.
    memory.budget = card(*wide).parts[engine::MemoryPart::Context] + 20 * kMiB;
    const auto narrow = engine.plan(demoOn("gpu"));
    QVERIFY(narrow.has_value());
    QCOMPARE(card(*narrow).limit, memory.budget.load());
    QVERIFY(card(*narrow).free > card(*narrow).limit);
    QVERIFY(!narrow->fits);
    const std::string why = engine::inEnglish(narrow->errors.front());
    QVERIFY2(why.find("that the system lets this program have") != std::string::npos, why.c_str());
    const auto fit = engine.plan(demoOn("fit"));
    QVERIFY(fit.has_value());
    QVERIFY(fit->fits);
    QVERIFY(card(*fit).parts.total() <= memory.budget.load());
}

void TestSpill::adviceEndsIt() {
    FakeDriver fake;
    FakeVideoMemory memory;
    engine::EngineOptions options;
    options.demo_folder = app::demoModelFolder();
    options.gpus = support::sharedCards(fake, memory);
    engine::Engine engine(options);
    QVERIFY(engine.load(demoOn("gpu"), {}, {}).has_value());
    QCOMPARE(static_cast<int>(budgetOf(engine).state), static_cast<int>(State::Fine));
    // Another program wants memory: the system gives ours less than it has.
    const uint64_t held = fake.deviceBytes(0);
    memory.budget = held + held / 32;
    const MemoryBudget near = budgetOf(engine);
    QCOMPARE(static_cast<int>(near.state), static_cast<int>(State::Near));
    QVERIFY(!near.advice.empty() && near.advice.size() <= 2);
    memory.budget = held - 3 * kMiB;
    const MemoryBudget spilling = budgetOf(engine);
    QCOMPARE(static_cast<int>(spilling.state), static_cast<int>(State::Spilling));
    QCOMPARE(spilling.spilled, 3 * kMiB);
    QVERIFY(!spilling.advice.empty() && spilling.advice.size() <= 2);
    QVERIFY(spilling.is_advice_enough);
    // Asked again, nothing is thought over.
    QElapsedTimer timer;
    timer.start();
    for (int i = 0; i < 100; ++i) {
        QVERIFY(budgetOf(engine) == spilling);
    }
    qInfo("a look takes %.2f ms", static_cast<double>(timer.nsecsElapsed()) / 1e8);
    const auto moved = engine.plan(withAdvice(demoOn("gpu"), *engine.currentPlan(), spilling), {});
    QVERIFY(moved.has_value());
    const auto applied = engine.applyMap(moved->map_text, {}, {});
    VERIFY_VALUE(applied);
    const MemoryBudget after = budgetOf(engine);
    qInfo("held %.1f MiB of a budget of %.1f; advised moves free %.1f; now held %.1f",
          static_cast<double>(held) / kMiB, static_cast<double>(memory.budget.load()) / kMiB,
          static_cast<double>(spilling.advice.front().frees) / kMiB,
          static_cast<double>(fake.deviceBytes(0)) / kMiB);
    QCOMPARE(static_cast<int>(after.state), static_cast<int>(State::Fine));
    QVERIFY(after.advice.empty());
}

void TestSpill::windowShowsIt_data() {
    QTest::addColumn<bool>("is_dark");
    QTest::newRow("spilling, light") << false;
    QTest::newRow("spilling, dark") << true;
}

void TestSpill::windowShowsIt() {
    QFETCH(bool, is_dark);
    FakeDriver fake;
    fake.token = 405; // " the" of the demo model
    FakeVideoMemory memory;
    support::ProgramCards cards;
    const auto engine_cards = support::sharedCards(fake, memory);
    cards.engine = engine_cards;
    // The fake is single-threaded: the planner gets the list, not the driver.
    auto planner = std::make_shared<engine::GpuAccess>();
    planner->list = [list = engine_cards->list()] { return list; };
    cards.planner = planner;
    const QTemporaryDir folder;
    ui::Settings settings;
    settings.theme = is_dark ? ui::ThemeChoice::Dark : ui::ThemeChoice::Light;
    support::Program program(folder.path(), settings, cards);
    program.window->resize(1440, 900);
    engine::LoadRequest options = program.session().request();
    options.device_map = "gpu";
    program.session().setOptions(options);
    program.session().chooseModel(QStringLiteral("demo"));
    QTRY_VERIFY_WITH_TIMEOUT(program.window->layoutView()->stagedPlan() != nullptr, 20000);
    QVERIFY(program.load());
    const auto shown = [&]() -> MemoryBudget {
        for (const ui::MeterDevice& device : program.window->meter()->devices()) {
            if (device.id == DeviceId::cuda(0)) {
                return device.budget;
            }
        }
        return {};
    };
    QCOMPARE(static_cast<int>(shown().state), static_cast<int>(State::Fine));
    uint64_t held = 0;
    QMetaObject::invokeMethod(
        program.engine_thread->worker(), [&] { held = fake.deviceBytes(0); },
        Qt::BlockingQueuedConnection);
    const auto within = [&](uint64_t budget, State state) {
        QElapsedTimer timer;
        timer.start();
        memory.budget = budget;
        const bool is_shown = QTest::qWaitFor([&] { return shown().state == state; }, 20000);
        qInfo("shown after %lld ms", timer.elapsed());
        return is_shown ? timer.elapsed() : 20000;
    };
    QVERIFY(within(held + held / 32, State::Near) < 2000);
    QVERIFY(program.window->meter()->text().contains(QStringLiteral("Almost full")));
    program.shot(is_dark ? "budget near, dark" : "budget near, light");
    QVERIFY(within(held - 3 * kMiB, State::Spilling) < 2000);
    const QString text = program.window->meter()->text();
    QVERIFY2(text.contains(QStringLiteral("spilled into main memory")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("This ends it:")), qPrintable(text));
    const ui::BudgetWords words = ui::budgetWords(shown());
    QVERIFY2(text.contains(words.lines.back()), qPrintable(text));
    program.shot(QTest::currentDataTag());
    // What is advised, done by the user.
    const MemoryBudget budget = shown();
    engine::EngineOptions planning;
    planning.demo_folder = app::demoModelFolder();
    planning.gpus = cards.planner;
    engine::LoadRequest moved = program.session().request();
    const auto plan = engine::Engine(planning).plan(
        withAdvice(moved, *program.session().snapshot()->plan, budget));
    QVERIFY(plan.has_value());
    moved.device_map = plan->map_text;
    program.session().apply(moved);
    QTRY_COMPARE_WITH_TIMEOUT(static_cast<int>(shown().state), static_cast<int>(State::Fine),
                              20000);
    QVERIFY(!program.window->meter()->text().contains(QStringLiteral("spilled")));
    program.shot(is_dark ? "budget fine again, dark" : "budget fine again, light");
}

TEST_CLASS_WITH(QApplication, TestSpill)
#include "tst_spill.moc"
