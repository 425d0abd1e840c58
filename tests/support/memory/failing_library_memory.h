// SPDX-License-Identifier: Apache-2.0
// Replaces malloc, calloc and realloc of the whole test program, and lets a chosen one of those
// fail that given libraries ask for; everybody else is served. Linked by calling any function
// below.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace support {

/// From the call that arms it to its end, the n-th allocation (from 1; 0 only counts) of the
/// libraries fails, and with is_sticky all after it.
class LibraryMemoryFault {
public:
    /// libraries: beginnings of file names ("libpng"); "program": this one itself.
    LibraryMemoryFault(const std::vector<std::string>& libraries, int64_t n, bool is_sticky);
    ~LibraryMemoryFault() { end(); }
    LibraryMemoryFault(const LibraryMemoryFault&) = delete;
    LibraryMemoryFault& operator=(const LibraryMemoryFault&) = delete;

    void end();
    /// Allocations of the libraries so far, the failed ones included.
    [[nodiscard]] static int64_t calls();
    [[nodiscard]] static int64_t failed();
    /// Libraries that the program has loaded, of those that were named.
    [[nodiscard]] static int64_t libraries();
};

} // namespace support
