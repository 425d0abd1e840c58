// SPDX-License-Identifier: Apache-2.0
// A proxy on this computer: requests for names that only it knows go on to ports of the loopback
// interface (RFC 9112, absolute-form); tunnels (CONNECT) are refused. It remembers all that it was
// told.
#pragma once

#include "tests/support/loopback.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace support {

class ProxyStandin {
public:
    /// `ports` by host name.
    explicit ProxyStandin(std::map<std::string, int> ports);
    ~ProxyStandin();
    ProxyStandin(const ProxyStandin&) = delete;
    ProxyStandin& operator=(const ProxyStandin&) = delete;

    [[nodiscard]] std::string address() const; ///< "http://127.0.0.1:40001"
    /// Heads of requests as they came, tunnels included.
    [[nodiscard]] std::vector<std::string> heads() const;

private:
    void serve(int connection);
    /// One answer from `host` to who asked; false: the connection ends.
    bool pass(int connection, const std::string& host, const std::string& head) const;

    const std::map<std::string, int> ports_;
    std::atomic<bool> is_ending_{false};
    mutable std::mutex mutex_;
    std::vector<std::string> heads_;
    LoopbackServer server_;
};

} // namespace support
