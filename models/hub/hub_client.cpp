// SPDX-License-Identifier: Apache-2.0
#include "models/hub/hub_client.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

#include "models/hub/answer_heads.h"
#include "models/hub/cache_layout.h"
#include "models/hub/lists.h"
#include "models/hub/modelscope.h"
#include "models/hub/url.h"

namespace models::hub {

using engine::Error;
using engine::ErrorCode;
using engine::phrase;
using engine::Result;
using engine::said;
using engine::Sentence;
using std::chrono::milliseconds;

namespace {

constexpr size_t kErrorBytes = 4096;
constexpr size_t kMostOfAnError = 65'536; ///< Read of a body that nobody wants, to keep the line.

bool isRedirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool isAgainUseful(HttpEnd::Kind kind) {
    using Kind = HttpEnd::Kind;
    return kind == Kind::Silence || kind == Kind::TooLong || kind == Kind::NoHost ||
           kind == Kind::NoConnect || kind == Kind::Cut || kind == Kind::Malformed;
}

} // namespace

struct HubClient::Exchange {
    Asked asked;
    std::string url;
    std::vector<HttpHeader> headers;
    milliseconds total_limit{0};
    bool may_leave = false; ///< Whether a redirect may lead to another host.
    /// Each answer of the hub itself, redirects included: what it says of the file.
    std::function<Result<void>(const HttpHead&)> on_hub_head = [](const HttpHead&) {
        return Result<void>();
    };
    std::function<Result<void>(const HttpHead&)> on_head; ///< For an answer with a body (200, 206).
    std::function<Result<void>(std::span<const std::byte>)> on_bytes;
    std::function<std::span<std::byte>()> room; ///< As FileSink's.

    bool is_abroad = false; ///< The last request was not to the hub itself.

    // What came of it.
    std::string here; ///< The address of the last request.
    int hops = 0;
    HttpHead head;
    std::string error_body;
    HttpEnd end;
};

namespace {

/// Divides an answer: a body for who asked, or the beginning of an error.
class ExchangeSink : public HttpSink {
public:
    using OnHead = std::function<Result<void>(const HttpHead&)>;
    using OnBytes = std::function<Result<void>(std::span<const std::byte>)>;

    using Room = std::function<std::span<std::byte>()>;

    ExchangeSink(OnHead on_head, OnBytes on_bytes, Room room)
        : on_head_(std::move(on_head)), on_bytes_(std::move(on_bytes)), room_(std::move(room)) {}

    bool onHead(const HttpHead& answer) override {
        head = answer;
        is_body_wanted_ = head.status == 200 || head.status == 206;
        return keep(on_head_(head));
    }
    std::span<std::byte> room() override {
        return is_body_wanted_ && room_ ? room_() : std::span<std::byte>();
    }
    bool onBytes(std::span<const std::byte> bytes) override {
        if (is_body_wanted_) {
            return keep(on_bytes_(bytes));
        }
        unwanted_ += bytes.size();
        const size_t n = std::min(bytes.size(), kErrorBytes - std::min(kErrorBytes, body.size()));
        body.append(reinterpret_cast<const char*>(bytes.data()), n);
        return unwanted_ <= kMostOfAnError;
    }

    HttpHead head;
    std::string body;
    std::optional<Error> refusal;

private:
    bool keep(Result<void> outcome) {
        if (!outcome.has_value()) {
            refusal = std::move(outcome).error();
        }
        return !refusal.has_value();
    }

    OnHead on_head_;
    OnBytes on_bytes_;
    Room room_;
    bool is_body_wanted_ = false;
    size_t unwanted_ = 0;
};

/// For bytes [begin, end) of a file; none for all of it. Open towards the file's end.
std::vector<HttpHeader> rangeHeaders(uint64_t file_bytes, uint64_t begin, uint64_t end) {
    std::vector<HttpHeader> headers = {{"Accept-Encoding", "identity"}};
    if (begin > 0 || end < file_bytes) {
        headers.push_back({"Range", "bytes=" + std::to_string(begin) + "-" +
                                        (end < file_bytes ? std::to_string(end - 1) : "")});
    }
    return headers;
}

Error redirectError(const Asked& asked, const std::string& where, Sentence what) {
    return hubError("HubRedirect",
                    said("%1 leads to %2, %3; check HF_ENDPOINT and the network's proxy",
                         asked.origin, engine::inQuotes(where), std::move(what)));
}

/// Where an answer of `from` leads, when we go there.
Result<Url> nextUrl(const Url& from, const HttpHead& head, const Asked& asked, bool may_leave) {
    const std::string* const location = head.find("location");
    if (location == nullptr) {
        return redirectError(asked, "", phrase("a redirect without an address"));
    }
    const auto to = resolved(from, *location);
    if (!to.has_value()) {
        return redirectError(asked, *location, phrase("which is no address of a web server"));
    }
    if (from.scheme == "https" && to->scheme == "http") {
        return redirectError(asked, to->origin(), phrase("which is not encrypted: refused"));
    }
    const bool is_made_safe =
        from.scheme == "http" && to->scheme == "https" && from.host == to->host;
    if (!may_leave && !is_made_safe && to->origin() != from.origin()) {
        return redirectError(asked, to->origin(),
                             phrase("another host, where only the bytes of files may come from"));
    }
    return *to;
}

} // namespace

Error worthAgain(Error error, std::string wait_ms) {
    error.details.emplace_back("again", std::move(wait_ms));
    return error;
}

bool waitFor(milliseconds time, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any condition;
    std::unique_lock lock(mutex);
    condition.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

Result<HubClient> HubClient::create(HubOptions options, HttpClient& http) {
    const auto base = parseUrl(options.endpoint);
    if (!base.has_value()) {
        return hubError("HubNetwork", said("HF_ENDPOINT is %1, expected an address such as %2",
                                           engine::inQuotes(options.endpoint), kDefaultEndpoint));
    }
    if (!options.token.empty() && base->scheme == "http" && !base->isLoopback()) {
        return hubError("HubToken", said("HF_ENDPOINT %1 is not encrypted, and a token would be "
                                         "read on the way: use https, or unset HF_TOKEN",
                                         base->origin()));
    }
    return HubClient(std::move(options), http);
}

Asked HubClient::asked(const std::string& id,
                       const std::string& revision,
                       const std::string& file) const {
    const auto base = parseUrl(options_.endpoint);
    return {id, revision, file, base.has_value() ? base->origin() : options_.endpoint,
            !options_.token.empty()};
}

HttpRequest HubClient::request(const Exchange& exchange, const std::string& url) const {
    HttpRequest out{url, exchange.headers, options_.limits.silence, exchange.total_limit};
    out.headers.push_back({"User-Agent", options_.user_agent});
    if (!options_.token.empty() && !exchange.is_abroad) {
        out.headers.push_back({"Authorization", "Bearer " + options_.token});
    }
    return out;
}

Result<void> HubClient::send(Exchange& exchange, const std::stop_token& stop) {
    auto url = parseUrl(exchange.url);
    if (!url.has_value()) {
        return hubError("HubNetwork", said("%1 is no address; check HF_ENDPOINT",
                                           engine::inQuotes(exchange.url)));
    }
    const std::string home = parseUrl(options_.endpoint)->origin();
    for (int hops = 0; hops <= options_.limits.redirects; ++hops) {
        // Once abroad, no token any more: what leads back was written by another host.
        exchange.is_abroad = exchange.is_abroad || url->origin() != home;
        exchange.here = url->text();
        exchange.hops = hops;
        const auto onHead = [&](const HttpHead& head) -> Result<void> {
            if (!exchange.is_abroad) {
                ENGINE_TRY(exchange.on_hub_head(head));
            }
            return head.status == 200 || head.status == 206 ? exchange.on_head(head)
                                                            : Result<void>();
        };
        ExchangeSink sink(onHead, exchange.on_bytes, exchange.room);
        exchange.end = http_->run(request(exchange, exchange.here), sink, stop);
        exchange.head = std::move(sink.head);
        exchange.error_body = std::move(sink.body);
        if (sink.refusal.has_value()) {
            return *std::move(sink.refusal);
        }
        const bool is_whole =
            exchange.end.kind == HttpEnd::Kind::Done || exchange.end.kind == HttpEnd::Kind::Sink;
        if (!is_whole || !isRedirect(exchange.head.status)) {
            break;
        }
        if (hops == options_.limits.redirects) {
            return redirectError(exchange.asked, url->origin(),
                                 said("and from there on and on (more than %1 times)", hops));
        }
        ENGINE_ASSIGN(url, nextUrl(*url, exchange.head, exchange.asked, exchange.may_leave));
    }
    const int status = exchange.head.status;
    const bool has_answered = status != 0 && status != 200 && status != 206;
    if (exchange.end.kind != HttpEnd::Kind::Done && !has_answered) {
        Error error = networkError(exchange.end, exchange.asked);
        return isAgainUseful(exchange.end.kind) ? worthAgain(std::move(error)) : error;
    }
    if (status == 200 || status == 206) {
        return {};
    }
    if (exchange.is_abroad && (status == 403 || status == 401 || status == 404)) {
        return worthAgain(
            hubError("HubServer", said("the address that %1 gave for %2 has expired or is refused "
                                       "(status %3); what has arrived is kept: try again",
                                       exchange.asked.origin, exchange.asked.file, status)));
    }
    if (status == 416) {
        Error error =
            hubError("HubChanged", said("%1 is shorter at %2 than its list of files says: it was "
                                        "changed meanwhile; begin again",
                                        exchange.asked.file, exchange.asked.origin));
        error.details.emplace_back("status", "416");
        return error;
    }
    Error error = statusError(exchange.head, exchange.error_body, exchange.asked);
    if (status == 429) {
        const auto wait = waitAsked(exchange.head);
        return worthAgain(std::move(error),
                          wait.has_value() ? std::to_string(wait->count()) : std::string());
    }
    return status == 408 || (status >= 500 && status <= 504) ? worthAgain(std::move(error)) : error;
}

std::optional<milliseconds> HubClient::waitAfter(const Error& error, int attempt) const {
    const auto again = std::find_if(error.details.begin(), error.details.end(),
                                    [](const auto& detail) { return detail.first == "again"; });
    if (again == error.details.end() || attempt >= options_.limits.attempts) {
        return std::nullopt;
    }
    if (!again->second.empty()) {
        const milliseconds wanted(std::stoll(again->second));
        return wanted <= options_.limits.longest_wait ? std::optional(wanted) : std::nullopt;
    }
    return options_.limits.first_wait * (1 << std::min(attempt - 1, 10));
}

Result<std::string> HubClient::textOnce(const std::string& url,
                                        const Asked& asked,
                                        std::string* next,
                                        const std::stop_token& stop) {
    std::string text;
    Exchange exchange;
    exchange.asked = asked;
    exchange.url = url;
    exchange.headers = {{"Accept", "application/json"}, {"Accept-Encoding", "identity"}};
    exchange.total_limit = options_.limits.short_answer;
    exchange.on_head = [&](const HttpHead& head) -> Result<void> {
        const std::string* const type = head.find("content-type");
        if (head.status == 206 || (type != nullptr && type->find("html") != std::string::npos)) {
            return hubError("HubListing",
                            said("%1 sends a web page, expected JSON: is this network waiting for "
                                 "a sign-in? Open it in a browser, or check HF_ENDPOINT",
                                 asked.origin));
        }
        if (next != nullptr) {
            *next = nextPage(head);
        }
        return {};
    };
    exchange.on_bytes = [&](std::span<const std::byte> bytes) -> Result<void> {
        if (text.size() + bytes.size() > options_.limits.list_bytes) {
            return hubError("HubListing",
                            said("%1 sends more than %2 bytes about %3, which no list has; check "
                                 "HF_ENDPOINT",
                                 asked.origin, options_.limits.list_bytes, nameOf(asked)));
        }
        text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
    };
    ENGINE_TRY(send(exchange, stop));
    if (const auto told = contentLength(exchange.head); told.has_value() && *told != text.size()) {
        HttpEnd cut{HttpEnd::Kind::Cut,
                    std::to_string(text.size()) + " of " + std::to_string(*told) + " bytes came"};
        return worthAgain(networkError(cut, asked));
    }
    return text;
}

Result<std::string> HubClient::text(const std::string& url,
                                    const Asked& asked,
                                    std::string* next,
                                    const std::stop_token& stop) {
    for (int attempt = 1;; ++attempt) {
        auto outcome = textOnce(url, asked, next, stop);
        if (outcome.has_value()) {
            return outcome;
        }
        const auto wait = waitAfter(outcome.error(), attempt);
        if (!wait.has_value()) {
            return outcome;
        }
        if (!waitFor(*wait, stop)) {
            return networkError({HttpEnd::Kind::Cancelled}, asked);
        }
    }
}

Result<ModelInfo>
HubClient::model(const std::string& id, const std::string& revision, const std::stop_token& stop) {
    const Asked what = asked(id, revision);
    if (options_.source == Source::ModelScope) {
        return ModelInfo{id, revision};
    }
    const std::string url = options_.endpoint + "/api/models/" + id + "/revision/" +
                            percentEncoded(revision, /*keeps_slashes=*/false);
    ENGINE_ASSIGN(const std::string answer, text(url, what, nullptr, stop));
    return readModelInfo(answer, what);
}

Result<std::vector<ListedFile>>
HubClient::files(const std::string& id, const std::string& commit, const std::stop_token& stop) {
    const Asked what = asked(id, commit);
    if (options_.source == Source::ModelScope) {
        ENGINE_ASSIGN(
            const std::string list,
            text(options_.endpoint + modelScopeListPath(id, commit), what, nullptr, stop));
        return readModelScopeList(list, what, options_.limits.files);
    }
    std::string url = options_.endpoint + "/api/models/" + id + "/tree/" + commit +
                      "?recursive=true&expand=false";
    std::vector<ListedFile> files;
    std::set<std::string> seen;
    while (!url.empty()) {
        if (!seen.insert(url).second || seen.size() > options_.limits.pages) {
            return hubError("HubListing", said("%1: the list of the files of %2 goes on and on; "
                                               "check HF_ENDPOINT",
                                               what.origin, id));
        }
        std::string next;
        ENGINE_ASSIGN(const std::string answer, text(url, what, &next, stop));
        ENGINE_TRY(readFileList(answer, what, options_.limits.files, files));
        if (next.empty()) {
            break;
        }
        const auto here = parseUrl(url);
        const auto there = here.has_value() ? resolved(*here, next) : std::nullopt;
        if (!there.has_value() || there->origin() != here->origin()) {
            return hubError("HubListing",
                            said("%1: the list of the files of %2 goes on at %3, which is another "
                                 "host: refused; check HF_ENDPOINT",
                                 what.origin, id, engine::inQuotes(next)));
        }
        url = there->text();
    }
    return files;
}

Result<std::string> HubClient::answer(const std::string& path,
                                      const Asked& what,
                                      std::string* next,
                                      const std::stop_token& stop) {
    // An endpoint may have a path of its own ("https://mirror.example/hf").
    const auto base = parseUrl(options_.endpoint);
    const bool is_path = path.starts_with('/');
    const auto url = is_path            ? parseUrl(options_.endpoint + path)
                     : base.has_value() ? resolved(*base, path)
                                        : std::nullopt;
    if (!url.has_value() || url->origin() != base->origin()) {
        return hubError("HubListing", said("%1: what it found goes on at %2, which is another "
                                           "host: refused; check HF_ENDPOINT",
                                           what.origin, engine::inQuotes(path)));
    }
    return text(url->text(), what, next, stop);
}

Result<void> HubClient::read(const std::string& id,
                             const std::string& commit,
                             const ListedFile& file,
                             uint64_t begin,
                             uint64_t end,
                             const FileSink& sink,
                             const std::stop_token& stop) {
    Exchange exchange;
    exchange.asked = asked(id, commit, file.name);
    const std::string address =
        options_.endpoint + (options_.source == Source::ModelScope
                                 ? modelScopeFilePath(id, commit, file.name)
                                 : "/" + id + "/resolve/" + commit + "/" +
                                       percentEncoded(file.name, /*keeps_slashes=*/true));
    const bool is_known = route_.file == address;
    exchange.url = is_known ? route_.url : address;
    exchange.is_abroad = is_known && route_.is_abroad;
    const uint64_t wanted_end = end > 0 ? std::min(end, file.size_bytes) : file.size_bytes;
    exchange.headers = rangeHeaders(file.size_bytes, begin, wanted_end);
    exchange.may_leave = true;
    route_ = {}; // until bytes come
    exchange.room = sink.room;
    exchange.on_hub_head = [&](const HttpHead& head) {
        return checkHubHead(head, file, exchange.asked);
    };
    uint64_t position = begin; // of the next byte
    auto window_begin = std::chrono::steady_clock::now();
    uint64_t window_bytes = 0;
    Route route; // of an answer with bytes
    bool prepares = false;
    exchange.on_head = [&](const HttpHead& head) -> Result<void> {
        ENGINE_ASSIGN(position, firstByte(head, file, begin, exchange.asked));
        // A renamed file's new address at the hub is the hub's to tell, each time.
        if (exchange.is_abroad || exchange.hops == 0) {
            route = {address, exchange.here, exchange.is_abroad};
        }
        prepares = head.status == 206 && !route.url.empty() && wanted_end < file.size_bytes &&
                   sink.next_end != nullptr;
        return sink.begin(position);
    };
    const auto prepareNext = [&] {
        prepares = false;
        if (const uint64_t next = sink.next_end(); next > wanted_end) {
            Exchange following = exchange;
            following.headers = rangeHeaders(file.size_bytes, wanted_end, next);
            http_->prepare(request(following, route.url));
        }
    };
    exchange.on_bytes = [&](std::span<const std::byte> bytes) -> Result<void> {
        if (bytes.size() > file.size_bytes - position) {
            return hubError("HubChanged",
                            said("%1 sends more bytes of %2 than the %3 that it has; fetch it "
                                 "again later",
                                 exchange.asked.origin, file.name, file.size_bytes));
        }
        position += bytes.size();
        window_bytes += bytes.size();
        ENGINE_TRY(sink.bytes(bytes));
        if (prepares && position >= begin + (wanted_end - begin) / 2) {
            prepareNext();
        }
        const auto now = std::chrono::steady_clock::now();
        if (now - window_begin > options_.limits.drip) {
            if (window_bytes < options_.limits.min_bytes && position < wanted_end) {
                return worthAgain(
                    networkError({HttpEnd::Kind::Silence,
                                  std::to_string(window_bytes) + " bytes came in " +
                                      std::to_string(options_.limits.drip.count()) + " ms"},
                                 exchange.asked));
            }
            window_begin = now;
            window_bytes = 0;
        }
        return {};
    };
    ENGINE_TRY(send(exchange, stop));
    if (position < wanted_end) {
        return worthAgain(
            networkError({HttpEnd::Kind::Cut, "at byte " + std::to_string(position) + " of " +
                                                  std::to_string(file.size_bytes)},
                         exchange.asked));
    }
    route_ = std::move(route);
    return {};
}

} // namespace models::hub
