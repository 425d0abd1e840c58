// SPDX-License-Identifier: Apache-2.0
// The CPU pool behind the kernels. Work is cut into chunks of `grain` indices whatever the number
// of threads is, and chunks are claimed one by one, so that a result that depends only on its
// chunk does not depend on the thread count. Workers spin for some microseconds after a job
// (decode enqueues hundreds of short jobs per token) and then sleep. No priorities, no futures.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace kernels::cpu {

/// Bytes between values that different threads write. Two lines, not one: processors fetch the
/// neighbour of a line with it, and a counter beside another thread's would wander from core to
/// core.
constexpr size_t kApart = 128;

class ThreadPool {
public:
    /// `threads` counts the calling thread: 1 starts no worker. Values < 1 mean 1. When the system
    /// refuses a thread the pool is smaller; see size().
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// Threads that work on a job, the caller included.
    [[nodiscard]] int size() const { return static_cast<int>(workers_.size()) + 1; }

    /// Calls fn(begin, end) for [0, grain), [grain, 2 grain), ... up to n and returns when all
    /// calls have returned. fn must not throw. From inside a job, or while another thread's job
    /// runs, the calls are made on the calling thread.
    template <typename Fn>
    void parallelFor(int64_t n, int64_t grain, Fn&& fn) {
        using Callable = std::remove_reference_t<Fn>;
        run(
            n, grain,
            [](void* context, int64_t begin, int64_t end) {
                (*static_cast<Callable*>(context))(begin, end);
            },
            const_cast<void*>(static_cast<const void*>(&fn)));
    }

    /// Number of processors this process may use (affinity respected), at least 1.
    static int availableProcessors();

private:
    using ChunkFn = void (*)(void* context, int64_t begin, int64_t end);

    void run(int64_t n, int64_t grain, ChunkFn fn, void* context);
    void claimChunks();
    void workerLoop();

    std::vector<std::thread> workers_;
    // The job. Written only while `is_open_` is false and nobody is inside.
    ChunkFn fn_ = nullptr;
    void* context_ = nullptr;
    int64_t n_ = 0;
    int64_t grain_ = 1;
    int64_t chunks_ = 0;
    alignas(kApart) std::atomic<int64_t> next_chunk_{0};
    alignas(kApart) std::atomic<bool> is_open_{false};
    std::atomic<int> inside_{0}; ///< Workers that may touch the job.
    alignas(kApart) std::atomic<uint32_t> epoch_{0};
    std::atomic<bool> is_stopping_{false};
    alignas(kApart) std::atomic<bool> is_busy_{false};
};

/// parallelFor on `pool`, or on the calling thread (same chunks) when pool is nullptr.
template <typename Fn>
void parallelFor(ThreadPool* pool, int64_t n, int64_t grain, Fn&& fn) {
    if (pool != nullptr) {
        pool->parallelFor(n, grain, fn);
        return;
    }
    for (int64_t begin = 0; begin < n; begin += grain) {
        const int64_t end = begin + grain < n ? begin + grain : n;
        fn(begin, end);
    }
}

/// Hands out chunks of [0, n) so that each thread goes through a stretch of its own in order; who
/// is done with his helps the others. What a processor reads ahead then is what the same core wants
/// next, and the chunks can be small enough that threads end together.
class Stretches {
public:
    Stretches(int64_t n, int64_t grain, int threads)
        : grain_(std::max<int64_t>(1, grain)),
          count_(static_cast<size_t>(std::clamp<int64_t>(threads, 1, kMost))) {
        const int64_t chunks = (n + grain_ - 1) / grain_;
        const auto parts = static_cast<int64_t>(count_);
        for (int64_t i = 0; i < parts; ++i) {
            Stretch& stretch = stretches_[static_cast<size_t>(i)];
            stretch.next.store(chunks * i / parts * grain_, std::memory_order_relaxed);
            stretch.end = std::min(n, chunks * (i + 1) / parts * grain_);
        }
    }
    [[nodiscard]] int64_t count() const { return static_cast<int64_t>(count_); }
    /// Where stretch `own` goes on; where it begins as long as nobody has taken a chunk of it.
    [[nodiscard]] int64_t beginOf(int64_t own) const {
        return stretches_[static_cast<size_t>(own)].next.load(std::memory_order_relaxed);
    }

    /// The next chunk for the thread that began with stretch `own`. False: all are taken.
    bool next(int64_t own, int64_t& begin, int64_t& end) {
        for (size_t i = 0; i < count_; ++i) {
            Stretch& stretch = stretches_[(static_cast<size_t>(own) + i) % count_];
            if (stretch.next.load(std::memory_order_relaxed) >= stretch.end) {
                continue;
            }
            begin = stretch.next.fetch_add(grain_, std::memory_order_relaxed);
            if (begin < stretch.end) {
                end = std::min(begin + grain_, stretch.end);
                return true;
            }
        }
        return false;
    }

private:
    static constexpr int64_t kMost = 32; ///< More threads share stretches.
    struct alignas(kApart) Stretch {
        std::atomic<int64_t> next{0};
        int64_t end = 0;
    };
    int64_t grain_;
    size_t count_;
    alignas(kApart) std::array<Stretch, kMost> stretches_;
};

/// Calls body(next) once on each thread that takes part; bool next(int64_t& begin, int64_t& end)
/// gives it chunk after chunk of [0, n), see Stretches. Every index is in exactly one chunk.
template <typename Body>
void parallelStretches(ThreadPool* pool, int64_t n, int64_t grain, Body&& body) {
    if (n <= 0) {
        return;
    }
    Stretches stretches(n, grain, pool == nullptr ? 1 : pool->size());
    parallelFor(pool, stretches.count(), 1, [&](int64_t own, int64_t /*end*/) {
        body([&stretches, own](int64_t& begin, int64_t& end) {
            return stretches.next(own, begin, end);
        });
    });
}

} // namespace kernels::cpu
