// SPDX-License-Identifier: Apache-2.0
#include "engine/text/jinja_text.h"

#include "engine/text/tokenizer_data.h"

#include <algorithm>
#include <bitset>

namespace engine::jinja {

namespace {

/// Python's str.isspace(). `at` begins with the character.
bool isSpace(std::string_view at) {
    const text::Character found = text::firstCharacter(at);
    const uint32_t c = found.code_point;
    return found.is_valid &&
           ((c >= 0x09U && c <= 0x0dU) || (c >= 0x1cU && c <= 0x20U) || c == 0x85U || c == 0xa0U ||
            c == 0x1680U || (c >= 0x2000U && c <= 0x200aU) || c == 0x2028U || c == 0x2029U ||
            c == 0x202fU || c == 0x205fU || c == 0x3000U);
}

} // namespace

Needle::Needle(std::string_view what) : what_(what), borders_(what.size()) {
    for (size_t at = 1, length = 0; at < what.size(); ++at) {
        while (length > 0 && what[at] != what[length]) {
            length = borders_[length - 1];
        }
        length += what[at] == what[length] ? 1 : 0;
        borders_[at] = length;
    }
}

size_t Needle::find(std::string_view in, size_t from) const {
    if (what_.empty()) {
        return from <= in.size() ? from : std::string_view::npos;
    }
    size_t length = 0;
    for (size_t at = from; at < in.size(); ++at) {
        while (length > 0 && in[at] != what_[length]) {
            length = borders_[length - 1];
        }
        length += in[at] == what_[length] ? 1 : 0;
        if (length == what_.size()) {
            return at + 1 - length;
        }
    }
    return std::string_view::npos;
}

size_t Needle::count(std::string_view in) const {
    size_t found = 0;
    for (size_t at = find(in, 0); at != std::string_view::npos; at = find(in, at + what_.size())) {
        ++found;
    }
    return found;
}

std::string_view trimmed(std::string_view text, std::string_view blanks, bool left, bool right) {
    std::bitset<256> is_blank;
    for (const char c : blanks) {
        is_blank.set(static_cast<unsigned char>(c));
    }
    const auto blank = [&](char c) { return is_blank[static_cast<unsigned char>(c)]; };
    while (left && !text.empty() && blank(text.front())) {
        text.remove_prefix(1);
    }
    while (right && !text.empty() && blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

std::string_view stripped(std::string_view text, bool left, bool right) {
    while (left && !text.empty() && isSpace(text)) {
        text.remove_prefix(text::firstCharacter(text).size);
    }
    while (right && !text.empty()) {
        size_t begin = text.size() - 1;
        while (begin > 0 && (static_cast<uint8_t>(text[begin]) & 0xc0U) == 0x80U) {
            --begin;
        }
        if (!isSpace(text.substr(begin))) {
            break;
        }
        text.remove_suffix(text.size() - begin);
    }
    return text;
}

std::string mapped(std::string_view text, bool to_upper) {
    std::string out(text);
    for (char& c : out) {
        if (to_upper ? (c >= 'a' && c <= 'z') : (c >= 'A' && c <= 'Z')) {
            c = static_cast<char>(c ^ 0x20);
        }
    }
    return out;
}

Text replaced(const Text& text, const Needle& what, const Text& with, size_t size) {
    Text out;
    out.bytes.reserve(size);
    size_t at = 0;
    for (size_t next = what.find(text.bytes, 0); next != std::string_view::npos;
         next = what.find(text.bytes, at)) {
        out.append(text, at, next - at);
        // What was typed calls up no marker: the mark stays where the template's own is replaced.
        const auto is_own = [](char mark) { return mark != 0; };
        const std::string_view marks =
            std::string_view(text.own).substr(std::min(next, text.own.size()), what.size());
        if (marks.size() == what.size() && std::all_of(marks.begin(), marks.end(), is_own)) {
            out.append(with);
        } else {
            out.append(Text{with.bytes, {}});
        }
        at = next + what.size();
    }
    out.append(text, at);
    return out;
}

bool isAscii(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0x80U) == 0; });
}

} // namespace engine::jinja
