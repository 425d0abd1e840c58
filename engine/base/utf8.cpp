// SPDX-License-Identifier: Apache-2.0
#include "engine/base/utf8.h"

namespace engine {

bool isValidUtf8(std::string_view text) {
    size_t at = 0;
    while (at < text.size()) {
        const size_t length = utf8SequenceLength(text, at);
        if (length == 0) {
            return false;
        }
        at += length;
    }
    return true;
}

void appendUtf8(std::string& out, uint32_t code_point) {
    if (code_point < 0x80U) {
        out += static_cast<char>(code_point);
    } else if (code_point < 0x800U) {
        out += static_cast<char>(0xc0U | (code_point >> 6));
        out += static_cast<char>(0x80U | (code_point & 0x3fU));
    } else if (code_point < 0x10000U) {
        out += static_cast<char>(0xe0U | (code_point >> 12));
        out += static_cast<char>(0x80U | ((code_point >> 6) & 0x3fU));
        out += static_cast<char>(0x80U | (code_point & 0x3fU));
    } else {
        out += static_cast<char>(0xf0U | (code_point >> 18));
        out += static_cast<char>(0x80U | ((code_point >> 12) & 0x3fU));
        out += static_cast<char>(0x80U | ((code_point >> 6) & 0x3fU));
        out += static_cast<char>(0x80U | (code_point & 0x3fU));
    }
}

std::string inQuotes(std::string_view text) {
    constexpr size_t kLongest = 60;
    std::string out = "\"";
    size_t count = 0;
    for (size_t i = 0; i < text.size(); ++count) {
        if (count == kLongest) {
            return out + "...\"";
        }
        const size_t length = utf8SequenceLength(text, i);
        if (length == 0 || static_cast<uint8_t>(text[i]) < 0x20U || text[i] == '\x7f') {
            out += '?';
            ++i;
        } else {
            out.append(text.substr(i, length));
            i += length;
        }
    }
    return out + "\"";
}

} // namespace engine
