// SPDX-License-Identifier: Apache-2.0
// Stop, pressed at 100 random moments of a reply of 2,000 tokens a second in a chat of 10,000
// messages, with a plan four times a second beside it: the window hands the request to the engine's
// stop token within 200 ms. Judged by the time that the GUI thread computes meanwhile, on the clock
// where no other programs disturb it, and roughly on the clock in any case. Work of 300 ms that
// keeps the event loop is found. How soon the engine ends is in tests/soak.
#include "tests/app/program_fixture.h"
#include "tests/support/latency_probe.h"
#include "tests/support/program/test_class.h"
#include "ui/chat/chat_view.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTimer>

#ifdef Q_OS_WIN
#include <windows.h>
#else
#include <pthread.h>

#include <ctime>
#endif
#include <memory>
#include <random>

using support::Clock;
using support::millisecondsSince;
using support::percentile;
using support::Probe;
using support::threadCpuMs;

namespace {

constexpr double kLimitMs = 200.0;

/// How long the thread that makes it has computed, for any thread to ask.
class ThreadClock {
public:
#ifdef Q_OS_WIN
    ThreadClock() {
        DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &thread_, 0,
                        FALSE, DUPLICATE_SAME_ACCESS);
    }
    ~ThreadClock() {
        CloseHandle(thread_);
    }
    ThreadClock(const ThreadClock&) = delete;
    ThreadClock& operator=(const ThreadClock&) = delete;
    [[nodiscard]] double ms() const {
        FILETIME begun{};
        FILETIME ended{};
        FILETIME in_system{};
        FILETIME in_program{};
        GetThreadTimes(thread_, &begun, &ended, &in_system, &in_program);
        const auto of = [](const FILETIME& time) { // in units of 100 ns
            return (static_cast<double>(time.dwHighDateTime) * 4294967296.0 +
                    static_cast<double>(time.dwLowDateTime)) /
                   1e4;
        };
        return of(in_system) + of(in_program);
    }

private:
    HANDLE thread_ = nullptr;
#else
    ThreadClock() {
        pthread_getcpuclockid(pthread_self(), &clock_);
    }
    [[nodiscard]] double ms() const {
        timespec cpu{};
        clock_gettime(clock_, &cpu);
        return static_cast<double>(cpu.tv_sec) * 1e3 + static_cast<double>(cpu.tv_nsec) / 1e6;
    }

private:
    clockid_t clock_{};
#endif
};

struct Answers {
    std::vector<double> wall_ms, cpu_ms;
    double idle_p99_ms = 0.0;
};

/// A window whose engine is a thread that writes tokens until it is stopped.
class Subject {
public:
    Subject() : program_(folder_.path()), chat_(program_.chat()) {
        QVERIFY(program_.choose(QStringLiteral("shape:e2b"), "gpu", 8 * support::kGiB));
        program_.window->resize(1440, 900);
        program_.window->setTab(ui::MainWindow::Tab::Both);
        (void)QTest::qWaitForWindowExposed(program_.window.get());
        QObject::disconnect(&chat_, &ui::ChatView::generateRequested, nullptr, nullptr);
        QObject::disconnect(&chat_, &ui::ChatView::cancelRequested, nullptr, nullptr);
        chat_.setChat(support::tenThousand());
        chat_.setModel(program_.session().summary(), true);
        program_.window->refreshEmptyState();
    }

    /// `blocked_ms`: the event loop is kept for so long, ten times a second.
    Answers press(int count, double blocked_ms) {
        Answers answers;
        {
            Probe probe(&chat_);
            support::runLoop(500);
            answers.idle_p99_ms = percentile(probe.wall_ms, 0.99);
        }
        QTimer planning;
        int plans = 0;
        QObject::connect(&planning, &QTimer::timeout, &chat_, [&] {
            static const char* const kMaps[] = {"towers-cpu", "lean", "gpu", "cpu"};
            engine::LoadRequest request = program_.session().request();
            request.device_map = kMaps[++plans % 4];
            program_.window->layoutView()->setRequest(request);
        });
        planning.start(250);
        QTimer blocking;
        QObject::connect(&blocking, &QTimer::timeout, &chat_, [&] {
            const double until = threadCpuMs() + blocked_ms;
            while (threadCpuMs() < until) {
            }
        });
        if (blocked_ms > 0.0) {
            blocking.start(100);
        }
        for (int i = 0; i < count; ++i) {
            pressOnce(answers);
        }
        return answers;
    }

private:
    void pressOnce(Answers& answers) {
        QSignalSpy asked(&chat_, &ui::ChatView::generateRequested);
        chat_.insertSample(QStringLiteral("Go"), {}, {}, true);
        QTRY_COMPARE(asked.count(), 1);
        const quint64 id = asked.first().first().value<engine::GenerateRequest>().id;
        auto* stop = program_.find<QPushButton>("stopButton");
        QTRY_VERIFY(stop->isVisible());
        const int after_ms = std::uniform_int_distribution<>(1, 120)(random_);
        std::atomic<bool> is_over = false;
        Clock::time_point pressed_at;
        double cpu_at_press = 0.0;
        QEventLoop loop;
        const auto answered = QObject::connect(&chat_, &ui::ChatView::cancelRequested, &chat_, [&] {
            answers.wall_ms.push_back(millisecondsSince(pressed_at));
            answers.cpu_ms.push_back(threadCpuMs() - cpu_at_press);
            loop.quit();
        });
        const ThreadClock gui_clock;
        const std::unique_ptr<QThread> engine_thread(QThread::create([&] {
            const Clock::time_point start = Clock::now();
            int sent = 0;
            bool is_pressed = false;
            while (!is_over) {
                while (!is_over && sent < static_cast<int>(millisecondsSince(start) * 2.0)) {
                    const int token = ++sent;
                    QMetaObject::invokeMethod(
                        &chat_,
                        [this, id, token] {
                            chat_.showReplyUpdate(id, {support::tokenAt(token), {}, token});
                        },
                        Qt::QueuedConnection);
                }
                if (!is_pressed && millisecondsSince(start) > after_ms) {
                    is_pressed = true;
                    cpu_at_press = gui_clock.ms();
                    pressed_at = Clock::now();
                    QMetaObject::invokeMethod(stop, &QPushButton::click, Qt::QueuedConnection);
                }
                QThread::usleep(300);
            }
        }));
        engine_thread->start();
        QTimer::singleShot(60'000, &loop, &QEventLoop::quit); // told by what is missing below
        loop.exec();
        is_over = true;
        engine_thread->wait();
        QObject::disconnect(answered);
        engine::Reply reply;
        reply.id = id;
        reply.finish_reason = "cancelled";
        reply.text = "stopped";
        chat_.showReply(id, reply);
        QTRY_VERIFY(!chat_.isGenerating());
    }

    QTemporaryDir folder_;
    support::Program program_;
    ui::ChatView& chat_;
    std::mt19937 random_{20261125};
};

/// Empty, or what is too slow.
QString complaint(const Answers& answers, int count) {
    if (answers.wall_ms.size() != static_cast<size_t>(count)) {
        return QStringLiteral("%1 of %2 were answered").arg(answers.wall_ms.size()).arg(count);
    }
    if (percentile(answers.cpu_ms, 1.0) > kLimitMs) {
        return QStringLiteral("computed for %1 ms").arg(percentile(answers.cpu_ms, 1.0));
    }
    const bool is_disturbed = answers.idle_p99_ms > 3.0;
    if (!is_disturbed && percentile(answers.wall_ms, 0.95) > kLimitMs) {
        return QStringLiteral("waited for %1 ms").arg(percentile(answers.wall_ms, 0.95));
    }
    if (percentile(answers.wall_ms, 1.0) > 50 * kLimitMs) {
        return QStringLiteral("waited for %1 ms").arg(percentile(answers.wall_ms, 1.0));
    }
    return {};
}

} // namespace

class TestCancelWindow : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void answersInTime();
};

void TestCancelWindow::answersInTime() {
    Subject subject;
    if (QTest::currentTestFailed()) {
        return;
    }
    const Answers answers = subject.press(100, 0.0);
    qInfo("%d answers: computed p95 %.1f ms, most %.1f ms; waited p95 %.1f ms, most %.1f ms "
          "(idle p99 %.1f ms)",
          static_cast<int>(answers.wall_ms.size()), percentile(answers.cpu_ms, 0.95),
          percentile(answers.cpu_ms, 1.0), percentile(answers.wall_ms, 0.95),
          percentile(answers.wall_ms, 1.0), answers.idle_p99_ms);
    const QString wrong = complaint(answers, 100);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    // The same window with work that keeps its event loop.
    const Answers blocked = subject.press(12, 300.0);
    const QString found = complaint(blocked, 12);
    QVERIFY(!found.isEmpty());
    qInfo("planted: %s", qPrintable(found));
}

TEST_CLASS_WITH(QApplication, TestCancelWindow)
#include "tst_cancel_window.moc"
