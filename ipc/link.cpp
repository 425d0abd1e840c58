// SPDX-License-Identifier: Apache-2.0
#include "ipc/link.h"

#include <utility>

namespace ipc {

engine::Result<std::unique_ptr<Link>> Link::start(const std::vector<std::string>& words) {
    ENGINE_ASSIGN(std::unique_ptr<Child> child, Child::start(words));
    return std::unique_ptr<Link>(new Link(std::move(child)));
}

Link::Link(std::unique_ptr<Child> child) : child_(std::move(child)), reader_([this] { read(); }) {}

Link::~Link() {
    static_cast<void>(end(std::chrono::milliseconds(0)));
    reader_.join();
}

bool Link::send(Kind kind, uint64_t call, std::string_view payload) {
    const std::string bytes = frameBytes(kind, call, payload);
    return !bytes.empty() && child_->pipe().write(bytes);
}

Link::Got Link::next(Frame& frame, std::chrono::milliseconds wait, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, wait, [this] { return !frames_.empty() || is_over_; });
    if (frames_.empty()) {
        return !is_over_ ? Got::Nothing : is_garbage_ ? Got::Garbage : Got::Ended;
    }
    frame = std::move(frames_.front());
    frames_.pop_front();
    bytes_ -= frame.payload.size();
    changed_.notify_all(); // the reader may wait for room
    return Got::Frame;
}

engine::ChildEnd Link::end(std::chrono::milliseconds patience) {
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    changed_.notify_all();
    // Where it lives it is asked first: it ends by itself when nobody is there any more.
    child_->pipe().shut();
    return child_->end(patience);
}

void Link::read() {
    FrameCutter cutter;
    std::string room(size_t{64} << 10U, '\0');
    for (;;) {
        const size_t got = child_->pipe().read(room.data(), room.size());
        const bool is_good = got > 0 && cutter.feed(std::string_view(room).substr(0, got));
        std::unique_lock lock(mutex_);
        while (cutter.hasFrame()) {
            frames_.push_back(cutter.take());
            bytes_ += frames_.back().payload.size();
        }
        is_over_ = !is_good;
        is_garbage_ = got > 0 && !is_good;
        changed_.notify_all();
        changed_.wait(lock, [this] {
            return is_closing_ || is_over_ || (frames_.size() < kMostFrames && bytes_ < kMostBytes);
        });
        if (is_over_ || is_closing_) {
            is_over_ = true;
            changed_.notify_all();
            return;
        }
    }
}

} // namespace ipc
