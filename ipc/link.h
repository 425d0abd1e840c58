// SPDX-License-Identifier: Apache-2.0
// One engine's process and the frames that come from it, read by a thread of this object's so that
// neither side ever waits for the other to read. Belongs to one thread.
#pragma once

#include "engine/base/result.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ipc/child.h"
#include "ipc/frame.h"

namespace ipc {

class Link {
public:
    /// Errors: as Child::start().
    static engine::Result<std::unique_ptr<Link>> start(const std::vector<std::string>& words);
    /// Ends the process at once.
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// False: the process is gone or does not read.
    bool send(Kind kind, uint64_t call, std::string_view payload);

    enum class Got : uint8_t {
        Frame = 1,
        Nothing, ///< Within the time, or before the stop.
        Ended,   ///< No frame comes any more.
        Garbage, ///< What comes is no frames.
    };
    /// The next frame, waiting for it at most so long.
    Got next(Frame& frame, std::chrono::milliseconds wait, const std::stop_token& stop = {});

    [[nodiscard]] int64_t processId() const { return child_->processId(); }
    /// The process is ended if it is still there. How it ended by itself, or TimedOut.
    engine::ChildEnd end(std::chrono::milliseconds patience);

private:
    explicit Link(std::unique_ptr<Child> child);
    void read();

    /// Frames that nobody has taken: beyond these the thread waits, and so does the process.
    static constexpr size_t kMostFrames = 1024;
    static constexpr size_t kMostBytes = 2 * kMostPayload;

    std::unique_ptr<Child> child_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Frame> frames_;
    size_t bytes_ = 0; ///< Of the payloads in frames_.
    bool is_over_ = false, is_garbage_ = false, is_closing_ = false;
    std::thread reader_; ///< Last: it uses the others.
};

} // namespace ipc
