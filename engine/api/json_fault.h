// SPDX-License-Identifier: Apache-2.0
// What is wrong in a JSON text, as a value: what the reader stopped at. English:
// engine/base/json/events.h.
#pragma once

#include <cstdint>
#include <string>

namespace engine {

struct JsonFault {
    enum class Kind : uint8_t {
        None = 1,
        // Something else is expected than `found`:
        NoEnd,         ///< The end of the text.
        NoName,        ///< A member's name in double quotes.
        NoColon,       ///< ':' after `name`.
        NoObjectComma, ///< ',' or '}'.
        NoListComma,   ///< ',' or ']'.
        NoValue,
        NoDigit,
        NoHexDigits, ///< Four of them, after \u.
        // What stands there may not:
        LeadingZero,
        ControlCharacter, ///< Or a line break, inside a string.
        NotUtf8,
        OpenString,    ///< The text ends inside it.
        UnknownEscape, ///< `found` after a backslash.
        HalfSurrogate,
        RepeatedName, ///< `name` twice in one object.
        // More than `most`:
        TooDeep,
        TooManyValues,
        StringTooLong, ///< Bytes.
    };
    /// What stands there.
    enum class Found : uint8_t { End = 1, NotUtf8, Character };

    Kind kind = Kind::None;
    Found found = Found::End;
    std::string character = {}; ///< UTF-8.
    std::string name = {};
    uint64_t most = 0;
};

} // namespace engine
