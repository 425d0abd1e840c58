// SPDX-License-Identifier: Apache-2.0
#include "app/cli/interrupt.h"

#include <array>
#include <csignal>

namespace cli {

namespace {

constexpr std::array<int, 2> kEnds = {SIGTERM, SIGHUP};

volatile std::sig_atomic_t is_end_requested = 0;

std::stop_source& interruptSource() {
    static std::stop_source source;
    return source;
}

/// request_stop() on a source without callbacks only sets an atomic flag: safe in a handler.
void onInterrupt(int /*signal*/) {
    interruptSource().request_stop();
}

void onEnd(int /*signal*/) {
    is_end_requested = 1;
    interruptSource().request_stop();
}

void handle(int number, void (*handler)(int)) {
    struct sigaction former = {};
    if (number == SIGHUP && ::sigaction(number, nullptr, &former) == 0 &&
        former.sa_handler == SIG_IGN) {
        return; // nohup
    }
    struct sigaction action = {};
    action.sa_handler = handler;
    // The second one ends the program.
    action.sa_flags = handler == SIG_DFL ? SA_RESTART : static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    static_cast<void>(::sigaction(number, &action, nullptr));
}

} // namespace

std::stop_token interruptToken() {
    return interruptSource().get_token();
}

void armInterrupt() {
    if (isEndRequested()) {
        return;
    }
    // The source is exchanged while no signal can come to this thread.
    sigset_t all;
    sigset_t former;
    sigfillset(&all);
    static_cast<void>(::pthread_sigmask(SIG_BLOCK, &all, &former));
    interruptSource() = std::stop_source();
    handle(SIGINT, onInterrupt);
    for (const int number : kEnds) {
        handle(number, onEnd);
    }
    static_cast<void>(::pthread_sigmask(SIG_SETMASK, &former, nullptr));
}

void requestStop() {
    interruptSource().request_stop();
}

bool isEndRequested() {
    return is_end_requested != 0;
}

EndsAtOnce::EndsAtOnce() {
    for (const int number : kEnds) {
        handle(number, SIG_DFL);
    }
}

EndsAtOnce::~EndsAtOnce() {
    for (const int number : kEnds) {
        handle(number, onEnd);
    }
}

} // namespace cli
