// SPDX-License-Identifier: Apache-2.0
#include "app/serve/gate.h"

#include "app/serve/access_token.h"
#include "app/serve/api_words.h"
#include "app/serve/routes.h"

#include <algorithm>
#include <cctype>

namespace serve {

namespace {

constexpr size_t kFailuresBeforeDelay = 10;
constexpr std::chrono::seconds kFailureWindow{60};
constexpr std::chrono::milliseconds kFailureDelay{1000};

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

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
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
    return lower(type);
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
    const std::string host = lower(*head.find("host"));
    const std::string port = ":" + std::to_string(head.local_port);
    const bool is_v6 = head.local_address.find(':') != std::string::npos;
    // An address cannot be pointed elsewhere as a name can: the one that the connection came in at
    // is ours for certain.
    if (host == (is_v6 ? "[" + head.local_address + "]" : head.local_address) + port) {
        return true;
    }
    const bool is_loopback = head.local_address == "::1" || head.local_address.starts_with("127.");
    if (is_loopback &&
        (host == "localhost" + port || host == "127.0.0.1" + port || host == "[::1]" + port)) {
        return true;
    }
    return std::any_of(rules_.hosts.begin(), rules_.hosts.end(), [&](const std::string& name) {
        return host == lower(name) || host == lower(name) + port;
    });
#endif
}

std::optional<HttpAnswer> Gate::checkShape(const HttpHead& head) const {
    if (!head.target.starts_with('/') && !(head.method == "OPTIONS" && head.target == "*")) {
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
    if (encodings == 1 && lower(*head.find("transfer-encoding")) != "chunked") {
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
        HttpAnswer answer;
        answer.status = 204;
        answer.fields.emplace_back("Access-Control-Allow-Methods", "GET, POST");
        answer.fields.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
        return answer;
    }
    return std::nullopt;
}

std::optional<HttpAnswer> Gate::checkBody(const HttpHead& head) const {
    if (const std::string* expected = head.find("expect");
        expected != nullptr && lower(*expected) != "100-continue") {
        return refused(417, "expect", "of expectations only 100-continue is known here");
    }
    if (head.method == "POST") {
        const std::string* type = head.find("content-type");
        if (type == nullptr || mediaType(*type) != "application/json") {
            return refused(415, "content_type",
                           "the body must be JSON and say so: Content-Type: application/json");
        }
        const std::string* encoding = head.find("content-encoding");
        if (encoding != nullptr && lower(*encoding) != "identity") {
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
        const bool is_bearer = given != nullptr && given->size() > kScheme.size() &&
                               lower(std::string_view(*given).substr(0, kScheme.size())) == kScheme;
        const auto token =
            is_bearer ? findToken(rules_.tokens, std::string_view(*given).substr(kScheme.size()))
                      : std::nullopt;
        if (!token.has_value()) {
            return wrongToken(now);
        }
        admission.token = *token;
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
