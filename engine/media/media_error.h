// SPDX-License-Identifier: Apache-2.0
// The errors of reading media. Libraries written in C that get no memory say so as any other
// failure; the user should not be told that the file is damaged.
#pragma once

#include "engine/base/result.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

namespace engine::media {

inline Error invalid(Sentence message) {
    return {ErrorCode::InvalidFile, std::move(message)};
}

/// what: "a PNG picture".
inline Error noMemoryFor(const Sentence& what) {
    return {ErrorCode::OutOfMemory,
            said("no memory is left to read %1; close other programs or move parts of the model to "
                 "another device, then send it again",
                 what)};
}

/// For libraries without a code of their own for it: malloc leaves ENOMEM behind. Made before the
/// library is called.
class MemoryWatch {
public:
    MemoryWatch() { errno = 0; }
    /// Only after a failure of the library.
    [[nodiscard]] static bool hasRunOut() { return errno == ENOMEM; }
};

/// Libraries for WebP and for sounds do not look at every answer of malloc: they would crash. Asked
/// before they are called, with more than they need; false: not even so much is left.
inline bool hasRoomFor(size_t bytes) {
    void* const block = std::malloc(bytes);
    if (block == nullptr) {
        return false;
    }
    *static_cast<volatile char*>(block) = 0; // no compiler may leave out the pair
    std::free(block);
    return true;
}
/// Far more than libsndfile and its codecs take for a recording, and soxr besides its samples.
inline constexpr size_t kSoundRoom = size_t{8} << 20U;

} // namespace engine::media
