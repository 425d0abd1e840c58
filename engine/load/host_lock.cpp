// SPDX-License-Identifier: Apache-2.0
#include "engine/load/host_lock.h"

#include <algorithm>
#include <system_error>

namespace engine {

HostLock::HostLock(kernels::Device& device, void* memory, size_t bytes)
    : device_(&device), memory_(static_cast<std::byte*>(memory)), bytes_(bytes) {
    // Nothing is taken between here and the end: the thread only appends.
    pieces_.reserve(bytes / kAtOnce + 2);
    if (bytes <= kAtOnce) {
        lock({});
        return;
    }
    try {
        thread_ = std::jthread([this](const std::stop_token& stop) { lock(stop); });
    } catch (const std::system_error&) {
        // No thread to be had: its owner goes on without.
        is_complete_ = false;
    }
}

HostLock::~HostLock() {
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
    }
    for (void* const piece : pieces_) {
        device_->unlockHost(piece);
    }
}

void HostLock::lock(const std::stop_token& stop) {
    for (size_t at = 0; at < bytes_;) {
        if (stop.stop_requested()) {
            return;
        }
        // Pieces end where pages end: none is locked twice.
        constexpr size_t kPage = size_t{2} << 20;
        const auto address = reinterpret_cast<uintptr_t>(memory_ + at);
        const size_t to_end = (address + kAtOnce) / kPage * kPage - address;
        const size_t piece = std::min(bytes_ - at, to_end);
        if (device_->lockHost(memory_ + at, piece) != kernels::Status::Ok) {
            for (void* const locked : pieces_) {
                device_->unlockHost(locked); // of no use
            }
            pieces_.clear();
            return;
        }
        pieces_.push_back(memory_ + at);
        at += piece;
    }
    is_complete_.store(true, std::memory_order_release);
}

} // namespace engine
