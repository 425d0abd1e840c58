// SPDX-License-Identifier: Apache-2.0
// The address of a server, as people paste it, brought to one form; how far away it is; and whether
// words may go there without encryption.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace remote {

/// How far away a host is, by its name or number alone; no name is looked up.
enum class Reach : uint8_t {
    Loopback = 1, ///< This computer.
    Private,      ///< A number of a private network (RFC 1918, 3927, 4193, 6598), or a name that
                  ///< only such a network knows: one word, .local, .lan, .internal, .home.arpa.
    Public,
};

struct Server {
    std::string base; ///< "https://gpu.example.org/v1": no '/' behind it.
    std::string host; ///< "gpu.example.org:8000", without the port where it is the usual one.
    Reach reach = Reach::Public;
    bool is_encrypted = true;
};

/// `host` as in a URL, lower case, an IPv6 address with its brackets.
Reach reachOf(std::string_view host);

/// Accepts what stands in front of "/v1", the address of a route below it, and a host without a
/// scheme (http where reachOf() is not Public, else https). Where there is no path, "/v1" is added.
/// Errors: InvalidRequest (no address, a user name in it, http to a public host unless
/// `allows_plain`).
engine::Result<Server> parseServer(std::string_view text, bool allows_plain = false);

} // namespace remote
