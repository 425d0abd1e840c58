// SPDX-License-Identifier: Apache-2.0
#include "app/serve/media_data.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>

namespace serve {

namespace {

constexpr int8_t kNoDigit = -1;
constexpr int8_t kSpace = -2;

constexpr std::array<int8_t, 256> digitTable() {
    std::array<int8_t, 256> table{};
    table.fill(kNoDigit);
    for (size_t i = 0; i < 26; ++i) {
        table['A' + i] = static_cast<int8_t>(i);
        table['a' + i] = static_cast<int8_t>(26 + i);
    }
    for (size_t i = 0; i < 10; ++i) {
        table['0' + i] = static_cast<int8_t>(52 + i);
    }
    table['+'] = table['-'] = 62;
    table['/'] = table['_'] = 63;
    table[' '] = table['\t'] = table['\n'] = table['\f'] = table['\r'] = kSpace;
    return table;
}

constexpr std::array<int8_t, 256> kDigits = digitTable();

} // namespace

std::string unescaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        const char* const from = text.data() + i + 1;
        const bool is_escape = text[i] == '%' && i + 2 < text.size() &&
                               std::from_chars(from, from + 2, value, 16).ptr == from + 2;
        out += is_escape ? static_cast<char>(value) : text[i];
        i += is_escape ? 2 : 0;
    }
    return out;
}

std::optional<std::string> fromBase64(std::string_view text) {
    if (text.find('%') != std::string_view::npos) {
        const std::string plain = unescaped(text);
        return plain.find('%') == std::string::npos ? fromBase64(plain) : std::nullopt;
    }
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
    const auto is_blank = [](unsigned char c) { return std::isspace(c) != 0; };
    url.remove_prefix(
        static_cast<size_t>(std::find_if_not(url.begin(), url.end(), is_blank) - url.begin()));
    if (lowered(url.substr(0, kScheme.size())) != kScheme) {
        return std::nullopt;
    }
    const size_t comma = url.find(',');
    if (comma == std::string_view::npos) {
        return std::nullopt;
    }
    std::string before = lowered(url.substr(kScheme.size(), comma - kScheme.size()));
    before.erase(std::remove_if(before.begin(), before.end(), is_blank), before.end());
    if (!before.ends_with(kMark)) {
        return std::nullopt;
    }
    return DataUrl{before.substr(0, before.find(';')), url.substr(comma + 1)};
}

bool looksLikeMedium(std::string_view bytes) {
    const auto has = [&](size_t at, std::string_view mark) {
        return bytes.size() > at && bytes.substr(at).starts_with(mark);
    };
    const bool is_picture = has(0, "\x89PNG") || has(0, "\xff\xd8\xff") || has(8, "WEBP") ||
                            has(0, "GIF8") || has(0, "BM");
    const bool is_frame = bytes.size() > 1 && bytes[0] == '\xff' && (bytes[1] & 0xe0) == 0xe0;
    return is_picture || is_frame || has(8, "WAVE") || has(8, "AIF") || has(0, "fLaC") ||
           has(0, "OggS") || has(0, "ID3") || has(0, ".snd");
}

} // namespace serve
