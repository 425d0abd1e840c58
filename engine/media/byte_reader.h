// SPDX-License-Identifier: Apache-2.0
// Bounds-checked reads of big- and little-endian integers from untrusted bytes. Every function
// answers nullopt (or an empty span) instead of reading outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace engine::media {

using Bytes = std::span<const std::byte>;

/// size bytes at offset, or an empty span when they are not all there.
inline Bytes slice(Bytes bytes, size_t offset, size_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) {
        return {};
    }
    return bytes.subspan(offset, size);
}

inline std::optional<uint8_t> readU8(Bytes bytes, size_t offset) {
    if (offset >= bytes.size()) {
        return std::nullopt;
    }
    return std::to_integer<uint8_t>(bytes[offset]);
}

/// Unsigned integer of 1..8 bytes at offset.
inline std::optional<uint64_t>
readUnsigned(Bytes bytes, size_t offset, size_t size, bool big_endian) {
    const Bytes part = slice(bytes, offset, size);
    if (part.size() != size || size == 0 || size > 8) {
        return std::nullopt;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) {
        const size_t at = big_endian ? i : size - 1 - i;
        value = (value << 8U) | std::to_integer<uint64_t>(part[at]);
    }
    return value;
}

inline std::optional<uint64_t> readBig(Bytes bytes, size_t offset, size_t size) {
    return readUnsigned(bytes, offset, size, true);
}

inline std::optional<uint64_t> readLittle(Bytes bytes, size_t offset, size_t size) {
    return readUnsigned(bytes, offset, size, false);
}

/// True when the characters of text (which may hold zero bytes) stand at offset.
inline bool hasText(Bytes bytes, size_t offset, std::string_view text) {
    const Bytes part = slice(bytes, offset, text.size());
    if (part.size() != text.size()) {
        return false;
    }
    for (size_t i = 0; i < text.size(); ++i) {
        if (std::to_integer<uint8_t>(part[i]) != static_cast<uint8_t>(text[i])) {
            return false;
        }
    }
    return true;
}

} // namespace engine::media
