// SPDX-License-Identifier: Apache-2.0
#include "ipc/frame.h"

#include <algorithm>
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
        // First the head, then as much as it asks for: never more than one frame in pending_.
        size_t wanted = kFrameHead;
        if (pending_.size() >= kFrameHead) {
            wanted = 4 + numberAt(pending_, 0, 4);
        }
        const size_t taken = std::min(bytes.size(), wanted - pending_.size());
        pending_.append(bytes.substr(0, taken));
        bytes.remove_prefix(taken);
        // As soon as it is there: who sends a length and then nothing is not waited for.
        if (pending_.size() < 4) {
            return true;
        }
        const uint64_t length = numberAt(pending_, 0, 4);
        if (length < kFrameHead - 4 || length > kFrameHead - 4 + kMostPayload) {
            return false;
        }
        if (pending_.size() < kFrameHead) {
            return true;
        }
        const uint64_t kind = numberAt(pending_, 4, 1);
        if (!isKind(kind)) {
            return false;
        }
        if (pending_.size() == 4 + length) {
            Frame& frame = frames_.emplace_back();
            frame.kind = static_cast<Kind>(kind);
            frame.call = numberAt(pending_, 5, 8);
            frame.payload = pending_.substr(kFrameHead);
            pending_.clear();
        }
    }
    return true;
}

Frame FrameCutter::take() {
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
}

} // namespace ipc
