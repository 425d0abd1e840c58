// SPDX-License-Identifier: Apache-2.0
// The little of URLs that the hub needs (RFC 3986): http and https with host, port and path. Names
// and passwords inside a URL are refused: a secret in an address ends in logs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace models::hub {

struct Url {
    std::string scheme; ///< "http" or "https".
    std::string host;   ///< Lower case; an IPv6 address with its brackets.
    int port = 0;       ///< Never 0: 80 or 443 where none was written.
    std::string target; ///< "/path?query": begins with '/', no fragment.

    [[nodiscard]] std::string text() const;
    /// "https://host" with the port where it is not the usual one.
    [[nodiscard]] std::string origin() const;
    [[nodiscard]] bool isLoopback() const;
};

/// nullopt for what is no such URL: another scheme, a user name, spaces or control characters, more
/// than 8192 bytes.
std::optional<Url> parseUrl(std::string_view text);

/// What a Location header of an answer from `base` leads to; nullopt as parseUrl().
std::optional<Url> resolved(const Url& base, std::string_view location);

/// Percent-encoded; '/' stays as it is when `keeps_slashes`.
std::string percentEncoded(std::string_view text, bool keeps_slashes);
/// nullopt where a '%' is not followed by two hexadecimal digits.
std::optional<std::string> percentDecoded(std::string_view text);

} // namespace models::hub
