// SPDX-License-Identifier: Apache-2.0
// Regular expressions with look-ahead and look-behind, which RE2 does not have, in time linear in
// pattern times text: every look-around is first worked out for all positions of the text by one
// pass of its own automaton (look-ahead backwards, look-behind forwards), and the pattern then asks
// a table. Threads in order of preference, as Python would try them, without going back. Bytes, not
// characters; no back-references. Takes what translatePythonPattern() gives.
#pragma once

#include "engine/base/result.h"

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

class LinearPattern {
public:
    /// Most steps of a compiled pattern, look-arounds included.
    static constexpr size_t kMaxSteps = 8192;

    /// Errors: InvalidFile (syntax; a look-behind of changing width, as in Python), Unsupported
    /// (more than kMaxSteps).
    static Result<LinearPattern> compile(std::string_view pattern);

    /// Steps of the compiled pattern, look-arounds included.
    [[nodiscard]] size_t steps() const;
    [[nodiscard]] bool matchesWhole(std::string_view text) const;
    /// A match that begins at the start of the text; `captured` gets the first "(...)" group.
    [[nodiscard]] bool matchesStart(std::string_view text, std::string_view& captured) const;

private:
    friend class LinearPatternCompiler;
    using Set = std::bitset<256>;
    enum class Op : uint8_t {
        Char = 1, ///< A byte of sets[x].
        Split,    ///< Both x and y, x first.
        Jump,     ///< x
        Save,     ///< Remember the position in slot x (0, 1).
        TextBegin,
        TextEnd,
        LineBegin,
        LineEnd,
        WordEdge,
        NotWordEdge,
        Look,    ///< looks[x] holds here.
        LookNot, ///< looks[x] does not.
        Match,
    };
    struct Step {
        Op op = Op::Match;
        uint32_t x = 0, y = 0;
    };
    using Program = std::vector<Step>;
    struct Look {
        bool is_behind = false;
        Program program; ///< Of a look-ahead reversed.
    };
    /// Whether look-around k holds at position i: [k][i].
    using Tables = std::vector<std::vector<bool>>;

    struct Thread {
        uint32_t at = 0;
        size_t saved[2] = {0, 0};
    };
    class Threads;

    [[nodiscard]] Tables look(std::string_view text) const;
    [[nodiscard]] bool
    holds(const Step& step, std::string_view text, size_t position, const Tables& tables) const;
    void follow(const Program& program,
                Thread thread,
                std::string_view text,
                size_t position,
                const Tables& tables,
                Threads& threads) const;
    bool run(std::string_view text, bool is_whole, std::string_view& captured) const;

    std::vector<Set> sets_;
    std::vector<Look> looks_; ///< Inner ones first.
    Program program_;
};

} // namespace engine
