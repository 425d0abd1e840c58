// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace engine {

namespace {

void append(const Json& value, std::string& out) {
    switch (value.kind) {
    case Json::Kind::Null:
        out += "null";
        return;
    case Json::Kind::Bool:
        out += value.boolean ? "true" : "false";
        return;
    case Json::Kind::Number:
        out += value.text;
        return;
    case Json::Kind::String:
        out += jsonString(value.text);
        return;
    case Json::Kind::Array:
        out += '[';
        for (size_t i = 0; i < value.items.size(); ++i) {
            out += i > 0 ? "," : "";
            append(value.items[i], out);
        }
        out += ']';
        return;
    case Json::Kind::Object:
        out += '{';
        for (size_t i = 0; i < value.members.size(); ++i) {
            out += i > 0 ? "," : "";
            out += jsonString(value.members[i].key) + ':';
            append(value.members[i].value, out);
        }
        out += '}';
        return;
    }
}

} // namespace

std::string jsonText(const Json& value) {
    std::string out;
    append(value, out); // no deeper than kDeepestJsonTree
    return out;
}

std::string jsonString(std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (byte < 0x20U) {
            out += "\\u00";
            out += kHex[byte >> 4U];
            out += kHex[byte & 0xfU];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string fractionText(double value) {
    if (!std::isfinite(value)) {
        return std::isnan(value) ? "nan" : value < 0.0 ? "-inf" : "inf";
    }
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                   std::chars_format::scientific)
                         .ptr;
    // "d.ddde+XX": the digits, and where the point stands behind the first of them.
    const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
    const size_t mark = text.find('e');
    int exponent = 0;
    const size_t sign = text[mark + 1] == '+' ? mark + 2 : mark + 1;
    std::from_chars(text.data() + sign, text.data() + text.size(), exponent);
    std::string digits(text.substr(0, mark));
    std::erase(digits, '.');
    std::string out = std::signbit(value) ? "-" : "";
    const int count = static_cast<int>(digits.size());
    if (exponent < -4 || exponent >= 16) {
        const std::string fraction = count > 1 ? "." + digits.substr(1) : std::string();
        const std::string power = std::to_string(std::abs(exponent));
        return out + digits[0] + fraction + (exponent < 0 ? "e-" : "e+") +
               (power.size() < 2 ? "0" : "") + power;
    }
    if (exponent < 0) {
        return out + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
    }
    if (count <= exponent + 1) {
        return out + digits + std::string(static_cast<size_t>(exponent + 1 - count), '0') + ".0";
    }
    const size_t whole = static_cast<size_t>(exponent) + 1;
    return out + digits.substr(0, whole) + "." + digits.substr(whole);
}

} // namespace engine
