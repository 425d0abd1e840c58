// SPDX-License-Identifier: Apache-2.0
// Results of the engine where a test cannot go on without a value, and what their errors
// and notes tell.
#pragma once

#include "engine/base/result.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace support {

/// The result's value. Ends the test program with `what` and the error where there is none.
template <typename T>
T must(engine::Result<T> result, const char* what) {
    if (!result.has_value()) {
        std::fprintf(stderr, "%s: %s\n", what, result.error().message.c_str());
        std::exit(98);
    }
    if constexpr (!std::is_void_v<T>) {
        return std::move(result).value();
    }
}

/// What the error tells under a key beside its message; empty: nothing.
inline std::string detailOf(const engine::Error& error, std::string_view key = "rule") {
    for (const auto& [name, value] : error.details) {
        if (name == key) {
            return value;
        }
    }
    return {};
}

/// Whether one of the lines has `part` in it.
inline bool mentions(const std::vector<std::string>& lines, std::string_view part) {
    return std::any_of(lines.begin(), lines.end(), [part](const std::string& line) {
        return line.find(part) != std::string::npos;
    });
}

} // namespace support
