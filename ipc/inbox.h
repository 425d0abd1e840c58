// SPDX-License-Identifier: Apache-2.0
// The frames that come through a pipe, for a thread that waits for them and does other work
// between. While it waits it reads itself: so a message wakes one thread, not two one after the
// other, which on an idle processor costs more than everything else that is done with it. While it
// works a second thread reads. On Windows, whose pipes cannot be waited for, the second one always
// does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "ipc/frame.h"
#include "ipc/pipe.h"

namespace ipc {

class Inbox {
public:
    /// Sees every frame as soon as it is read, in their order; false: nothing is left to do with
    /// it. On either thread; must not call the Inbox.
    using Sort = std::function<bool(const Frame& frame)>;
    /// Called once, when nothing more comes, likewise; true: what came last were no frames.
    using Over = std::function<void(bool is_garbage)>;

    /// `pipe` outlives it.
    explicit Inbox(Pipe& pipe, Sort sort = {}, Over over = {});
    /// The pipe must have been shut.
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    enum class Got : uint8_t {
        Frame = 1,
        Nothing, ///< Within the time, or before the stop.
        Ended,   ///< No frame comes any more.
        Garbage, ///< What comes is no frames.
    };
    /// The next frame, waiting for it at most so long. One thread.
    Got next(Frame& frame, std::chrono::milliseconds wait, const std::stop_token& stop = {});
    /// As long as it lives the thread of next() reads also between two calls of it: worth it where
    /// one follows the other. Nested ones change nothing.
    class Turn {
    public:
        explicit Turn(Inbox& inbox) : inbox_(inbox), was_taken_(inbox.setTaken(true)) {}
        ~Turn() { static_cast<void>(inbox_.setTaken(was_taken_)); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        Inbox& inbox_;
        bool was_taken_;
    };
    /// Nobody reads any more as soon as the pipe is shut.
    void close();

private:
    /// The second thread.
    void watch();
    /// Whether it was before.
    bool setTaken(bool is_taken);
    void awaitFrame(std::unique_lock<std::mutex>& lock,
                    std::chrono::milliseconds wait,
                    const std::stop_token& stop);
    /// Takes `got` bytes of `room_`, with the lock.
    void accept(size_t got);
    [[nodiscard]] bool hasRoom() const;

    /// Frames that nobody has taken: beyond these nothing is read, and so the other side waits.
    static constexpr size_t kMostFrames = 1024;
    static constexpr size_t kMostBytes = 2 * kMostPayload;

    Pipe& pipe_;
    const Sort sort_;
    const Over over_;
    Waker waker_;
    std::mutex mutex_; ///< Guards all below; who reads without waiting holds it.
    std::condition_variable_any changed_;
    FrameCutter cutter_;
    std::string room_;
    std::deque<Frame> frames_;
    size_t bytes_ = 0; ///< Payload bytes in frames_.
    bool is_taken_ = false, is_over_ = false, is_garbage_ = false, is_closing_ = false;
    std::thread reader_; ///< Last: it uses the others.
};

} // namespace ipc
