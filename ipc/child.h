// SPDX-License-Identifier: Apache-2.0
// The engine's process, seen from the one that started it. It gets its end of a Pipe as standard
// input and output, a pipe for what it prints, which this process passes on, a socket at which it
// asks for files (attendant.h), and no other descriptor; it has no terminal and ends with this
// process. On Windows what it prints is lost, and it may start no process itself.
#pragma once

#include "engine/base/child_process.h"
#include "engine/base/result.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ipc/pipe.h"

namespace ipc {

struct ChildHandles; ///< What is the system's own.

class Child {
public:
    /// Starts words[0], the path of a program, with the other words (UTF-8). Errors: Internal, what
    /// the system answers.
    static engine::Result<std::unique_ptr<Child>> start(const std::vector<std::string>& words);
    /// Ends it at once where it runs.
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    [[nodiscard]] Pipe& pipe() { return pipe_; }
    [[nodiscard]] int64_t processId() const { return id_; }
    /// What it may read from now on beside what it can open by itself: Attendant::allow().
    void allow(const std::vector<std::string>& paths);
    /// Waits for its end; after `patience` it is killed. TimedOut: it was.
    engine::ChildEnd end(std::chrono::milliseconds patience);

private:
    Child();
    /// Whether it has ended; then end_ says how.
    bool hasEnded(std::chrono::milliseconds wait);
    void kill();

    Pipe pipe_;
    int64_t id_ = 0;
    std::unique_ptr<ChildHandles> handles_;
    bool is_over_ = false;
    engine::ChildEnd end_;
};

} // namespace ipc
