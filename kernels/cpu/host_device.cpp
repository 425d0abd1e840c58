// SPDX-License-Identifier: Apache-2.0
// Host memory behind kernels/device.h. Large blocks are aligned to 2 MiB and offered to the
// system as huge pages: streaming a weight then costs few TLB misses.
#include "kernels/cpu/host_device.h"

#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kernels::cpu {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr int kPoisonByte = 0xff;

/// nullptr when the system has no room. `bytes` > 0.
void* allocateBlock(size_t bytes) {
    const size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
    if (bytes > SIZE_MAX - kHugePage) {
        return nullptr;
    }
    // The size need not be a multiple of the alignment here: the tail of the last page stays
    // untouched, so it costs no memory.
    void* block = nullptr;
#if defined(_WIN32)
    block = _aligned_malloc(bytes, alignment);
#else
    if (posix_memalign(&block, alignment, bytes) != 0) {
        return nullptr;
    }
#endif
#if defined(__linux__)
    if (bytes >= kHugePage) {
        // A hint; without huge pages everything works, only slower.
        (void)madvise(block, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
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
    for (const auto& entry : blocks_) {
        freeBlock(entry.first);
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
    void* block = allocateBlock(bytes > 0 ? bytes : 1);
    if (block == nullptr) {
        return nullptr;
    }
    try {
        blocks_.emplace(block, Block{bytes, tag});
        used_by_tag_[tag] += bytes;
    } catch (const std::bad_alloc&) {
        blocks_.erase(block);
        freeBlock(block);
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
    blocks_.erase(found);
    freeBlock(pointer);
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

} // namespace kernels::cpu
