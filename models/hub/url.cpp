// SPDX-License-Identifier: Apache-2.0
#include "models/hub/url.h"

#include "engine/base/ascii.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace models::hub {

namespace {

constexpr size_t kLongestUrl = 8192;

int usualPort(std::string_view scheme) {
    return scheme == "https" ? 443 : 80;
}

bool isPlain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte > 0x20U && byte < 0x7fU && c != '\\' && c != '"' && c != '<' && c != '>';
    });
}

bool isHostCharacter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
}

/// Host and port of "host", "host:8080" or "[::1]:8080".
bool readAuthority(std::string_view authority, Url& url) {
    size_t end = authority.find(':');
    if (authority.starts_with('[')) {
        end = authority.find(']');
        if (end == std::string_view::npos) {
            return false;
        }
        ++end;
        const std::string_view address = authority.substr(1, end - 2);
        if (address.empty() || !std::all_of(address.begin(), address.end(), [](char c) {
                return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
            })) {
            return false;
        }
    }
    end = std::min(end, authority.size());
    url.host = engine::lowered(authority.substr(0, end));
    if (url.host.empty() || (url.host.front() != '[' &&
                             !std::all_of(url.host.begin(), url.host.end(), isHostCharacter))) {
        return false;
    }
    url.port = usualPort(url.scheme);
    if (end == authority.size()) {
        return true;
    }
    const std::string_view digits = authority.substr(end + 1);
    if (digits.empty()) {
        return true;
    }
    const auto [rest, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), url.port);
    return code == std::errc() && rest == digits.data() + digits.size() && url.port > 0 &&
           url.port < 65536;
}

/// Without "." and ".." components (RFC 3986, 5.2.4); `path` begins with '/'.
std::string withoutDots(std::string_view path) {
    std::string out;
    size_t at = 0;
    while (at < path.size()) {
        const size_t next = std::min(path.find('/', at + 1), path.size());
        const std::string_view part = path.substr(at + 1, next - at - 1);
        const bool is_last = next == path.size();
        if (part == "..") {
            out.resize(out.empty() ? 0 : out.rfind('/'));
            out += is_last ? "/" : "";
        } else if (part == ".") {
            out += is_last ? "/" : "";
        } else {
            out += std::string("/") + std::string(part);
        }
        at = next;
    }
    return out.empty() ? "/" : out;
}

} // namespace

std::string Url::origin() const {
    return scheme + "://" + host + (port == usualPort(scheme) ? "" : ":" + std::to_string(port));
}

std::string Url::text() const {
    return origin() + target;
}

bool Url::isLoopback() const {
    // In numbers alone: "127.example.org" is a name of whoever owns it.
    const bool is_number = host.find_first_not_of("0123456789.") == std::string::npos;
    return host == "localhost" || host == "[::1]" || (is_number && host.starts_with("127."));
}

std::optional<Url> parseUrl(std::string_view text) {
    const size_t colon = text.find("://");
    if (colon == std::string_view::npos || text.size() > kLongestUrl || !isPlain(text)) {
        return std::nullopt;
    }
    Url url;
    url.scheme = engine::lowered(text.substr(0, colon));
    if (url.scheme != "http" && url.scheme != "https") {
        return std::nullopt;
    }
    std::string_view rest = text.substr(colon + 3);
    rest = rest.substr(0, rest.find('#'));
    const size_t end = std::min(rest.find_first_of("/?"), rest.size());
    if (!readAuthority(rest.substr(0, end), url)) {
        return std::nullopt;
    }
    const std::string_view target = rest.substr(end);
    const size_t query = std::min(target.find('?'), target.size());
    url.target = query == 0 ? "/" : withoutDots(target.substr(0, query));
    url.target += target.substr(query);
    return url;
}

std::optional<Url> resolved(const Url& base, std::string_view location) {
    if (location.empty()) {
        return std::nullopt;
    }
    if (location.starts_with("//")) {
        return parseUrl(base.scheme + ":" + std::string(location));
    }
    const size_t colon = location.find(':');
    if (colon != std::string_view::npos && colon < location.find_first_of("/?#")) {
        return parseUrl(location); // has a scheme of its own, perhaps none of ours
    }
    if (location.starts_with('/')) {
        return parseUrl(base.origin() + std::string(location));
    }
    const std::string path = base.target.substr(0, base.target.find('?'));
    if (location.starts_with('?')) {
        return parseUrl(base.origin() + path + std::string(location));
    }
    return parseUrl(base.origin() + path.substr(0, path.rfind('/') + 1) + std::string(location));
}

std::string percentEncoded(std::string_view text, bool keeps_slashes) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_kept = (byte < 0x80U && std::isalnum(byte) != 0) || c == '-' || c == '_' ||
                             c == '.' || c == '~' || (keeps_slashes && c == '/');
        if (is_kept) {
            out += c;
        } else {
            out += '%';
            out += kHex[byte >> 4U];
            out += kHex[byte & 15U];
        }
    }
    return out;
}

std::optional<std::string> percentDecoded(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        unsigned value = 0;
        const std::string_view digits = text.substr(std::min(at + 1, text.size()), 2);
        const auto [rest, code] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        if (digits.size() != 2 || code != std::errc() || rest != digits.data() + 2) {
            return std::nullopt;
        }
        out += static_cast<char>(value);
        at += 2;
    }
    return out;
}

} // namespace models::hub
