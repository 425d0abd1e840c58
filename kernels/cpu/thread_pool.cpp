// SPDX-License-Identifier: Apache-2.0
// Protocol between the caller and the workers. A worker says that it is inside before it looks
// whether the job is open; the caller closes the job before it looks whether anybody is inside.
// With sequentially consistent order one of the two sees the other, so a late worker never reads a
// job that is being replaced, and "closed and nobody inside" means all chunks done. Every worker
// says so in a line of its own: with one counter for all, 16 threads spend longer on it than on the
// rows of a small product.
#include "kernels/cpu/thread_pool.h"

#include <chrono>
#include <system_error>

#if defined(__linux__)
#include <sched.h>
#elif defined(_WIN32)
#include <windows.h>

#include <bit>
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

// Sleeping on a word and waking who does. libstdc++ 12 has no such call of Windows: what it makes
// of a condition variable there loses a wake-up that comes between its look at the word and its
// sleep.

/// Returns once `word` is another value than `seen`.
void waitWhile(std::atomic<uint32_t>& word, uint32_t seen) {
#if defined(_WIN32)
    while (word.load() == seen) {
        WaitOnAddress(&word, &seen, sizeof(seen), INFINITE);
    }
#else
    word.wait(seen);
#endif
}

void wakeOne(std::atomic<uint32_t>& word) {
#if defined(_WIN32)
    WakeByAddressSingle(&word);
#else
    word.notify_one();
#endif
}

void wakeAll(std::atomic<uint32_t>& word) {
#if defined(_WIN32)
    WakeByAddressAll(&word);
#else
    word.notify_all();
#endif
}

} // namespace

ThreadPool::ThreadPool(int threads) {
    const int64_t worker_count = threads > 1 ? threads - 1 : 0;
    places_ = std::make_unique<Place[]>(static_cast<size_t>(worker_count) + 1);
    try {
        workers_.reserve(static_cast<size_t>(worker_count));
        for (int64_t i = 1; i <= worker_count; ++i) {
            workers_.emplace_back([this, i] { workerLoop(i); });
        }
    } catch (const std::exception&) {
        // The system gave fewer threads (or no memory for them): work with those that started.
    }
}

ThreadPool::~ThreadPool() {
    is_stopping_.store(true);
    job_.epoch.fetch_add(1);
    wakeAll(job_.epoch);
    for (std::thread& worker : workers_) {
        worker.join();
    }
}

ThreadPool::Share ThreadPool::alone(int64_t n, int64_t grain) {
    Share share;
    share.n_ = n;
    share.grain_ = grain > 0 ? grain : 1;
    share.chunks_ = (n - 1) / share.grain_ + 1;
    return share;
}

bool ThreadPool::Share::operator()(int64_t& begin, int64_t& end) {
    const auto give = [&](int64_t chunk) {
        begin = chunk * grain_;
        end = n_ - begin < grain_ ? n_ : begin + grain_;
        return true;
    };
    if (pool_ == nullptr) {
        return at_ < chunks_ && give(at_++);
    }
    const int64_t least = chunks_ / stretches_; // the first `longer` have one more
    const int64_t longer = chunks_ % stretches_;
    for (; tried_ < stretches_; ++tried_) {
        std::atomic<uint64_t>& word = pool_->places_[static_cast<size_t>(at_)].taken;
        const int64_t count = least + (at_ < longer ? 1 : 0);
        uint64_t seen = word.load(std::memory_order_relaxed);
        for (;;) {
            const uint64_t taken = seen >> kCountBits == tag_ ? seen & kMostTaken : 0;
            if (static_cast<int64_t>(taken) >= count) {
                break;
            }
            if (word.compare_exchange_weak(seen, tag_ << kCountBits | (taken + 1),
                                           std::memory_order_relaxed)) {
                return give(at_ * least + (at_ < longer ? at_ : longer) +
                            static_cast<int64_t>(taken));
            }
        }
        at_ = at_ + 1 == stretches_ ? 0 : at_ + 1;
    }
    return false;
}

void ThreadPool::run(int64_t n, int64_t grain, BodyFn body, void* context) {
    if (n <= 0) {
        return;
    }
    Share all = alone(n, grain);
    const int64_t most = size() * static_cast<int64_t>(kMostTaken);
    const bool can_share =
        !workers_.empty() && all.chunks_ > 1 && all.chunks_ <= most && !t_is_inside_job;
    if (!can_share || is_busy_.exchange(true)) {
        body(context, all);
        return;
    }
    job_.body = body;
    job_.context = context;
    job_.tag = (job_.tag + 1) & kTagMask;
    job_.n = n;
    job_.grain = all.grain_;
    job_.chunks = all.chunks_;
    job_.stretches.store(
        static_cast<int32_t>(all.chunks_ < size() ? all.chunks_ : static_cast<int64_t>(size())),
        std::memory_order_relaxed);
    job_.is_open.store(true, std::memory_order_release);
    job_.epoch.fetch_add(1);
    wakeAll(job_.epoch);

    takePart(0);

    job_.is_open.store(false);
    // All lines in one go, so that they come from the other cores at the same time.
    const auto isAnyInside = [this] {
        uint32_t inside = 0;
        for (size_t i = 1; i <= workers_.size(); ++i) {
            inside |= places_[i].is_inside.load();
        }
        return inside != 0;
    };
    if (isAnyInside() && !spinUntil([&] { return !isAnyInside(); })) {
        for (size_t i = 1; i <= workers_.size(); ++i) {
            while (places_[i].is_inside.load() != 0) {
                waitWhile(places_[i].is_inside, 1);
            }
        }
    }
    is_busy_.store(false, std::memory_order_release);
}

void ThreadPool::takePart(int64_t own) {
    Share share;
    share.pool_ = this;
    share.tag_ = job_.tag;
    share.n_ = job_.n;
    share.grain_ = job_.grain;
    share.chunks_ = job_.chunks;
    share.stretches_ = job_.stretches.load(std::memory_order_relaxed);
    share.at_ = own;
    t_is_inside_job = true;
    job_.body(job_.context, share);
    t_is_inside_job = false;
}

void ThreadPool::workerLoop(int64_t own) {
    std::atomic<uint32_t>& is_inside = places_[static_cast<size_t>(own)].is_inside;
    uint32_t seen = 0;
    uint64_t done = 0; // the last job it took part in
    for (;;) {
        if (!spinUntil([this, seen] { return job_.epoch.load() != seen; })) {
            waitWhile(job_.epoch, seen);
        }
        seen = job_.epoch.load();
        if (is_stopping_.load()) {
            return;
        }
        // Nothing for this thread in so small a job: it does not even say that it is inside.
        if (own >= job_.stretches.load(std::memory_order_relaxed)) {
            continue;
        }
        is_inside.store(1);
        // Asked again: only now is the job the one that is read. A worker that came late to the
        // job before may have taken part in this one already.
        if (job_.is_open.load() && job_.tag != done &&
            own < job_.stretches.load(std::memory_order_relaxed)) {
            done = job_.tag;
            takePart(own);
        }
        is_inside.store(0);
        wakeOne(is_inside);
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
#elif defined(_WIN32)
    // The processors of the process's group (up to 64), where its threads run.
    DWORD_PTR ours = 0;
    DWORD_PTR all = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &ours, &all) != 0 && ours != 0) {
        return std::popcount(ours);
    }
#endif
    const unsigned count = std::thread::hardware_concurrency();
    return count > 0 ? static_cast<int>(count) : 1;
}

} // namespace kernels::cpu
