// SPDX-License-Identifier: Apache-2.0
#include "engine/base/paths.h"

#ifdef _WIN32
#include "engine/base/utf8.h"

#include <cstdint>
#include <utility>
#endif

namespace engine {

#ifdef _WIN32

namespace {

constexpr uint32_t kFirstHigh = 0xd800; ///< First half of a pair: code points from 0x10000.
constexpr uint32_t kFirstLow = 0xdc00;  ///< Second half.
constexpr uint32_t kBehindLow = 0xe000;
constexpr uint32_t kBeyondFirstPlane = 0x10000;
constexpr wchar_t kInNoName = L'|';

uint32_t byteAt(std::string_view text, size_t at) {
    return at < text.size() ? static_cast<uint8_t>(text[at]) : 0U;
}

/// True for the three bytes of half a pair, in the form of UTF-8.
bool isHalfAt(std::string_view text, size_t at) {
    return byteAt(text, at) == 0xedU && (byteAt(text, at + 1) & 0xe0U) == 0xa0U &&
           (byteAt(text, at + 2) & 0xc0U) == 0x80U;
}

/// Decodes the well-formed `length` bytes at text[at], or half a pair's three.
uint32_t codePointAt(std::string_view text, size_t at, size_t length) {
    constexpr uint32_t kLeadBits[] = {0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code_point = byteAt(text, at) & kLeadBits[length - 1];
    for (size_t i = 1; i < length; ++i) {
        code_point = (code_point << 6U) | (byteAt(text, at + i) & 0x3fU);
    }
    return code_point;
}

void appendHalf(std::string& out, uint32_t half) {
    out += static_cast<char>(0xe0U | (half >> 12U));
    out += static_cast<char>(0x80U | ((half >> 6U) & 0x3fU));
    out += static_cast<char>(0x80U | (half & 0x3fU));
}

} // namespace

std::filesystem::path pathFromUtf8(std::string_view utf8) {
    std::wstring units;
    units.reserve(utf8.size());
    for (size_t at = 0; at < utf8.size();) {
        const size_t length = isHalfAt(utf8, at) ? 3 : utf8SequenceLength(utf8, at);
        if (length == 0) {
            units += kInNoName;
            ++at;
            continue;
        }
        const uint32_t code_point = codePointAt(utf8, at, length);
        if (code_point < kBeyondFirstPlane) {
            units += static_cast<wchar_t>(code_point);
        } else {
            const uint32_t beyond = code_point - kBeyondFirstPlane;
            units += static_cast<wchar_t>(kFirstHigh + (beyond >> 10U));
            units += static_cast<wchar_t>(kFirstLow + (beyond & 0x3ffU));
        }
        at += length;
    }
    return std::filesystem::path(std::move(units));
}

std::string utf8Of(const std::filesystem::path& path) {
    const std::wstring& units = path.native();
    std::string text;
    text.reserve(units.size());
    for (size_t at = 0; at < units.size(); ++at) {
        const uint32_t unit = static_cast<uint16_t>(units[at]);
        const uint32_t next = at + 1 < units.size() ? static_cast<uint16_t>(units[at + 1]) : 0U;
        if (unit < kFirstHigh || unit >= kBehindLow) {
            appendUtf8(text, unit);
        } else if (unit < kFirstLow && next >= kFirstLow && next < kBehindLow) {
            appendUtf8(text, kBeyondFirstPlane + ((unit - kFirstHigh) << 10U) + (next - kFirstLow));
            ++at;
        } else {
            appendHalf(text, unit);
        }
    }
    return text;
}

#else

std::filesystem::path pathFromUtf8(std::string_view utf8) {
    return std::filesystem::path(utf8);
}

std::string utf8Of(const std::filesystem::path& path) {
    return path.native();
}

#endif

} // namespace engine
