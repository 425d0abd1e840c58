// SPDX-License-Identifier: Apache-2.0
// Whether a reader of foreign text takes time and memory in proportion to the text: it is fed
// repeated tokens of its own language, 16 times longer each round, and the CPU time of a round is
// compared with that of the one before. No clock of the wall, no tight limits: what is quadratic
// takes 256 times longer. A reader may refuse early.
#pragma once

#include "tests/support/program/test_class.h"

#include <QTest>

#include <cstddef>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#ifndef _WIN32
#include <sys/resource.h>
#endif

namespace support {

/// The most memory that this process has had, in bytes; 0 where the system does not say.
inline size_t peakMemory() {
#ifdef _WIN32
    return 0;
#else
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<size_t>(usage.ru_maxrss) * 1024;
#endif
}

/// `unit` as often as it fits into `bytes`, between `before` and `after`.
inline std::string repeated(std::string_view unit,
                            size_t bytes,
                            std::string_view before = {},
                            std::string_view after = {}) {
    std::string text;
    text.reserve(before.size() + bytes + after.size());
    text += before;
    if (const size_t whole = unit.empty() ? 0 : bytes / unit.size() * unit.size(); whole > 0) {
        text += unit;
        for (size_t have = unit.size(); have < whole; have = text.size() - before.size()) {
            text.append(text, before.size(), whole - have); // as much as there is, at most
        }
    }
    return text.append(after);
}

/// `text` with another number for each '#' in it: names that may stand only once.
inline std::string numbered(std::string_view text) {
    std::string out;
    out.reserve(text.size() * 2);
    size_t next = 0;
    size_t begin = 0;
    for (size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', begin)) {
        out.append(text, begin, at - begin).append(std::to_string(next++));
        begin = at + 1;
    }
    out.append(text, begin);
    return out;
}

/// What a reader is given: for each of `units`, and every two of them in turn, a text of nothing
/// else between `before` and `after`.
struct Foreign {
    std::function<void(const std::string&)> read;
    std::vector<std::string> units;
    std::string before = {}, after = {};
    size_t largest = size_t{16} << 20;
    size_t largest_pair = size_t{64} << 10; ///< There are many; 0 = none.
};

/// Empty, or that `unit` takes more than its share of time or memory. The first round is 4 KiB, so
/// that a reader that is far off is found before it holds the test up.
inline std::string whatIsNotLinear(const Foreign& foreign, std::string_view unit, size_t largest) {
    constexpr size_t kFirst = size_t{4} << 10;
    constexpr double kShare = 4 * 16;
    constexpr double kFloor = 0.3; // s: below it a clock says nothing
    constexpr size_t kMemoryShare = 64;
    constexpr size_t kMemoryFloor = size_t{256} << 20;
    double before_s = 0.0;
    for (size_t size = kFirst; size <= largest; size *= 16) {
        const std::string text = repeated(unit, size, foreign.before, foreign.after);
        const size_t peak = peakMemory();
        const std::clock_t begin = std::clock();
        foreign.read(text);
        const double taken_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        const size_t grown = peakMemory() - peak;
        if ((size > kFirst && taken_s > kShare * before_s + kFloor) ||
            grown > kMemoryShare * size + kMemoryFloor) {
            return "\"" + std::string(unit.substr(0, 40)) + "\" up to " +
                   std::to_string(size >> 10) + " KiB: " + std::to_string(taken_s) + " s, before " +
                   std::to_string(before_s) + " s; " + std::to_string(grown >> 20) +
                   " MiB more memory";
        }
        before_s = taken_s;
    }
    return {};
}

/// The same for all of `foreign`.
inline std::string whatIsNotLinear(const Foreign& foreign) {
    for (const std::string& unit : foreign.units) {
        if (std::string told = whatIsNotLinear(foreign, unit, foreign.largest); !told.empty()) {
            return told;
        }
        for (const std::string& other : foreign.units) {
            if (std::string told = whatIsNotLinear(foreign, unit + other, foreign.largest_pair);
                &other != &unit && !told.empty()) {
                return told;
            }
        }
    }
    return {};
}

/// The same as a check of a test.
inline void checkLinear(const Foreign& foreign) {
    VERIFY_EMPTY(whatIsNotLinear(foreign));
}

} // namespace support
