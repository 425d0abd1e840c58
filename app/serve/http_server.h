// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 on sockets: listens, reads requests within limits of size and time, asks the handler,
// writes what it answers. One thread for all connections. The library that parses and waits
// (Boost.Beast and Asio) is seen by beast_server.cpp alone.
#pragma once

#include "app/serve/exchange.h"
#include "engine/base/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace serve {

struct ServerLimits {
    size_t most_body_bytes = size_t{64} << 20U;
    size_t most_connections = 64;
    /// From the beginning of a connection to its first byte.
    std::chrono::milliseconds fresh_time{10'000};
    std::chrono::milliseconds head_time{10'000}; ///< From a request's first byte to its empty line.
    std::chrono::milliseconds body_time{60'000};
    std::chrono::milliseconds idle_time{75'000};  ///< Between requests of one connection.
    std::chrono::milliseconds write_time{30'000}; ///< That a client may take to read something.
    std::chrono::milliseconds linger_time{2'000}; ///< For what comes behind a closing answer.
};

class HttpServer {
public:
    /// Listens at these addresses (numbers, no names), all with one port; port 0: one that is
    /// free. Addresses behind the first may fail, as ::1 where there is no IPv6. `handler` must
    /// outlive the server. Errors: InvalidRequest (no address), InvalidFile (the port is taken).
    static engine::Result<std::unique_ptr<HttpServer>>
    open(const std::vector<std::string>& addresses,
         uint16_t port,
         const ServerLimits& limits,
         Handler& handler);

    HttpServer() = default;
    /// Lets what is being written out for a second, then closes all and waits for the thread.
    virtual ~HttpServer() = default;
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    [[nodiscard]] virtual uint16_t port() const = 0;
};

} // namespace serve
