// SPDX-License-Identifier: Apache-2.0
// The tree of a Jinja template, and from text to tree. See jinja.h.
#pragma once

#include "engine/text/jinja.h"

namespace engine::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
    enum class Kind : uint8_t {
        Constant = 1,
        Name,      ///< text
        List,      ///< parts
        Dict,      ///< parts: key, value, ...
        Member,    ///< parts[0].text
        Index,     ///< parts[0][parts[1]]
        Slice,     ///< parts[0][parts[1]:parts[2]:parts[3]], each but the first may be null
        Call,      ///< parts[0](parts[1...]), names: "" or keyword of each argument
        Filter,    ///< parts[0] | text(parts[1...])
        Test,      ///< parts[0] is [not] text(parts[1...])
        Unary,     ///< text: "not", "-", "+"
        Binary,    ///< text: operator
        Condition, ///< parts[1] if parts[0] else parts[2] (may be null)
    };
    Kind kind = Kind::Constant;
    Value constant;
    std::string text;
    bool is_negated = false;
    int depth = 1; ///< Nodes up to the deepest below, this one included.
    std::vector<ExpressionPtr> parts;
    std::vector<std::string> names;
};

struct Statement;
using Body = std::vector<Statement>;

struct Statement {
    enum class Kind : uint8_t { Text = 1, Output, If, For, Set, Macro, Break, Continue };
    Kind kind = Kind::Text;
    std::string text;                      ///< Text; Set: variable, or "namespace.member"
    std::vector<std::string> names;        ///< For: targets
    ExpressionPtr value;                   ///< Output, Set, For: what is run over
    ExpressionPtr filter;                  ///< For: if
    std::vector<ExpressionPtr> conditions; ///< If: nullptr = else
    std::vector<Body> bodies;              ///< If: one per condition; For: body, else; Set: block
    std::shared_ptr<Macro> macro;
};

struct Macro {
    std::string name;
    std::vector<std::string> parameters;
    std::vector<ExpressionPtr> defaults; ///< nullptr = none
    Body body;
};

Result<Body> parse(std::string_view source);

} // namespace engine::jinja
