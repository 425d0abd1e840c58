// SPDX-License-Identifier: Apache-2.0
// Replaces operator new and delete of the whole test program: counts the blocks that are out, and
// lets a chosen allocation fail. Linked by calling any function below.
#pragma once

#include <cstdint>

namespace support {

/// From the call that arms it to its end, the n-th allocation of the watched threads fails.
class MemoryFault {
public:
    enum class Which : uint8_t {
        Once = 1, ///< Only the n-th.
        Sticky,   ///< The n-th and all after it.
    };
    enum class Where : uint8_t {
        ThisThread = 1,
        OtherThreads, ///< Those started while it is armed, all together.
    };

    /// n from 1; 0 only counts.
    explicit MemoryFault(int64_t n, Which which = Which::Once, Where where = Where::ThisThread);
    ~MemoryFault() { end(); }
    MemoryFault(const MemoryFault&) = delete;
    MemoryFault& operator=(const MemoryFault&) = delete;

    /// Allocations are served again.
    void end();
    /// Allocations of the watched threads so far, the failed ones included.
    [[nodiscard]] static int64_t calls();
    /// Allocations that were made to fail, and how many of them asked with std::nothrow.
    [[nodiscard]] static int64_t failed();
    [[nodiscard]] static int64_t failedNothrow();
};

/// Blocks of operator new that are out, of all threads.
int64_t liveBlocks();

/// While one lives, the system starts no thread (EAGAIN): what threads do is done on the calling
/// thread, in the same order every time.
class NoThreads {
public:
    NoThreads();
    ~NoThreads();
    NoThreads(const NoThreads&) = delete;
    NoThreads& operator=(const NoThreads&) = delete;
};

} // namespace support
