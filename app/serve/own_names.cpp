// SPDX-License-Identifier: Apache-2.0
#include "app/serve/own_names.h"

#include "engine/base/ascii.h"

#ifdef _WIN32
#include <ws2tcpip.h>
#else
#include <arpa/inet.h>
#endif

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <optional>

namespace serve {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

bool isPort(std::string_view digits) {
    unsigned port = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, problem] = std::from_chars(digits.data(), end, port);
    return problem == std::errc() && stop == end && port <= 65535;
}

/// The shortest spelling; nullopt where it is no address.
std::optional<std::string> ipv6(std::string_view text) {
    const std::string plain(text.substr(0, text.find('%')));
    std::array<unsigned char, 16> bytes{};
    if (::inet_pton(AF_INET6, plain.c_str(), bytes.data()) != 1) {
        return std::nullopt;
    }
    constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    std::array<char, 64> out{};
    const bool is_v4 = std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
    const void* const from = is_v4 ? bytes.data() + kMapped.size() : bytes.data();
    ::inet_ntop(is_v4 ? AF_INET : AF_INET6, from, out.data(), out.size());
    return std::string(out.data());
}

/// What a host may be made of, brackets and ports apart.
bool isName(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_');
    });
}

struct HostAndPort {
    std::string_view host; ///< With its brackets.
    std::string_view port; ///< With its colon.
};

HostAndPort split(std::string_view text) {
    const size_t bracket = text.starts_with('[') ? text.find(']') : 0;
    const size_t colon = bracket == std::string_view::npos ? bracket : text.find(':', bracket);
    return {text.substr(0, colon),
            colon == std::string_view::npos ? std::string_view() : text.substr(colon)};
}

Error wrong(const char* option, std::string_view word, const std::string& why) {
    return {ErrorCode::InvalidRequest,
            engine::asItIs(std::string(option) + " " + std::string(word) + ": " + why)};
}

} // namespace

std::string hostName(std::string_view host) {
    if (const auto bare = ipv6(host)) {
        return *bare;
    }
    const auto [name, port] = split(host);
    if (!port.empty() && port != ":" && !isPort(port.substr(1))) {
        return {};
    }
    if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
        return ipv6(name.substr(1, name.size() - 2)).value_or("");
    }
    const std::string_view plain = name.substr(0, name.size() - (name.ends_with('.') ? 1 : 0));
    return isName(plain) ? engine::lowered(plain) : "";
}

bool isLoopback(std::string_view name) {
    return name == "::1" || name == "localhost" ||
           (name.starts_with("127.") && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                return std::isdigit(c) != 0 || c == '.';
            }));
}

Result<std::string> allowedHost(std::string_view word) {
    std::string_view rest = word;
    if (const size_t scheme = rest.find("://"); scheme != std::string_view::npos) {
        rest.remove_prefix(scheme + 3);
    }
    while (rest.ends_with('/')) {
        rest.remove_suffix(1);
    }
    std::string name = hostName(rest);
    if (name.empty()) {
        return wrong("--allow-host", word,
                     "expected the name of this computer that stands in the address which other "
                     "programs use, such as host.docker.internal; name each one, patterns and "
                     "paths are not taken");
    }
    return name;
}

Result<std::string> allowedOrigin(std::string_view word) {
    if (word == "null") { // pages without an origin
        return std::string(word);
    }
    if (word.find('*') != std::string_view::npos) {
        return wrong("--allow-origin", word,
                     "would let every page ask that a browser has open; expected the address of "
                     "one page, such as http://localhost:3000 (the option is repeatable)");
    }
    const size_t end = word.find("://");
    const std::string scheme = engine::lowered(word.substr(0, end));
    const bool is_scheme = !scheme.empty() &&
                           std::isalpha(static_cast<unsigned char>(scheme[0])) != 0 &&
                           std::all_of(scheme.begin(), scheme.end(), [](unsigned char c) {
                               return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
                           });
    if (end == std::string_view::npos || !is_scheme) {
        return wrong("--allow-origin", word,
                     "has no scheme, so it is the origin of no page; expected for example "
                     "http://localhost:3000");
    }
    std::string_view rest = word.substr(end + 3);
    while (rest.ends_with('/')) {
        rest.remove_suffix(1);
    }
    const bool is_web = scheme == "http" || scheme == "https";
    const auto [host, port] = split(rest.substr(0, rest.find_first_of("/?#")));
    const std::string name = host.starts_with('[') ? "[" + hostName(host) + "]"
                             : is_web              ? engine::lowered(host)
                                                   : std::string(host);
    const bool has_name =
        host.starts_with('[') ? name.size() > 2 : isName(host) || (host.empty() && !is_web);
    if (!has_name || (!port.empty() && port != ":" && !isPort(port.substr(1)))) {
        return wrong("--allow-origin", word,
                     "no browser sends this as the origin of a page; expected for example "
                     "http://localhost:3000 (names with other letters as xn--...)");
    }
    unsigned number = 0;
    static_cast<void>(
        std::from_chars(port.data() + (port.empty() ? 0 : 1), port.data() + port.size(), number));
    const bool is_usual =
        number == 0 || (scheme == "http" && number == 80) || (scheme == "https" && number == 443);
    std::string origin = scheme + "://" + name + (is_usual ? "" : ":" + std::to_string(number));
    if (host.size() + port.size() != rest.size()) {
        return wrong("--allow-origin", word,
                     "an origin has no path, and no browser sends one; expected " + origin);
    }
    return origin;
}

} // namespace serve
