// SPDX-License-Identifier: Apache-2.0
// The real window with the real planner and chat store, chat and layout side by side, the meter
// beside them: a fake engine writes 2,000 tokens a second into a chat of 10,000 messages that
// scrolls, the layout gets a new plan every quarter of a second and the window a snapshot thirty
// times a second. p99 of an event's wait under 16 ms, none over 50 ms; about the two clocks see
// tests/ui/chat/tst_chat_latency.cpp.
#include "tests/app/program_fixture.h"
#include "tests/support/latency_probe.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/message_list.h"

#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTimer>
#include <QWheelEvent>

using support::Clock;
using support::millisecondsSince;
using support::percentile;
using support::Probe;
using support::threadCpuMs;

class TestLatency : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void wholeWindow();
};

void TestLatency::wholeWindow() {
    constexpr int kSeconds = 6;
    QTemporaryDir folder;
    support::Program program(folder.path());
    QVERIFY(program.choose(QStringLiteral("shape:e2b"), "gpu", 8 * support::kGiB));
    program.window->resize(1440, 900);
    program.window->setTab(ui::MainWindow::Tab::Both);
    (void)QTest::qWaitForWindowExposed(program.window.get());
    ui::ChatView& chat = program.chat();
    ui::LayoutView* layout = program.window->layoutView();
    // The fake engine takes the place of the real one behind the chat.
    QObject::disconnect(&chat, &ui::ChatView::generateRequested, nullptr, nullptr);
    chat.setChat(support::tenThousand());
    chat.setModel(program.session().summary(), true);
    program.window->refreshEmptyState();
    QSignalSpy requests(&chat, &ui::ChatView::generateRequested);
    chat.insertSample(QStringLiteral("Go"), {}, {}, true);
    QCOMPARE(requests.count(), 1);
    QVERIFY(chat.messageList()->isVisible());
    QVERIFY(layout->isVisible());
    QVERIFY(program.window->meter()->isVisible());
    const quint64 id = requests.first().first().value<engine::GenerateRequest>().id;
    QTest::qWait(500);
    double idle_p99 = 0.0;
    {
        Probe probe(&chat);
        support::runLoop(500);
        idle_p99 = percentile(probe.wall_ms, 0.99);
    }
    std::atomic<bool> is_done = false;
    std::atomic<int> sent = 0;
    const auto plan = layout->stagedPlan();
    std::unique_ptr<QThread> engine_thread(QThread::create([&] {
        const Clock::time_point start = Clock::now();
        int shots = 0;
        while (!is_done) {
            const int due = static_cast<int>(millisecondsSince(start) * 2.0);
            while (sent < due) {
                const int i = ++sent;
                QMetaObject::invokeMethod(
                    &chat,
                    [&chat, id, i] {
                        chat.showReplyUpdate(id, {support::tokenAt(i), {}, i});
                    },
                    Qt::QueuedConnection);
            }
            if (millisecondsSince(start) > shots * 33) {
                ++shots;
                auto snapshot = std::make_shared<engine::EngineSnapshot>();
                snapshot->state = engine::EngineSnapshot::State::Generating;
                snapshot->serial = static_cast<uint64_t>(shots);
                snapshot->context_used = sent;
                snapshot->context_size = 131072;
                snapshot->plan = plan;
                for (const engine::DevicePlan& device : plan->devices) {
                    engine::DeviceMemory memory;
                    memory.id = device.id;
                    memory.capacity = device.capacity;
                    memory.limit = device.limit;
                    memory.measured = memory.predicted = device.parts;
                    memory.measured[engine::MemoryPart::Kv] += static_cast<uint64_t>(shots) << 16U;
                    snapshot->memory.push_back(memory);
                }
                const std::shared_ptr<const engine::EngineSnapshot> value = snapshot;
                QMetaObject::invokeMethod(
                    &chat,
                    [&chat, &program, value] {
                        chat.showSnapshot(value);
                        program.window->meter()->showSnapshot(value);
                    },
                    Qt::QueuedConnection);
            }
            QThread::usleep(500);
        }
    }));
    QTimer wheel;
    int notches = 0;
    connect(&wheel, &QTimer::timeout, &chat, [&] {
        ui::MessageList* list = chat.messageList();
        ++notches;
        if (notches % 40 == 0) {
            QScrollBar* bar = list->verticalScrollBar();
            bar->setValue(static_cast<int>(static_cast<double>(bar->maximum()) *
                                           ((notches * 37) % 100) / 100.0));
            return;
        }
        QWheelEvent event(QPointF(300, 300), list->viewport()->mapToGlobal(QPoint(300, 300)), {},
                          {0, notches % 80 < 50 ? 240 : -240}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(list->viewport(), &event);
    });
    QTimer planning;
    int plans = 0;
    QSignalSpy planned(layout, &ui::LayoutView::stagedPlanChanged);
    connect(&planning, &QTimer::timeout, &chat, [&] {
        static const char* const kMaps[] = {"towers-cpu", "lean", "gpu", "cpu"};
        engine::LoadRequest request = program.session().request();
        request.device_map = kMaps[++plans % 4];
        layout->setRequest(request);
    });
    double p99 = 0.0, worst = 0.0, cpu_p99 = 0.0, cpu_worst = 0.0, busy = 0.0;
    {
        Probe probe(&chat);
        const double cpu_before = threadCpuMs();
        engine_thread->start();
        wheel.start(16);
        planning.start(250);
        support::runLoop(kSeconds * 1000);
        wheel.stop();
        planning.stop();
        busy = (threadCpuMs() - cpu_before) / (kSeconds * 1000.0);
        is_done = true;
        engine_thread->wait();
        p99 = percentile(probe.wall_ms, 0.99);
        worst = percentile(probe.wall_ms, 1.0);
        cpu_p99 = percentile(probe.cpu_ms, 0.99);
        cpu_worst = percentile(probe.cpu_ms, 1.0);
    }
    qInfo(
        "%d tokens, %d plans shown in %d s: waited p99 %.1f ms, worst %.1f ms (idle p99 %.1f ms); "
        "own work between probes p99 %.1f ms, worst %.1f ms; GUI thread busy %.0f %%",
        sent.load(), static_cast<int>(planned.count()), kSeconds, p99, worst, idle_p99, cpu_p99,
        cpu_worst, busy * 100.0);
    QVERIFY(sent > 0);
    QVERIFY(planned.count() >= 1);
    if (!support::judgesTimes()) {
        return;
    }
    QVERIFY(sent > kSeconds * 1600);
    QCOMPARE_LT(cpu_p99, 16.0);
    QCOMPARE_LT(cpu_worst, 50.0);
    QCOMPARE_LT(p99, 16.0);
    QCOMPARE_LT(worst, 50.0);
}

TEST_CLASS_WITH(QApplication, TestLatency)
#include "tst_latency.moc"
