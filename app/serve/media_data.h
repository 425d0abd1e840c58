// SPDX-License-Identifier: Apache-2.0
// Pictures and sounds as requests carry them: base64 (RFC 4648, chapters 4 and 5) and data: URLs
// (RFC 2397). Nothing is fetched, no file is named.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace serve {

/// nullopt where a character is none of the alphabet's, a length is impossible or padding stands
/// elsewhere than at the end. Both alphabets are read, also escaped as in URLs; padding may be
/// missing; white space is skipped.
std::optional<std::string> fromBase64(std::string_view text);

/// "a+b" of "a%2Bb"; what is no escape stays.
std::string unescaped(std::string_view text);

/// A data: URL in its pieces; nullopt where it is none with base64.
struct DataUrl {
    std::string type; ///< "image/png", in lower case; "" where none is said.
    std::string_view base64;
};
std::optional<DataUrl> splitDataUrl(std::string_view url);

/// Begins as a picture or a sound does, whatever its type says.
bool looksLikeMedium(std::string_view bytes);

} // namespace serve
