// SPDX-License-Identifier: Apache-2.0
#include "remote/exchange.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace remote {

using models::hub::HttpEnd;
using models::hub::HttpHead;
using models::hub::HttpSink;

namespace {

constexpr size_t kMostWaiting = size_t{4} << 20; ///< Bytes that nobody has taken yet.
constexpr std::chrono::milliseconds kLook{100};

using Piece = std::variant<HttpHead, std::vector<std::byte>>;

/// What the network's thread leaves for the one that asks.
class Mailbox final : public HttpSink {
public:
    bool onHead(const HttpHead& head) override { return put(head, 0); }
    bool onBytes(std::span<const std::byte> bytes) override {
        return put(std::vector<std::byte>(bytes.begin(), bytes.end()), bytes.size());
    }
    void close(HttpEnd end) {
        const std::lock_guard lock(mutex_);
        end_ = std::move(end);
        changed_.notify_all();
    }
    /// Nobody takes anything any more.
    void refuse() {
        const std::lock_guard lock(mutex_);
        is_refused_ = true;
        pieces_.clear();
        changed_.notify_all();
    }
    /// Waits a while; nullopt: nothing came, or nothing will (see end()).
    std::optional<Piece> take() {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, kLook, [this] { return !pieces_.empty() || end_.has_value(); });
        if (pieces_.empty()) {
            return std::nullopt;
        }
        Piece piece = std::move(pieces_.front());
        pieces_.pop_front();
        if (const auto* bytes = std::get_if<std::vector<std::byte>>(&piece)) {
            waiting_ -= bytes->size();
        }
        changed_.notify_all();
        return piece;
    }
    /// Set when everything was taken.
    std::optional<HttpEnd> end() {
        const std::lock_guard lock(mutex_);
        return pieces_.empty() ? end_ : std::nullopt;
    }

private:
    bool put(Piece piece, size_t bytes) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return waiting_ < kMostWaiting || is_refused_; });
        if (is_refused_) {
            return false;
        }
        waiting_ += bytes;
        pieces_.push_back(std::move(piece));
        changed_.notify_all();
        return true;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Piece> pieces_;
    size_t waiting_ = 0;
    bool is_refused_ = false;
    std::optional<HttpEnd> end_;
};

bool handOver(const Piece& piece, HttpSink& sink) {
    if (const auto* head = std::get_if<HttpHead>(&piece)) {
        return sink.onHead(*head);
    }
    return sink.onBytes(std::get<std::vector<std::byte>>(piece));
}

} // namespace

HttpEnd exchange(const models::hub::HttpClientFactory& make_http,
                 const models::hub::HttpRequest& request,
                 HttpSink& sink,
                 const std::stop_token& stop,
                 const std::function<bool()>& has_time) {
    Mailbox mailbox;
    // Joined, and with it the connection closed, before the mailbox goes.
    const std::jthread network([&](const std::stop_token& ended) {
        HttpEnd end;
        try {
            end = make_http()->run(request, mailbox, ended);
        } catch (const std::bad_alloc&) {
            end = {HttpEnd::Kind::Cut, "no memory"};
        }
        mailbox.close(std::move(end));
    });
    HttpEnd::Kind own_end{};
    while (true) {
        const std::optional<Piece> piece = mailbox.take();
        if (stop.stop_requested()) {
            own_end = HttpEnd::Kind::Cancelled;
            break;
        }
        if (piece.has_value() && !handOver(*piece, sink)) {
            own_end = HttpEnd::Kind::Sink;
            break;
        }
        if (const auto end = mailbox.end(); !piece.has_value() && end.has_value()) {
            return *end;
        }
        if (has_time && !has_time()) {
            own_end = HttpEnd::Kind::TooLong;
            break;
        }
    }
    mailbox.refuse();
    return {own_end};
}

} // namespace remote
