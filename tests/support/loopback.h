// SPDX-License-Identifier: Apache-2.0
// Plain sockets of the loopback interface, for servers that stand in.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace support {

inline constexpr int kPollMs = 20; ///< How soon a server sees that its test is over.

/// -1: nobody listens there.
int connectToLoopback(int port);
/// Names of headers in lower case.
std::string lower(std::string text);
/// Waits kPollMs at most.
bool isReadable(int socket);

/// Serves each connection on a thread of its own and closes it afterwards.
class LoopbackServer {
public:
    /// `port`: one that a server had before; 0: any. Throws std::runtime_error.
    explicit LoopbackServer(std::function<void(int connection)> serve, int port = 0);
    /// Waits for all connections; whoever serves them knows that the test is over.
    ~LoopbackServer();
    LoopbackServer(const LoopbackServer&) = delete;
    LoopbackServer& operator=(const LoopbackServer&) = delete;

    [[nodiscard]] int port() const { return port_; }
    /// Connections that were ever made.
    [[nodiscard]] size_t connections() const;

private:
    void accept();

    std::function<void(int connection)> serve_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> is_ending_{false};
    mutable std::mutex mutex_;
    std::vector<std::thread> connections_;
    std::thread acceptor_;
};

} // namespace support
