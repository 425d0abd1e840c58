// SPDX-License-Identifier: Apache-2.0
// A strict, bounded, event-based JSON reader (RFC 8259) for files that nobody vouches for: no
// recursion, no tree, no exceptions, UTF-8 checked, numbers handed on as written. Depth and string
// length are limited while reading. checkJson() applies it as a gate before a tree is built.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace engine {

struct JsonLimits {
    int max_depth = 16;                        ///< Open objects and arrays at once.
    size_t max_string_bytes = size_t{1} << 20; ///< Of a key or string, after unescaping.
};

/// Receives the events. Returning false stops the reader; say why through your own members.
class JsonHandler {
public:
    JsonHandler() = default;
    JsonHandler(const JsonHandler&) = delete;
    JsonHandler& operator=(const JsonHandler&) = delete;
    virtual ~JsonHandler() = default;
    virtual bool onObjectBegin() = 0;
    virtual bool onObjectEnd() = 0;
    virtual bool onArrayBegin() = 0;
    virtual bool onArrayEnd() = 0;
    /// Unescaped UTF-8; valid only during the call.
    virtual bool onKey(std::string_view key) = 0;
    virtual bool onString(std::string_view value) = 0;
    /// As written: "-0", "1e5", "12".
    virtual bool onNumber(std::string_view literal) = 0;
    virtual bool onBool(bool value) = 0;
    virtual bool onNull() = 0;
};

enum class JsonStop {
    Done = 1,
    Handler, ///< The handler returned false.
    Syntax,  ///< Not JSON.
    InvalidUtf8,
    TooDeep,
    StringTooLong,
};

struct JsonOutcome {
    JsonStop stop = JsonStop::Done;
    size_t offset = 0;  ///< Byte where reading stopped.
    std::string detail; ///< "expected ',' or '}'", empty for Done and Handler.
};

/// Reads one JSON value with optional white space around it. A byte-order mark is a syntax error.
JsonOutcome readJson(std::string_view text, const JsonLimits& limits, JsonHandler& handler);

/// Gate before a tree is built: syntax, UTF-8, depth, string length, and no member name twice in
/// one object. Errors: InvalidFile; details "rule" = JsonSyntax, JsonUtf8, JsonDepth, JsonString or
/// JsonDuplicate, "file" = file_name. `file_name` starts the message.
Result<void>
checkJson(std::string_view text, std::string_view file_name, const JsonLimits& limits = {});

/// True if the bytes are well-formed UTF-8 (no surrogates, no overlong forms, up to U+10FFFF).
bool isValidUtf8(std::string_view text);

} // namespace engine
