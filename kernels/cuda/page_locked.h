// SPDX-License-Identifier: Apache-2.0
// How much main memory a card holds page-locked for this program. Windows counts it among what a
// program has in main memory for a card, where what was moved off the card is counted as well
// (video_memory.h). From any thread: locking goes on beside the thread that owns the card.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace kernels::cuda {

class PageLocked {
public:
    void add(const void* memory, size_t bytes) {
        const std::lock_guard<std::mutex> lock(mutex_);
        blocks_[memory] = bytes;
        bytes_ += bytes;
    }
    void remove(const void* memory) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (const auto found = blocks_.find(memory); found != blocks_.end()) {
            bytes_ -= found->second;
            blocks_.erase(found);
        }
    }
    [[nodiscard]] uint64_t bytes() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return bytes_;
    }

private:
    mutable std::mutex mutex_;
    std::unordered_map<const void*, size_t> blocks_;
    uint64_t bytes_ = 0;
};

} // namespace kernels::cuda
