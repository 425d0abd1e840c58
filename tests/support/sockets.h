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

#endif

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

using Linger = ::linger;

#endif

} // namespace support
