// SPDX-License-Identifier: Apache-2.0
#include "tests/support/hub/loopback.h"

#include "tests/support/sockets.h"

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

int listenOnLoopback(int& port) {
    const int listener = openSocket(AF_INET);
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (listener < 0 || ::bind(listener, any, length) != 0 || ::listen(listener, 64) != 0 ||
        ::getsockname(listener, any, &length) != 0) {
        throw std::runtime_error("no port on the loopback interface");
    }
    port = ntohs(address.sin_port);
    return listener;
}

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

bool isReadable(int socket) {
    return isReady(socket, POLLIN, kPollMs);
}

} // namespace support
