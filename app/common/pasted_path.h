// SPDX-License-Identifier: Apache-2.0
// Paths as people have them at hand: typed, dropped on a terminal, copied from a file manager, a
// shell's history or a browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace app {

/// What has to be there for a reading of a word to be the right one.
enum class PathFor {
    Reading = 1, ///< The file or folder itself.
    Writing,     ///< The folder that it is to lie in.
};

/// The path that `word` means. As it stands where that is there; else in the first of these
/// readings that is there: a file: address with percent signs; as a shell reads it (blanks and
/// apostrophes behind backslashes, quotes of both kinds, also joined: 'it'\''s.png'); within
/// typographic quotes; each with ~ or ~NAME for a home folder. Blanks, a carriage return and a byte
/// order mark around it do not count. Where none is there, the likeliest reading, so that a message
/// names the path that was looked for.
[[nodiscard]] std::string pastedPath(std::string_view word, PathFor purpose = PathFor::Reading);

/// Several files dropped on a terminal at once: one path if the whole word is there in some
/// reading, else all of its words if each of them is there, else the whole word's likeliest
/// reading.
[[nodiscard]] std::vector<std::string> pastedPaths(std::string_view word);

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Without blanks, line ends and a byte order mark around it.
[[nodiscard]] std::string_view trimmedWord(std::string_view word);

} // namespace app
