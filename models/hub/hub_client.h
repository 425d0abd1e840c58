// SPDX-License-Identifier: Apache-2.0
// The hub's protocol: which model, which files, one file's bytes from a position on. Redirects are
// followed here and by hand, because a token must not go with them to another host, and because the
// head of the redirecting answer holds the checksum. Source: huggingface_hub 2.4 and
// https://huggingface.co/docs/hub/api. Search is search.h. Left out: the Xet protocol (every file
// of it is also to be had as plain ranges).
#pragma once

#include "engine/base/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "models/hub/http.h"
#include "models/hub/hub_error.h"

namespace models::hub {

/// How long and how much at most. Times of tests are shorter.
struct Limits {
    std::chrono::milliseconds silence{30'000};      ///< Without a byte.
    std::chrono::milliseconds short_answer{90'000}; ///< For one that is no file, in all.
    /// A file that brings fewer than min_bytes in so long is given up and continued anew.
    std::chrono::milliseconds drip{60'000};
    uint64_t min_bytes = uint64_t{64} << 10;
    std::chrono::milliseconds first_wait{1'000};     ///< Before the second attempt; then doubled.
    std::chrono::milliseconds longest_wait{330'000}; ///< That a server may ask for with 429.
    std::chrono::milliseconds lock{600'000};         ///< For another program that fetches the same.
    int attempts = 5;                                ///< Without a byte in between.
    /// Asked for and not on the disk yet, of a fetch: what its end at any moment can cost. 16 MiB
    /// are worth a second of 130 Mbit/s, and more than a line of 1 Gbit/s holds in 100 ms.
    uint64_t block_bytes = uint64_t{16} << 20;
    int redirects = 10;
    size_t list_bytes = size_t{16} << 20; ///< For one page of a list of files.
    size_t pages = 100;
    size_t files = 20'000;
};

/// Whose protocol is spoken.
enum class Source : uint8_t {
    Hub = 1,    ///< The Hugging Face hub, and its mirrors.
    ModelScope, ///< modelscope.h; to a plain folder only.
};

struct HubOptions {
    Source source = Source::Hub;
    std::string endpoint; ///< As cache_layout.h's endpoint(), or modelScopeEndpoint().
    std::string token;    ///< Empty: none.
    std::string user_agent = "belfry";
    Limits limits = {};
};

struct ModelInfo {
    std::string id;     ///< As the hub writes it; it may have been renamed.
    std::string commit; ///< 40 digits; of ModelScope, which has none, the revision.
};

struct ListedFile {
    std::string name; ///< With '/' between folders; stays within its folder (mayLeaveFolder()).
    const char* problem = nullptr; ///< Why this computer cannot keep a file of that name.
    uint64_t size_bytes = 0;
    std::string etag; ///< Its SHA-256 when is_large, else git's blob id.
    bool is_large = false;
};

/// Gets a file's bytes. Called in the thread of the request.
struct FileSink {
    /// Before the first byte, with the position that it has: what was asked for, or 0 when the
    /// server knows no ranges. An error ends the request.
    std::function<engine::Result<void>(uint64_t position)> begin;
    /// An error ends the request.
    std::function<engine::Result<void>(std::span<const std::byte>)> bytes;
    /// Where the next bytes may be put before that; not set: anywhere.
    std::function<std::span<std::byte>()> room = {};
    /// Asked when half of a range has come: the end of the next range, which is then begun beside
    /// this one and must be what is read next; 0: none. Not set: none.
    std::function<uint64_t()> next_end = {};
};

/// Whether a second attempt may go better is the error's detail "again": the milliseconds that the
/// server asks for, or nothing in it.
engine::Error worthAgain(engine::Error error, std::string wait_ms = {});

/// Waits or is stopped; false: stopped.
bool waitFor(std::chrono::milliseconds time, const std::stop_token& stop);

/// Belongs to the thread that uses it.
class HubClient {
public:
    /// `http` must outlive this. Errors: InvalidRequest with rule HubNetwork when the endpoint is
    /// no address, or a token would go over an unencrypted connection to another computer.
    static engine::Result<HubClient> create(HubOptions options, HttpClient& http);

    /// Errors: as hub_error.h.
    engine::Result<ModelInfo>
    model(const std::string& id, const std::string& revision, const std::stop_token& stop);
    /// All files of a commit, in the hub's order. Errors: as hub_error.h; HubListing for names that
    /// are no harmless file names, sizes and checksums that are none, and lists without end.
    engine::Result<std::vector<ListedFile>>
    files(const std::string& id, const std::string& commit, const std::stop_token& stop);

    /// Bytes begin, begin + 1, ... of a file; up to `end` (not included), or to its end where `end`
    /// is 0. One attempt. A server that knows no ranges sends the whole from 0 on. Where the hub
    /// led to for one range, the next of the same file is asked for directly, until that fails.
    /// Errors: as hub_error.h; HubChanged when the server tells another checksum or size than
    /// `file`'s.
    engine::Result<void> read(const std::string& id,
                              const std::string& commit,
                              const ListedFile& file,
                              uint64_t begin,
                              uint64_t end,
                              const FileSink& sink,
                              const std::stop_token& stop);

    /// A short JSON answer to `path` ("/api/models?search=gemma", or the address of a next page,
    /// which must be of the same host), with repetitions; `next` gets the address of the page
    /// behind it, or nothing. `what` names it in errors. Errors: as hub_error.h.
    engine::Result<std::string>
    answer(const std::string& path, const Asked& what, std::string* next, const std::stop_token&);
    /// For answer(): asks for no model.
    [[nodiscard]] Asked askedForSearch() const { return asked({}, {}); }

    /// Whether a second attempt may go better, and after which wait. `attempt` counts from 1.
    /// nullopt: it will not.
    [[nodiscard]] std::optional<std::chrono::milliseconds> waitAfter(const engine::Error& error,
                                                                     int attempt) const;
    [[nodiscard]] Source source() const { return options_.source; }
    [[nodiscard]] const Limits& limits() const { return options_.limits; }

private:
    struct Exchange;
    /// Where a file's bytes came from last.
    struct Route {
        std::string file; ///< Its address at the hub.
        std::string url;
        bool is_abroad = false; ///< Then it gets no token.
    };

    HubClient(HubOptions options, HttpClient& http) : options_(std::move(options)), http_(&http) {}
    [[nodiscard]] HttpRequest request(const Exchange& exchange, const std::string& url) const;
    /// Follows redirects; the last answer's head and end come in `exchange`.
    engine::Result<void> send(Exchange& exchange, const std::stop_token& stop);
    /// A short JSON answer, with repetitions. `next` gets the address of the next page, or nothing.
    engine::Result<std::string> text(const std::string& url,
                                     const Asked& asked,
                                     std::string* next,
                                     const std::stop_token& stop);
    engine::Result<std::string>
    textOnce(const std::string& url, const Asked& asked, std::string* next, const std::stop_token&);
    [[nodiscard]] Asked
    asked(const std::string& id, const std::string& revision, const std::string& file = {}) const;

    HubOptions options_;
    HttpClient* http_;
    Route route_;
};

} // namespace models::hub
