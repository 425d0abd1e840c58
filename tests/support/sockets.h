// SPDX-License-Identifier: Apache-2.0
// Sockets for what asks a server rudely: POSIX's calls where they are the same
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
#include <string_view>

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

/// The next connection of a listening socket, -1 where there is none.
inline int acceptSocket(int listener) {
    const SOCKET one = ::accept(static_cast<SOCKET>(listener), nullptr, nullptr);
    return one == INVALID_SOCKET ? -1 : static_cast<int>(one);
}

/// How many of these bytes the system takes without waiting: 0 none yet, -1 never again.
inline ssize_t sendWithoutWaiting(int socket, const char* bytes, size_t count) {
    constexpr size_t kMost = size_t{1} << 20; // a length is an int there
    u_long waits_not = 1;
    ::ioctlsocket(static_cast<SOCKET>(socket), static_cast<long>(FIONBIO), &waits_not);
    const int sent = ::send(static_cast<SOCKET>(socket), bytes,
                            static_cast<int>(count < kMost ? count : kMost), 0);
    const bool is_full = sent < 0 && ::WSAGetLastError() == WSAEWOULDBLOCK;
    waits_not = 0;
    ::ioctlsocket(static_cast<SOCKET>(socket), static_cast<long>(FIONBIO), &waits_not);
    return is_full ? 0 : sent;
}

/// Nothing more will be sent; what comes can still be read.
inline void endSending(int socket) {
    ::shutdown(static_cast<SOCKET>(socket), SD_SEND);
}

using Linger = ::linger;

#else

inline int openSocket(int family) {
    return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

inline void closeSocket(int socket) {
    ::close(socket);
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

inline int acceptSocket(int listener) {
    return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
}

inline ssize_t sendWithoutWaiting(int socket, const char* bytes, size_t count) {
    const ssize_t sent = ::send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 && errno == EAGAIN ? 0 : sent;
}

inline void endSending(int socket) {
    ::shutdown(socket, SHUT_WR);
}

using Linger = ::linger;

#endif

/// Sends all of it; false where the other side went.
inline bool sendAll(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
}

} // namespace support
