// SPDX-License-Identifier: Apache-2.0
// See machine_probe.h. Each figure is measured in short slices until its share of the budget is
// over, and the best slice counts: interruptions only ever make a slice slower.
#include "kernels/cpu/machine_probe.h"

#include "kernels/cpu/simd_tables.h"
#include "kernels/cpu/tables.h"
#include "kernels/weight_formats.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace kernels::cpu {

namespace {

constexpr int64_t kReadSlice = int64_t{1} << 20;   ///< Bytes per chunk of a job, at most ...
constexpr int64_t kLeastSlice = int64_t{64} << 10; ///< ... and at least.
constexpr int64_t kSlicesPerThread = 4;
constexpr int64_t kReadStep = 256; ///< What the loops read at once, or a multiple of it.
constexpr int64_t kProbeHugePage = int64_t{2} << 20;
constexpr int64_t kRounds = 20000; ///< Rounds per chunk of an arithmetic job.
constexpr int kFigures = 7;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

uint64_t portableRead(const void* data, size_t bytes) {
    const auto* words = static_cast<const uint64_t*>(data);
    uint64_t sum[4] = {0, 0, 0, 0};
    for (size_t i = 0; i + 4 <= bytes / sizeof(uint64_t); i += 4) {
        sum[0] += words[i];
        sum[1] += words[i + 1];
        sum[2] += words[i + 2];
        sum[3] += words[i + 3];
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

double portableFp32(int64_t rounds) {
    volatile float factor_value = 0.999F;
    const float factor = factor_value;
    float sum[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int64_t i = 0; i < rounds; ++i) {
        for (float& value : sum) {
            value = value * factor + factor;
        }
    }
    volatile float sink = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
    (void)sink;
    return static_cast<double>(rounds) * 16.0;
}

ProbeLoops findLoops() {
#if defined(__x86_64__)
    const OpTable* const used = &bestCpuOps();
    if (used == cpuAvx512Bf16Ops()) {
        return avx512Bf16ProbeLoops();
    }
    if (used == cpuAvx512VnniOps()) {
        return avx512VnniProbeLoops();
    }
    if (used == cpuAvx512Ops()) {
        return avx512ProbeLoops();
    }
    if (used == cpuAvx2Ops()) {
        return avx2ProbeLoops();
    }
#endif
    return {portableRead, portableFp32, nullptr};
}

/// The loops of the instruction set that the kernels use (limitCpuOps() may limit both). Found
/// once: a virtual machine may take 50 microseconds for each CPUID, as long as reading a small
/// weight.
ProbeLoops chooseLoops() {
    static const ProbeLoops loops = findLoops();
    return loops;
}

/// Best of amount() / seconds over repetitions of `slice` during `budget` seconds, at least three.
template <typename Slice>
double bestRate(double budget, Slice slice) {
    double best = 0.0;
    const double end = now() + budget;
    for (int i = 0; i < 3 || now() < end; ++i) {
        const double start = now();
        const double amount = slice();
        const double rate = amount / (now() - start) / 1e9;
        best = rate > best ? rate : best;
    }
    return best;
}

/// Memory of whole huge pages, touched; freed by the destructor.
class ProbeBuffer {
public:
    explicit ProbeBuffer(int64_t bytes) {
        const int64_t size = bytes / kProbeHugePage * kProbeHugePage;
        if (size <= 0) {
            return;
        }
#if defined(_WIN32)
        data_ = static_cast<char*>(
            _aligned_malloc(static_cast<size_t>(size), static_cast<size_t>(kProbeHugePage)));
#else
        data_ = static_cast<char*>(
            std::aligned_alloc(static_cast<size_t>(kProbeHugePage), static_cast<size_t>(size)));
#endif
        if (data_ == nullptr) {
            return;
        }
        size_ = size;
#if defined(__linux__)
        (void)madvise(data_, static_cast<size_t>(size), MADV_HUGEPAGE);
#endif
        std::memset(data_, 1, static_cast<size_t>(size));
    }
    ProbeBuffer(const ProbeBuffer&) = delete;
    ProbeBuffer& operator=(const ProbeBuffer&) = delete;
    ~ProbeBuffer() {
#if defined(_WIN32)
        _aligned_free(data_);
#else
        std::free(data_);
#endif
    }
    [[nodiscard]] char* data() const {
        return data_;
    }
    [[nodiscard]] int64_t size() const {
        return size_;
    }

private:
    char* data_ = nullptr;
    int64_t size_ = 0;
};

/// `asked`, or more where the last-level cache would serve a good part of it: servers have
/// hundreds of megabytes.
int64_t beyondCaches(int64_t asked) {
#if defined(_SC_LEVEL3_CACHE_SIZE)
    constexpr int64_t kTimesCache = 2;
    constexpr int64_t kShareOfMemory = 16;
    const int64_t most = std::min(int64_t{1} << 30,
                                  sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / kShareOfMemory);
    const int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE); // -1 or 0 where it is not known
    return asked <= 0 ? 0 : std::max(asked, std::min(most, kTimesCache * cache));
#else
    return asked;
#endif
}

void keep(uint64_t value) {
    static std::atomic<uint64_t> sink{0};
    sink.fetch_xor(value, std::memory_order_relaxed);
}

} // namespace

void readMemory(ThreadPool* pool, const void* data, int64_t bytes) {
    const ProbeLoops loops = chooseLoops();
    const char* base = static_cast<const char*>(data);
    // A weight of some megabytes is read by all threads too, as its product is.
    const int64_t threads = pool == nullptr ? 1 : pool->size();
    const int64_t grain = std::clamp(bytes / (kSlicesPerThread * threads) / kReadStep * kReadStep,
                                     kLeastSlice, kReadSlice);
    parallelFor(pool, bytes, grain, [&](int64_t begin, int64_t end) {
        keep(loops.read(base + begin, static_cast<size_t>(end - begin)));
    });
}

double measureRead(ThreadPool& pool, double budget_seconds, int64_t buffer_bytes) {
    const ProbeBuffer buffer(beyondCaches(buffer_bytes));
    if (buffer.data() == nullptr) {
        return 0.0;
    }
    return bestRate(budget_seconds, [&] {
        readMemory(&pool, buffer.data(), buffer.size());
        return static_cast<double>(buffer.size());
    });
}

double productSecondsFromCache(ThreadPool& pool, const OpTable& ops, const WeightView& weight) {
    constexpr int64_t kCacheBytes = int64_t{256} << 10; // half of it, and all of it, are timed
    constexpr int64_t kLeastRows = 16;
    constexpr int kPasses = 40;
    const int64_t row_bytes = std::max<int64_t>(1, weight.cols * rowOf(weight.format).bits / 8);
    const int64_t most = std::min(weight.rows, std::max(kLeastRows, kCacheBytes / row_bytes));
    // The difference of two numbers of rows: what a call takes beside its rows is left out.
    const int64_t many = most < 2 * kLeastRows ? most : most / (2 * kLeastRows) * 2 * kLeastRows;
    const int64_t few = many < 2 * kLeastRows ? 0 : many / 2;
    const std::vector<float> x(static_cast<size_t>(weight.cols), 0.5F);
    const auto threads = static_cast<size_t>(pool.size());
    std::vector<double> seconds(threads, 0.0);
    std::atomic<int> ready{0};
    std::atomic<bool> is_failed{false};
    pool.parallelFor(pool.size(), 1, [&](int64_t index, int64_t /*end*/) {
        std::vector<float> y(static_cast<size_t>(many));
        const auto time = [&](int64_t rows) {
            WeightView part = weight;
            part.rows = rows;
            const double start = now();
            const Status status = ops.linear(Queue{}, {x.data(), 1, weight.cols, weight.cols}, part,
                                             {y.data(), 1, rows, rows});
            is_failed = is_failed || status != Status::Ok;
            return now() - start;
        };
        // All at the same time; a thread that gets two turns does not wait for one that has none.
        ready.fetch_add(1);
        const double patience = now() + 1e-3;
        while (ready.load() < pool.size() && now() < patience) {
        }
        double best_many = 1e30;
        double best_few = few > 0 ? 1e30 : 0.0;
        for (int i = 0; i < kPasses; ++i) {
            best_many = std::min(best_many, time(many));
            if (few > 0) {
                best_few = std::min(best_few, time(few));
            }
        }
        seconds[static_cast<size_t>(index)] = best_many - best_few;
    });
    if (is_failed) {
        return 0.0;
    }
    const double slowest = *std::max_element(seconds.begin(), seconds.end());
    return slowest * static_cast<double>(weight.rows) / static_cast<double>(many - few) /
           static_cast<double>(threads);
}

MachineRates measureCpu(ThreadPool& pool, double budget_seconds, int64_t buffer_bytes) {
    const double start = now();
    const double share = budget_seconds / kFigures;
    const ProbeLoops loops = chooseLoops();
    MachineRates rates;
    rates.threads = pool.size();
    const auto arithmetic = [&](double (*loop)(int64_t), int threads) {
        return bestRate(share, [&] {
            const int64_t chunks = threads == 1 ? 1 : int64_t{4} * threads;
            std::atomic<int64_t> operations{0};
            parallelFor(threads == 1 ? nullptr : &pool, chunks, 1, [&](int64_t, int64_t) {
                operations.fetch_add(static_cast<int64_t>(loop(kRounds)));
            });
            return static_cast<double>(operations.load());
        });
    };
    rates.fp32_gflops_one = arithmetic(loops.fp32, 1);
    rates.fp32_gflops = arithmetic(loops.fp32, pool.size());
    if (loops.bf16 != nullptr) {
        rates.bf16_gflops_one = arithmetic(loops.bf16, 1);
        rates.bf16_gflops = arithmetic(loops.bf16, pool.size());
    }
    const ProbeBuffer buffer(beyondCaches(buffer_bytes));
    if (buffer.data() != nullptr) {
        const auto readAll = [&](ThreadPool* readers) {
            readMemory(readers, buffer.data(), buffer.size());
            return static_cast<double>(buffer.size());
        };
        rates.read_gb_per_s_one = bestRate(share, [&] { return readAll(nullptr); });
        rates.read_gb_per_s = bestRate(share, [&] { return readAll(&pool); });
        const int64_t half = buffer.size() / 2;
        rates.copy_gb_per_s = bestRate(share, [&] {
            pool.parallelFor(half, kReadSlice, [&](int64_t begin, int64_t end) {
                std::memcpy(buffer.data() + half + begin, buffer.data() + begin,
                            static_cast<size_t>(end - begin));
            });
            return static_cast<double>(2 * half);
        });
    }
    rates.seconds = now() - start;
    return rates;
}

} // namespace kernels::cpu
