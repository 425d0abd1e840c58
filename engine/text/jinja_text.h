// SPDX-License-Identifier: Apache-2.0
// Work on texts for the evaluator of templates, each in time that is linear in the texts' lengths.
#pragma once

#include "engine/text/jinja.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace engine::jinja {

/// A text that is searched for, by Knuth, Morris and Pratt: std::string::find() takes the product
/// of both lengths where a text is made for that.
class Needle {
public:
    explicit Needle(std::string_view what);
    /// The first place from `from` on, or npos.
    [[nodiscard]] size_t find(std::string_view in, size_t from) const;
    /// How many there are side by side, none over another. The needle is not empty.
    [[nodiscard]] size_t count(std::string_view in) const;
    [[nodiscard]] size_t size() const { return what_.size(); }
    /// What the needle of such a text takes.
    static size_t bytesOf(std::string_view what) { return what.size() * sizeof(size_t); }

private:
    std::string_view what_;
    std::vector<size_t> borders_; ///< Length of the longest border of each beginning.
};

/// Without any of the bytes `blanks` at the sides asked for.
std::string_view trimmed(std::string_view text, std::string_view blanks, bool left, bool right);
/// Without white space as Python's str.strip() knows it, in any script.
std::string_view stripped(std::string_view text, bool left = true, bool right = true);
/// ASCII letters only.
std::string mapped(std::string_view text, bool to_upper);
/// Every `what` as `with`; `what` is not empty. `size`: the result's.
Text replaced(const Text& text, const Needle& what, const Text& with, size_t size);
bool isAscii(std::string_view text);

} // namespace engine::jinja
