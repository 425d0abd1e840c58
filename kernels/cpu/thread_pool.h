// SPDX-License-Identifier: Apache-2.0
// The CPU pool behind the kernels. Work is cut into chunks of `grain` indices whatever the number
// of threads is, so that a result that depends only on its chunk does not depend on the thread
// count. Each thread goes through a stretch of chunks of its own in order, the same one in every
// job of a size: what the processor reads ahead then is what the same core wants next, and nothing
// of it is shared with another core. Who is done helps the others, so that all end together.
// Workers spin for some microseconds after a job (decode enqueues hundreds of short jobs per token)
// and then sleep. No priorities, no futures.
#pragma once

#include "kernels/ops.h"

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
    /// One thread's part in a job: chunk after chunk, of its own stretch first.
    class Share {
    public:
        /// The next chunk, [begin, end). False: all are taken.
        bool operator()(int64_t& begin, int64_t& end);

    private:
        friend class ThreadPool;
        ThreadPool* pool_ = nullptr; ///< nullptr: the whole job belongs to this thread.
        uint64_t tag_ = 0;
        int64_t n_ = 0;
        int64_t grain_ = 1;
        int64_t chunks_ = 0;
        int64_t stretches_ = 1;
        int64_t at_ = 0;    ///< The stretch that chunks are taken of; without a pool, the chunk.
        int64_t tried_ = 0; ///< Stretches of which nothing is left.
    };

    /// `threads` counts the calling thread: 1 starts no worker. Values < 1 mean 1. When the system
    /// refuses a thread the pool is smaller; see size().
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// Threads that work on a job, the caller included.
    [[nodiscard]] int size() const { return static_cast<int>(workers_.size()) + 1; }

    /// Calls body(share) once on each thread that takes part; bool share(int64_t& begin, int64_t&
    /// end) gives it [0, grain), [grain, 2 grain), ... up to n, every one to one thread. Returns
    /// when all calls have returned. body must not throw, and goes on until the share is empty.
    /// From inside a job, or while another thread's job runs, it is called on the calling thread
    /// alone.
    template <typename Body>
    void parallelShares(int64_t n, int64_t grain, Body&& body) {
        using Callable = std::remove_reference_t<Body>;
        run(
            n, grain,
            [](void* context, Share& share) { (*static_cast<Callable*>(context))(share); },
            const_cast<void*>(static_cast<const void*>(&body)));
    }

    /// Calls fn(begin, end) for each chunk, under the same conditions.
    template <typename Fn>
    void parallelFor(int64_t n, int64_t grain, Fn&& fn) {
        parallelShares(n, grain, [&fn](Share& share) {
            int64_t begin = 0;
            int64_t end = 0;
            while (share(begin, end)) {
                fn(begin, end);
            }
        });
    }

    /// parallelShares() on the calling thread alone.
    template <typename Body>
    static void shareAlone(int64_t n, int64_t grain, Body&& body) {
        if (n > 0) {
            Share share = alone(n, grain);
            body(share);
        }
    }

    /// Number of processors this process may use (affinity respected), at least 1.
    static int availableProcessors();

private:
    using BodyFn = void (*)(void* context, Share& share);

    /// What a worker looks at between jobs and what it needs for one: a line of its own, written by
    /// the caller alone. All but `epoch` and `is_open` are written only while the job is closed and
    /// no worker is inside.
    struct alignas(kApart) Job {
        std::atomic<uint32_t> epoch{0};
        std::atomic<bool> is_open{false};
        std::atomic<int32_t> stretches{1};
        BodyFn body = nullptr;
        void* context = nullptr;
        uint64_t tag = 0; ///< Number of the job, kTagBits of it.
        int64_t n = 0;
        int64_t grain = 1;
        int64_t chunks = 0;
    };
    /// A thread's own line: nobody else writes it unless he helps.
    struct alignas(kApart) Place {
        /// Job and number of chunks taken of its stretch: a value of another job means none, so
        /// that nobody has to set it back.
        std::atomic<uint64_t> taken{0};
        std::atomic<uint32_t> is_inside{0}; ///< Whether the worker may touch the job.
    };
    static constexpr int kCountBits = 24;
    static constexpr uint64_t kMostTaken = (uint64_t{1} << kCountBits) - 1;
    static constexpr uint64_t kTagMask = ~uint64_t{0} >> kCountBits;

    static Share alone(int64_t n, int64_t grain);
    void run(int64_t n, int64_t grain, BodyFn body, void* context);
    void takePart(int64_t own);
    void workerLoop(int64_t own);

    std::vector<std::thread> workers_;
    std::unique_ptr<Place[]> places_; ///< [threads asked for], the caller's first.
    Job job_;
    alignas(kApart) std::atomic<bool> is_stopping_{false};
    alignas(kApart) std::atomic<bool> is_busy_{false};
};

/// The pool of a queue of the CPU's kernels; nullptr: none. A copy per file, because files with
/// other instruction sets call it too.
static inline ThreadPool* poolOf(Queue q) {
    return static_cast<ThreadPool*>(q.context);
}

/// parallelShares on `pool`, or on the calling thread (same chunks) when pool is nullptr.
template <typename Body>
void parallelShares(ThreadPool* pool, int64_t n, int64_t grain, Body&& body) {
    if (pool != nullptr) {
        pool->parallelShares(n, grain, body);
    } else {
        ThreadPool::shareAlone(n, grain, body);
    }
}

/// parallelFor on `pool`, or on the calling thread (same chunks) when pool is nullptr.
template <typename Fn>
void parallelFor(ThreadPool* pool, int64_t n, int64_t grain, Fn&& fn) {
    if (pool != nullptr) {
        pool->parallelFor(n, grain, fn);
        return;
    }
    grain = grain > 0 ? grain : 1;
    for (int64_t begin = 0; begin < n; begin += grain) {
        const int64_t end = begin + grain < n ? begin + grain : n;
        fn(begin, end);
    }
}

} // namespace kernels::cpu
