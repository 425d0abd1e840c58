// SPDX-License-Identifier: Apache-2.0
#include "app/serve/job.h"

#include "app/serve/access_token.h"

#include <iterator>
#include <utility>

namespace serve {

namespace {

ReplyFrame frameOf(const ApiRequest& request) {
    ReplyFrame frame;
    const bool is_chat = request.kind == ApiRequest::Kind::Chat;
    frame.id = (is_chat ? "chatcmpl-" : "cmpl-") + makeToken().substr(3, 24);
    frame.model = request.model;
    frame.created = std::chrono::duration_cast<std::chrono::seconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
    frame.kind = request.kind;
    return frame;
}

} // namespace

Job::Job(ApiRequest asked, size_t from, std::shared_ptr<Exchange> exchange)
    : request(std::move(asked)), token(from), frame(frameOf(request)),
      exchange_(std::move(exchange)), last_sent_(Clock::now()) {}

void Job::setGone() {
    const std::lock_guard lock(mutex_);
    is_gone_ = true;
    stop.request_stop();
}

bool Job::isGone() const {
    const std::lock_guard lock(mutex_);
    return is_gone_;
}

void Job::watch(const std::shared_ptr<Job>& job) {
    job->exchange_->onGone([weak = std::weak_ptr(job)] {
        if (const auto gone = weak.lock()) {
            gone->setGone();
        }
    });
}

void Job::beginStream() {
    if (!std::exchange(has_begun_, true)) {
        HttpAnswer head;
        head.content_type = "text/event-stream; charset=utf-8";
        exchange_->begin(std::move(head));
        if (std::string first = firstEvent(frame); !first.empty()) {
            exchange_->send(std::move(first));
        }
    }
    last_sent_ = Clock::now();
}

void Job::send(ReplyPiece piece) {
    const std::lock_guard lock(mutex_);
    if (piece.isEmpty() || is_ended_) {
        return;
    }
    if (request.is_streamed) {
        beginStream();
        exchange_->send(pieceEvent(frame, piece, request.generate.logprobs >= 0));
        return;
    }
    whole_.text += piece.text;
    whole_.thinking += piece.thinking;
    std::move(piece.logprobs.begin(), piece.logprobs.end(), std::back_inserter(whole_.logprobs));
    std::move(piece.calls.begin(), piece.calls.end(), std::back_inserter(whole_.calls));
}

void Job::finish(std::string_view finish_reason, const Usage& usage) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_ended_, true)) {
        return;
    }
    if (!request.is_streamed) {
        HttpAnswer answer;
        answer.body =
            replyJson(frame, whole_, request.generate.logprobs >= 0, finish_reason, usage);
        exchange_->answer(std::move(answer));
        return;
    }
    beginStream();
    exchange_->send(lastEvent(frame, finish_reason));
    if (request.includes_usage) {
        exchange_->send(usageEvent(frame, usage));
    }
    exchange_->send(std::string(kDoneEvent));
    exchange_->finish();
}

void Job::fail(const ApiError& error) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_ended_, true)) {
        return;
    }
    if (!has_begun_) {
        exchange_->answer(errorAnswer(error));
        return;
    }
    exchange_->send(errorEvent(error));
    exchange_->finish();
}

void Job::keepAlive(Clock::time_point now, std::chrono::milliseconds interval) {
    const std::lock_guard lock(mutex_);
    if (request.is_streamed && !is_ended_ && now - last_sent_ >= interval) {
        beginStream();
        exchange_->send(std::string(kCommentEvent));
    }
}

} // namespace serve
