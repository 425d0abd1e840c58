// SPDX-License-Identifier: Apache-2.0
#include "remote/address.h"

#include "engine/base/ascii.h"

#include <array>
#include <charconv>
#include <optional>

#include "models/hub/url.h"

namespace remote {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace {

/// Four decimal numbers with points between, nothing else: other spellings of an address (0x7f.1)
/// are for no name that anybody would write.
std::optional<std::array<int, 4>> ipv4(std::string_view host) {
    std::array<int, 4> numbers{};
    const char* at = host.data();
    const char* const end = at + host.size();
    for (size_t i = 0; i < numbers.size(); ++i) {
        const auto [next, problem] = std::from_chars(at, end, numbers[i]);
        const bool is_last = i + 1 == numbers.size();
        if (problem != std::errc() || next - at > 3 || numbers[i] < 0 || numbers[i] > 255 ||
            (is_last ? next != end : next == end || *next != '.')) {
            return std::nullopt;
        }
        at = is_last ? next : next + 1;
    }
    return numbers;
}

Reach reachOfNumber(const std::array<int, 4>& ip) {
    if (ip[0] == 127) {
        return Reach::Loopback;
    }
    const bool is_private = ip[0] == 10 || (ip[0] == 172 && ip[1] >= 16 && ip[1] <= 31) ||
                            (ip[0] == 192 && ip[1] == 168) || (ip[0] == 169 && ip[1] == 254) ||
                            (ip[0] == 100 && ip[1] >= 64 && ip[1] <= 127);
    return is_private ? Reach::Private : Reach::Public;
}

/// The path without '/' behind it and without a route of the API.
std::string basePath(std::string_view path) {
    path = path.substr(0, path.find('?'));
    const auto strip = [&path] {
        while (path.ends_with('/')) {
            path.remove_suffix(1);
        }
    };
    strip();
    for (const std::string_view route : {"/chat/completions", "/completions", "/models"}) {
        if (path.ends_with(route)) {
            path.remove_suffix(route.size());
            break;
        }
    }
    strip();
    return path.empty() ? "/v1" : std::string(path);
}

Error noAddress(std::string_view text) {
    return {ErrorCode::InvalidRequest,
            said("\"%1\" is no address of a server; expected one like https://gpu.example.org/v1 "
                 "or http://localhost:8000/v1, without a user name or a password in it",
                 text.substr(0, 200)),
            {{"rule", "RemoteAddress"}}};
}

} // namespace

Reach reachOf(std::string_view host) {
    if (host == "localhost" || host.ends_with(".localhost") || host == "[::1]") {
        return Reach::Loopback;
    }
    if (host.starts_with('[')) {
        const bool is_private = host.starts_with("[fc") || host.starts_with("[fd") ||
                                host.starts_with("[fe8") || host.starts_with("[fe9") ||
                                host.starts_with("[fea") || host.starts_with("[feb");
        // "[fd::1]" is not in fc00::/7: its first group has two digits.
        const size_t colon = host.find(':');
        return is_private && colon == 5 ? Reach::Private : Reach::Public;
    }
    if (const auto number = ipv4(host)) {
        return reachOfNumber(*number);
    }
    for (const std::string_view end : {".local", ".lan", ".internal", ".home.arpa"}) {
        if (host.ends_with(end)) {
            return Reach::Private;
        }
    }
    // One word; a number in another spelling (0x08080808) is none.
    const bool is_word = !host.empty() && host.front() >= 'a' && host.front() <= 'z';
    return host.find('.') == std::string_view::npos && is_word ? Reach::Private : Reach::Public;
}

Result<Server> parseServer(std::string_view text, bool allows_plain) {
    const std::string_view words = engine::trimmed(text);
    std::string address(words.substr(0, words.find('#')));
    if (address.find("://") == std::string::npos) {
        const auto guess = models::hub::parseUrl("https://" + address);
        if (!guess.has_value()) {
            return noAddress(words);
        }
        address.insert(0, reachOf(guess->host) == Reach::Public ? "https://" : "http://");
    }
    auto url = models::hub::parseUrl(address);
    if (!url.has_value() || url->host.empty()) {
        return noAddress(words);
    }
    url->target = basePath(url->target);
    Server server;
    server.reach = reachOf(url->host);
    server.is_encrypted = url->scheme == "https";
    server.base = url->text();
    server.host = url->origin().substr(url->scheme.size() + 3);
    if (!server.is_encrypted && server.reach == Reach::Public && !allows_plain) {
        return Error{ErrorCode::InvalidRequest,
                     said("%1: what goes there by http can be read by everybody on the way, also "
                          "the key; write https://, or allow it for this server",
                          server.host),
                     {{"rule", "RemotePlain"}}};
    }
    return server;
}

} // namespace remote
