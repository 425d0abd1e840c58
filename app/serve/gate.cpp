// SPDX-License-Identifier: Apache-2.0
#include "app/serve/gate.h"

#include "app/serve/access_token.h"
#include "app/serve/api_words.h"
#include "app/serve/own_names.h"
#include "app/serve/routes.h"
#include "engine/base/ascii.h"

#include <algorithm>
#include <cctype>

namespace serve {

namespace {

constexpr size_t kFailuresBeforeDelay = 10;
constexpr std::chrono::seconds kFailureWindow{60};
constexpr std::chrono::milliseconds kFailureDelay{1000};
constexpr size_t kMostAskedNames = 64;       ///< Header fields in a preflight,
constexpr size_t kMostAskedBytes = 4096;     ///< and of all of them.
constexpr const char* kPreflightAge = "600"; ///< Seconds that a browser may remember it.

HttpAnswer refused(int status, const char* code, std::string message) {
    ApiError refusal;
    refusal.status = status;
    refusal.type = status == 404 ? "not_found_error" : "invalid_request_error";
    refusal.code = code;
    refusal.message = std::move(message);
    return errorAnswer(refusal);
}

/// The connection ends: what follows on it may not be what it seems.
HttpAnswer malformed(std::string message) {
    HttpAnswer answer = refused(400, "bad_request", std::move(message));
    answer.is_closing = true;
    return answer;
}

/// For a page that may ask, and what every answer to it needs so that it may read it: refusals as
/// well, else all that it sees is that something failed.
HttpFields fieldsFor(const HttpHead& head, const std::vector<std::string>& origins) {
    const std::string* const origin = head.find("origin");
    const bool is_allowed = head.count("origin") == 1 &&
                            std::find(origins.begin(), origins.end(), *origin) != origins.end();
    return is_allowed ? HttpFields{{"Access-Control-Allow-Origin", *origin}, {"Vary", "Origin"}}
                      : HttpFields();
}

/// The header fields that a page wants to send: those that are names. Clients send fields of their
/// own with every request, and a browser stops where one of them is not allowed.
std::string askedNames(const HttpHead& head) {
    std::string out;
    size_t count = 0;
    for (const auto& [field, value] : head.fields) {
        std::string_view rest;
        if (field == "access-control-request-headers") {
            rest = value;
        }
        while (!rest.empty()) {
            const size_t comma = std::min(rest.find(','), rest.size());
            std::string_view name = rest.substr(0, comma);
            rest.remove_prefix(std::min(comma + 1, rest.size()));
            name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
            name = name.substr(0, name.find_last_not_of(" \t") + 1);
            const bool is_name =
                !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                    constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~"; // RFC 9110, 5.6.2
                    return c < 0x80 && (std::isalnum(c) != 0 || kSigns.find(static_cast<char>(c)) !=
                                                                    std::string_view::npos);
                });
            if (is_name && count < kMostAskedNames && out.size() + name.size() < kMostAskedBytes) {
                out.append(out.empty() ? "" : ", ").append(name);
                ++count;
            }
        }
    }
    return out.empty() ? "Authorization, Content-Type" : out;
}

/// What a page that may ask is told before it does.
HttpAnswer preflightAnswer(const HttpHead& head) {
    HttpAnswer answer;
    answer.status = 204;
    answer.fields = {{"Access-Control-Allow-Methods", "GET, POST"},
                     {"Access-Control-Allow-Headers", askedNames(head)},
                     {"Access-Control-Max-Age", kPreflightAge},
                     {"Vary", "Access-Control-Request-Method, Access-Control-Request-Headers"}};
    const std::string* const is_private = head.find("access-control-request-private-network");
    if (is_private != nullptr && *is_private == "true") {
        answer.fields.emplace_back("Access-Control-Allow-Private-Network", "true");
    }
    return answer;
}

bool isControl(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

/// "application/json" of "application/json; charset=utf-8".
std::string mediaType(std::string_view value) {
    std::string_view type = value.substr(0, value.find(';'));
    while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) {
        type.remove_suffix(1);
    }
    return engine::lowered(type);
}

} // namespace

std::optional<HttpAnswer> checkRawHead(std::string_view head) {
    size_t from = 0;
    size_t lines = 0;
    while (from < head.size()) {
        const size_t end = head.find("\r\n", from);
        if (end == std::string_view::npos) {
            return malformed("the head of the request has no end");
        }
        const std::string_view line = head.substr(from, end - from);
        from = end + 2;
        if (line.empty()) {
            break; // the end of the head
        }
        if (lines == 0 && line.size() > kMostLineBytes) {
            return refused(414, "uri_too_long", "the request line is longer than 8192 bytes");
        }
        if (lines > 0 && (line.front() == ' ' || line.front() == '\t')) {
            return malformed("a header field is folded over two lines; write it in one");
        }
        if (std::any_of(line.begin(), line.end(),
                        [](char c) { return isControl(c) && c != '\t'; })) {
            return malformed("the head of the request has control characters");
        }
        ++lines;
    }
    if (lines > kMostFields + 1) {
        return refused(431, "too_many_fields", "the request has more than 64 header fields");
    }
    return std::nullopt;
}

bool Gate::isOwnHost(const HttpHead& head) const {
#ifdef BELFRY_PLANTED_ANY_HOST // built once without this check: tests must notice
    static_cast<void>(head);
    return true;
#else
    // A page that was led here by a name of its own says that name. An address cannot be pointed
    // elsewhere, so the one that the connection came in at is ours for certain, with whatever port
    // a proxy in front has.
    const std::string own = hostName(head.local_address);
    const auto is_own = [&](std::string_view said) {
        const std::string name = hostName(said);
        return !name.empty() &&
               (name == own || (isLoopback(own) && isLoopback(name)) ||
                std::any_of(rules_.hosts.begin(), rules_.hosts.end(),
                            [&](const std::string& known) { return name == hostName(known); }));
    };
    const std::string_view target = head.authority();
    return is_own(*head.find("host")) && (target.empty() || is_own(target));
#endif
}

std::optional<HttpAnswer> Gate::checkShape(const HttpHead& head) const {
    if (!head.target.starts_with('/') && head.authority().empty() &&
        !(head.method == "OPTIONS" && head.target == "*")) {
        return malformed("the target of the request is no path: expected for example "
                         "/v1/models");
    }
    if (head.count("host") != 1) {
        return malformed("the request needs one Host field, it has " +
                         std::to_string(head.count("host")));
    }
    if (!isOwnHost(head)) {
        HttpAnswer answer =
            refused(421, "wrong_host",
                    "the Host field names another server than this one; use the address that "
                    "Belfry printed, or start it with --allow-host NAME for a name of your own");
        answer.is_closing = true;
        return answer;
    }
    const size_t lengths = head.count("content-length");
    const size_t encodings = head.count("transfer-encoding");
    if (lengths > 1 || encodings > 1 || (lengths == 1 && encodings == 1)) {
        return malformed("the length of the body is told twice");
    }
    if (encodings == 1 && engine::lowered(*head.find("transfer-encoding")) != "chunked") {
        HttpAnswer answer =
            refused(501, "transfer_encoding", "of transfer encodings only chunked is known here");
        answer.is_closing = true;
        return answer;
    }
    for (const char* name : {"authorization", "origin", "content-type", "content-encoding"}) {
        if (head.count(name) > 1) {
            return malformed("the field " + std::string(name) + " stands twice");
        }
    }
    return std::nullopt;
}

std::optional<HttpAnswer> Gate::checkSender(const HttpHead& head, bool is_allowed) const {
    const std::string* origin = head.find("origin");
    const std::string* site = head.find("sec-fetch-site");
    const bool is_foreign =
        site != nullptr && *site != "none" && *site != "same-origin" && !is_allowed;
    if ((origin != nullptr && !is_allowed) || is_foreign) {
        return refused(403, "wrong_origin",
                       "pages of other sites may not ask; start Belfry with --allow-origin and "
                       "the page's address if this one shall");
    }
    if (head.method == "OPTIONS") {
        if (!is_allowed) {
            return refused(403, "wrong_origin", "OPTIONS is for pages that are allowed to ask");
        }
        return preflightAnswer(head);
    }
    return std::nullopt;
}

std::optional<HttpAnswer> Gate::checkBody(const HttpHead& head) const {
    if (const std::string* expected = head.find("expect");
        expected != nullptr && engine::lowered(*expected) != "100-continue") {
        return refused(417, "expect", "of expectations only 100-continue is known here");
    }
    if (head.method == "POST") {
        const std::string* type = head.find("content-type");
        if (type == nullptr || mediaType(*type) != "application/json") {
            return refused(415, "content_type",
                           "the body must be JSON and say so: Content-Type: application/json");
        }
        const std::string* encoding = head.find("content-encoding");
        if (encoding != nullptr && engine::lowered(*encoding) != "identity") {
            return refused(415, "content_encoding",
                           "a compressed body is not taken; send it plain");
        }
    }
    if (const std::string* length = head.find("content-length")) {
        const bool is_number =
            !length->empty() && std::all_of(length->begin(), length->end(),
                                            [](unsigned char c) { return std::isdigit(c) != 0; });
        if (!is_number) {
            return malformed("Content-Length is no number");
        }
        // Twelve digits are more than any limit.
        if (length->size() > 12 || std::stoull(*length) > rules_.most_body_bytes) {
            HttpAnswer answer =
                refused(413, "body_too_large",
                        "the body is larger than " + std::to_string(rules_.most_body_bytes >> 20U) +
                            " MiB; send fewer or smaller pictures and recordings");
            answer.is_closing = true;
            return answer;
        }
    }
    return std::nullopt;
}

HttpAnswer Gate::wrongToken(Clock::time_point now) {
    while (!failures_.empty() && now - failures_.front() > kFailureWindow) {
        failures_.pop_front();
    }
    ApiError refusal;
    refusal.status = 401;
    refusal.type = "authentication_error";
    refusal.code = "invalid_api_key";
    refusal.message = "Invalid API key: expected the token that Belfry printed or that is in its "
                      "token file, as Authorization: Bearer TOKEN";
    HttpAnswer answer = errorAnswer(refusal);
    answer.fields.emplace_back("WWW-Authenticate", "Bearer");
    if (failures_.size() >= kFailuresBeforeDelay) {
        answer.delay = kFailureDelay;
        failures_.pop_front();
    }
    failures_.push_back(now);
    return answer;
}

std::variant<HttpAnswer, Admission> Gate::check(const HttpHead& head, Clock::time_point now) {
    HttpFields fields = fieldsFor(head, rules_.origins);
    auto verdict = judge(head, !fields.empty(), now);
    if (auto* refused = std::get_if<HttpAnswer>(&verdict)) {
        refused->fields.insert(refused->fields.begin(), fields.begin(), fields.end());
    } else {
        std::get<Admission>(verdict).fields = std::move(fields);
    }
    return verdict;
}

std::variant<HttpAnswer, Admission>
Gate::judge(const HttpHead& head, bool is_page_allowed, Clock::time_point now) {
    Admission admission;
    if (auto answer = checkShape(head)) {
        return *std::move(answer);
    }
    if (auto answer = checkSender(head, is_page_allowed)) {
        return *std::move(answer);
    }
    const Route route = routeOf(head.path());
    const bool is_open = route == Route::Health || route == Route::Root;
    if (!is_open) {
        const std::string* given = head.find("authorization");
        constexpr std::string_view kScheme = "bearer ";
        const bool is_bearer =
            given != nullptr && given->size() > kScheme.size() &&
            engine::lowered(std::string_view(*given).substr(0, kScheme.size())) == kScheme;
        const auto token =
            is_bearer ? findToken(rules_.tokens, std::string_view(*given).substr(kScheme.size()))
                      : std::nullopt;
        if (!token.has_value()) {
            return wrongToken(now);
        }
        admission.token = *token;
        admission.has_token = true;
    }
    if (route == Route::None) {
        return refused(404, "unknown_path",
                       "there is nothing at this path; Belfry answers /v1/models, "
                       "/v1/chat/completions, /v1/completions and /health");
    }
    const bool takes_body = route == Route::Chat || route == Route::Completions;
    const bool is_right =
        takes_body ? head.method == "POST" : head.method == "GET" || head.method == "HEAD";
    if (!is_right) {
        HttpAnswer answer =
            refused(405, "method_not_allowed",
                    std::string("this path takes ") + (takes_body ? "POST" : "GET"));
        answer.fields.emplace_back("Allow", takes_body ? "POST" : "GET, HEAD");
        return answer;
    }
    if (auto answer = checkBody(head)) {
        return *std::move(answer);
    }
    return admission;
}

} // namespace serve
