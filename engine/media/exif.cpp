// SPDX-License-Identifier: Apache-2.0
#include "engine/media/exif.h"

namespace engine::media {

using namespace std::string_view_literals;

int exifOrientation(Bytes block) {
    if (hasText(block, 0, "Exif\0\0"sv)) {
        block = block.subspan(6);
    }
    const bool big_endian = hasText(block, 0, "MM\0*"sv);
    if (!big_endian && !hasText(block, 0, "II*\0"sv)) {
        return 1;
    }
    const auto directory = readUnsigned(block, 4, 4, big_endian);
    if (!directory) {
        return 1;
    }
    const auto entries = readUnsigned(block, *directory, 2, big_endian);
    if (!entries) {
        return 1;
    }
    for (uint64_t i = 0; i < *entries; ++i) {
        // Entry: tag (2), type (2), count (4), value (4, left-aligned when shorter).
        const Bytes entry = slice(block, *directory + 2 + 12 * i, 12);
        if (entry.empty()) {
            return 1;
        }
        if (readUnsigned(entry, 0, 2, big_endian).value_or(0) != 0x0112) {
            continue;
        }
        const uint64_t type = readUnsigned(entry, 2, 2, big_endian).value_or(0);
        const size_t value_bytes = type == 3 ? 2 : type == 4 ? 4 : type == 1 ? 1 : 0;
        if (value_bytes == 0 || readUnsigned(entry, 4, 4, big_endian).value_or(0) < 1) {
            return 1;
        }
        const uint64_t value = readUnsigned(entry, 8, value_bytes, big_endian).value_or(1);
        return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
    }
    return 1;
}

} // namespace engine::media
