// SPDX-License-Identifier: Apache-2.0
#include "tests/support/memory/failing_memory.h"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

using support::MemoryFault;

std::atomic<bool> g_is_armed{false};
std::atomic<bool> g_is_sticky{false};
std::atomic<bool> g_on_other_threads{false};
std::atomic<int64_t> g_fail_at{0};
std::atomic<int64_t> g_calls{0};
std::atomic<int64_t> g_failed{0};
std::atomic<int64_t> g_failed_nothrow{0};
std::atomic<int64_t> g_live{0};
std::atomic<int> g_no_threads{0};
/// The thread that armed the fault. Plain thread-local data of the program itself: no allocation.
thread_local bool t_is_arming_thread = false;

bool failsNow(bool is_nothrow) {
    if (!g_is_armed.load(std::memory_order_relaxed) || t_is_arming_thread == g_on_other_threads) {
        return false;
    }
    const int64_t n = ++g_calls;
    const int64_t at = g_fail_at.load(std::memory_order_relaxed);
    if (at == 0 || n < at || (n > at && !g_is_sticky)) {
        return false;
    }
    ++g_failed;
    g_failed_nothrow += is_nothrow ? 1 : 0;
    return true;
}

void* allocate(size_t bytes, size_t alignment, bool is_nothrow) {
    if (failsNow(is_nothrow)) {
        return nullptr;
    }
    const size_t size = std::max<size_t>(bytes, 1);
    void* const block =
        alignment <= alignof(std::max_align_t)
            ? std::malloc(size)
            : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    g_live += block != nullptr ? 1 : 0;
    return block;
}

void* allocateOrThrow(size_t bytes, size_t alignment) {
    void* const block = allocate(bytes, alignment, false);
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    return block;
}

void giveBack(void* block) {
    g_live -= block != nullptr ? 1 : 0;
    std::free(block);
}

constexpr size_t kPlain = alignof(std::max_align_t);

} // namespace

// NOLINTBEGIN(misc-new-delete-overloads)
void* operator new(size_t bytes) {
    return allocateOrThrow(bytes, kPlain);
}
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
    return allocate(bytes, kPlain, true);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
    return allocateOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes,
                   std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
    return allocate(bytes, static_cast<size_t>(alignment), true);
}
void operator delete(void* block) noexcept {
    giveBack(block);
}
void operator delete(void* block, size_t /*bytes*/) noexcept {
    giveBack(block);
}
void operator delete(void* block, std::align_val_t /*alignment*/) noexcept {
    giveBack(block);
}
void operator delete(void* block, size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
    giveBack(block);
}
// NOLINTEND(misc-new-delete-overloads)

// NOLINTNEXTLINE(readability-identifier-naming): the system's name
extern "C" int pthread_create(pthread_t* thread,
                              const pthread_attr_t* attributes,
                              void* (*run)(void*),
                              void* argument) noexcept {
    if (g_no_threads > 0) {
        return EAGAIN;
    }
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto kCreate = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    return kCreate(thread, attributes, run, argument);
}

namespace support {

MemoryFault::MemoryFault(int64_t n, Which which, Where where) {
    t_is_arming_thread = true;
    g_on_other_threads = where == Where::OtherThreads;
    g_is_sticky = which == Which::Sticky;
    g_fail_at = n;
    g_calls = 0;
    g_failed = 0;
    g_failed_nothrow = 0;
    g_is_armed = true;
}

void MemoryFault::end() {
    g_is_armed = false;
    t_is_arming_thread = false;
}

int64_t MemoryFault::calls() {
    return g_calls;
}

int64_t MemoryFault::failed() {
    return g_failed;
}

int64_t MemoryFault::failedNothrow() {
    return g_failed_nothrow;
}

int64_t liveBlocks() {
    return g_live;
}

NoThreads::NoThreads() {
    ++g_no_threads;
}

NoThreads::~NoThreads() {
    --g_no_threads;
}

} // namespace support
