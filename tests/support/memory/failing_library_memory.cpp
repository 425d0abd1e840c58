// SPDX-License-Identifier: Apache-2.0
#include "tests/support/memory/failing_library_memory.h"

#include <link.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

// The C library's own, under names that stay when the usual ones are replaced.
extern "C" {
void* __libc_malloc(size_t bytes);               // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(size_t count, size_t bytes); // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* block, size_t bytes); // NOLINT(bugprone-reserved-identifier)
}

namespace {

struct Range {
    uintptr_t from, to;
};
std::array<Range, 64> g_ranges;
size_t g_range_count = 0;
int64_t g_libraries = 0;
std::atomic<bool> g_is_armed{false};
bool g_is_sticky = false;
int64_t g_fail_at = 0;
std::atomic<int64_t> g_calls{0};
std::atomic<int64_t> g_failed{0};

/// `caller`: where the allocation returns to.
bool failsNow(const void* caller) {
    if (!g_is_armed.load(std::memory_order_relaxed)) {
        return false;
    }
    const auto at = reinterpret_cast<uintptr_t>(caller);
    bool is_watched = false;
    for (size_t i = 0; i < g_range_count; ++i) {
        is_watched = is_watched || (at >= g_ranges[i].from && at < g_ranges[i].to);
    }
    if (!is_watched) {
        return false;
    }
    const int64_t n = ++g_calls;
    if (g_fail_at == 0 || n < g_fail_at || (n > g_fail_at && !g_is_sticky)) {
        return false;
    }
    ++g_failed;
    errno = ENOMEM;
    return true;
}

int addLibrary(dl_phdr_info* info, size_t /*size*/, void* names) {
    const char* const slash = std::strrchr(info->dlpi_name, '/');
    const std::string file = *info->dlpi_name == '\0' ? "program"
                             : slash == nullptr       ? info->dlpi_name
                                                      : slash + 1;
    bool is_named = false;
    for (const std::string& name : *static_cast<const std::vector<std::string>*>(names)) {
        is_named = is_named || file.starts_with(name);
    }
    if (!is_named) {
        return 0;
    }
    ++g_libraries;
    for (int i = 0; i < info->dlpi_phnum && g_range_count < g_ranges.size(); ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) {
            const uintptr_t from = info->dlpi_addr + part.p_vaddr;
            g_ranges[g_range_count++] = {from, from + part.p_memsz};
        }
    }
    return 0;
}

} // namespace

#ifndef __SANITIZE_ADDRESS__ // which has replacements of its own
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" void* malloc(size_t bytes) noexcept {
    return failsNow(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
extern "C" void* calloc(size_t count, size_t bytes) noexcept {
    return failsNow(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}
extern "C" void* realloc(void* block, size_t bytes) noexcept {
    return failsNow(__builtin_return_address(0)) ? nullptr : __libc_realloc(block, bytes);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
#endif

namespace support {

LibraryMemoryFault::LibraryMemoryFault(const std::vector<std::string>& libraries,
                                       int64_t n,
                                       bool is_sticky) {
    g_range_count = 0;
    g_libraries = 0;
    dl_iterate_phdr(addLibrary, const_cast<std::vector<std::string>*>(&libraries));
    g_fail_at = n;
    g_is_sticky = is_sticky;
    g_calls = 0;
    g_failed = 0;
    g_is_armed = true;
}

void LibraryMemoryFault::end() {
    g_is_armed = false;
}

int64_t LibraryMemoryFault::calls() {
    return g_calls;
}

int64_t LibraryMemoryFault::failed() {
    return g_failed;
}

int64_t LibraryMemoryFault::libraries() {
    return g_libraries;
}

} // namespace support
