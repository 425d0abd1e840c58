// SPDX-License-Identifier: Apache-2.0
// UTF-8 in texts that nobody vouches for (Unicode 15, table 3-7: no surrogates, no overlong forms,
// up to U+10FFFF).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace engine {

/// Length of the well-formed sequence at text[at], 1 to 4; 0 when there is none. Here, because
/// readers of large texts ask it for every character.
inline size_t utf8SequenceLength(std::string_view text, size_t at) {
    const auto byte = [&](size_t i) {
        return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
    };
    const auto follows = [&](size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const uint8_t lead = byte(at);
    if (lead < 0x80U) {
        return 1;
    }
    if (lead >= 0xc2U && lead <= 0xdfU) {
        return follows(at + 1) ? 2 : 0;
    }
    if (lead >= 0xe0U && lead <= 0xefU) {
        const uint8_t second = byte(at + 1);
        const bool is_second_valid = follows(at + 1) && !(lead == 0xe0U && second < 0xa0U) &&
                                     !(lead == 0xedU && second > 0x9fU);
        return is_second_valid && follows(at + 2) ? 3 : 0;
    }
    if (lead >= 0xf0U && lead <= 0xf4U) {
        const uint8_t second = byte(at + 1);
        const bool is_second_valid = follows(at + 1) && !(lead == 0xf0U && second < 0x90U) &&
                                     !(lead == 0xf4U && second > 0x8fU);
        return is_second_valid && follows(at + 2) && follows(at + 3) ? 4 : 0;
    }
    return 0;
}

/// True if all bytes are well-formed UTF-8.
bool isValidUtf8(std::string_view text);

/// `code_point` must be a scalar value.
void appendUtf8(std::string& out, uint32_t code_point);

/// Text for a message: in double quotes, cut after 60 characters, control characters and what is
/// not UTF-8 replaced by '?'.
std::string inQuotes(std::string_view text);

} // namespace engine
