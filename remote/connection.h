// SPDX-License-Identifier: Apache-2.0
// What is needed to talk to one server. Never part of a request, a chat, an export or a log: it is
// asked for by the server's address when a connection is made.
#pragma once

#include "engine/base/result.h"

#include <chrono>
#include <functional>
#include <string>

#include "models/hub/http.h"
#include "remote/address.h"

namespace remote {

struct TimeLimits {
    std::chrono::milliseconds connect{10'000};
    std::chrono::milliseconds first_byte{600'000}; ///< A queue and a long prompt come before it.
    std::chrono::milliseconds silence{60'000};     ///< Between bytes of a reply.
    /// Between words of a reply, where only signs of life come, or pieces of a line without end.
    std::chrono::milliseconds progress{600'000};
    std::chrono::milliseconds list{15'000}; ///< All of a short question: models, health.
};

struct Connection {
    Server server;
    std::string key;         ///< Empty: none is sent.
    std::string authorities; ///< Certificates (PEM) trusted besides the system's.
    TimeLimits limits;
};

/// The connection for a server's base address: the user's settings and the key. Called in the
/// engine's thread. Errors: those of reading the key; of parseServer().
using ConnectionSource = std::function<engine::Result<Connection>(const std::string& base)>;

/// A key as it stands in a file or variable, without white space around it. Errors: InvalidRequest
/// (empty, longer than 4096 bytes, characters that no header may have). The message says `where`
/// it stood, never what.
engine::Result<std::string> checkedKey(std::string text, const std::string& where);
/// The same of a file; on systems with modes, only of one that nobody else may read.
engine::Result<std::string> readKeyFile(const std::string& path);
/// Makes or replaces such a file (0600).
engine::Result<void> writeKeyFile(const std::string& path, const std::string& key);

/// The certificates (PEM) of a file. Errors: "rule" = RemoteAuthority (no such file, none in it).
engine::Result<std::string> readAuthority(const std::string& path);

} // namespace remote
