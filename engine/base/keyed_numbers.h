// SPDX-License-Identifier: Apache-2.0
// A small file that keeps two numbers by a key, such as what was measured of a card: a first line
// that says what they are, then two lines for each key, the key and its numbers.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace engine {

class KeyedNumbers {
public:
    using Pair = std::array<double, 2>;
    /// is_likely: numbers that can be right; others count as a damaged file.
    KeyedNumbers(std::filesystem::path file,
                 std::string first_line,
                 std::function<bool(const Pair&)> is_likely)
        : file_(std::move(file)), first_line_(std::move(first_line)),
          is_likely_(std::move(is_likely)) {}

    /// Nothing where the file has none of this key. A file that cannot be read has nothing.
    [[nodiscard]] std::optional<Pair> of(const std::string& key) const;
    /// Adds the numbers, or replaces those of the key; nothing takes them away. What cannot be
    /// written is no error. Only the user can read the file.
    void keep(const std::string& key, const std::optional<Pair>& numbers) const;

private:
    using Entries = std::vector<std::pair<std::string, Pair>>;
    [[nodiscard]] Entries entries() const;

    std::filesystem::path file_;
    std::string first_line_;
    std::function<bool(const Pair&)> is_likely_;
};

} // namespace engine
