// SPDX-License-Identifier: Apache-2.0
#include "app/common/terminal_text.h"

#include <cstddef>
#include <cstdint>

namespace app {

namespace {

/// Bytes that a character with this first byte has; 0 for one that begins none.
size_t sizeFrom(unsigned char first) {
    if (first < 0x80U) {
        return 1;
    }
    if (first < 0xc2U || first > 0xf4U) {
        return 0;
    }
    return first < 0xe0U ? 2 : first < 0xf0U ? 3 : 4;
}

bool isObeyed(uint32_t c) {
    const bool is_c0 = c < 0x20U && c != '\n' && c != '\t';
    const bool is_del_or_c1 = c >= 0x7fU && c <= 0x9fU;
    const bool is_line = c == 0x2028U || c == 0x2029U;
    const bool is_direction = c == 0x061cU || c == 0x200eU || c == 0x200fU ||
                              (c >= 0x202aU && c <= 0x202eU) || (c >= 0x2066U && c <= 0x2069U);
    const bool is_tag = c >= 0xe0000U && c <= 0xe007fU; // letters that nobody sees
    return is_c0 || is_del_or_c1 || is_line || is_direction || is_tag;
}

bool isSurrogateOrLonger(uint32_t c, size_t size) {
    return (size == 3 && (c < 0x800U || (c >= 0xd800U && c <= 0xdfffU))) ||
           (size == 4 && (c < 0x10000U || c > 0x10ffffU));
}

} // namespace

std::string TerminalFilter::pass(std::string_view text) {
    std::string joined;
    if (!waiting_.empty()) {
        joined = waiting_ + std::string(text);
        waiting_.clear();
        text = joined;
    }
    std::string out;
    out.reserve(text.size());
    size_t at = 0;
    while (at < text.size()) {
        const auto first = static_cast<unsigned char>(text[at]);
        const size_t size = sizeFrom(first);
        uint32_t c = size <= 1 ? first : first & (0x7fU >> size);
        size_t have = size == 0 ? 0 : 1;
        while (have > 0 && have < size && at + have < text.size()) {
            const auto next = static_cast<unsigned char>(text[at + have]);
            if ((next & 0xc0U) != 0x80U) {
                have = 0;
                break;
            }
            c = c << 6U | (next & 0x3fU);
            ++have;
        }
        if (have > 0 && have < size) { // the rest is to come
            waiting_ = std::string(text.substr(at));
            break;
        }
        if (have == 0 || isSurrogateOrLonger(c, size)) {
            out += '?';
            ++at;
            continue;
        }
        if (isObeyed(c)) {
            out += '?';
        } else {
            out.append(text.substr(at, size));
        }
        at += size;
    }
    return out;
}

std::string TerminalFilter::finish() {
    std::string out(waiting_.size(), '?');
    waiting_.clear();
    return out;
}

std::string terminalText(std::string_view text) {
    TerminalFilter filter;
    std::string out = filter.pass(text);
    return out + filter.finish();
}

} // namespace app
