// SPDX-License-Identifier: Apache-2.0
// Sockets for what stands in for a server or asks one rudely: POSIX's calls where they are the same
// on Windows, and the few that are not by names of our own. A socket is an int (Windows' handles
// fit).
#pragma once

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif
#else
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#endif

#include <cstddef>

namespace support {

#ifdef _WIN32

inline int openSocket(int family) {
    static const bool is_begun = [] {
        WSADATA about;
        return ::WSAStartup(MAKEWORD(2, 2), &about) == 0;
    }();
    return is_begun ? static_cast<int>(::socket(family, SOCK_STREAM, 0)) : -1;
}

inline void closeSocket(int socket) {
    ::closesocket(static_cast<SOCKET>(socket));
}

inline int acceptSocket(int listener) {
    return static_cast<int>(::accept(static_cast<SOCKET>(listener), nullptr, nullptr));
}

template <typename T>
void setSocketOption(int socket, int level, int name, const T& value) {
    ::setsockopt(static_cast<SOCKET>(socket), level, name, reinterpret_cast<const char*>(&value),
                 sizeof(value));
}

/// Whether it can be read or written (POLLIN, POLLOUT) within this time.
inline bool isReady(int socket, short what, int ms) {
    WSAPOLLFD one = {static_cast<SOCKET>(socket), what, 0};
    return ::WSAPoll(&one, 1, ms) > 0;
}

/// How many of the bytes were taken without waiting; -1: the connection has ended.
inline std::ptrdiff_t sendWhatFits(int socket, const char* bytes, size_t size) {
    u_long is_on = 1;
    ::ioctlsocket(static_cast<SOCKET>(socket), FIONBIO, &is_on);
    const int n = ::send(static_cast<SOCKET>(socket), bytes, static_cast<int>(size), 0);
    const bool is_full = n < 0 && ::WSAGetLastError() == WSAEWOULDBLOCK;
    is_on = 0;
    ::ioctlsocket(static_cast<SOCKET>(socket), FIONBIO, &is_on);
    return is_full ? 0 : n;
}

using Linger = ::linger;
inline constexpr int kShutWrite = SD_SEND;

#else

inline int openSocket(int family) {
    return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

inline void closeSocket(int socket) {
    ::close(socket);
}

inline int acceptSocket(int listener) {
    return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
}

template <typename T>
void setSocketOption(int socket, int level, int name, const T& value) {
    ::setsockopt(socket, level, name, &value, sizeof(value));
}

/// Whether it can be read or written (POLLIN, POLLOUT) within this time.
inline bool isReady(int socket, short what, int ms) {
    pollfd one = {socket, what, 0};
    return ::poll(&one, 1, ms) > 0;
}

/// How many of the bytes were taken without waiting; -1: the connection has ended.
inline std::ptrdiff_t sendWhatFits(int socket, const char* bytes, size_t size) {
    const ssize_t n = ::send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    return n < 0 && errno == EAGAIN ? 0 : n;
}

using Linger = ::linger;
inline constexpr int kShutWrite = SHUT_WR;

#endif

/// Listens on a port of the loopback interface that the system chooses; -1 where it has none.
inline int listenOnLoopback(int& port) {
    const int listener = openSocket(AF_INET);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (listener < 0) {
        return -1;
    }
    if (::bind(listener, any, length) != 0 || ::listen(listener, 64) != 0 ||
        ::getsockname(listener, any, &length) != 0) {
        closeSocket(listener);
        return -1;
    }
    port = ntohs(address.sin_port);
    return listener;
}

} // namespace support
