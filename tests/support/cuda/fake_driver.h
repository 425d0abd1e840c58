// SPDX-License-Identifier: Apache-2.0
// A CUDA driver that is not there: the same table of entry points over host memory. Streams run as
// late as a real card may (copies of page-locked memory happen when somebody waits for them, and a
// stream waits for another one only where an event says so), recordings are kept and replayed,
// every object is counted, and calls fail on demand. Kernels are noted, not computed: memory starts
// as zeros and keeps what copies put there. One fake at a time; single-threaded.
#pragma once

#include "kernels/cuda/driver.h"
#include "kernels/cuda/fatbin.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace support {

struct FakeCard {
    std::string name = "Test Card";
    int capability = 90; ///< 10 * major + minor.
    size_t total = size_t{4} << 30;
    size_t used_by_others = size_t{256} << 20;
    int multiprocessors = 132;
    int clock_khz = 1980000, memory_clock_khz = 2619000, memory_bus_bits = 5120; ///< An H100.
    int shared_bytes = 232448;  ///< Most of a block.
    int reserved_shared = 1024; ///< At the beginning of every block's shared memory.
    size_t context_bytes = 0;   ///< Taken while a context is there.
    size_t granularity = 1;     ///< Every allocation takes whole multiples of it.
};

/// Objects alive; all zero after everything was closed.
struct FakeLive {
    int contexts = 0, streams = 0, events = 0, modules = 0, graphs = 0, execs = 0;
    size_t device_blocks = 0, host_blocks = 0;
    friend bool operator==(const FakeLive&, const FakeLive&) = default;
    [[nodiscard]] std::string text() const;
};

class FakeDriver {
public:
    explicit FakeDriver(std::vector<FakeCard> cards = {FakeCard{}});
    ~FakeDriver();
    FakeDriver(const FakeDriver&) = delete;
    FakeDriver& operator=(const FakeDriver&) = delete;

    [[nodiscard]] const kernels::cuda::Driver& driver() const { return driver_; }
    /// One image that every kernel of the list is found in.
    [[nodiscard]] static std::span<const kernels::cuda::FatbinImage> images();

    struct Launch {
        std::string kernel;
        std::array<unsigned, 3> grid{}, block{};
        unsigned shared = 0;
        bool is_overlapping = false;
    };

    // --- what a test sets ---
    int version = 13000;
    kernels::cuda::CuResult init_result = kernels::cuda::kCuSuccess;
    std::function<kernels::cuda::CuResult()> on_init; ///< Instead of init_result, when it is set.
    std::string missing_kernel;                       ///< Not found in the image.
    kernels::cuda::CuResult image_result = 0;         ///< Result of loading an image.
    /// Faults by number of call (1 = the next); 0 = never. Sticky: all later calls fail too, until
    /// failCall() is called again. Codes that end a process (kernels::cuda::isEndOfProcess(), the
    /// faults of kernels) are sticky whatever `is_sticky` says, as on a real card: no release,
    /// retain or reset heals them, nor another failCall(); only another FakeDriver is a process
    /// that has a card again. What asks about cards without a context goes on answering.
    void failCall(uint64_t n, kernels::cuda::CuResult code, bool is_sticky);
    /// The fault that ended this process for the driver; 0 = none.
    [[nodiscard]] kernels::cuda::CuResult processFault() const { return process_fault_; }
    uint64_t mapping_offset = 0;   ///< From a registered address to where the card has it.
    uint64_t fail_allocation = 0;  ///< From the n-th cuMemAlloc on (1 = the next; 0 = never) ...
    uint64_t fail_allocations = 1; ///< ... so many fail for want of memory.
    /// Another program takes or gives memory of a card.
    void setUsedByOthers(int card, size_t bytes);
    int copy_ms = 0;   ///< Every copy takes so long.
    int32_t token = 7; ///< What every step of the model chooses.
    /// A management library tells what is used on each card, as it is installed with most drivers.
    bool has_management = false;
    /// Asked at every call that needs a context; an answer other than success is what the call
    /// gives.
    std::function<kernels::cuda::CuResult(const char* name)> fault;
    /// Computes kernels: gets a launch and its parameters and gives what the stream does at that
    /// point. Set before the first allocation: device memory then lies at its real address.
    std::function<std::function<void()>(const Launch&, void** parameters)> compute;

    // --- what a test reads ---
    [[nodiscard]] FakeLive live() const;
    /// What this program has on a card, and page-locked in main memory.
    [[nodiscard]] uint64_t deviceBytes(int card) const;
    /// The same as the card sees it: with its context, and every block rounded up.
    [[nodiscard]] uint64_t takenBytes(int card) const;
    [[nodiscard]] uint64_t hostBytes() const;
    [[nodiscard]] uint64_t calls() const { return calls_; }
    /// Names of all calls since the last clearTrace().
    [[nodiscard]] const std::vector<const char*>& trace() const { return trace_; }
    [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }
    void clearTrace();
    /// Broken rules of the driver: copies outside live memory, a wrong current context, launches
    /// with impossible sizes, use of dead objects. Must stay empty.
    [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

    struct State; ///< Objects behind the handles; fake_driver.cpp.

private:
    friend struct FakeCalls;
    /// Counts a call and tells what it must answer.
    kernels::cuda::CuResult enter(const char* name);
    /// An answer that a call gives; one that ends a process does so from now on.
    kernels::cuda::CuResult answer(kernels::cuda::CuResult code);
    void violation(std::string text);

    kernels::cuda::Driver driver_;
    std::unique_ptr<State> state_;
    uint64_t calls_ = 0;
    uint64_t fail_at_ = 0;
    kernels::cuda::CuResult fail_code_ = 0;
    bool is_fail_sticky_ = false, has_failed_ = false;
    kernels::cuda::CuResult process_fault_ = 0;
    std::vector<const char*> trace_;
    std::vector<Launch> launches_;
    std::vector<std::string> violations_;
};

} // namespace support
