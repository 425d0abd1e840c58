// SPDX-License-Identifier: Apache-2.0
// What the system says of a file that changes whenever its contents do.
#pragma once

#include <cstdint>

namespace engine {

/// Times in the system's own unit (nanoseconds, or 100 ns on Windows), to be compared only. The
/// number of the device is left out: systems give it anew at every start. The time of the last
/// change of any kind, unlike that of the last modification, cannot be set by programs.
struct FileStamp {
    uint64_t file_number = 0; ///< inode
    uint64_t size_bytes = 0;
    int64_t modified = 0, changed = 0;
    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

} // namespace engine
