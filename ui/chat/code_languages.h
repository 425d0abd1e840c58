// SPDX-License-Identifier: Apache-2.0
// The languages that code_lexer.h colours, one row each.
#pragma once

#include <QLatin1String>
#include <QList>

#include <cstdint>
#include <utility>
#include <vector>

namespace ui {

/// A text between two marks, over several lines if `is_long`.
struct CodePair {
    QLatin1String open, close;
    bool is_long = false;
    bool has_escapes = true; ///< A backslash takes the next unit along.
};

struct CodeLanguage {
    enum Feature : uint32_t {
        AnyCase = 1,           ///< Keywords in capitals too.
        NestedComments = 2,    ///< As in Rust, Swift and Kotlin.
        Directives = 4,        ///< "#include" at the beginning of a line.
        Sigils = 8,            ///< $name and @name are variables.
        Dashes = 16,           ///< A dash is a part of words.
        Keys = 32,             ///< What stands before a colon or an equals sign is a name.
        Markup = 64,           ///< <tag name="value">
        Diff = 128,            ///< The first unit of a line decides.
        RawStrings = 256,      ///< R"x(...)x" of C++, r#"..."# of Rust.
        HereDocuments = 512,   ///< <<END
        HashAfterSpace = 1024, ///< "#" begins a comment only at the beginning of a word.
        Rules = 2048,          ///< "target:" at the beginning of a line, as in a Makefile.
        Lifetimes = 4096,      ///< 'a is no string.
    };
    QLatin1String names;                 ///< Words of fences, divided by spaces.
    QLatin1String keywords;              ///< The same.
    QLatin1String types;                 ///< Types, constants and what the language brings along.
    std::vector<QLatin1String> comments; ///< To the end of the line.
    std::vector<CodePair> blocks;        ///< Comments over several lines.
    std::vector<CodePair> strings;       ///< Longer marks before shorter ones.
    uint32_t features = 0;
};

const std::vector<CodeLanguage>& codeLanguages();

} // namespace ui
