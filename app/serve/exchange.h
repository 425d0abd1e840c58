// SPDX-License-Identifier: Apache-2.0
// HTTP as plain values: what a client sent, what goes back. No library's types: the one that reads
// sockets stands behind http_server.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace serve {

/// Names and values, in their order.
using HttpFields = std::vector<std::pair<std::string, std::string>>;

/// What stands before a request's body.
struct HttpHead {
    std::string method;
    std::string target; ///< As sent: a path, or with "http://host:port" in front (RFC 9112, 3.2.2).
    bool is_http_1_1 = true;
    HttpFields fields;         ///< Names in lower case.
    std::string local_address; ///< Where the connection came in: "127.0.0.1", "::1".
    uint16_t local_port = 0;

    [[nodiscard]] size_t count(std::string_view name) const;
    /// The first of this name; nullptr without.
    [[nodiscard]] const std::string* find(std::string_view name) const;
    /// The target's path, without what follows '?'; slashes too many are left out.
    [[nodiscard]] std::string path() const;
    /// The host that the target names; empty where it is a path.
    [[nodiscard]] std::string_view authority() const;
};

struct HttpAnswer {
    int status = 200;
    std::string content_type = "application/json";
    std::string body;
    HttpFields fields = {};             ///< Besides those that every answer has.
    std::chrono::milliseconds delay{0}; ///< Waits so long first.
    bool is_closing = false;            ///< The connection ends with it.
};

/// A request that may go on: its body is read.
struct Admission {
    size_t token = 0;       ///< Which of the tokens it came with.
    bool has_token = false; ///< It came with one: not every path needs it.
    HttpFields fields;      ///< For every answer to it.
};

struct HttpRequest {
    HttpHead head;
    Admission admission;
    std::string body;
};

/// The way back to one client. Methods may be called from any thread and do nothing once the client
/// has gone; either answer() once, or begin(), send()... and finish().
class Exchange {
public:
    Exchange() = default;
    virtual ~Exchange() = default;
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    virtual void answer(HttpAnswer answer) = 0;
    /// A body that comes in pieces; `head.body` is not sent.
    virtual void begin(HttpAnswer head) = 0;
    virtual void send(std::string piece) = 0;
    virtual void finish() = 0;
    /// Called on the server's thread when the client goes away, or stops reading, before the answer
    /// is whole. Set it while Handler::onRequest runs.
    virtual void onGone(std::function<void()> gone) = 0;
};

/// What a server asks. All on the server's one thread: nothing here may wait for long.
class Handler {
public:
    Handler() = default;
    virtual ~Handler() = default;
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;

    /// Before the body is read: an answer ends it there.
    virtual std::variant<HttpAnswer, Admission> onHead(const HttpHead& head) = 0;
    /// The answer may come now or later.
    virtual void onRequest(HttpRequest request, std::shared_ptr<Exchange> exchange) = 0;
    /// A few times a second.
    virtual void onTick() = 0;
};

/// What goes over the wire in front of a body; `length` below zero: the body comes in chunks, or up
/// to the end of the connection where the client does not know chunks.
std::string headText(const HttpAnswer& answer,
                     const HttpFields& fields,
                     int64_t length,
                     bool is_chunked,
                     bool is_kept);

/// "Not Found".
std::string_view statusText(int status);

} // namespace serve
