// SPDX-License-Identifier: Apache-2.0
// Finds what is coloured in code: keywords, types, strings, comments, numbers. A table per language
// and one small scanner, line by line with the state between lines kept by the caller: linear, at
// most one line at a time, and never wrong about the text itself, only about a colour. Knows no
// grammar. No widgets.
#pragma once

#include <QString>
#include <QStringView>

#include <cstdint>
#include <vector>

namespace ui {

enum class CodeKind : uint8_t { Keyword = 1, Type, String, Comment, Number, Added, Removed, Meta };

struct CodeSpan {
    qsizetype start = 0, length = 0;
    CodeKind kind = CodeKind::Keyword;
};

/// What is open at the end of a line.
struct LexState {
    enum class Inside : uint8_t { Nothing = 1, Comment, String, Tag, HereDocument };
    Inside inside = Inside::Nothing;
    uint8_t which = 0; ///< Comment, String: which pair of the language's table.
    uint8_t depth = 0; ///< Comments in comments.
    QString end;       ///< What ends a raw string or a here-document.

    friend bool operator==(const LexState&, const LexState&) = default;
};

struct CodeLanguage;

/// By the word behind the fence ("c++", "py", "PowerShell"); nullptr where it is not known.
const CodeLanguage* codeLanguage(const QString& name);

/// Adds the coloured parts of `line` in order, without overlap. `state` is what the lines before
/// have left open, and becomes what this one leaves.
void lexLine(const CodeLanguage& language,
             QStringView line,
             LexState& state,
             std::vector<CodeSpan>& spans);

} // namespace ui
