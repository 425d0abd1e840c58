// SPDX-License-Identifier: Apache-2.0
// The server on Boost.Beast's parser and Asio's sockets. Everything of a connection happens on the
// one thread that runs the context; an Exchange posts to it. Times are kept by a look at all
// connections a few times a second, not by a timer each. What is allowed is the handler's matter.
#include "app/serve/body_reader.h"
#include "app/serve/gate.h"
#include "app/serve/http_server.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <algorithm>
#include <cctype>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

namespace serve {

namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using net::ip::tcp;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{250};
constexpr std::chrono::milliseconds kLastWords{1000}; ///< When the server ends.
constexpr size_t kReadBytes = size_t{64} << 10U;
constexpr size_t kMostUnsentBytes = size_t{4} << 20U;
/// Beyond the limit a connection is told so; beyond that it is closed without a word.
constexpr size_t kMostRefusals = 32;
/// One of this many connections is kept for clients that have shown a token.
constexpr size_t kKeptShare = 8;
/// What may come behind a request that is being answered.
constexpr size_t kMostBytesAhead = size_t{64} << 10U;
/// With this every answer begins; see Connection::probe().
constexpr std::string_view kAnswerBegin = "HTTP/1.1 ";
constexpr size_t kQuickProbes = 2;
constexpr std::chrono::milliseconds kProbeInterval{2000};

class Server;

class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(Server& server, tcp::socket socket) : server_(server), socket_(std::move(socket)) {}

    void start();
    void refuse();
    void onTick(Clock::time_point now);
    void close();
    [[nodiscard]] bool isQuiet() const { return out_.empty() && state_ != State::Busy; }
    [[nodiscard]] bool isIdle() const { return state_ == State::Idle; }
    /// It has shown no token and holds its place all the same.
    [[nodiscard]] bool isStranger() const {
        return !is_known_ && (state_ != State::Busy || !out_.empty());
    }
    [[nodiscard]] Clock::time_point since() const { return since_; }

    // Called by an Exchange; `serial` is the request's, others are too late.
    void answer(uint64_t serial, const HttpAnswer& answer);
    void begin(uint64_t serial, const HttpAnswer& head);
    void send(uint64_t serial, std::string_view piece);
    void finish(uint64_t serial);
    void setOnGone(std::function<void()> gone) { on_gone_ = std::move(gone); }

private:
    /// Idle: waits for a request. Head, Body: one comes. Delay: an answer waits for its time.
    /// Busy: one is being answered. Linger: the last answer is out, what comes is dropped.
    enum class State { Idle = 1, Head, Body, Delay, Busy, Linger, Closed };

    void read();
    void onRead(const error_code& failure, size_t count);
    void onBytes();
    void probe(Clock::time_point now);
    void readHead();
    void takeHead();
    void readBody();
    void takeRequest();
    void write(std::string bytes);
    void writeHead(std::string bytes);
    void writeNext();
    void onAllWritten();
    void endAnswer();
    void answerNow(const HttpAnswer& answer);
    void answerHead(HttpAnswer answer);
    [[nodiscard]] HttpHead head() const;

    Server& server_;
    tcp::socket socket_;
    State state_ = State::Idle;
    Clock::time_point due_ = Clock::time_point::max(); ///< When the state times out.
    Clock::time_point write_due_ = Clock::time_point::max();
    Clock::time_point since_; ///< It waits for a request since then.
    /// Apart from the buffer, from which bytes may be taken while more are read.
    std::vector<char> incoming_;
    boost::beast::flat_buffer buffer_;
    bool is_reading_ = false;
    bool is_half_closed_ = false; ///< The client sends nothing more; it may still read.
    bool is_known_ = false;       ///< A request of it had a token.
    std::optional<http::request_parser<http::empty_body>> parser_;
    std::optional<BodyReader> body_;
    HttpHead head_;
    Admission admission_;
    uint64_t serial_ = 0;
    bool is_kept_ = true, is_chunked_ = false, is_begun_ = false, is_ended_ = false;
    size_t probed_ = 0; ///< Bytes of the answer's beginning that are out.
    Clock::time_point next_probe_;
    std::optional<HttpAnswer> delayed_;
    std::deque<std::string> out_;
    size_t out_bytes_ = 0;
    std::function<void()> on_gone_;
};

class Server final : public HttpServer {
public:
    Server(const ServerLimits& limits, Handler& handler) : limits_(limits), handler_(handler) {}
    ~Server() override;

    engine::Result<void> listen(const std::vector<std::string>& addresses, uint16_t port);
    void run();

    [[nodiscard]] uint16_t port() const override { return port_; }
    [[nodiscard]] const ServerLimits& limits() const { return limits_; }
    [[nodiscard]] Handler& handler() const { return handler_; }
    [[nodiscard]] const std::shared_ptr<net::io_context>& context() const { return context_; }
    void forget(const std::shared_ptr<Connection>& connection) { connections_.erase(connection); }
    [[nodiscard]] bool isEnding() const { return end_.has_value(); }

private:
    struct Listener {
        tcp::acceptor acceptor;
        bool is_accepting = false;
    };
    void accept(Listener& listener);
    bool makeRoom();
    void tick();
    void beginEnd();

    const ServerLimits limits_;
    Handler& handler_;
    /// Shared with exchanges that outlive this: what they post is dropped.
    const std::shared_ptr<net::io_context> context_ = std::make_shared<net::io_context>(1);
    std::deque<Listener> listeners_;
    net::steady_timer timer_{*context_};
    std::set<std::shared_ptr<Connection>> connections_;
    uint16_t port_ = 0;
    std::optional<Clock::time_point> end_; ///< Until when words may go out.
    std::thread thread_;
};

/// Outlives the connection, which it does not keep.
class PostedExchange final : public Exchange {
public:
    PostedExchange(std::shared_ptr<net::io_context> context,
                   const std::shared_ptr<Connection>& connection,
                   uint64_t serial)
        : context_(std::move(context)), connection_(connection), serial_(serial) {}

    void answer(HttpAnswer answer) override {
        post([serial = serial_, answer = std::move(answer)](Connection& connection) {
            connection.answer(serial, answer);
        });
    }
    void begin(HttpAnswer head) override {
        post([serial = serial_, head = std::move(head)](Connection& connection) {
            connection.begin(serial, head);
        });
    }
    void send(std::string piece) override {
        post([serial = serial_, piece = std::move(piece)](Connection& connection) {
            connection.send(serial, piece);
        });
    }
    void finish() override {
        post([serial = serial_](Connection& connection) { connection.finish(serial); });
    }
    void onGone(std::function<void()> gone) override {
        if (const auto connection = connection_.lock()) {
            connection->setOnGone(std::move(gone));
        }
    }

private:
    template <typename Work>
    void post(Work work) {
        net::post(*context_, [connection = connection_, work = std::move(work)]() mutable {
            if (const auto alive = connection.lock()) {
                work(*alive);
            }
        });
    }

    std::shared_ptr<net::io_context> context_;
    std::weak_ptr<Connection> connection_;
    uint64_t serial_;
};

std::string inHex(size_t value) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    do {
        out.insert(out.begin(), kDigits[value % 16]);
        value /= 16;
    } while (value > 0);
    return out;
}

HttpAnswer plainError(int status, const char* code, const char* message) {
    HttpAnswer answer;
    answer.status = status;
    answer.is_closing = true;
    answer.body = std::string(R"({"error":{"message":")") + message +
                  R"(","type":"invalid_request_error","param":null,"code":")" + code + R"("}})";
    return answer;
}

// ---- Connection ----

void Connection::start() {
    since_ = Clock::now();
    due_ = since_ + server_.limits().fresh_time;
    read();
}

void Connection::refuse() {
    HttpAnswer answer = plainError(503, "too_many_connections",
                                   "too many connections are open; close some, or ask again later");
    answer.fields.emplace_back("Retry-After", "5");
    answerHead(std::move(answer));
}

void Connection::close() {
    if (state_ == State::Closed) {
        return;
    }
    state_ = State::Closed;
    error_code ignored;
    socket_.close(ignored);
    if (auto gone = std::exchange(on_gone_, nullptr)) {
        gone();
    }
    server_.forget(shared_from_this());
}

void Connection::onTick(Clock::time_point now) {
    if (state_ == State::Delay && now >= due_) {
        const HttpAnswer answer = *std::exchange(delayed_, std::nullopt);
        answerNow(answer);
        return;
    }
    if (is_half_closed_ || buffer_.size() >= kMostBytesAhead) {
        probe(now);
    }
    if (now < due_ && now < write_due_) {
        return;
    }
    if (now >= due_ && (state_ == State::Head || state_ == State::Body) && out_.empty()) {
        answerHead(plainError(408, "request_timeout", "the request did not come whole in time"));
        return;
    }
    close();
}

void Connection::read() {
    if (is_reading_ || state_ == State::Closed) {
        return;
    }
    if (is_half_closed_) { // nothing more comes
        if (state_ != State::Busy && state_ != State::Delay) {
            close();
        }
        return;
    }
    is_reading_ = true;
    incoming_.resize(kReadBytes);
    socket_.async_read_some(net::buffer(incoming_),
                            [self = shared_from_this()](const error_code& failure, size_t count) {
                                try {
                                    self->onRead(failure, count);
                                } catch (const std::exception&) { // no memory for it
                                    self->close();
                                }
                            });
}

void Connection::onRead(const error_code& failure, size_t count) {
    is_reading_ = false;
    if (state_ == State::Closed) {
        return;
    }
    if (failure == net::error::eof && (state_ == State::Busy || state_ == State::Delay)) {
        is_half_closed_ = true;
        probe(Clock::now());
        return;
    }
    if (failure) {
        close();
        return;
    }
    buffer_.commit(net::buffer_copy(buffer_.prepare(count), net::buffer(incoming_, count)));
    onBytes();
}

/// Who has shut its own side may wait for the answer, or be gone: only a write tells, since the
/// system of a client that is gone answers it with a reset, which fails the next write. Every
/// answer begins with the same bytes, so these may go out before it is known which one it is.
void Connection::probe(Clock::time_point now) {
    if (state_ != State::Busy || is_begun_ || !out_.empty() || now < next_probe_ ||
        probed_ == kAnswerBegin.size()) {
        return;
    }
    write(std::string(kAnswerBegin.substr(probed_, 1)));
    ++probed_;
    next_probe_ = probed_ < kQuickProbes ? now : now + kProbeInterval;
}

void Connection::onBytes() {
    switch (state_) {
    case State::Idle: {
        // A line end behind the last body is no request.
        const auto* data = static_cast<const char*>(buffer_.data().data());
        size_t skipped = 0;
        while (skipped < buffer_.size() && (data[skipped] == '\r' || data[skipped] == '\n')) {
            ++skipped;
        }
        buffer_.consume(skipped);
        if (buffer_.size() == 0) {
            read();
            return;
        }
        state_ = State::Head;
        due_ = Clock::now() + server_.limits().head_time;
        readHead();
        return;
    }
    case State::Head:
        readHead();
        return;
    case State::Body:
        readBody();
        return;
    case State::Linger:
        buffer_.consume(buffer_.size());
        read();
        return;
    case State::Delay:
    case State::Busy:
        // The next request waits in the buffer; reading on tells when the client goes.
        if (buffer_.size() < kMostBytesAhead) {
            read();
        }
        return;
    case State::Closed:
        return;
    }
}

void Connection::readHead() {
    const std::string_view bytes(static_cast<const char*>(buffer_.data().data()), buffer_.size());
    if (std::isalpha(static_cast<unsigned char>(bytes.front())) == 0) { // its head may never end
        constexpr char kHandshake = 0x16;
        answerHead(plainError(400, "bad_request",
                              bytes.front() == kHandshake
                                  ? "this port speaks http, not https: ask at http://, or put a "
                                    "proxy with TLS in front"
                                  : "this is no request of HTTP/1.1"));
        return;
    }
    const size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos || end > kMostHeadBytes) {
        if (bytes.size() > kMostHeadBytes) {
            answerHead(plainError(431, "head_too_large",
                                  "the head of the request is larger than 16384 bytes"));
            return;
        }
        read();
        return;
    }
    if (auto refused = checkRawHead(bytes.substr(0, end + 4))) {
        refused->is_closing = true;
        answerHead(*std::move(refused));
        return;
    }
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(kMostHeadBytes + 4));
    parser_->body_limit(UINT64_MAX); // the handler has words for one that is too large
    error_code failure;
    const size_t used = parser_->put(buffer_.data(), failure);
    if ((failure && failure != http::error::need_more) || !parser_->is_header_done()) {
        answerHead(plainError(400, "bad_request", "this is no request of HTTP/1.1"));
        return;
    }
    buffer_.consume(used);
    takeHead();
}

HttpHead Connection::head() const {
    const auto& message = parser_->get();
    HttpHead head;
    head.method = std::string(message.method_string());
    head.target = std::string(message.target());
    head.is_http_1_1 = message.version() >= 11;
    for (const auto& field : message) {
        std::string name(field.name_string());
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        head.fields.emplace_back(std::move(name), std::string(field.value()));
    }
    error_code ignored;
    const tcp::endpoint local = socket_.local_endpoint(ignored);
    head.local_address = local.address().to_string(ignored);
    head.local_port = local.port();
    return head;
}

void Connection::takeHead() {
    head_ = head();
    auto verdict = server_.handler().onHead(head_);
    const bool is_whole = parser_->is_done();
    is_kept_ = parser_->get().keep_alive() && !server_.isEnding();
    if (auto* refused = std::get_if<HttpAnswer>(&verdict)) {
        // What the client goes on sending is no request.
        refused->is_closing = refused->is_closing || !is_whole;
        answerHead(std::move(*refused));
        return;
    }
    admission_ = std::get<Admission>(std::move(verdict));
    is_known_ = is_known_ || admission_.has_token;
    const auto told = parser_->content_length();
    body_.emplace(parser_->chunked() ? std::nullopt
                  : told.has_value() ? std::optional<uint64_t>(*told)
                                     : std::optional<uint64_t>(0),
                  server_.limits().most_body_bytes);
    parser_.reset();
    state_ = State::Body;
    due_ = Clock::now() + server_.limits().body_time;
    if (!is_whole && head_.find("expect") != nullptr && buffer_.size() == 0) {
        write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    readBody();
}

void Connection::readBody() {
    const std::string_view bytes(static_cast<const char*>(buffer_.data().data()), buffer_.size());
    buffer_.consume(body_->take(bytes));
    switch (body_->state()) {
    case BodyReader::State::More:
        read();
        return;
    case BodyReader::State::Done:
        takeRequest();
        return;
    case BodyReader::State::Malformed:
        answerHead(plainError(400, "bad_request", "the body of the request is no HTTP/1.1"));
        return;
    case BodyReader::State::TooManyWords:
        answerHead(plainError(431, "chunks_too_large",
                              "extensions of chunks and trailers are larger than 16384 bytes"));
        return;
    case BodyReader::State::TooLarge:
        answerHead(plainError(413, "body_too_large",
                              "the body is larger than the server takes; send fewer or smaller "
                              "pictures and recordings"));
        return;
    }
}

void Connection::takeRequest() {
    HttpRequest request{head_, admission_, std::move(body_->body())};
    body_.reset();
    state_ = State::Busy;
    due_ = Clock::time_point::max();
    is_begun_ = false;
    is_ended_ = false;
    ++serial_;
    onBytes(); // reads on
    server_.handler().onRequest(
        std::move(request),
        std::make_shared<PostedExchange>(server_.context(), shared_from_this(), serial_));
}

void Connection::answerHead(HttpAnswer answer) {
    ++serial_;
    if (answer.delay.count() > 0) {
        state_ = State::Delay;
        due_ = Clock::now() + answer.delay;
        delayed_ = std::move(answer);
        return;
    }
    answerNow(answer);
}

void Connection::answerNow(const HttpAnswer& answer) {
    state_ = State::Busy;
    due_ = Clock::time_point::max();
    is_kept_ = is_kept_ && !answer.is_closing;
    std::string text = headText(answer, admission_.fields, static_cast<int64_t>(answer.body.size()),
                                false, is_kept_);
    if (head_.method != "HEAD" && answer.status != 204) {
        text += answer.body;
    }
    writeHead(std::move(text));
    endAnswer();
}

void Connection::answer(uint64_t serial, const HttpAnswer& answer) {
    if (serial == serial_ && state_ == State::Busy && !is_ended_) {
        answerNow(answer);
    }
}

void Connection::begin(uint64_t serial, const HttpAnswer& head) {
    if (serial == serial_ && state_ == State::Busy && !is_ended_) {
        is_chunked_ = head_.is_http_1_1;
        is_kept_ = is_kept_ && is_chunked_;
        writeHead(headText(head, admission_.fields, -1, is_chunked_, is_kept_));
    }
}

void Connection::send(uint64_t serial, std::string_view piece) {
    if (serial == serial_ && state_ == State::Busy && !is_ended_ && !piece.empty()) {
        std::string text = is_chunked_ ? inHex(piece.size()) + "\r\n" : "";
        text += piece;
        write(is_chunked_ ? text + "\r\n" : std::move(text));
    }
}

void Connection::finish(uint64_t serial) {
    if (serial == serial_ && state_ == State::Busy && !is_ended_) {
        if (is_chunked_) {
            write("0\r\n\r\n");
        }
        endAnswer();
    }
}

void Connection::endAnswer() {
    is_ended_ = true;
    on_gone_ = nullptr;
    admission_ = {};
    head_ = {};
    if (out_.empty()) {
        onAllWritten();
    }
}

void Connection::writeHead(std::string bytes) {
    bytes.erase(0, std::exchange(probed_, 0));
    is_begun_ = true;
    write(std::move(bytes));
}

void Connection::write(std::string bytes) {
    if (state_ == State::Closed) {
        return;
    }
    out_bytes_ += bytes.size();
    if (out_bytes_ > kMostUnsentBytes && out_.size() > 1) {
        close(); // it does not read
        return;
    }
    out_.push_back(std::move(bytes));
    if (out_.size() == 1) {
        writeNext();
    }
}

void Connection::writeNext() {
    write_due_ = Clock::now() + server_.limits().write_time;
    net::async_write(socket_, net::buffer(out_.front()),
                     [self = shared_from_this()](const error_code& failure, size_t /*count*/) {
                         if (failure || self->state_ == State::Closed) {
                             self->close();
                             return;
                         }
                         self->out_bytes_ -= self->out_.front().size();
                         self->out_.pop_front();
                         self->write_due_ = Clock::time_point::max();
                         if (!self->out_.empty()) {
                             self->writeNext();
                         } else if (self->is_ended_) {
                             self->onAllWritten();
                         }
                     });
}

void Connection::onAllWritten() {
    if (state_ == State::Closed || state_ == State::Linger) {
        return;
    }
    is_ended_ = false;
    is_chunked_ = false;
    parser_.reset();
    body_.reset();
    if (!is_kept_ || server_.isEnding()) {
        // Closed at once, unread bytes would make the system take back what was written.
        state_ = State::Linger;
        due_ = Clock::now() + server_.limits().linger_time;
        error_code ignored;
        socket_.shutdown(tcp::socket::shutdown_send, ignored);
        buffer_.consume(buffer_.size());
        read();
        return;
    }
    state_ = State::Idle;
    since_ = Clock::now();
    due_ = since_ + server_.limits().idle_time;
    if (buffer_.size() > 0) {
        net::post(*server_.context(), [self = shared_from_this()] {
            if (self->state_ == State::Idle) {
                self->onBytes();
            }
        });
    } else {
        read();
    }
}

// ---- Server ----

engine::Result<void> Server::listen(const std::vector<std::string>& addresses, uint16_t port) {
    port_ = port;
    for (const std::string& text : addresses) {
        error_code failure;
        const net::ip::address address = net::ip::make_address(text, failure);
        if (failure) {
            return engine::Error{engine::ErrorCode::InvalidRequest,
                                 engine::said("%1: expected an address in numbers to listen at, "
                                              "such as 127.0.0.1, ::1 or 0.0.0.0 (everywhere)",
                                              text)};
        }
        tcp::acceptor acceptor(*context_);
        const tcp::endpoint endpoint(address, port_);
        static_cast<void>(acceptor.open(endpoint.protocol(), failure));
#ifndef _WIN32 // where it would let another program take the port as well
        if (!failure) {
            static_cast<void>(acceptor.set_option(tcp::acceptor::reuse_address(true), failure));
        }
#endif
        if (!failure && address.is_v6()) {
            static_cast<void>(acceptor.set_option(net::ip::v6_only(true), failure));
        }
        if (!failure) {
            static_cast<void>(acceptor.bind(endpoint, failure));
        }
        if (!failure) {
            static_cast<void>(acceptor.listen(net::socket_base::max_listen_connections, failure));
        }
        if (failure && !listeners_.empty()) {
            continue;
        }
        if (failure) {
            return engine::Error{engine::ErrorCode::InvalidFile,
                                 engine::said("port %1 of %2 cannot be listened at (%3); another "
                                              "program may have it: choose another port, or 0 for "
                                              "one that is free",
                                              int64_t{port}, text, failure.message())};
        }
        port_ = acceptor.local_endpoint(failure).port();
        listeners_.push_back({std::move(acceptor)});
    }
    return {};
}

void Server::run() {
    tick();
    for (Listener& listener : listeners_) {
        accept(listener);
    }
    thread_ = std::thread([this] {
        while (true) {
            try {
                context_->run();
                return;
            } catch (const std::exception&) {
                // Not enough memory for a new connection, most likely: the others go on.
            }
        }
    });
}

void Server::accept(Listener& listener) {
    listener.is_accepting = true;
    listener.acceptor.async_accept(
        [this, &listener](const error_code& failure, tcp::socket socket) {
            listener.is_accepting = false;
            if (failure || isEnding()) {
                return; // no descriptors are left, most likely: the tick tries again
            }
            if (connections_.size() < limits_.most_connections + kMostRefusals) {
                error_code ignored;
                static_cast<void>(socket.set_option(tcp::no_delay(true), ignored));
                const bool is_over = !makeRoom();
                const auto connection = std::make_shared<Connection>(*this, std::move(socket));
                connections_.insert(connection);
                is_over ? connection->refuse() : connection->start();
            }
            accept(listener);
        });
}

/// Lets those go that hold a place without having shown a token, the longest waiting first, and
/// where all have shown one, those that wait for their next request. False: no place is free.
bool Server::makeRoom() {
    while (true) {
        std::shared_ptr<Connection> stranger;
        std::shared_ptr<Connection> idle;
        size_t strangers = 0;
        for (const auto& connection : connections_) {
            strangers += connection->isStranger() ? 1 : 0;
            auto& oldest = connection->isStranger() ? stranger : idle;
            if ((connection->isStranger() || connection->isIdle()) &&
                (oldest == nullptr || connection->since() < oldest->since())) {
                oldest = connection;
            }
        }
        const size_t most = limits_.most_connections;
        const bool is_full = connections_.size() >= most;
        if (!is_full && strangers < most - most / kKeptShare) {
            return true;
        }
        const auto leaves = stranger != nullptr ? stranger : is_full ? idle : nullptr;
        if (leaves == nullptr) {
            return !is_full;
        }
        leaves->close();
    }
}

void Server::tick() {
    timer_.expires_after(kTick);
    timer_.async_wait([this](const error_code& failure) {
        if (failure) {
            return;
        }
        const Clock::time_point now = Clock::now();
        const std::vector<std::shared_ptr<Connection>> all(connections_.begin(),
                                                           connections_.end());
        for (const auto& connection : all) {
            if (isEnding() && (connection->isQuiet() || now >= *end_)) {
                connection->close();
            } else {
                connection->onTick(now);
            }
        }
        if (isEnding() && connections_.empty()) {
            context_->stop();
            return;
        }
        tick();
        for (Listener& listener : listeners_) {
            if (!listener.is_accepting && !isEnding()) {
                accept(listener);
            }
        }
        handler_.onTick();
    });
}

void Server::beginEnd() {
    end_ = Clock::now() + kLastWords;
    for (Listener& listener : listeners_) {
        error_code ignored;
        listener.acceptor.close(ignored);
    }
}

Server::~Server() {
    if (thread_.joinable()) {
        net::post(*context_, [this] { beginEnd(); });
        thread_.join();
    }
}

} // namespace

engine::Result<std::unique_ptr<HttpServer>>
HttpServer::open(const std::vector<std::string>& addresses,
                 uint16_t port,
                 const ServerLimits& limits,
                 Handler& handler) {
    try {
        auto server = std::make_unique<Server>(limits, handler);
        ENGINE_TRY(server->listen(addresses, port));
        server->run();
        return std::unique_ptr<HttpServer>(std::move(server));
    } catch (const boost::system::system_error& problem) {
        return engine::Error{
            engine::ErrorCode::InvalidFile,
            engine::said("the system has no sockets for a server (%1); close other "
                         "programs",
                         std::string(problem.what()))};
    }
}

} // namespace serve
