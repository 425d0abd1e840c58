// SPDX-License-Identifier: Apache-2.0
// Host memory behind kernels/device.h. What is not tiny lies in huge pages (host_arena.h), where
// the system has them.
#include "kernels/cpu/host_device.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace kernels::cpu {

namespace {

constexpr size_t kDeviceAlignment = 64;
constexpr int kPoisonByte = 0xff;

/// nullptr when the system has no room. `bytes` > 0.
void* allocateBlock(size_t bytes) {
    void* block = nullptr;
#if defined(_WIN32)
    block = _aligned_malloc(bytes, kDeviceAlignment);
#else
    if (posix_memalign(&block, kDeviceAlignment, bytes) != 0) {
        return nullptr;
    }
#endif
    return block;
}

void freeBlock(void* block) {
#if defined(_WIN32)
    _aligned_free(block);
#else
    std::free(block);
#endif
}

} // namespace

HostDevice::HostDevice(uint64_t capacity, ThreadPool* pool, const OpTable& ops)
    : capacity_(capacity), pool_(pool), ops_(&ops) {}

HostDevice::~HostDevice() {
    for (const auto& [pointer, block] : blocks_) {
        if (!block.is_in_arena) {
            freeBlock(pointer);
        }
    }
}

void* HostDevice::allocate(size_t bytes, int tag) {
    ++allocation_calls_;
    if (fail_countdown_ > 0 && --fail_countdown_ == 0) {
        return nullptr;
    }
    if (capacity_ != 0 && (used_ > capacity_ || bytes > capacity_ - used_)) {
        return nullptr;
    }
    const bool is_in_arena = HostArena::isAvailable() && bytes >= HostArena::kLeastBytes;
    void* block = is_in_arena ? arena_.allocate(bytes) : allocateBlock(bytes > 0 ? bytes : 1);
    if (block == nullptr) {
        return nullptr;
    }
    try {
        blocks_.emplace(block, Block{bytes, tag, is_in_arena});
        used_by_tag_[tag] += bytes;
    } catch (const std::bad_alloc&) {
        blocks_.erase(block);
        giveBack(block, is_in_arena);
        return nullptr;
    }
    used_ += bytes;
    peak_ = used_ > peak_ ? used_ : peak_;
    if (has_poison_) {
        std::memset(block, kPoisonByte, bytes);
    }
    return block;
}

void HostDevice::free(void* pointer) {
    const auto found = blocks_.find(pointer);
    if (found == blocks_.end()) {
        return;
    }
    used_ -= found->second.bytes;
    used_by_tag_[found->second.tag] -= found->second.bytes;
    const bool is_in_arena = found->second.is_in_arena;
    blocks_.erase(found);
    giveBack(pointer, is_in_arena);
}

void HostDevice::giveBack(void* pointer, bool is_in_arena) {
    if (is_in_arena) {
        arena_.free(pointer);
    } else {
        freeBlock(pointer);
    }
}

MemoryInfo HostDevice::memory() const {
    return {capacity_, used_, peak_, used_};
}

uint64_t HostDevice::usedBytes(int tag) const {
    const auto found = used_by_tag_.find(tag);
    return found == used_by_tag_.end() ? 0 : found->second;
}

Status HostDevice::copyIn(void* device_dst, const void* host_src, size_t bytes) {
    if (bytes > 0) {
        std::memmove(device_dst, host_src, bytes);
    }
    return Status::Ok;
}

Status HostDevice::copyOut(void* host_dst, const void* device_src, size_t bytes) {
    if (bytes > 0) {
        std::memmove(host_dst, device_src, bytes);
    }
    return Status::Ok;
}

Status HostDevice::clear(void* dst, size_t bytes) {
    if (bytes > 0) {
        std::memset(dst, 0, bytes);
    }
    return Status::Ok;
}

} // namespace kernels::cpu
