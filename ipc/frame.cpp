// SPDX-License-Identifier: Apache-2.0
#include "ipc/frame.h"

#include <algorithm>
#include <new>
#include <utility>

namespace ipc {

namespace {

void appendNumber(std::string& out, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        out += static_cast<char>(number >> (8 * i) & 0xffU);
    }
}

uint64_t numberAt(std::string_view bytes, size_t at, size_t count) {
    uint64_t number = 0;
    for (size_t i = 0; i < count; ++i) {
        number |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
    }
    return number;
}

bool isKind(uint64_t number) {
    return (number >= static_cast<uint64_t>(Kind::Hello) &&
            number <= static_cast<uint64_t>(Kind::Ping)) ||
           (number >= static_cast<uint64_t>(Kind::Answer) &&
            number <= static_cast<uint64_t>(Kind::Pong));
}

bool isLength(uint64_t length) {
    return length >= kFrameHead - 4 && length <= kFrameHead - 4 + kMostPayload;
}

} // namespace

std::string frameBytes(Kind kind, uint64_t call, std::string_view payload) {
    std::string out;
    if (payload.size() > kMostPayload) {
        return out;
    }
    out.reserve(kFrameHead + payload.size());
    appendNumber(out, kFrameHead - 4 + payload.size(), 4);
    appendNumber(out, static_cast<uint64_t>(kind), 1);
    appendNumber(out, call, 8);
    out += payload;
    return out;
}

bool FrameCutter::feed(std::string_view bytes) {
    while (!bytes.empty()) {
        if (head_.size() < kFrameHead) {
            const size_t taken = std::min(bytes.size(), kFrameHead - head_.size());
            head_.append(bytes.substr(0, taken));
            bytes.remove_prefix(taken);
            // The length is judged as soon as it is there: nobody waits for what it promises.
            if (head_.size() >= 4 && !isLength(numberAt(head_, 0, 4))) {
                return false;
            }
            if (head_.size() < kFrameHead) {
                return true;
            }
            if (!isKind(numberAt(head_, 4, 1))) {
                return false;
            }
            beginFrame();
        }
        const size_t taken = std::min(bytes.size(), missing_);
        if (!frame_.is_lost) {
            frame_.payload.append(bytes.substr(0, taken));
        }
        bytes.remove_prefix(taken);
        missing_ -= taken;
        if (missing_ == 0) {
            frames_.push_back(std::exchange(frame_, {}));
            head_.clear();
        }
    }
    return true;
}

void FrameCutter::beginFrame() {
    missing_ = numberAt(head_, 0, 4) - (kFrameHead - 4);
    frame_.kind = static_cast<Kind>(numberAt(head_, 4, 1));
    frame_.call = numberAt(head_, 5, 8);
    try {
        frame_.payload.reserve(missing_);
    } catch (const std::bad_alloc&) {
        frame_.is_lost = true;
    }
}

Frame FrameCutter::take() {
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
}

} // namespace ipc
