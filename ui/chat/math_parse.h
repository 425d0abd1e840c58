// SPDX-License-Identifier: Apache-2.0
// Reads a formula in LaTeX as far as models write them: fractions, roots, scripts, Greek letters
// and the usual symbols, sums and integrals, fences, accents, texts, matrices, cases and aligned
// lines. What it does not know makes the whole formula unknown, so that nothing is drawn wrongly:
// it is shown as its source then. Linear in the length; depth and size are bounded. No widgets.
#pragma once

#include <QString>

#include <cstdint>
#include <memory>
#include <vector>

namespace ui {

enum class MathClass : uint8_t { Ordinary = 1, Operator, Binary, Relation, Open, Close, Comma };
enum class MathFont : uint8_t { Italic = 1, Roman, Bold, BoldItalic, Mono };

struct MathNode {
    enum class Kind : uint8_t {
        Row = 1,  ///< Children side by side.
        Symbol,   ///< `text` in `font`.
        Space,    ///< `amount` of an em.
        Fraction, ///< Two children; `amount` 0: without a bar, as in a binomial.
        Root,     ///< What is below it, and the degree if there is one.
        Scripts,  ///< Base, below, above; an empty row where there is nothing.
        Fence,    ///< `text`: the two marks, a dot for none; the child between them.
        Matrix,   ///< Children row by row, `columns` each; `text`: the alignments.
        Accent,   ///< `text` names it; over or under the child.
        Box,
    };
    Kind kind = Kind::Row;
    QString text;
    MathClass part = MathClass::Ordinary;
    MathFont font = MathFont::Italic;
    bool is_large = false;   ///< A sum or an integral.
    bool has_limits = false; ///< Scripts stand below and above, where there is room.
    double amount = 1.0;
    int columns = 0;
    std::vector<MathNode> children;
};

/// With its marks: \( \), \[ \], $ $, $$ $$ or \begin{x} \end{x}. Null: not understood.
std::shared_ptr<const MathNode> parseMath(const QString& source);
/// Stands in a line of its own.
bool isDisplayMath(const QString& source);

} // namespace ui
