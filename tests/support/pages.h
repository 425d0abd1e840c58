// SPDX-License-Identifier: Apache-2.0
// Pages of memory straight from the system, some of which nobody may touch: what ends there is
// caught in every build at the first byte behind it. Ends the program where there is no memory.
#pragma once

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace support {

/// What the functions below count in: sizes and addresses are multiples of it.
inline size_t pageBytes() {
#ifdef _WIN32
    SYSTEM_INFO info{};
    GetSystemInfo(&info);
    return info.dwPageSize;
#else
    return static_cast<size_t>(sysconf(_SC_PAGESIZE));
#endif
}

/// Readable, writable, zero; takes physical memory when it is touched first.
inline void* takePages(size_t bytes) {
#ifdef _WIN32
    void* const memory = VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    const bool is_there = memory != nullptr;
#else
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const bool is_there = memory != MAP_FAILED;
#endif
    if (!is_there) {
        std::fprintf(stderr, "no memory for pages of %zu bytes\n", bytes);
        std::abort();
    }
    return memory;
}

/// Nobody may read or write there from now on.
inline void forbidPages(void* from, size_t bytes) {
#ifdef _WIN32
    DWORD former = 0;
    const bool is_done = VirtualProtect(from, bytes, PAGE_NOACCESS, &former) != 0;
#else
    const bool is_done = mprotect(from, bytes, PROT_NONE) == 0;
#endif
    if (!is_done) {
        std::fprintf(stderr, "%zu bytes of pages could not be forbidden\n", bytes);
        std::abort();
    }
}

/// Back to the system, all that one takePages() gave.
inline void givePages(void* pages, [[maybe_unused]] size_t bytes) {
#ifdef _WIN32
    VirtualFree(pages, 0, MEM_RELEASE);
#else
    munmap(pages, bytes);
#endif
}

} // namespace support
