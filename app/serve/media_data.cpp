// SPDX-License-Identifier: Apache-2.0
#include "app/serve/media_data.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace serve {

namespace {

constexpr int8_t kNoDigit = -1;
constexpr int8_t kSpace = -2;

constexpr std::array<int8_t, 256> digitTable() {
    std::array<int8_t, 256> table{};
    table.fill(kNoDigit);
    for (size_t i = 0; i < 26; ++i) {
        table[size_t{'A'} + i] = static_cast<int8_t>(i);
        table[size_t{'a'} + i] = static_cast<int8_t>(26 + i);
    }
    for (size_t i = 0; i < 10; ++i) {
        table[size_t{'0'} + i] = static_cast<int8_t>(52 + i);
    }
    table[static_cast<size_t>('+')] = 62;
    table[static_cast<size_t>('/')] = 63;
    table[static_cast<size_t>('\r')] = kSpace;
    table[static_cast<size_t>('\n')] = kSpace;
    return table;
}

constexpr std::array<int8_t, 256> kDigits = digitTable();

} // namespace

std::optional<std::string> fromBase64(std::string_view text) {
    std::string out;
    out.reserve(text.size() / 4 * 3 + 3);
    uint32_t bits = 0;
    size_t digits = 0;
    size_t padding = 0;
    for (const char c : text) {
        const int8_t digit = kDigits[static_cast<unsigned char>(c)];
        if (digit == kSpace) {
            continue;
        }
        if (c == '=') {
            ++padding;
            continue;
        }
        if (digit == kNoDigit || padding > 0) {
            return std::nullopt;
        }
        bits = (bits << 6U) | static_cast<uint32_t>(digit);
        if (++digits % 4 == 0) {
            out += static_cast<char>(bits >> 16U);
            out += static_cast<char>(bits >> 8U);
            out += static_cast<char>(bits);
            bits = 0;
        }
    }
    const size_t rest = digits % 4;
    if (rest == 1 || padding > 2 || (padding > 0 && (rest == 0 || rest + padding != 4))) {
        return std::nullopt;
    }
    if (rest == 2) {
        out += static_cast<char>(bits >> 4U);
    } else if (rest == 3) {
        out += static_cast<char>(bits >> 10U);
        out += static_cast<char>(bits >> 2U);
    }
    return out;
}

std::optional<DataUrl> splitDataUrl(std::string_view url) {
    constexpr std::string_view kScheme = "data:";
    constexpr std::string_view kMark = ";base64";
    const auto lowered = [](std::string_view text) {
        std::string out(text);
        std::transform(out.begin(), out.end(), out.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return out;
    };
    if (lowered(url.substr(0, kScheme.size())) != kScheme) {
        return std::nullopt;
    }
    const size_t comma = url.find(',');
    if (comma == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string before = lowered(url.substr(kScheme.size(), comma - kScheme.size()));
    if (!before.ends_with(kMark)) {
        return std::nullopt;
    }
    return DataUrl{before.substr(0, before.find(';')), url.substr(comma + 1)};
}

} // namespace serve
