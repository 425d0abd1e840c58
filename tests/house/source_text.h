// SPDX-License-Identifier: Apache-2.0
// C++ source as the rules of the house look at it: line by line, comments left out. No
// preprocessor: both sides of an #if are looked at. What a trigraph or a line continuation inside a
// literal would change is left out; the house has neither.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace house {

/// What of a line a rule looks at.
enum class Look {
    Strings = 1, ///< The text of string literals, one after the other, a space between.
    Code,        ///< All but comments; literals with their quotes.
    Bare,        ///< As Code; of literals the quotes (and marks of raw ones) alone.
};

/// Sources below these folders of the project: text by path from the project's folder.
std::map<std::string, std::string> sourcesBelow(const std::vector<std::string>& folders);

/// One entry per line of `source`.
std::vector<std::string> linesOf(std::string_view source, Look look);

} // namespace house
