// SPDX-License-Identifier: Apache-2.0
// Memory of the host that a device reads where it lies (page-locked), such as the table of
// per-layer embeddings beside a decoder on a card: a few KB of it a token, by the number of the
// token that the card has just chosen. Locking gigabytes takes some tenths of a second, so that
// large blocks are locked by a thread of their own, piece by piece, while their owner goes on
// without.
#pragma once

#include "kernels/device.h"

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace engine {

class HostLock {
public:
    /// Begins to lock [memory, memory + bytes), which must stay there as long as this lives; the
    /// device too. Blocks of up to kAtOnce bytes are locked when this returns.
    HostLock(kernels::Device& device, void* memory, size_t bytes);
    /// Gives everything back, as soon as the piece under way is done. No kernel may read it any
    /// more.
    ~HostLock();
    HostLock(const HostLock&) = delete;
    HostLock& operator=(const HostLock&) = delete;

    [[nodiscard]] const kernels::Device& device() const { return *device_; }
    /// All of it is locked. Stays false where the device or the system refuses.
    [[nodiscard]] bool isComplete() const { return is_complete_.load(std::memory_order_acquire); }

    static constexpr size_t kAtOnce = size_t{64} << 20;

private:
    /// Piece by piece until it is complete, refused or no longer wanted.
    void lock(const std::stop_token& stop);

    kernels::Device* device_;
    std::byte* memory_;
    size_t bytes_;
    std::vector<void*> pieces_; ///< Locked; the thread's while it runs.
    std::atomic<bool> is_complete_{false};
    std::jthread thread_;
};

} // namespace engine
