// SPDX-License-Identifier: Apache-2.0
// Text whose letters and blanks are ASCII. Other bytes are left as they are.
#pragma once

#include <string>
#include <string_view>

namespace engine {

/// `text` with its capital letters A to Z in lower case.
inline std::string lowered(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return out;
}

/// `text` without the blanks at both ends.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
    const size_t begin = text.find_first_not_of(blanks);
    return begin == std::string_view::npos
               ? std::string_view()
               : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

} // namespace engine
