// SPDX-License-Identifier: Apache-2.0
// What Ctrl-C, a closed terminal and an end asked for by the system do: the work in progress is
// given up in order, so that nothing half-written is left. The second of the same kind ends the
// program at once.
#pragma once

#include <stop_token>

namespace cli {

/// Stopped by SIGINT, SIGTERM and SIGHUP, or by requestStop().
[[nodiscard]] std::stop_token interruptToken();
/// For the work that begins: a token that is not stopped, handlers in place.
void armInterrupt();
void requestStop();
/// SIGTERM or SIGHUP (on Windows: Ctrl+Break, a closed console, the session's end) has come: no
/// further question.
[[nodiscard]] bool isEndRequested();

/// While one lives, SIGTERM and SIGHUP end the program at once: for the time in which it only waits
/// for somebody to type.
class EndsAtOnce {
public:
    EndsAtOnce();
    ~EndsAtOnce();
    EndsAtOnce(const EndsAtOnce&) = delete;
    EndsAtOnce& operator=(const EndsAtOnce&) = delete;
};

} // namespace cli
