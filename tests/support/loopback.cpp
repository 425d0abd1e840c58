// SPDX-License-Identifier: Apache-2.0
#include "tests/support/loopback.h"

#include "tests/support/sockets.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <stdexcept>

namespace support {

namespace {

sockaddr_in loopback(int port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    return address;
}

} // namespace

int connectToLoopback(int port) {
    const int connection = openSocket(AF_INET);
    const sockaddr_in address = loopback(port);
    if (connection >= 0 &&
        ::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
        return connection;
    }
    if (connection >= 0) {
        closeSocket(connection);
    }
    return -1;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool isReadable(int socket) {
    return isReady(socket, POLLIN, kPollMs);
}

LoopbackServer::LoopbackServer(std::function<void(int connection)> serve, int port)
    : serve_(std::move(serve)), listener_(openSocket(AF_INET)) {
    sockaddr_in address = loopback(port);
    setSocketOption(listener_, SOL_SOCKET, SO_REUSEADDR, int{1}); // a port that has just gone
    socklen_t length = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, any, length) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, any, &length) != 0) {
        throw std::runtime_error("no port on the loopback interface");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept(); });
}

LoopbackServer::~LoopbackServer() {
    is_ending_ = true;
    acceptor_.join();
    for (std::thread& connection : connections_) {
        connection.join();
    }
    closeSocket(listener_);
}

size_t LoopbackServer::connections() const {
    const std::lock_guard lock(mutex_);
    return connections_.size();
}

void LoopbackServer::accept() {
    while (!is_ending_) {
        const int connection = isReadable(listener_) ? acceptSocket(listener_) : -1;
        if (connection < 0) {
            continue;
        }
        setSocketOption(connection, IPPROTO_TCP, TCP_NODELAY, int{1});
        const std::lock_guard lock(mutex_);
        connections_.emplace_back([this, connection] {
            serve_(connection);
            closeSocket(connection);
        });
    }
}

} // namespace support
