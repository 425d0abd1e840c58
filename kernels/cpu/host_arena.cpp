// SPDX-License-Identifier: Apache-2.0
// See host_arena.h. First fit from the lowest address: a load allocates everything in turn, so its
// blocks lie in the order of the layers, as decoding reads them.
#include "kernels/cpu/host_arena.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define BELFRY_SEES_BLOCKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BELFRY_SEES_BLOCKS 1
#endif
#endif

namespace kernels::cpu {

bool HostArena::isAvailable() {
#if defined(__linux__) && !defined(BELFRY_SEES_BLOCKS)
    return true;
#else
    return false;
#endif
}

#if defined(__linux__)

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kPage = 4096; ///< A larger page of the system only makes less go back.
constexpr size_t kHugePage = size_t{2} << 20;
/// Address space that is mapped at a time. Larger blocks get a region of their own size.
constexpr size_t kRegionBytes = size_t{256} << 20;

constexpr size_t roundUp(size_t value, size_t step) {
    return (value + step - 1) / step * step;
}
constexpr size_t roundDown(size_t value, size_t step) {
    return value / step * step;
}

} // namespace

HostArena::Region HostArena::mapRegion(size_t bytes) {
    Region region;
    const size_t wanted = roundUp(std::max(bytes, kRegionBytes), kHugePage);
    // Mapped with a huge page to spare, then cut to whole huge pages.
    void* const mapped = mmap(nullptr, wanted + kHugePage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        return region;
    }
    char* const start = static_cast<char*>(mapped);
    const size_t skipped = (kHugePage - reinterpret_cast<uintptr_t>(start) % kHugePage) % kHugePage;
    if (skipped > 0) {
        munmap(start, skipped);
    }
    munmap(start + skipped + wanted, kHugePage - skipped);
    region.base = start + skipped;
    region.bytes = wanted;
    region.free_bytes = wanted;
    return region;
}

void* HostArena::take(Region& region, size_t bytes) {
    const size_t size = roundUp(bytes, kAlignment);
    if (region.free_bytes < size) {
        return nullptr;
    }
    auto at = region.extents.lower_bound(region.first_free);
    const auto first = at;
    while (at != region.extents.end() && (!at->second.is_free || at->second.bytes < size)) {
        ++at;
    }
    if (at == region.extents.end()) {
        return nullptr;
    }
    const size_t begin = at->first;
    if (at->second.bytes > size) { // before anything changes: this may throw
        region.extents.emplace(begin + size, Extent{at->second.bytes - size, true});
        at->second.bytes = size;
    }
    at->second.is_free = false;
    region.free_bytes -= size;
    if (first == at) {
        region.first_free = begin + size;
    }
    const size_t filled = roundDown(begin + size, kHugePage);
    if (filled > region.advised) {
        // A hint; without huge pages everything works, only slower.
        (void)madvise(region.base + region.advised, filled - region.advised, MADV_HUGEPAGE);
        region.advised = filled;
    }
    return region.base + begin;
}

void* HostArena::allocate(size_t bytes) {
    if (bytes > SIZE_MAX / 2) {
        return nullptr;
    }
    try {
        for (auto& [base, region] : regions_) {
            if (void* const block = take(region, bytes); block != nullptr) {
                return block;
            }
        }
        Region fresh = mapRegion(bytes);
        if (fresh.base == nullptr) {
            return nullptr;
        }
        char* const base = fresh.base;
        const size_t size = fresh.bytes;
        try {
            fresh.extents.emplace(0, Extent{size, true});
            return take(regions_.emplace(base, std::move(fresh)).first->second, bytes);
        } catch (const std::bad_alloc&) {
            regions_.erase(base);
            munmap(base, size);
            return nullptr;
        }
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void HostArena::free(void* pointer) {
    char* const address = static_cast<char*>(pointer);
    auto found = regions_.upper_bound(address);
    if (found == regions_.begin()) {
        return;
    }
    Region& region = (--found)->second;
    const auto begin = static_cast<size_t>(address - region.base);
    auto at = region.extents.find(begin);
    if (at == region.extents.end() || at->second.is_free) {
        return;
    }
    const size_t end = begin + at->second.bytes;
    region.free_bytes += at->second.bytes;
    if (region.free_bytes == region.bytes) {
        munmap(region.base, region.bytes);
        regions_.erase(found);
        return;
    }
    at->second.is_free = true;
    if (const auto next = std::next(at); next != region.extents.end() && next->second.is_free) {
        at->second.bytes += next->second.bytes;
        region.extents.erase(next);
    }
    if (at != region.extents.begin()) {
        if (const auto before = std::prev(at); before->second.is_free) {
            before->second.bytes += at->second.bytes;
            region.extents.erase(at);
            at = before;
        }
    }
    region.first_free = std::min(region.first_free, at->first);
    // Pages that this block was the last to use, those that it shared with free neighbours too.
    const size_t lowest = std::max(roundUp(at->first, kPage), roundDown(begin, kPage));
    const size_t highest =
        std::min(roundDown(at->first + at->second.bytes, kPage), roundUp(end, kPage));
    if (lowest < highest) {
        (void)madvise(region.base + lowest, highest - lowest, MADV_DONTNEED);
    }
}

HostArena::~HostArena() {
    for (const auto& [base, region] : regions_) {
        munmap(base, region.bytes);
    }
}

#else

HostArena::Region HostArena::mapRegion(size_t /*bytes*/) {
    return {};
}
void* HostArena::take(Region& /*region*/, size_t /*bytes*/) {
    return nullptr;
}
void* HostArena::allocate(size_t /*bytes*/) {
    return nullptr;
}
void HostArena::free(void* /*pointer*/) {}
HostArena::~HostArena() = default;

#endif

size_t HostArena::reservedBytes() const {
    size_t sum = 0;
    for (const auto& [base, region] : regions_) {
        sum += region.bytes;
    }
    return sum;
}

} // namespace kernels::cpu
