// SPDX-License-Identifier: Apache-2.0
#include "remote/reply_reader.h"

#include <algorithm>

#include "remote/server_error.h"

namespace remote {

using engine::Error;
using engine::ErrorCode;
using engine::phrase;
using engine::Result;
using engine::said;
using models::hub::HttpEnd;
using std::chrono::steady_clock;

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr size_t kKept = size_t{4} << 10;
constexpr size_t kLargestError = size_t{64} << 10;
constexpr size_t kLargestWhole = size_t{64} << 20;

} // namespace

ReplyReader::ReplyReader(std::string host,
                         std::string model,
                         std::chrono::milliseconds progress,
                         const engine::UpdateCallback& delta)
    : host_(host), model_(std::move(model)), progress_(progress), delta_(delta),
      begin_(steady_clock::now()), last_use_(begin_), stream_(std::move(host)) {}

bool ReplyReader::hasTime() const {
    return steady_clock::now() - last_use_ < progress_;
}

bool ReplyReader::onHead(const models::hub::HttpHead& head) {
    head_ = head;
    last_use_ = steady_clock::now();
    const std::string* const type = head.find("content-type");
    is_stream_ = isSuccess() && (type == nullptr || !type->starts_with("application/json"));
    return true;
}

bool ReplyReader::onBytes(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!isSuccess()) {
        body_.append(text.substr(0, kLargestError - std::min(body_.size(), kLargestError)));
        return body_.size() < kLargestError;
    }
    if (is_stream_ && body_.find_first_not_of(kBlanks) == std::string::npos) {
        // Some servers call a whole answer a stream. No line of a stream begins with a brace.
        const size_t first = text.find_first_not_of(kBlanks);
        is_stream_ = first == std::string_view::npos || text[first] != '{';
    }
    if (!is_stream_) {
        body_.append(text);
        if (body_.size() > kLargestWhole) {
            error_ = answerError(host_, phrase("the reply has no end"));
        }
        return !error_.has_value();
    }
    // The beginning is kept: a page of a proxy explains itself.
    body_.append(text.substr(0, kKept - std::min(body_.size(), kKept)));
    return note(parser_.feed(text, [this](std::string_view data) {
        addEvent(data);
        return !error_.has_value() && !stream_.isDone();
    }));
}

bool ReplyReader::note(SseParser::Outcome outcome) {
    if (outcome == SseParser::Outcome::LineTooLong || outcome == SseParser::Outcome::EventTooLong) {
        error_ = answerError(host_, phrase("a piece of the reply is longer than any reply"));
    }
    return outcome == SseParser::Outcome::More;
}

void ReplyReader::addEvent(std::string_view data) {
    engine::ReplyUpdate update;
    const Result<void> outcome = stream_.addEvent(data, update);
    tell(update);
    if (!outcome.has_value()) {
        error_ = outcome.error();
    }
}

void ReplyReader::tell(const engine::ReplyUpdate& update) {
    if (update.text.empty() && update.thinking.empty()) {
        return;
    }
    last_use_ = steady_clock::now();
    if (first_word_s_ == 0.0) {
        first_word_s_ = std::chrono::duration<double>(last_use_ - begin_).count();
    }
    if (delta_) {
        engine::ReplyUpdate told = update;
        told.tokens = stream_.pieces();
        delta_(told);
    }
}

Result<engine::Reply> ReplyReader::finish(const HttpEnd& end) {
    const bool is_done = end.kind == HttpEnd::Kind::Done;
    if (head_.status != 0 && !isSuccess() &&
        (is_done || end.kind == HttpEnd::Kind::Sink || end.kind == HttpEnd::Kind::Cut)) {
        return statusError(head_, body_, host_, model_);
    }
    if (isSuccess() && !error_.has_value() && is_stream_ && !stream_.isDone()) {
        note(parser_.finish([this](std::string_view data) {
            // An event that the connection cut is no fault of its own.
            engine::ReplyUpdate update;
            const Result<void> outcome = stream_.addEvent(data, update);
            tell(update);
            return outcome.has_value();
        }));
    }
    engine::ReplyUpdate rest;
    if (isSuccess() && !is_stream_ && is_done && !error_.has_value()) {
        if (const Result<void> outcome = stream_.addWhole(body_, rest); !outcome.has_value()) {
            error_ = outcome.error();
        }
    }
    stream_.finish(rest);
    tell(rest);
    if (end.kind == HttpEnd::Kind::Cancelled) {
        if (!stream_.hasWords()) {
            return Error{ErrorCode::Cancelled, said("stopped before the server had answered")};
        }
        engine::Reply reply = stream_.reply();
        reply.finish_reason = "cancelled";
        return reply;
    }
    if (error_.has_value()) {
        return *error_;
    }
    if (stream_.isDone() || stream_.hasEnd()) {
        if (!stream_.hasWords() && !stream_.hasEnd()) {
            return answerError(host_, phrase("the reply is empty"));
        }
        return stream_.reply(); // however the connection ended behind it
    }
    if (!is_done) {
        return endError(end, host_, stream_.hasWords());
    }
    if (stream_.hasWords()) {
        return endError({HttpEnd::Kind::Cut}, host_, true);
    }
    const std::string words = wordsOfBody(body_);
    return words.empty() ? endError({HttpEnd::Kind::Cut}, host_, false)
                         : answerError(host_, said("it begins with \"%1\"", words));
}

} // namespace remote
