// SPDX-License-Identifier: Apache-2.0
#include "app/serve/body_reader.h"

#include <algorithm>
#include <charconv>

namespace serve {

namespace {

constexpr size_t kMostSizeDigits = 16; ///< Zeros in front included.

} // namespace

BodyReader::BodyReader(std::optional<uint64_t> length, size_t most_bytes)
    : most_bytes_(most_bytes), has_chunks_(!length.has_value()) {
    if (has_chunks_) {
        part_ = Part::Size;
    } else if (*length > most_bytes) {
        state_ = State::TooLarge;
    } else {
        left_ = *length;
        state_ = left_ == 0 ? State::Done : State::More;
    }
}

size_t BodyReader::take(std::string_view bytes) {
    size_t taken = 0;
    while (taken < bytes.size() && state_ == State::More) {
        if (part_ == Part::Data) {
            taken += takeData(bytes.substr(taken));
        } else {
            takeOfLine(bytes[taken]);
            ++taken;
        }
    }
    return taken;
}

size_t BodyReader::takeData(std::string_view bytes) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
    body_.append(bytes.substr(0, count));
    left_ -= count;
    if (left_ == 0 && has_chunks_) {
        part_ = Part::DataEnd;
    } else if (left_ == 0) {
        state_ = State::Done;
    }
    return count;
}

void BodyReader::takeOfLine(char c) {
    const bool has_return = !line_.empty() && line_.back() == '\r';
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' && has_return) {
        line_.pop_back();
        onLine();
        line_.clear();
        return;
    }
    const bool is_control = (byte < 0x20 && c != '\t' && c != '\r') || byte == 0x7f;
    if (has_return || is_control || (part_ == Part::DataEnd && c != '\r')) {
        state_ = State::Malformed;
        return;
    }
    line_ += c;
    if (words_ + line_.size() > kMostChunkWords) {
        state_ = State::TooManyWords;
    }
}

void BodyReader::onLine() {
    if (part_ == Part::DataEnd) {
        part_ = Part::Size; // the line is empty
    } else if (part_ == Part::Size) {
        onSize();
    } else if (line_.empty()) {
        state_ = State::Done;
    } else {
        const size_t name = line_.find_first_of(": \t");
        if (name == 0 || name == std::string::npos || line_[name] != ':') {
            state_ = State::Malformed;
        }
        words_ += line_.size();
    }
}

void BodyReader::onSize() {
    const size_t digits = std::min(line_.find_first_of("; \t"), line_.size());
    uint64_t size = 0;
    const char* const end = line_.data() + digits;
    const auto [stop, problem] = std::from_chars(line_.data(), end, size, 16);
    const size_t behind = std::min(line_.find_first_not_of(" \t", digits), line_.size());
    const bool is_size = problem == std::errc() && stop == end && digits <= kMostSizeDigits &&
                         line_.front() != '-' && (behind == line_.size() || line_[behind] == ';');
    if (!is_size) {
        state_ = State::Malformed;
        return;
    }
    words_ += line_.size() - digits;
    if (size == 0) {
        part_ = Part::Trailer;
    } else if (size > most_bytes_ - body_.size()) {
        state_ = State::TooLarge;
    } else {
        left_ = size;
        part_ = Part::Data;
    }
}

} // namespace serve
