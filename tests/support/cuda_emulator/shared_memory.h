// SPDX-License-Identifier: Apache-2.0
// Shared memory of one emulated block: static variables with canaries between them, then the
// dynamic part, which ends (rounded up to its alignment) at a page that nobody may touch. It begins
// as 0xff bytes, NaN in every float type, because a card promises nothing either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace emulator {

class SharedMemory {
public:
    explicit SharedMemory(size_t dynamic_bytes);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    /// For the next block.
    void reset();
    /// nullptr: no room.
    void* variable(const void* key, size_t bytes, size_t alignment);
    [[nodiscard]] char* dynamic() const { return dynamic_; }
    /// -1: not in shared memory.
    [[nodiscard]] int64_t numberOf(const void* pointer) const;
    /// nullptr: not all inside one variable or the dynamic part.
    [[nodiscard]] void* pointerTo(uint32_t number, size_t bytes) const;
    /// What was written outside the variables; empty: nothing.
    [[nodiscard]] std::string overrun() const;

private:
    struct Variable {
        const void* key;
        size_t offset, bytes;
    };
    char* base_ = nullptr; ///< Start of the static part; the dynamic part follows behind a canary.
    char* dynamic_ = nullptr;
    char* end_ = nullptr; ///< Where the forbidden page begins.
    size_t mapped_ = 0;
    size_t dynamic_bytes_ = 0;
    size_t used_ = 0; ///< Bytes of the static part.
    std::vector<Variable> variables_;
};

} // namespace emulator
