// SPDX-License-Identifier: Apache-2.0
// Protocol between the caller and the workers. A worker counts itself in (`inside_`) before it
// looks whether the job is open; the caller closes the job before it looks whether anybody is
// inside. With sequentially consistent order one of the two sees the other, so a late worker
// never reads a job that is being replaced, and "closed and nobody inside" means all chunks done.
#include "kernels/cpu/thread_pool.h"

#include <chrono>
#include <system_error>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kernels::cpu {

namespace {

constexpr auto kSpinTime = std::chrono::microseconds(50);
constexpr int kSpinsBetweenClockReads = 32;

/// True on a thread that is running a chunk: nested jobs run in place.
thread_local bool t_is_inside_job = false;

void pauseCpu() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Spins until done() or the spin time is over; returns done().
template <typename Done>
bool spinUntil(Done done) {
    const auto limit = std::chrono::steady_clock::now() + kSpinTime;
    do {
        for (int i = 0; i < kSpinsBetweenClockReads; ++i) {
            if (done()) {
                return true;
            }
            pauseCpu();
        }
    } while (std::chrono::steady_clock::now() < limit);
    return done();
}

} // namespace

ThreadPool::ThreadPool(int threads) {
    const int worker_count = threads > 1 ? threads - 1 : 0;
    try {
        workers_.reserve(static_cast<size_t>(worker_count));
        for (int i = 0; i < worker_count; ++i) {
            workers_.emplace_back([this] { workerLoop(); });
        }
    } catch (const std::exception&) {
        // The system gave fewer threads (or no memory for them): work with those that started.
    }
}

ThreadPool::~ThreadPool() {
    is_stopping_.store(true);
    epoch_.fetch_add(1);
    epoch_.notify_all();
    for (std::thread& worker : workers_) {
        worker.join();
    }
}

void ThreadPool::run(int64_t n, int64_t grain, ChunkFn fn, void* context) {
    if (n <= 0) {
        return;
    }
    grain = grain > 0 ? grain : 1;
    const int64_t chunks = (n - 1) / grain + 1;
    const bool can_share = !workers_.empty() && chunks > 1 && !t_is_inside_job;
    if (!can_share || is_busy_.exchange(true)) {
        for (int64_t begin = 0; begin < n; begin += grain) {
            fn(context, begin, n - begin < grain ? n : begin + grain);
        }
        return;
    }
    fn_ = fn;
    context_ = context;
    n_ = n;
    grain_ = grain;
    chunks_ = chunks;
    next_chunk_.store(0, std::memory_order_relaxed);
    is_open_.store(true);
    epoch_.fetch_add(1);
    epoch_.notify_all();

    claimChunks();

    is_open_.store(false);
    if (!spinUntil([this] { return inside_.load() == 0; })) {
        for (int count = inside_.load(); count != 0; count = inside_.load()) {
            inside_.wait(count);
        }
    }
    is_busy_.store(false, std::memory_order_release);
}

void ThreadPool::claimChunks() {
    t_is_inside_job = true;
    for (;;) {
        const int64_t chunk = next_chunk_.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= chunks_) {
            break;
        }
        const int64_t begin = chunk * grain_;
        fn_(context_, begin, n_ - begin < grain_ ? n_ : begin + grain_);
    }
    t_is_inside_job = false;
}

void ThreadPool::workerLoop() {
    uint32_t seen = 0;
    for (;;) {
        if (!spinUntil([this, seen] { return epoch_.load() != seen; })) {
            epoch_.wait(seen);
        }
        seen = epoch_.load();
        if (is_stopping_.load()) {
            return;
        }
        inside_.fetch_add(1);
        if (is_open_.load()) {
            claimChunks();
        }
        if (inside_.fetch_sub(1) == 1) {
            inside_.notify_all();
        }
    }
}

int ThreadPool::availableProcessors() {
#if defined(__linux__)
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        const int count = CPU_COUNT(&set);
        return count > 0 ? count : 1;
    }
#endif
    const unsigned count = std::thread::hardware_concurrency();
    return count > 0 ? static_cast<int>(count) : 1;
}

} // namespace kernels::cpu
