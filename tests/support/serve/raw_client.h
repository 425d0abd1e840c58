// SPDX-License-Identifier: Apache-2.0
// A client of HTTP/1.1 that knows next to nothing: writes the bytes that it is given and takes
// answers apart, so that tests can be as rude as they like.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace support {

struct RawAnswer {
    int status = 0; ///< 0: the connection ended, or time ran out, before a head had come.
    std::map<std::string, std::string> fields; ///< Names in lower case.
    std::string body;                          ///< Chunks joined.
    bool is_whole = false;                     ///< Its body came to its end.
};

class RawClient {
public:
    /// `address`: "127.0.0.1" or "::1".
    explicit RawClient(uint16_t port, const std::string& address = "127.0.0.1");
    ~RawClient();
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    [[nodiscard]] bool isConnected() const { return socket_ >= 0; }
    bool send(std::string_view bytes);
    /// The next answer, whole. `is_head_only`: to HEAD.
    RawAnswer answer(std::chrono::milliseconds patience = std::chrono::seconds(60),
                     bool is_head_only = false);
    /// Reads on until `text` has come; false where time runs out or the connection ends before.
    bool waitFor(std::string_view text, std::chrono::milliseconds patience);
    /// Whether the other side closes within this time; what comes meanwhile is dropped.
    bool isClosedWithin(std::chrono::milliseconds patience);
    /// Sends nothing more and still reads.
    void endSending();
    /// Goes away at once, without a word.
    void abort();
    /// All that has come and is in no answer yet.
    [[nodiscard]] const std::string& pending() const { return pending_; }

private:
    /// False: the connection has ended, or time has run out.
    bool readMore(std::chrono::steady_clock::time_point due);

    int socket_ = -1;
    std::string pending_;
};

/// "POST /path HTTP/1.1", Host, token and a JSON body.
std::string
postText(uint16_t port, std::string_view path, std::string_view token, std::string_view body);
std::string getText(uint16_t port, std::string_view path, std::string_view token);

} // namespace support
