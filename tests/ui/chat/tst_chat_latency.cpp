// SPDX-License-Identifier: Apache-2.0
// The window while a fast engine writes: 2,000 tokens a second from another thread, a new plan and
// snapshot thirty times a second, and a conversation of 10,000 messages that scrolls. Another
// thread posts an event to the GUI thread every two milliseconds and measures how long each waits:
// p99 under 16 ms, none over 50 ms.
//
// Two clocks are read. The waiting time by the wall clock is what a person feels, but on a machine
// that also runs other work it counts their time too; it is asserted only when the same probe waits
// little before the load starts and the GUI thread was hardly ever put aside. The time the GUI
// thread itself computes between two probes cannot be spoilt by others and is always asserted.
#include "ui/chat/chat_view.h"
#include "ui/chat/message_list.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QThread>
#include <QTimer>
#include <QWheelEvent>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <vector>

using engine::Message;
using ui::ChatDocument;
using ui::ChatTurn;
using ui::ChatView;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kSeconds = 6;
constexpr int kTokensPerSecond = 2000;

double threadCpuMs() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double millisecondsSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double percentile(std::vector<double> values, double part) {
    if (values.empty()) {
        return 0.0;
    }
    std::sort(values.begin(), values.end());
    const auto at = static_cast<size_t>(part * static_cast<double>(values.size() - 1));
    return values[at];
}

/// Posts to the GUI thread at a steady pace and keeps how long each event waited.
class Probe : public QObject {
public:
    explicit Probe(QObject* target) {
        pool_ = QThread::create([this, target] {
            while (!is_done_) {
                const Clock::time_point posted = Clock::now();
                if (waiting_.load() < 400) {
                    ++waiting_;
                    QMetaObject::invokeMethod(
                        target,
                        [this, posted] {
                            --waiting_;
                            wall_ms.push_back(millisecondsSince(posted));
                            const double cpu = threadCpuMs();
                            cpu_ms.push_back(cpu - last_cpu_);
                            last_cpu_ = cpu;
                        },
                        Qt::QueuedConnection);
                }
                QThread::usleep(2000);
            }
        });
        last_cpu_ = threadCpuMs();
        pool_->start();
    }
    ~Probe() override {
        is_done_ = true;
        pool_->wait();
        delete pool_;
        // Events of ours that are still queued must not meet a dead object.
        while (waiting_.load() > 0) {
            QCoreApplication::processEvents();
        }
    }
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    std::vector<double> wall_ms, cpu_ms;

private:
    QThread* pool_ = nullptr;
    std::atomic<bool> is_done_ = false;
    std::atomic<int> waiting_ = 0;
    double last_cpu_ = 0.0;
};

ChatDocument tenThousand() {
    ChatDocument chat;
    chat.id = QStringLiteral("long");
    for (int i = 0; i < 10000; ++i) {
        ChatTurn turn;
        turn.role = i % 2 == 0 ? Message::Role::User : Message::Role::Assistant;
        if (i % 2 == 0) {
            turn.text = QStringLiteral("Question %1: how does the part with the number %1 of the "
                                       "whole behave?")
                            .arg(i);
        } else {
            turn.text =
                QStringLiteral("### Answer %1\n\nThe part **behaves** as the others do, see "
                               "`part_%1`:\n\n- it has a size\n- it has a place\n- it has a "
                               "price\n\n```cpp\nint part = %1;\nreturn place(part, 4096);\n```\n\n"
                               "| part | bytes |\n|---|--:|\n| %1 | 4096 |\n\n")
                    .arg(i) +
                QStringLiteral("And some more words about it, so that lines wrap. ").repeated(8);
            turn.finish_reason = QStringLiteral("stop");
            turn.timing.decode_tokens = 200;
            turn.timing.decode_s = 2.0;
        }
        chat.turns.push_back(turn);
    }
    return chat;
}

std::string tokenAt(int i) {
    static const char* const kWords[] = {"the ", "part ", "of ",   "**bold** ", "`code` ",
                                         "and ", "more ", "words", ", ",        "so. "};
    if (i % 700 == 0) {
        return "\n\n```cpp\nint x = 1;\n";
    }
    if (i % 700 == 120) {
        return "\n```\n\n";
    }
    if (i % 97 == 0) {
        return "\n\n- item ";
    }
    if (i % 211 == 0) {
        return "\n\n";
    }
    return kWords[i % 10];
}

} // namespace

class TestChatLatency : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void staysResponsive_data();
    void staysResponsive();
    void opensLongChatQuickly();
};

void TestChatLatency::initTestCase() {
    qRegisterMetaType<engine::GenerateRequest>();
    ui::applyTheme(*qApp);
}

void TestChatLatency::staysResponsive_data() {
    QTest::addColumn<bool>("is_scrolling");
    QTest::newRow("following the text") << false;
    QTest::newRow("scrolling ten thousand messages") << true;
}

void TestChatLatency::staysResponsive() {
    QFETCH(bool, is_scrolling);
    ChatView view;
    view.resize(1100, 800);
    view.show();
    (void)QTest::qWaitForWindowActive(&view);
    auto model = std::make_shared<engine::ModelSummary>();
    view.setModel(model, true);
    view.setChat(tenThousand());
    QTest::qWait(200);

    // The machine as it is without us.
    double idle_p99 = 0.0;
    {
        Probe probe(&view);
        QTest::qWait(500);
        idle_p99 = percentile(probe.wall_ms, 0.99);
    }

    QSignalSpy requests(&view, &ChatView::generateRequested);
    view.insertSample(QStringLiteral("Go"), {}, {}, true);
    QCOMPARE(requests.count(), 1);
    const quint64 id = requests.first().first().value<engine::GenerateRequest>().id;

    QTest::qWait(100); // fonts are loaded by the first reply of a session

    // The engine: one queued call per token, which is worse than the real worker's thirty a second.
    std::atomic<bool> is_done = false;
    std::atomic<int> sent = 0;
    std::unique_ptr<QThread> engine_thread(QThread::create([&] {
        const Clock::time_point start = Clock::now();
        int plans = 0;
        while (!is_done) {
            const int due = static_cast<int>(millisecondsSince(start) * kTokensPerSecond / 1000.0);
            while (sent < due) {
                const int i = ++sent;
                QMetaObject::invokeMethod(
                    &view,
                    [&view, id, i] {
                        view.showReplyUpdate(id, {tokenAt(i), {}, i});
                    },
                    Qt::QueuedConnection);
            }
            if (millisecondsSince(start) > plans * 33) {
                ++plans;
                auto snapshot = std::make_shared<engine::EngineSnapshot>();
                auto plan = std::make_shared<engine::PlacementPlan>();
                plan->modules.resize(40);
                plan->context = 4096 + plans;
                snapshot->state = engine::EngineSnapshot::State::Generating;
                snapshot->serial = static_cast<uint64_t>(plans);
                snapshot->context_used = sent;
                snapshot->context_size = 131072;
                snapshot->plan = plan;
                QMetaObject::invokeMethod(
                    &view,
                    [&view, snapshot] {
                        view.showSnapshot(snapshot);
                        if (snapshot->serial % 30 == 0) {
                            view.setModel(std::make_shared<engine::ModelSummary>(), true);
                        }
                    },
                    Qt::QueuedConnection);
            }
            QThread::usleep(500);
        }
    }));
    QTimer wheel;
    int notches = 0;
    if (is_scrolling) {
        connect(&wheel, &QTimer::timeout, &view, [&] {
            // Back and forth, with a leap of the scroll bar now and then.
            ui::MessageList* list = view.messageList();
            QScrollBar* bar = list->verticalScrollBar();
            ++notches;
            if (notches % 40 == 0) {
                bar->setValue(static_cast<int>(static_cast<double>(bar->maximum()) *
                                               ((notches * 37) % 100) / 100.0));
                return;
            }
            QWheelEvent event(QPointF(300, 300), list->viewport()->mapToGlobal(QPoint(300, 300)),
                              {}, {0, notches % 80 < 50 ? 240 : -240}, Qt::NoButton, Qt::NoModifier,
                              Qt::NoScrollPhase, false);
            QApplication::sendEvent(list->viewport(), &event);
        });
        wheel.start(16);
    }
    double p99 = 0.0, worst = 0.0, cpu_p99 = 0.0, cpu_worst = 0.0, busy = 0.0;
    size_t events = 0;
    {
        Probe probe(&view);
        const double cpu_before = threadCpuMs();
        engine_thread->start();
        QTest::qWait(kSeconds * 1000);
        busy = (threadCpuMs() - cpu_before) / (kSeconds * 1000.0);
        is_done = true;
        engine_thread->wait();
        p99 = percentile(probe.wall_ms, 0.99);
        worst = percentile(probe.wall_ms, 1.0);
        cpu_p99 = percentile(probe.cpu_ms, 0.99);
        cpu_worst = percentile(probe.cpu_ms, 1.0);
        events = probe.wall_ms.size();
    }
    const int tokens = sent;
    QTest::qWait(50);
    qInfo(
        "%d tokens in %d s, %zu probes: waited p99 %.1f ms, worst %.1f ms (idle p99 %.1f ms); own "
        "work between probes p99 %.1f ms, worst %.1f ms; GUI thread busy %.0f %%",
        tokens, kSeconds, events, p99, worst, idle_p99, cpu_p99, cpu_worst, busy * 100.0);
    QVERIFY(tokens > kSeconds * kTokensPerSecond * 8 / 10);
    QVERIFY(view.chat().turns.back().text.size() > tokens * 2);
    QVERIFY2(cpu_p99 < 16.0, qPrintable(QString::number(cpu_p99)));
    QVERIFY2(cpu_worst < 50.0, qPrintable(QString::number(cpu_worst)));
    if (idle_p99 > 3.0) {
        qInfo("other programs use this machine: waiting times by the wall clock are not judged");
        return;
    }
    // On a shared machine a single wait may still be somebody else's; there the bounds are wider.
    const double margin = qEnvironmentVariableIsSet("BELFRY_STRICT_LATENCY") ? 1.0 : 4.0;
    QVERIFY2(p99 < 16.0 * margin, qPrintable(QString::number(p99)));
    QVERIFY2(worst < 50.0 * margin, qPrintable(QString::number(worst)));
}

void TestChatLatency::opensLongChatQuickly() {
    ChatView view;
    view.resize(1100, 800);
    view.show();
    (void)QTest::qWaitForWindowActive(&view);
    const ChatDocument chat = tenThousand();
    const double before = threadCpuMs();
    view.setChat(chat);
    (void)view.messageList()->viewport()->grab();
    const double took = threadCpuMs() - before;
    qInfo("10,000 messages shown after %.1f ms", took);
    QVERIFY2(took < 200.0, qPrintable(QString::number(took)));
}

QTEST_MAIN(TestChatLatency)
#include "tst_chat_latency.moc"
