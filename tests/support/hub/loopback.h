// SPDX-License-Identifier: Apache-2.0
// Plain sockets of the loopback interface, for servers that stand in.
#pragma once

namespace support {

inline constexpr int kPollMs = 20; ///< How soon a server sees that its test is over.

/// A listening socket; `port` gets its number. Throws std::runtime_error.
int listenOnLoopback(int& port);
/// -1: nobody listens there.
int connectToLoopback(int port);
/// Waits kPollMs at most.
bool isReadable(int socket);

} // namespace support
