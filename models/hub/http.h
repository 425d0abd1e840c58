// SPDX-License-Identifier: Apache-2.0
// What the hub asks of a network: one request at a time, its head, its body as it arrives, an end
// with a reason. Redirects, cookies, tokens and retries are none of its business: they are decided
// in hub_client.h and download.h. The program's one implementation is app/network/qt_http.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace models::hub {

struct HttpHeader {
    std::string name;
    std::string value;
    friend bool operator==(const HttpHeader&, const HttpHeader&) = default;
};

struct HttpRequest {
    std::string url; ///< Absolute, percent-encoded, http or https.
    std::vector<HttpHeader> headers;
    /// Ends the request when no byte has come for so long (connecting included).
    std::chrono::milliseconds silence_limit{30'000};
    /// Ends it when it is not done by then, whatever comes; 0 = no such limit.
    std::chrono::milliseconds total_limit{0};
    bool is_post = false; ///< Else a GET, without `body`.
    std::string body = {};
    /// Until something is sent: a name looked up, a connection made; 0 = silence_limit.
    std::chrono::milliseconds connect_limit{0};
    /// From then until the answer begins; 0 = silence_limit.
    std::chrono::milliseconds first_byte_limit{0};
    /// Certificates (PEM) that are trusted besides the system's.
    std::string authorities = {};
};

struct HttpHead {
    int status = 0;
    std::vector<HttpHeader> headers; ///< Names in lower case.

    /// nullptr when it is not there; `name` in lower case. The first of several.
    [[nodiscard]] const std::string* find(std::string_view name) const;
};

/// Gets the answer, in the thread that called run().
class HttpSink {
public:
    virtual ~HttpSink() = default;
    /// False: the body is not wanted; the request ends (HttpEnd::Kind::Sink).
    virtual bool onHead(const HttpHead& head) = 0;
    /// Where the body's next bytes may be put before onBytes() gets them; empty: anywhere. May
    /// block.
    virtual std::span<std::byte> room() { return {}; }
    /// May block: meanwhile no more than a few MiB are taken from the network. False: as above.
    virtual bool onBytes(std::span<const std::byte> bytes) = 0;
};

struct HttpEnd {
    enum class Kind : uint8_t {
        Done = 1, ///< Head and body came to their end (whatever the status).
        Sink,     ///< The sink wanted no more.
        Cancelled,
        Silence,   ///< silence_limit.
        TooLong,   ///< total_limit.
        NoHost,    ///< The name has no address.
        NoConnect, ///< Refused, unreachable, no network.
        Cut,       ///< The connection ended before the answer did.
        Tls,       ///< No secure connection: a certificate, or no TLS in this build.
        Proxy,
        Malformed, ///< What came is no HTTP.
        Forbidden, ///< By a switch, which `detail` names: no connection was tried.
    };
    /// What is wrong with the certificate that came; what counts most, where it is several.
    enum class Flaw : uint8_t {
        None = 1, ///< Nothing, or not told: see `detail`.
        Issuer,   ///< Nobody who is trusted vouches for it.
        Revoked,
        Expired,
        NotYetValid,
        Name, ///< It is another host's.
    };
    Kind kind = Kind::Done;
    std::string detail = {}; ///< The network's own words, for the end of a message.
    Flaw flaw = Flaw::None;  ///< With Tls.
    /// Issuer: who signed it. Expired, NotYetValid: the day (2026-11-26). Name: whose it is.
    std::string flaw_detail = {};
};

/// Belongs to the thread that uses it.
class HttpClient {
public:
    HttpClient() = default;
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;
    virtual ~HttpClient() = default;
    /// Blocks until the answer's end. Follows no redirect, sends no header but `headers` and
    /// those that HTTP needs, unpacks nothing.
    virtual HttpEnd run(const HttpRequest& request, HttpSink& sink, std::stop_token stop) = 0;
    /// Called by a sink: what run() will most likely be asked for next, so that it may be begun
    /// beside the one that runs. A GET. When run() gets another request, it is given up.
    virtual void prepare(const HttpRequest& /*next*/) {}
};

/// Called once in each thread that makes requests.
using HttpClientFactory = std::function<std::unique_ptr<HttpClient>()>;

} // namespace models::hub
