// SPDX-License-Identifier: Apache-2.0
// Measures how long the GUI thread keeps an event waiting, and makes what keeps it busy: a
// conversation of 10,000 messages and the text of a fast reply.
#pragma once

#include "ui/chat/chat_document.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <QObject>
#include <QThread>
#include <QTimer>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <string>
#include <vector>

namespace support {

using Clock = std::chrono::steady_clock;
using engine::Message;
using ui::ChatDocument;
using ui::ChatTurn;

/// Times are measured and printed, and judged only where BELFRY_STRICT_LATENCY is set: on an idle
/// machine.
inline bool judgesTimes() {
    return qEnvironmentVariableIsSet("BELFRY_STRICT_LATENCY");
}

/// Time this thread has computed. Other programs do not add to it.
inline double threadCpuMs() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

inline double millisecondsSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

inline double percentile(std::vector<double> values, double part) {
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

/// Runs the event loop as a program does. (QTest::qWait() sleeps between its rounds, which would be
/// measured.)
inline void runLoop(int milliseconds) {
    QEventLoop loop;
    QTimer::singleShot(milliseconds, &loop, &QEventLoop::quit);
    loop.exec();
}

inline ChatDocument tenThousand() {
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

inline std::string tokenAt(int i) {
    static const char* const kWords[] = {
        "the ",  "part ", "of ", "**bold** ", "`code` ", "and ", "$\\frac{x_i^2}{\\sqrt{2}}$ ",
        "words", ", ",    "so. "};
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
    if (i % 431 == 0) {
        return "\n\n$$\n\\sum_{i=1}^{" + std::to_string(i) + "} x_i^2\n$$\n\n";
    }
    return kWords[i % 10];
}

} // namespace support
