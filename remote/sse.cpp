// SPDX-License-Identifier: Apache-2.0
#include "remote/sse.h"

namespace remote {

SseParser::Outcome SseParser::feed(std::string_view bytes, const OnEvent& on_event) {
    size_t at = 0;
    while (at < bytes.size()) {
        if (was_return_ && bytes[at] == '\n') {
            was_return_ = false;
            ++at;
            continue;
        }
        was_return_ = false;
        const size_t end = bytes.find_first_of("\r\n", at);
        const size_t length = (end == std::string_view::npos ? bytes.size() : end) - at;
        if (line_.size() + length > limits_.line) {
            return Outcome::LineTooLong;
        }
        line_.append(bytes.substr(at, length));
        if (end == std::string_view::npos) {
            break;
        }
        was_return_ = bytes[end] == '\r';
        at = end + 1;
        if (const Outcome outcome = endLine(on_event); outcome != Outcome::More) {
            return outcome;
        }
    }
    return Outcome::More;
}

SseParser::Outcome SseParser::finish(const OnEvent& on_event) {
    if (!line_.empty()) {
        if (const Outcome outcome = endLine(on_event); outcome != Outcome::More) {
            return outcome;
        }
    }
    return dispatch(on_event) ? Outcome::More : Outcome::Ended;
}

SseParser::Outcome SseParser::endLine(const OnEvent& on_event) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    ++lines_;
    std::string_view line = line_;
    if (is_first_ && line.starts_with(kMark)) {
        line.remove_prefix(kMark.size());
    }
    is_first_ = false;
    if (line.empty()) {
        line_.clear();
        return dispatch(on_event) ? Outcome::More : Outcome::Ended;
    }
    const size_t colon = line.find(':');
    if (line.substr(0, colon) == "data") {
        std::string_view value =
            colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
        if (value.starts_with(' ')) {
            value.remove_prefix(1);
        }
        if (data_.size() + value.size() + 1 > limits_.event) {
            return Outcome::EventTooLong;
        }
        if (has_data_) {
            data_ += '\n';
        }
        data_.append(value);
        has_data_ = true;
    }
    line_.clear();
    return Outcome::More;
}

bool SseParser::dispatch(const OnEvent& on_event) {
    if (!has_data_) {
        return true;
    }
    has_data_ = false;
    const std::string data = std::move(data_);
    data_.clear();
    return on_event(data);
}

} // namespace remote
