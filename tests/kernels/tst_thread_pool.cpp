// SPDX-License-Identifier: Apache-2.0
// The pool: every index exactly once, chunk borders independent of the thread count, nested and
// concurrent jobs, sleeping and waking, many short jobs.
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/thread_owned.h"
#include "kernels/cpu/thread_pool.h"
#include "tests/support/program/test_class.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using kernels::cpu::ThreadPool;

class TestThreadPool : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyIndexOnce_data();
    void everyIndexOnce();
    void stretches_data();
    void stretches();
    void stretchesInOrder();
    void unfinishedJobs();
    void chunkBorders();
    void usesItsThreads();
    void nestedJobs();
    void concurrentJobs();
    void manyShortJobs();
    void sleepsAndWakes();
    void startsAndStops();
    void ownedByThreads();
    void scratchOfThreadsThatEnd();
};

namespace {

/// Tells in what state it was destroyed.
struct Witness {
    Witness() = default;
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    ~Witness() {
        whole += text == std::string(100, 'w') ? 1 : 0;
        ++destroyed;
    }
    std::string text = std::string(100, 'w'); // longer than what a string holds in itself
    static inline std::atomic<int> whole{0};
    static inline std::atomic<int> destroyed{0};
};

} // namespace

void TestThreadPool::everyIndexOnce_data() {
    support::addColumns<int, int, int>("threads", "n", "grain");
    for (const int threads : {0, 1, 2, 3, 9}) {
        for (const int n : {0, 1, 7, 1000}) {
            for (const int grain : {0, 1, 3, 1000, 5000}) {
                QTest::addRow("%d threads, %d by %d", threads, n, grain) << threads << n << grain;
            }
        }
    }
}

void TestThreadPool::everyIndexOnce() {
    QFETCH(int, threads);
    QFETCH(int, n);
    QFETCH(int, grain);
    ThreadPool pool(threads);
    QVERIFY(pool.size() >= 1);
    std::vector<std::atomic<int>> hits(static_cast<size_t>(n));
    pool.parallelFor(n, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            hits[static_cast<size_t>(i)].fetch_add(1);
        }
    });
    for (const auto& hit : hits) {
        QCOMPARE(hit.load(), 1);
    }
}

void TestThreadPool::stretches_data() {
    everyIndexOnce_data();
    QTest::newRow("more threads than stretches") << 40 << 5000 << 3;
    QTest::newRow("fewer chunks than threads") << 9 << 5 << 2;
}

void TestThreadPool::stretches() {
    QFETCH(int, threads);
    QFETCH(int, n);
    QFETCH(int, grain);
    ThreadPool pool(threads);
    for (ThreadPool* const used : {static_cast<ThreadPool*>(nullptr), &pool}) {
        std::vector<std::atomic<int>> hits(static_cast<size_t>(n));
        std::atomic<bool> is_too_large{false};
        kernels::cpu::parallelShares(used, n, grain, [&](auto& next) {
            int64_t begin = 0;
            int64_t end = 0;
            while (next(begin, end)) {
                if (end <= begin || end - begin > std::max(grain, 1) ||
                    begin % std::max(grain, 1)) {
                    is_too_large = true;
                }
                for (int64_t i = begin; i < end; ++i) {
                    hits[static_cast<size_t>(i)].fetch_add(1);
                }
            }
        });
        QVERIFY(!is_too_large);
        for (const auto& hit : hits) {
            QCOMPARE(hit.load(), 1);
        }
    }
}

/// The caller keeps the first of ten chunks until the other thread has the rest: its own stretch in
/// order, then what is left of the caller's. The other one waits for the caller's beginning: on a
/// busy machine it would help with that chunk, too.
void TestThreadPool::stretchesInOrder() {
    ThreadPool pool(2);
    QCOMPARE(pool.size(), 2);
    for (int round = 0; round < 50; ++round) {
        std::vector<int64_t> begins[2];
        std::atomic<bool> has_begun{false};
        std::atomic<bool> is_empty{false};
        std::atomic<bool> is_late{false};
        std::atomic<bool> is_wrong_end{false};
        const auto caller = std::this_thread::get_id();
        pool.parallelShares(98, 10, [&](auto& next) {
            const bool is_caller = std::this_thread::get_id() == caller;
            const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
            int64_t begin = 0;
            int64_t end = 0;
            while (next(begin, end)) {
                is_wrong_end = is_wrong_end || end != std::min<int64_t>(98, begin + 10);
                begins[is_caller ? 0 : 1].push_back(begin);
                if (is_caller) {
                    has_begun = true;
                }
                while (!(is_caller ? is_empty : has_begun) && !is_late) {
                    is_late = std::chrono::steady_clock::now() > limit;
                    std::this_thread::yield();
                }
            }
            is_empty = true;
        });
        QVERIFY(!is_late);
        QVERIFY(!is_wrong_end);
        QCOMPARE(begins[0], (std::vector<int64_t>{0}));
        QCOMPARE(begins[1], (std::vector<int64_t>{50, 60, 70, 80, 90, 10, 20, 30, 40}));
    }
}

/// A thread that stops early (it has no memory for its part) leaves chunks that nobody takes; the
/// next jobs are not touched by that.
void TestThreadPool::unfinishedJobs() {
    ThreadPool pool(3);
    for (int round = 0; round < 2000; ++round) {
        std::atomic<int> count{0};
        pool.parallelShares(9, 1, [&](auto& next) {
            int64_t begin = 0;
            int64_t end = 0;
            count += next(begin, end) ? 1 : 0;
        });
        QVERIFY(count >= 1 && count <= 3);
        std::atomic<int> all{0};
        pool.parallelFor(9, 1,
                         [&](int64_t begin, int64_t end) { all += static_cast<int>(end - begin); });
        QCOMPARE(all.load(), 9);
    }
}

void TestThreadPool::chunkBorders() {
    for (const int threads : {1, 2, 4}) {
        ThreadPool pool(threads);
        std::mutex mutex;
        std::set<std::pair<int64_t, int64_t>> chunks;
        pool.parallelFor(25, 10, [&](int64_t begin, int64_t end) {
            const std::lock_guard<std::mutex> lock(mutex);
            chunks.insert({begin, end});
        });
        const std::set<std::pair<int64_t, int64_t>> expected = {{0, 10}, {10, 20}, {20, 25}};
        QVERIFY(chunks == expected);
    }
}

/// Two chunks that wait for each other can only end on two threads.
void TestThreadPool::usesItsThreads() {
    ThreadPool pool(2);
    QCOMPARE(pool.size(), 2);
    std::atomic<int> arrived{0};
    std::atomic<bool> is_late{false};
    pool.parallelFor(2, 1, [&](int64_t, int64_t) {
        arrived.fetch_add(1);
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (arrived.load() < 2 && !is_late.load()) {
            if (std::chrono::steady_clock::now() > limit) {
                is_late.store(true);
            }
            std::this_thread::yield();
        }
    });
    QVERIFY(!is_late.load());
}

void TestThreadPool::nestedJobs() {
    ThreadPool pool(3);
    std::atomic<int64_t> sum{0};
    pool.parallelFor(20, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            pool.parallelFor(10, 2, [&](int64_t b, int64_t e) { sum.fetch_add(e - b); });
        }
    });
    QCOMPARE(sum.load(), int64_t{200});
}

void TestThreadPool::concurrentJobs() {
    ThreadPool pool(2);
    std::atomic<int64_t> sum{0};
    const auto work = [&] {
        for (int i = 0; i < 500; ++i) {
            pool.parallelFor(16, 1, [&](int64_t b, int64_t e) { sum.fetch_add(e - b); });
        }
    };
    std::thread other(work);
    work();
    other.join();
    QCOMPARE(sum.load(), int64_t{2 * 500 * 16});
}

/// Thousands of jobs in a row with data of their own on the stack: a worker that came late to one
/// job must not touch it after its end, nor the next before it is complete.
void TestThreadPool::manyShortJobs() {
    ThreadPool pool(4);
    for (int round = 0; round < 20000; ++round) {
        int64_t parts[5] = {0, 0, 0, 0, 0};
        const int64_t n = 1 + round % 5;
        pool.parallelFor(n, 1, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                parts[i] = round + i;
            }
        });
        for (int64_t i = 0; i < n; ++i) {
            QCOMPARE(parts[i], round + i);
        }
    }
}

void TestThreadPool::sleepsAndWakes() {
    ThreadPool pool(3);
    for (int round = 0; round < 20; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // longer than the spinning
        std::atomic<int> count{0};
        pool.parallelFor(30, 1, [&](int64_t, int64_t) { count.fetch_add(1); });
        QCOMPARE(count.load(), 30);
    }
}

void TestThreadPool::startsAndStops() {
    for (int round = 0; round < 100; ++round) {
        ThreadPool pool(1 + round % 4);
        if (round % 2 == 0) {
            std::atomic<int> count{0};
            pool.parallelFor(4, 1, [&](int64_t, int64_t) { count.fetch_add(1); });
            QCOMPARE(count.load(), 4);
        }
    }
    QVERIFY(ThreadPool::availableProcessors() >= 1);
}

void TestThreadPool::ownedByThreads() {
    struct Use;
    struct OtherUse;
    std::mutex mutex;
    std::set<const Witness*> seen;
    std::atomic<int> waiting{4};
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            Witness& own = kernels::cpu::threadOwned<Witness, Use>();
            Witness& other = kernels::cpu::threadOwned<Witness, OtherUse>();
            const bool is_same = &own == &kernels::cpu::threadOwned<Witness, Use>();
            {
                const std::lock_guard lock(mutex);
                seen.insert(&other);
                if (is_same) {
                    seen.insert(&own);
                }
            }
            --waiting;
            while (waiting.load() > 0) { // all alive at once: no two in the same place
                std::this_thread::yield();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    QCOMPARE(seen.size(), size_t{8});
    QCOMPARE(Witness::destroyed.load(), 8);
    QCOMPARE(Witness::whole.load(), 8);
}

void TestThreadPool::scratchOfThreadsThatEnd() {
    std::atomic<int> filled{0};
    for (int i = 0; i < 50; ++i) {
        std::thread([&] {
            auto* const bytes =
                kernels::cpu::threadScratchOf<char>(kernels::cpu::ScratchSlot::Panel, 100'000);
            if (bytes != nullptr) {
                std::fill_n(bytes, 100'000, 'x');
                ++filled;
            }
        }).join();
    }
    QCOMPARE(filled.load(), 50);
}

TEST_CLASS(TestThreadPool)
#include "tst_thread_pool.moc"
