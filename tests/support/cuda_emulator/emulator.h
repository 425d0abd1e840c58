// SPDX-License-Identifier: Apache-2.0
// Runs a CUDA kernel compiled as C++ on the CPU: every CUDA thread is a fiber, all on one OS
// thread. A thread runs until it waits for others (barrier, warp exchange) or touches what other
// blocks may change (atomics, acquiring loads). Which thread goes on then is fixed for seed 0 and
// drawn from the seed otherwise, so that orders which a card may show, and a missing barrier, can
// be looked for. README.md says what is and what is not emulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace emulator {

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
};

struct Shape {
    Dim3 grid;
    Dim3 block;
    unsigned shared_bytes = 0; ///< Dynamic shared memory.
};

/// Shared addresses below are the system's, as on a card of compute capability 9.0; dynamic shared
/// memory begins here.
inline constexpr unsigned kReservedShared = 1024;

struct Options {
    /// 0: one block after another (the next one begins when those before it all wait), one warp as
    /// far as it comes. Else: blocks interleaved, threads in an order drawn from the seed: by its
    /// remainder by three 1 a draw at every wait, 2 a warp that runs ahead, 0 fixed priorities.
    uint64_t seed = 0;
    /// Threads whose blocks are resident at the same time, as on a card.
    unsigned resident_threads = 16384;
    /// The barrier at this place ("file.cuh:12") lets everybody through, as if it had been
    /// forgotten: a test that compares results should notice under some seed.
    std::string without_barrier;
};

struct Outcome {
    std::string error;     ///< Empty: every thread ended and no rule was broken.
    uint64_t switches = 0; ///< Between fibers.
    /// Places of the barriers that were met.
    std::vector<std::string> barriers;
};

/// Runs `body` once in every thread of the launch. Not to be called from device code.
Outcome run(const std::string& name,
            const Shape& shape,
            const Options& options,
            const std::function<void()>& body);

// --- what emulated device code calls (include/emulated_device.h) ---

/// What threadIdx, blockIdx, blockDim and gridDim are.
struct ThreadIds {
    Dim3 thread, block, block_size, grid_size;
};
extern const ThreadIds* current_ids;

/// Operands and results of one lane in an exchange.
struct alignas(16) Lane {
    uint32_t word[16];
};
/// What a warp does together; lanes that meet must agree on it.
enum class Exchange : uint8_t { Sync = 1, Shuffle, Vote, LoadMatrix, MultiplyAdd, GroupOperand };
/// Computes the results of all lanes of `mask` in place; called once, by the lane that comes last.
using Combine = void (*)(Lane (&lanes)[32], uint32_t mask);
/// Waits for the lanes of `mask` and returns this lane's result.
void exchange(Exchange what, uint32_t mask, Combine combine, Lane& mine);

struct BarrierVotes {
    int any = 0, all = 1, count = 0;
};
/// __syncthreads() at `place`: threads that have ended do not count.
BarrierVotes blockBarrier(int vote, const std::source_location& place);

/// bar.sync with a number of threads: those that meet at `id` (1 to 15) are `threads`.
void someBarrier(int id, int threads, const std::source_location& place);

/// A barrier in shared memory that counts arrivals and copied bytes (mbarrier), and copies of any
/// size that it counts (cp.async.bulk): done when somebody waits for the end of the phase at the
/// latest, with a seed at random before.
void initCopyBarrier(uint64_t* at, int arrivals);
void expectCopies(uint64_t* at, int bytes);
void arriveAtCopyBarrier(uint64_t* at);
void waitForPhase(uint64_t* at, uint32_t parity);
void copyBulk(void* to, const void* from, size_t bytes, uint64_t* barrier);
/// An arrival that comes when this thread's copyLater() so far are done: when somebody looks
/// whether the phase is over at the latest, with a seed at random before.
void arriveBehindCopies(uint64_t* at);
/// Something happened that somebody may wait for: no deadlock yet.
void noteProgress();

/// A chance for others to run: after an atomic or an acquiring load. Loops that wait for other
/// blocks go through here.
void yieldToOthers();
/// Before that, where something was written that somebody may wait for.
void noteAtomicWrite();
/// The same, but only sometimes and only with a seed.
void yieldSometimes();

/// Grows while the launch runs.
int64_t steps();

/// This block's copy of one __shared__ variable; `key` is an address that is the variable's own.
void* staticShared(const void* key, size_t bytes, size_t alignment);
char* dynamicShared();
/// Pointers into the block's shared memory as the 32-bit numbers that PTX takes, and back. `bytes`
/// are going to be read or written there.
uint32_t sharedNumber(const void* pointer);
void* sharedPointer(uint32_t number, size_t bytes, size_t alignment);

/// cp.async of 16 bytes: `from` nullptr fills with zeros. Done when waited for at the latest.
void copyLater(void* to, const void* from);
void commitCopies();
/// Finishes all but the `left` latest groups; -1: everything, committed or not.
void finishCopies(int left);

/// wgmma: a product of this thread's part that runs when waited for at the latest, with a seed at
/// once now and then; groups as of copies.
void productLater(std::function<void()> product);
void commitProducts();
void finishProducts(int left);

/// Ends the launch with an error.
[[noreturn]] void fail(std::string what);

} // namespace emulator
