// SPDX-License-Identifier: Apache-2.0
#include "app/cli/interrupt.h"

#ifdef _WIN32
#include <windows.h>

#include <atomic>
#include <mutex>
#else
#include <array>
#include <csignal>
#endif

namespace cli {

#ifdef _WIN32

namespace {

struct Interrupts {
    std::mutex mutex; ///< Windows calls us on a thread of its own.
    std::stop_source source;
    bool is_interrupted = false; ///< Since the last armInterrupt().
    std::atomic<bool> is_end_requested{false};
    std::atomic<bool> ends_at_once{false};
};

// Never destroyed: an event may come while the program ends.
Interrupts& interrupts() {
    static auto* all = new Interrupts();
    return *all;
}

/// FALSE: Windows does what it does without us, it ends the program.
BOOL WINAPI onEvent(DWORD event) {
    Interrupts& all = interrupts();
    const std::lock_guard lock(all.mutex);
    if (event == CTRL_C_EVENT) {
        if (all.is_interrupted) {
            return FALSE; // the second one
        }
        all.is_interrupted = true;
        all.source.request_stop();
        return TRUE;
    }
    if (all.ends_at_once.load() || all.is_end_requested.exchange(true)) {
        return FALSE;
    }
    all.source.request_stop();
    return TRUE;
}

BOOL WINAPI onEventOrClose(DWORD event) {
    const BOOL is_ours = onEvent(event);
    if (is_ours != FALSE && event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) {
        // A window that closes, a user who leaves: Windows ends the program when this returns, or
        // after some seconds. main() is done before that.
        Sleep(INFINITE);
    }
    return is_ours;
}

} // namespace

std::stop_token interruptToken() {
    Interrupts& all = interrupts();
    const std::lock_guard lock(all.mutex);
    return all.source.get_token();
}

void armInterrupt() {
    if (isEndRequested()) {
        return;
    }
    static const BOOL is_handled = SetConsoleCtrlHandler(onEventOrClose, TRUE);
    static_cast<void>(is_handled);
    Interrupts& all = interrupts();
    const std::lock_guard lock(all.mutex);
    all.source = std::stop_source();
    all.is_interrupted = false;
}

void requestStop() {
    Interrupts& all = interrupts();
    const std::lock_guard lock(all.mutex);
    all.source.request_stop();
}

bool isEndRequested() {
    return interrupts().is_end_requested.load();
}

EndsAtOnce::EndsAtOnce() {
    interrupts().ends_at_once.store(true);
}

EndsAtOnce::~EndsAtOnce() {
    interrupts().ends_at_once.store(false);
}

#else

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

#endif

} // namespace cli
