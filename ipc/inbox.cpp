// SPDX-License-Identifier: Apache-2.0
#include "ipc/inbox.h"

#include <string_view>
#include <utility>

namespace ipc {

using std::chrono::milliseconds;

Inbox::Inbox(Pipe& pipe, Sort sort, Over over)
    : pipe_(pipe), sort_(std::move(sort)), over_(std::move(over)), room_(size_t{64} << 10U, '\0'),
      reader_([this] { watch(); }) {}

Inbox::~Inbox() {
    close();
    reader_.join();
}

void Inbox::close() {
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    changed_.notify_all();
}

bool Inbox::setTaken(bool is_taken) {
    bool was_taken = false;
    {
        const std::lock_guard lock(mutex_);
        was_taken = std::exchange(is_taken_, is_taken);
    }
    if (was_taken && !is_taken) {
        changed_.notify_all();
    }
    return was_taken;
}

bool Inbox::hasRoom() const {
    return frames_.size() < kMostFrames && bytes_ < kMostBytes;
}

void Inbox::accept(size_t got) {
    const bool is_good = got > 0 && cutter_.feed(std::string_view(room_).substr(0, got));
    while (cutter_.hasFrame()) {
        Frame frame = cutter_.take();
        if (!sort_ || sort_(frame)) {
            bytes_ += frame.payload.size();
            frames_.push_back(std::move(frame));
        }
    }
    if (!is_good && !std::exchange(is_over_, true)) {
        is_garbage_ = got > 0;
        if (over_) {
            over_(is_garbage_);
        }
    }
}

void Inbox::watch() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] {
            return is_closing_ || is_over_ || (hasRoom() && !(Pipe::kCanWait && is_taken_));
        });
        if (is_closing_ || is_over_) {
            break;
        }
        lock.unlock();
        if constexpr (Pipe::kCanWait) {
            pipe_.wait(milliseconds(-1));
            lock.lock();
            // The other thread may have begun to read meanwhile.
            if (!is_taken_ && !is_closing_) {
                if (const auto got = pipe_.tryRead(room_.data(), room_.size())) {
                    accept(*got);
                }
            }
        } else {
            const size_t got = pipe_.read(room_.data(), room_.size());
            lock.lock();
            accept(got);
        }
        changed_.notify_all();
    }
    is_over_ = true;
    changed_.notify_all();
}

void Inbox::awaitFrame(std::unique_lock<std::mutex>& lock,
                       milliseconds wait,
                       const std::stop_token& stop) {
    if constexpr (!Pipe::kCanWait) {
        changed_.wait_for(lock, stop, wait, [this] { return !frames_.empty() || is_over_; });
    } else {
        using Clock = std::chrono::steady_clock;
        const Clock::time_point last = Clock::now() + wait;
        const std::stop_callback wake(stop, [this] { waker_.wake(); });
        for (;;) {
            if (!frames_.empty() || is_over_) {
                return;
            }
            if (const auto got = pipe_.tryRead(room_.data(), room_.size())) {
                accept(*got);
                continue;
            }
            const auto left = std::chrono::ceil<milliseconds>(last - Clock::now());
            if (left.count() <= 0 || stop.stop_requested()) {
                return;
            }
            lock.unlock();
            pipe_.wait(left, &waker_);
            lock.lock();
        }
    }
}

Inbox::Got Inbox::next(Frame& frame, milliseconds wait, const std::stop_token& stop) {
    const Turn turn(*this);
    std::unique_lock lock(mutex_);
    awaitFrame(lock, wait, stop);
    if (frames_.empty()) {
        return !is_over_ ? Got::Nothing : is_garbage_ ? Got::Garbage : Got::Ended;
    }
    const bool was_full = !hasRoom();
    frame = std::move(frames_.front());
    frames_.pop_front();
    bytes_ -= frame.payload.size();
    if (was_full) {
        changed_.notify_all(); // the second thread waits for room
    }
    return Got::Frame;
}

} // namespace ipc
