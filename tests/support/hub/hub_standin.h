// SPDX-License-Identifier: Apache-2.0
// A hub on this computer: one model, its list, its files, large ones on a second port that stands
// for another host, as the real one sends them. It behaves well except where a Fault says
// otherwise, and remembers every request and every byte that it sent. Plain sockets, because most
// faults are things that no HTTP library would do.
#pragma once

#include "tests/support/loopback.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {

struct HubRequest {
    bool is_other_host = false;                 ///< Came to the second port.
    std::string path;                           ///< With the query.
    std::map<std::string, std::string> headers; ///< Names in lower case.
};

struct HubReply {
    int status = 200;
    std::map<std::string, std::string> headers; ///< Content-Length is added where it is not set.
    std::string_view body;
    std::string own_body; ///< What `body` is of, where it is made for this reply.

    void setBody(std::string text) {
        own_body = std::move(text);
        body = own_body;
    }
};

/// What goes wrong, where, and how often before it goes right.
struct HubFault {
    enum class Where : uint8_t {
        Nowhere = 1,
        Info,   ///< /api/models/ID/revision/REVISION
        Tree,   ///< /api/models/ID/tree/COMMIT
        Search, ///< /api/models?
        Small,  ///< A file that the hub sends itself.
        Large,  ///< A file for which it leads to the other host.
        Cdn,    ///< The other host.
    };
    enum class How : uint8_t {
        Edit = 1,  ///< `edit` changes the right reply.
        Close,     ///< The connection ends without a byte.
        Garbage,   ///< Bytes that are no HTTP.
        CutHead,   ///< The connection ends within the head.
        CutBody,   ///< And after `at` bytes of the body.
        Stall,     ///< Nothing comes any more, without an end.
        StallHead, ///< Half a head, then nothing.
        StallBody, ///< `at` bytes of the body, then nothing.
        Drip,      ///< A byte of the body at a time.
    };
    Where where = Where::Nowhere;
    How how = How::Edit;
    int times = -1; ///< -1: always.
    uint64_t at = 0;
    std::function<void(const HubRequest&, HubReply&)> edit = {};
};

struct HubContent {
    std::string id = "org/m";
    std::vector<std::string> also_called = {}; ///< Other models with the same files.
    std::string prefix = {}; ///< "/hf": the hub lies below that path, as a mirror may.
    std::string commit = std::string(40, 'b');
    std::map<std::string, std::string> files;
    /// Names that are large whatever their length; others are when they end in .safetensors.
    bool isLarge(const std::string& name) const;
    std::string token;             ///< Not empty: asked for.
    uint64_t bytes_per_second = 0; ///< For a body; 0: as fast as it goes.
    size_t page_size = 1000;       ///< Entries of a page of the list.
    /// What a search finds, whatever is asked: a list in JSON for each page. Empty: this model.
    std::vector<std::string> search_pages;
};

class HubStandin {
public:
    explicit HubStandin(HubContent content, HubFault fault = {});
    ~HubStandin();
    HubStandin(const HubStandin&) = delete;
    HubStandin& operator=(const HubStandin&) = delete;

    [[nodiscard]] std::string endpoint() const;      ///< "http://127.0.0.1:40001" and the prefix.
    [[nodiscard]] std::string otherEndpoint() const; ///< The second port.
    [[nodiscard]] std::vector<HubRequest> requests() const;
    /// Bytes of files' bodies, taken by the system for sending.
    [[nodiscard]] uint64_t bytesSent() const { return bytes_sent_; }
    /// Connections that were ever made.
    [[nodiscard]] size_t connections() const;
    [[nodiscard]] int port() const { return server_.port(); }
    [[nodiscard]] int otherPort() const { return other_.port(); }
    [[nodiscard]] const HubContent& content() const { return content_; }
    /// As the hub tells it: SHA-256 or git's blob id.
    [[nodiscard]] std::string etag(const std::string& name) const;

private:
    void serve(int connection, bool is_other_host);
    /// False: the connection ends.
    bool answer(int connection, const HubRequest& request);
    HubFault::Where place(const HubRequest& request) const;
    /// Under which of its names a path asks for the model.
    std::string idIn(const std::string& path) const;
    HubReply rightReply(const HubRequest& request) const;
    HubReply listReply(const HubRequest& request) const;
    /// The whole list as ModelScope tells it.
    HubReply modelScopeListReply() const;
    HubReply searchReply(const HubRequest& request) const;
    HubReply fileReply(const HubRequest& request, const std::string& name) const;
    bool sendReply(int connection, const HubReply& reply, bool is_file, const HubFault* fault);
    bool sendBytes(int connection, std::string_view bytes, bool is_counted);
    /// Until the other side or the test ends.
    void hold(int connection) const;

    HubContent content_;
    HubFault fault_;
    std::map<std::string, std::string> etags_;
    std::atomic<bool> is_ending_{false};
    std::atomic<uint64_t> bytes_sent_{0};
    mutable std::mutex mutex_;
    std::vector<HubRequest> requests_;
    int faults_left_ = 0;
    LoopbackServer server_, other_;
};

} // namespace support
