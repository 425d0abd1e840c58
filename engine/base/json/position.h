// SPDX-License-Identifier: Apache-2.0
// Line and column of a byte of a text, as editors show them.
#pragma once

#include <cstddef>
#include <string_view>

namespace engine {

/// Both from 1, columns in characters; 0 = none (a value that no text holds).
struct JsonPosition {
    int line = 0;
    int column = 0;
};

/// Goes through a text once, from position to position.
class JsonCursor {
public:
    explicit JsonCursor(std::string_view text) : text_(text) {}

    /// Position of the byte at `offset`, which must not lie before the one asked for last.
    JsonPosition at(size_t offset);

private:
    std::string_view text_;
    size_t offset_ = 0;
    JsonPosition position_{1, 1};
};

} // namespace engine
