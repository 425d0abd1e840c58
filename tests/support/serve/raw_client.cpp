// SPDX-License-Identifier: Apache-2.0
#include "tests/support/serve/raw_client.h"

#include "tests/support/sockets.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace support {

using Clock = std::chrono::steady_clock;

RawClient::RawClient(uint16_t port, const std::string& address) {
    const bool is_v6 = address.find(':') != std::string::npos;
    socket_ = openSocket(is_v6 ? AF_INET6 : AF_INET);
    int outcome = -1;
    if (is_v6) {
        sockaddr_in6 to = {};
        to.sin6_family = AF_INET6;
        to.sin6_port = htons(port);
        ::inet_pton(AF_INET6, address.c_str(), &to.sin6_addr);
        outcome = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to));
    } else {
        sockaddr_in to = {};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        ::inet_pton(AF_INET, address.c_str(), &to.sin_addr);
        outcome = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to));
    }
    if (outcome != 0) {
        closeSocket(socket_);
        socket_ = -1;
    }
}

RawClient::~RawClient() {
    if (socket_ >= 0) {
        closeSocket(socket_);
    }
}

void RawClient::endSending() {
    support::endSending(socket_);
}

void RawClient::abort() {
    setSocketOption(socket_, SOL_SOCKET, SO_LINGER, Linger{1, 0}); // a reset, no orderly end
    closeSocket(socket_);
    socket_ = -1;
}

bool RawClient::send(std::string_view bytes) {
    return sendAll(socket_, bytes);
}

bool RawClient::readMore(Clock::time_point due) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now());
    if (left.count() < 0 || !isReady(socket_, POLLIN, static_cast<int>(left.count()))) {
        return false;
    }
    char bytes[16384];
    const ssize_t count = ::recv(socket_, bytes, sizeof(bytes), 0);
    if (count <= 0) {
        return false;
    }
    pending_.append(bytes, static_cast<size_t>(count));
    return true;
}

bool RawClient::waitFor(std::string_view text, std::chrono::milliseconds patience) {
    const auto due = Clock::now() + patience;
    while (pending_.find(text) == std::string::npos) {
        if (!readMore(due)) {
            return false;
        }
    }
    return true;
}

bool RawClient::isClosedWithin(std::chrono::milliseconds patience) {
    const auto due = Clock::now() + patience;
    while (readMore(due)) {
    }
    return Clock::now() < due;
}

RawAnswer RawClient::answer(std::chrono::milliseconds patience, bool is_head_only) {
    const auto due = Clock::now() + patience;
    RawAnswer out;
    size_t end = 0;
    while ((end = pending_.find("\r\n\r\n")) == std::string::npos) {
        if (!readMore(due)) {
            return out;
        }
    }
    const std::string head = pending_.substr(0, end + 2);
    pending_.erase(0, end + 4);
    out.status = std::atoi(head.substr(head.find(' ') + 1).c_str());
    for (size_t from = head.find("\r\n") + 2; from < head.size();) {
        const size_t stop = head.find("\r\n", from);
        const size_t colon = head.find(": ", from);
        std::string name = head.substr(from, colon - from);
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        out.fields[name] = head.substr(colon + 2, stop - colon - 2);
        from = stop + 2;
    }
    if (is_head_only || out.status == 204) {
        out.is_whole = true;
        return out;
    }
    if (out.fields["transfer-encoding"] == "chunked") {
        while (true) {
            size_t line = 0;
            while ((line = pending_.find("\r\n")) == std::string::npos) {
                if (!readMore(due)) {
                    return out;
                }
            }
            const size_t size = std::strtoul(pending_.c_str(), nullptr, 16);
            while (pending_.size() < line + 2 + size + 2) {
                if (!readMore(due)) {
                    return out;
                }
            }
            out.body += pending_.substr(line + 2, size);
            pending_.erase(0, line + 2 + size + 2);
            if (size == 0) {
                out.is_whole = true;
                return out;
            }
        }
    }
    const size_t size = std::strtoul(out.fields["content-length"].c_str(), nullptr, 10);
    while (pending_.size() < size) {
        if (!readMore(due)) {
            return out;
        }
    }
    out.body = pending_.substr(0, size);
    pending_.erase(0, size);
    out.is_whole = true;
    return out;
}

std::string
postText(uint16_t port, std::string_view path, std::string_view token, std::string_view body) {
    std::string text = "POST ";
    text.append(path).append(" HTTP/1.1\r\nHost: 127.0.0.1:").append(std::to_string(port));
    text.append("\r\nAuthorization: Bearer ").append(token);
    text.append("\r\nContent-Type: application/json\r\nContent-Length: ");
    text.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
    return text;
}

std::string getText(uint16_t port, std::string_view path, std::string_view token) {
    std::string text = "GET ";
    text.append(path).append(" HTTP/1.1\r\nHost: 127.0.0.1:").append(std::to_string(port));
    return text.append("\r\nAuthorization: Bearer ").append(token).append("\r\n\r\n");
}

} // namespace support
