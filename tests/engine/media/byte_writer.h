// SPDX-License-Identifier: Apache-2.0
// Builds and edits binary files for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace support {

using ByteVector = std::vector<uint8_t>;

inline std::span<const std::byte> asBytes(const ByteVector& bytes) {
    return std::as_bytes(std::span(bytes));
}

inline void putText(ByteVector& out, std::string_view text) {
    for (const char c : text) {
        out.push_back(static_cast<uint8_t>(c));
    }
}

inline void putBytes(ByteVector& out, const ByteVector& bytes) {
    for (const uint8_t b : bytes) {
        out.push_back(b);
    }
}

inline void putLittle(ByteVector& out, uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
        out.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
}

inline void putBig(ByteVector& out, uint64_t value, int size) {
    for (int i = size - 1; i >= 0; --i) {
        out.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
}

/// A copy with other bytes from offset on.
inline ByteVector patched(ByteVector bytes, size_t offset, std::string_view with) {
    for (size_t i = 0; i < with.size() && offset + i < bytes.size(); ++i) {
        bytes[offset + i] = static_cast<uint8_t>(with[i]);
    }
    return bytes;
}

inline ByteVector cutTo(ByteVector bytes, size_t size) {
    if (size < bytes.size()) {
        bytes.resize(size);
    }
    return bytes;
}

/// Offset of the text, or bytes.size().
inline size_t findText(const ByteVector& bytes, std::string_view text, size_t from = 0) {
    for (size_t at = from; at + text.size() <= bytes.size(); ++at) {
        if (std::memcmp(bytes.data() + at, text.data(), text.size()) == 0) {
            return at;
        }
    }
    return bytes.size();
}

inline ByteVector fromText(std::string_view text, size_t padded_to = 0) {
    ByteVector out;
    putText(out, text);
    if (out.size() < padded_to) {
        out.resize(padded_to);
    }
    return out;
}

} // namespace support
