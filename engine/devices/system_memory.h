// SPDX-License-Identifier: Apache-2.0
// Main memory as this process may use it: that of the computer (proc_meminfo(5)) within the limits
// of the process's control groups, version 1 (memory.limit_in_bytes) and 2 (memory.max), its own
// and those above it. A program that takes more than its group may is ended by the system. On
// Windows what the system says of the computer.
#pragma once

#include <cstdint>
#include <filesystem>

namespace engine {

/// Bytes. 0 = not known.
struct SystemMemory {
    uint64_t total = 0;     ///< The computer's, or the smallest group's.
    uint64_t available = 0; ///< Free for a new program; file pages that can be given up count.
};

/// `root` stands before /proc and before the mount points that are read there, for tests.
SystemMemory systemMemory(const std::filesystem::path& root = "/");

/// Part of `total` that this process holds; 0 where that is not known.
uint64_t ownMemory();

} // namespace engine
