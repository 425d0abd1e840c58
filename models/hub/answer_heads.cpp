// SPDX-License-Identifier: Apache-2.0
#include "models/hub/answer_heads.h"

#include "engine/base/ascii.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "models/hub/cache_layout.h"

namespace models::hub {

using engine::Error;
using engine::Result;
using engine::said;
using std::chrono::milliseconds;

namespace {

/// Digits and nothing else.
std::optional<uint64_t> numberOf(std::string_view text) {
    uint64_t value = 0;
    const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = code == std::errc() && rest == text.data() + text.size();
    return is_whole && !text.empty() ? std::optional(value) : std::nullopt;
}

Error changedSize(const Asked& asked, const ListedFile& file, uint64_t found) {
    return hubError("HubChanged",
                    said("%1 has %2 bytes at %3, its list of files says %4: it was changed "
                         "meanwhile, or the list is wrong; begin again",
                         asked.file, found, asked.origin, file.size_bytes));
}

struct Range {
    uint64_t begin = 0, end = 0; ///< end: not included.
    std::optional<uint64_t> total;
};

/// "bytes 5-9/10", "bytes 5-9/*".
std::optional<Range> contentRange(const HttpHead& head) {
    const std::string* const value = head.find("content-range");
    if (value == nullptr || !value->starts_with("bytes ")) {
        return std::nullopt;
    }
    const std::string_view text = engine::trimmed(std::string_view(*value).substr(6));
    const size_t dash = text.find('-');
    const size_t slash = text.find('/');
    if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) {
        return std::nullopt;
    }
    const auto begin = numberOf(text.substr(0, dash));
    const auto last = numberOf(text.substr(dash + 1, slash - dash - 1));
    if (!begin.has_value() || !last.has_value() || *last < *begin || *last == UINT64_MAX) {
        return std::nullopt;
    }
    return Range{*begin, *last + 1, numberOf(text.substr(slash + 1))};
}

} // namespace

const std::string* HttpHead::find(std::string_view name) const {
    const auto found = std::find_if(headers.begin(), headers.end(),
                                    [&](const HttpHeader& header) { return header.name == name; });
    return found == headers.end() ? nullptr : &found->value;
}

std::optional<uint64_t> contentLength(const HttpHead& head) {
    const std::string* const value = head.find("content-length");
    return value == nullptr ? std::nullopt : numberOf(engine::trimmed(*value));
}

std::string nextPage(const HttpHead& head) {
    const std::string* const link = head.find("link");
    if (link == nullptr) {
        return {};
    }
    for (size_t at = link->find('<'); at != std::string::npos; at = link->find('<', at + 1)) {
        const size_t end = link->find('>', at);
        if (end == std::string::npos) {
            return {};
        }
        const std::string_view behind = std::string_view(*link).substr(
            end, std::min(link->find_first_of(",<", end), link->size()) - end);
        if (behind.find("rel=\"next\"") != std::string_view::npos ||
            behind.find("rel=next") != std::string_view::npos) {
            return link->substr(at + 1, end - at - 1);
        }
        at = end;
    }
    return {};
}

std::optional<milliseconds> waitAsked(const HttpHead& head) {
    constexpr uint64_t kMostSeconds = 1'000'000;
    if (const std::string* limit = head.find("ratelimit")) {
        const size_t at = limit->find("t=");
        if (at != std::string::npos) {
            const size_t end =
                std::min(limit->find_first_not_of("0123456789", at + 2), limit->size());
            const auto seconds = numberOf(std::string_view(*limit).substr(at + 2, end - at - 2));
            if (seconds.has_value() && *seconds < kMostSeconds) {
                return milliseconds((*seconds + 1) * 1000);
            }
        }
    }
    const std::string* const after = head.find("retry-after");
    const auto seconds = after == nullptr ? std::nullopt : numberOf(engine::trimmed(*after));
    if (!seconds.has_value()) {
        return std::nullopt;
    }
    return milliseconds(std::min(*seconds, kMostSeconds) * 1000);
}

std::string plainEtag(std::string_view etag) {
    etag = engine::trimmed(etag);
    if (etag.starts_with("W/")) {
        etag.remove_prefix(2);
    }
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
        etag = etag.substr(1, etag.size() - 2);
    }
    return std::string(etag);
}

Result<void> checkHubHead(const HttpHead& head, const ListedFile& file, const Asked& asked) {
    if (head.status >= 400) {
        return {};
    }
    const std::string* etag = head.find("x-linked-etag");
    if (etag == nullptr && (head.status == 200 || head.status == 206)) {
        etag = head.find("etag");
    }
    const std::string plain = etag == nullptr ? std::string() : plainEtag(*etag);
    // Other servers' tags are no checksums.
    const bool is_checksum =
        (isSha256(plain) && isSha256(file.etag)) || (isCommit(plain) && isCommit(file.etag));
    if (is_checksum && plain != file.etag) {
        return hubError("HubChanged", said("%1 has the checksum %2 at %3, its list of files says "
                                           "%4: it was changed meanwhile; begin again",
                                           asked.file, plain, asked.origin, file.etag));
    }
    if (const std::string* linked = head.find("x-linked-size")) {
        const auto size = numberOf(engine::trimmed(*linked));
        if (size.has_value() && *size != file.size_bytes) {
            return changedSize(asked, file, *size);
        }
    }
    return {};
}

Result<uint64_t>
firstByte(const HttpHead& head, const ListedFile& file, uint64_t begin, const Asked& asked) {
    const std::string* const encoding = head.find("content-encoding");
    if (encoding != nullptr && *encoding != "identity" && !encoding->empty()) {
        return hubError("HubListing", said("%1 comes compressed (%2) though the plain bytes were "
                                           "asked for; check the network's proxy",
                                           asked.file, engine::inQuotes(*encoding)));
    }
    if (head.status == 206) {
        const auto range = contentRange(head);
        if (!range.has_value() || range->begin != begin || range->end > file.size_bytes) {
            const std::string* const told = head.find("content-range");
            return hubError(
                "HubListing",
                told == nullptr
                    ? said("%1: bytes from %2 on were asked for, what comes says nothing of its "
                           "range; check the network's proxy",
                           asked.file, begin)
                    : said("%1: bytes from %2 on were asked for, what comes says %3; check the "
                           "network's proxy",
                           asked.file, begin, engine::inQuotes(*told)));
        }
        if (range->total.has_value() && *range->total != file.size_bytes) {
            return changedSize(asked, file, *range->total);
        }
        return begin;
    }
    const auto length = contentLength(head);
    if (length.has_value() && *length != file.size_bytes) {
        const std::string* const type = head.find("content-type");
        if (type != nullptr && type->find("html") != std::string::npos) {
            return hubError("HubListing", said("a web page comes instead of %1: is this network "
                                               "waiting for a sign-in? Open it in a browser, then "
                                               "try again",
                                               asked.file));
        }
        return changedSize(asked, file, *length);
    }
    return uint64_t{0};
}

} // namespace models::hub
