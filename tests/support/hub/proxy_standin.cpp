// SPDX-License-Identifier: Apache-2.0
#include "tests/support/hub/proxy_standin.h"

#include "tests/support/loopback.h"
#include "tests/support/sockets.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace support {

namespace {

constexpr std::string_view kEnd = "\r\n\r\n";

/// Length that a head tells; 0 where it tells none.
size_t contentLength(std::string head) {
    head = lower(std::move(head));
    constexpr std::string_view kName = "\r\ncontent-length:";
    const size_t at = head.find(kName);
    return at == std::string::npos ? 0 : std::stoul(head.substr(at + kName.size()));
}

} // namespace

ProxyStandin::ProxyStandin(std::map<std::string, int> ports)
    : ports_(std::move(ports)), server_([this](int connection) { serve(connection); }) {}

ProxyStandin::~ProxyStandin() {
    is_ending_ = true;
}

std::string ProxyStandin::address() const {
    return "http://127.0.0.1:" + std::to_string(server_.port());
}

std::vector<std::string> ProxyStandin::heads() const {
    const std::lock_guard lock(mutex_);
    return heads_;
}

void ProxyStandin::serve(int connection) {
    std::string text;
    char piece[4096];
    while (!is_ending_) {
        const size_t end = text.find(kEnd);
        if (end == std::string::npos) {
            const ssize_t n =
                isReadable(connection) ? ::recv(connection, piece, sizeof(piece), 0) : -1;
            if (n == 0) {
                return;
            }
            text.append(piece, static_cast<size_t>(std::max<ssize_t>(0, n)));
            continue;
        }
        std::string head = text.substr(0, end + kEnd.size());
        text.erase(0, head.size());
        {
            const std::lock_guard lock(mutex_);
            heads_.push_back(head);
        }
        // "GET http://host:port/path HTTP/1.1"
        constexpr std::string_view kScheme = "http://";
        const size_t scheme = head.find(kScheme);
        if (head.starts_with("CONNECT ") || scheme == std::string::npos ||
            scheme > head.find("\r\n")) {
            sendAll(connection, "HTTP/1.1 403 No tunnels\r\nContent-Length: 0\r\n\r\n");
            return;
        }
        const size_t host_begin = scheme + kScheme.size();
        const size_t path = head.find('/', host_begin);
        std::string host = head.substr(host_begin, path - host_begin);
        host.resize(std::min(host.size(), host.find(':')));
        head.erase(scheme, path - scheme);
        if (!pass(connection, host, head)) {
            return;
        }
    }
}

bool ProxyStandin::pass(int connection, const std::string& host, const std::string& head) const {
    const auto port = ports_.find(host);
    const int there = port == ports_.end() ? -1 : connectToLoopback(port->second);
    if (there < 0) {
        sendAll(connection, "HTTP/1.1 502 Not known\r\nContent-Length: 0\r\n\r\n");
        return false;
    }
    sendAll(there, head);
    std::string answer;
    size_t length = 0; // of all of it; 0: its head is not there yet
    char piece[65536];
    while (!is_ending_ && (length == 0 || answer.size() < length)) {
        const ssize_t n = isReadable(there) ? ::recv(there, piece, sizeof(piece), 0) : -1;
        if (n == 0) {
            break;
        }
        answer.append(piece, static_cast<size_t>(std::max<ssize_t>(0, n)));
        if (const size_t end = answer.find(kEnd); length == 0 && end != std::string::npos) {
            length = end + kEnd.size() + contentLength(answer.substr(0, end));
        }
    }
    closeSocket(there);
    return sendAll(connection, answer) && length > 0 && answer.size() == length;
}

} // namespace support
