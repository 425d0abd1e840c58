// SPDX-License-Identifier: Apache-2.0
// Jinja templates as chat templates use them: the prompt that a model folder's own template writes,
// and which of it stood in the template. Nothing is executed that the template could reach out
// with: values are text, numbers, lists and maps; no files, no attributes of objects, no imports;
// steps, bytes, time and depth are bounded (jinja_budget.h). transformers' settings: trim_blocks,
// lstrip_blocks, loop controls. Leaves out what chat templates do not need (inheritance, includes,
// call blocks, most filters): such a template is an error.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine::jinja {

struct Macro;

/// A text that knows which of its bytes stood in the template. All others came with the variables
/// or were computed: however a template cuts and joins them, they stay what somebody may have
/// typed.
struct Text {
    std::string bytes;
    std::string
        own; ///< 1 for a byte of the template; may be shorter than `bytes`: the rest is not.

    static Text ofTemplate(std::string bytes);
    void append(const Text& other, size_t from = 0, size_t count = std::string::npos);
};

struct Value {
    enum class Kind : uint8_t {
        Undefined = 1,
        None,
        Bool,
        Int,
        Float,
        Text,
        List,
        Map, ///< Also namespaces, which share what they hold.
        Macro
    };
    using Items = std::vector<Value>;
    using Members = std::vector<std::pair<std::string, Value>>; ///< In order of insertion.

    Kind kind = Kind::Undefined;
    bool boolean = false;
    int64_t integer = 0;
    double number = 0.0;
    std::shared_ptr<const Text> shared_text; ///< Shared, so that copies make no bytes.
    std::shared_ptr<Items> items;
    std::shared_ptr<Members> members;
    const Macro* macro = nullptr;

    static Value none();
    static Value of(bool value);
    static Value of(int64_t value);
    static Value of(double value);
    static Value of(std::string value); ///< No text of the template.
    static Value of(Text value);
    static Value list(Items items = {});
    static Value map(Members members = {});

    [[nodiscard]] bool is(Kind k) const { return kind == k; }
    [[nodiscard]] bool isTrue() const;
    /// "" where this is no text.
    [[nodiscard]] const std::string& text() const;
    [[nodiscard]] const Value* find(std::string_view name) const;
};

/// What an evaluation came to.
struct Cost {
    int64_t steps = 0;
    size_t bytes = 0;
};

/// What the template writes with these variables. Errors: Unsupported (a construct that is not
/// known, a limit reached, raise_exception), InvalidFile (syntax).
Result<Text> render(std::string_view source,
                    const std::map<std::string, Value>& variables,
                    Cost* cost = nullptr);

} // namespace engine::jinja
