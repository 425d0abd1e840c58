// SPDX-License-Identifier: Apache-2.0
#include "app/serve/exchange.h"

#include <algorithm>
#include <array>

namespace serve {

size_t HttpHead::count(std::string_view name) const {
    return static_cast<size_t>(std::count_if(
        fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; }));
}

const std::string* HttpHead::find(std::string_view name) const {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const auto& field) { return field.first == name; });
    return found == fields.end() ? nullptr : &found->second;
}

std::string_view HttpHead::authority() const {
    const size_t scheme = target.starts_with('/') ? std::string::npos : target.find("://");
    if (scheme == std::string::npos) {
        return {};
    }
    const std::string_view rest = std::string_view(target).substr(scheme + 3);
    return rest.substr(0, rest.find_first_of("/?"));
}

std::string HttpHead::path() const {
    const std::string_view host = authority();
    std::string_view rest = target;
    if (!host.empty()) {
        rest.remove_prefix(static_cast<size_t>(host.data() - target.data()) + host.size());
    }
    std::string out = "/";
    for (const char c : rest.substr(0, rest.find('?'))) {
        if (c != '/' || out.back() != '/') {
            out += c;
        }
    }
    if (out.size() > 1 && out.back() == '/') {
        out.pop_back();
    }
    return out;
}

std::string_view statusText(int status) {
    struct Word {
        int status;
        std::string_view text;
    };
    static constexpr std::array<Word, 18> kWords = {{
        {200, "OK"},
        {204, "No Content"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {413, "Payload Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {421, "Misdirected Request"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
    }};
    for (const Word& word : kWords) {
        if (word.status == status) {
            return word.text;
        }
    }
    return "Unknown";
}

std::string headText(const HttpAnswer& answer,
                     const HttpFields& fields,
                     int64_t length,
                     bool is_chunked,
                     bool is_kept) {
    std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " ";
    text.append(statusText(answer.status)).append("\r\n");
    const auto add = [&text](std::string_view name, std::string_view value) {
        text.append(name).append(": ").append(value).append("\r\n");
    };
    if (answer.status != 204) {
        add("Content-Type", answer.content_type);
        if (is_chunked) {
            add("Transfer-Encoding", "chunked");
        } else if (length >= 0) {
            add("Content-Length", std::to_string(length));
        }
    }
    add("Cache-Control", "no-store");
    add("X-Content-Type-Options", "nosniff");
    add("Connection", is_kept ? "keep-alive" : "close");
    for (const HttpFields* more : {&answer.fields, &fields}) {
        for (const auto& [name, value] : *more) {
            add(name, value);
        }
    }
    return text + "\r\n";
}

} // namespace serve
