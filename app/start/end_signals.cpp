// SPDX-License-Identifier: Apache-2.0
#include "app/start/end_signals.h"

#include <QSocketNotifier>

#ifdef Q_OS_UNIX
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#endif

namespace app {

#ifdef Q_OS_UNIX

namespace {

constexpr std::array<int, 3> kEnds = {SIGTERM, SIGINT, SIGHUP};

/// Both ends of a pipe: a handler may write to one, and do hardly anything else.
std::array<int, 2>& ends() {
    static std::array<int, 2> pipe_ends = {-1, -1};
    return pipe_ends;
}

void tellLoop(int /*number*/) {
    const char byte = 1;
    [[maybe_unused]] const ssize_t written = ::write(ends()[1], &byte, 1);
}

} // namespace

EndSignals::EndSignals(QObject* parent) : QObject(parent) {
    if (::pipe2(ends().data(), O_CLOEXEC | O_NONBLOCK) != 0) {
        return; // then these end the program at once, as they would without us
    }
    notifier_ = std::make_unique<QSocketNotifier>(ends()[0], QSocketNotifier::Read);
    connect(notifier_.get(), &QSocketNotifier::activated, this, [this] {
        std::array<char, 16> bytes{};
        while (::read(ends()[0], bytes.data(), bytes.size()) > 0) {
        }
        Q_EMIT endRequested();
    });
    struct sigaction action = {};
    action.sa_handler = tellLoop;
    // A second one ends the program even if its event loop is stuck.
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (const int number : kEnds) {
        ::sigaction(number, &action, nullptr);
    }
}

EndSignals::~EndSignals() {
    if (notifier_ == nullptr) {
        return;
    }
    for (const int number : kEnds) {
        (void)std::signal(number, SIG_DFL);
    }
    notifier_.reset();
    for (int& end : ends()) {
        ::close(end);
        end = -1;
    }
}

#else

EndSignals::EndSignals(QObject* parent) : QObject(parent) {}
EndSignals::~EndSignals() = default;

#endif

} // namespace app
