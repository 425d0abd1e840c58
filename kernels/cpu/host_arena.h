// SPDX-License-Identifier: Apache-2.0
// Memory for weights and caches, packed block after block into regions of huge pages, whatever the
// size of a block: reading them then meets few TLB misses, also where a tensor has less than a
// huge page or ends in the middle of one. Takes no more memory than the blocks: a huge page is only
// asked for where blocks fill it, and what is freed goes back to the system at once, page by page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kernels::cpu {

class HostArena {
public:
    HostArena() = default;
    HostArena(const HostArena&) = delete;
    HostArena& operator=(const HostArena&) = delete;
    /// Gives back all regions, also those with blocks.
    ~HostArena();

    /// Blocks below this are left to malloc.
    static constexpr size_t kLeastBytes = size_t{16} << 10;
    /// False where the system has no such memory, or a tool wants to see every block by itself.
    static bool isAvailable();

    /// Aligned to 64 bytes, zeros or what an earlier block left; nullptr when the system refuses.
    /// `bytes` > 0.
    void* allocate(size_t bytes);
    /// Frees a pointer that allocate() gave. Never fails.
    void free(void* pointer);
    /// Address space held now, in bytes; memory is taken page by page when it is written.
    [[nodiscard]] size_t reservedBytes() const;

private:
    struct Extent {
        size_t bytes = 0;
        bool is_free = false;
    };
    struct Region {
        char* base = nullptr;
        size_t bytes = 0;
        size_t free_bytes = 0;
        size_t advised = 0;               ///< Huge pages were asked for up to here.
        size_t first_free = 0;            ///< No free extent begins before.
        std::map<size_t, Extent> extents; ///< By offset, without gaps; no two free neighbours.
    };
    static Region mapRegion(size_t bytes);
    static void* take(Region& region, size_t bytes);

    std::map<char*, Region> regions_; ///< By base.
};

} // namespace kernels::cpu
