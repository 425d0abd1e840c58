// SPDX-License-Identifier: Apache-2.0
// The functions that a C++ or CUDA source defines and how many lines their bodies have. Found by
// the braces: a pair that stands in no other function and behind parentheses is one. No parser:
// tables that call a function count as one, as lambdas at namespace scope do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace house {

struct Function {
    std::string head; ///< What stands before the body, template parameters left out, in one line.
    int line = 0;     ///< Of the brace that opens the body, from 1.
    int lines = 0;    ///< From that brace to the one that closes it, both included.
};

/// In the order in which they end. Of #if and #else both sides are looked at. Braces that do not
/// match give one function that no source can have: no head, and INT_MAX lines.
std::vector<Function> functionsOf(std::string_view source);

} // namespace house
