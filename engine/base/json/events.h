// SPDX-License-Identifier: Apache-2.0
// The one JSON reader: strict (RFC 8259) and bounded, event-based, for files that nobody vouches
// for. No recursion, no tree, no exceptions, UTF-8 checked, numbers handed on as written. What is
// too large for a tree takes the events (tokenizers, tensor headers); the tree in tree.h is made
// of them.
#pragma once

#include "engine/base/result.h"
#include "engine/base/utf8.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace engine {

struct JsonLimits {
    int max_depth = 16;                        ///< Open objects and arrays at once.
    size_t max_string_bytes = size_t{1} << 20; ///< For a key or string, after unescaping.
    size_t max_values = SIZE_MAX;              ///< On all levels, containers included.
    /// Refuse an object that has a member name twice; looked at when the object ends.
    bool are_names_unique = false;
    /// Half a surrogate pair in a \u escape becomes U+FFFD; otherwise it is a syntax error.
    bool replaces_surrogates = false;
    /// NaN, Infinity and -Infinity, which Python's json module writes, are null; otherwise they are
    /// a syntax error.
    bool takes_nan = false;
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

    /// Byte at which the token of the event begins; the reader sets it.
    size_t offset = 0;
};

enum class JsonStop {
    Done = 1,
    Handler, ///< The handler returned false.
    Syntax,  ///< Not JSON.
    InvalidUtf8,
    TooDeep,
    StringTooLong,
    TooManyValues,
    Duplicate, ///< A member name twice in one object.
};

struct JsonOutcome {
    JsonStop stop = JsonStop::Done;
    size_t offset = 0; ///< Byte where reading stopped; Duplicate: of the second name.
    /// "expected ',' or '}'", for messages that name the byte; empty for Done and Handler.
    Sentence detail;
    std::string name; ///< Duplicate: the member's name.
    /// The same for somebody who sees the text: "expected ',' or '}', found "x"".
    Sentence seen;
};

/// Reads one JSON value with optional white space around it. A byte-order mark is a syntax error.
JsonOutcome readJson(std::string_view text, const JsonLimits& limits, JsonHandler& handler);

/// Checks syntax, UTF-8, depth, string length, and that no member name stands twice in one object,
/// whatever `limits` say of names. Errors: as jsonError().
Result<void>
checkJson(std::string_view text, std::string_view file_name, const JsonLimits& limits = {});

/// An outcome other than Done and Handler as an error of a file. InvalidFile; details "rule" =
/// JsonSyntax, JsonUtf8, JsonDepth, JsonString, JsonValues or JsonDuplicate, "file" = file_name,
/// which also starts the message.
Error jsonError(const JsonOutcome& outcome, std::string_view file_name);

} // namespace engine
