// SPDX-License-Identifier: Apache-2.0
#include "tests/support/remote/chat_standin.h"

#include "tests/support/sockets.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <stdexcept>

namespace support {

namespace {

std::string asChunk(const std::string& bytes) {
    std::array<char, 32> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
    return size.data() + bytes + "\r\n";
}

/// Head and body of a request; nullopt when the other side went.
std::optional<ChatRequestSeen> readRequest(int socket, const std::atomic<bool>& is_ending) {
    std::string text;
    size_t wanted = std::string::npos;
    size_t head = std::string::npos;
    ChatRequestSeen seen;
    while (!is_ending && (wanted == std::string::npos || text.size() < wanted)) {
        if (!isReadable(socket)) {
            continue;
        }
        std::array<char, 65536> buffer{};
        const ssize_t n = ::recv(socket, buffer.data(), buffer.size(), 0);
        if (n <= 0) {
            return std::nullopt;
        }
        text.append(buffer.data(), static_cast<size_t>(n));
        if (head != std::string::npos || (head = text.find("\r\n\r\n")) == std::string::npos) {
            continue;
        }
        size_t at = text.find("\r\n");
        const std::string first = text.substr(0, at);
        seen.method = first.substr(0, first.find(' '));
        seen.path = first.substr(seen.method.size() + 1);
        seen.path = seen.path.substr(0, seen.path.find(' '));
        while (at < head) {
            const size_t begin = at + 2;
            at = text.find("\r\n", begin);
            const std::string line = text.substr(begin, at - begin);
            const size_t colon = line.find(": ");
            seen.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
        }
        const auto length = seen.headers.find("content-length");
        wanted = head + 4 + (length == seen.headers.end() ? 0 : std::stoul(length->second));
    }
    if (head == std::string::npos || is_ending) {
        return std::nullopt;
    }
    seen.body = text.substr(head + 4);
    return seen;
}

} // namespace

ChatStep sendBytes(std::string bytes) {
    return {ChatStep::Kind::Send, std::move(bytes), 0};
}
ChatStep chunk(std::string bytes) {
    return {ChatStep::Kind::Chunk, std::move(bytes), 0};
}
ChatStep drip(std::string bytes, int ms) {
    return {ChatStep::Kind::Drip, std::move(bytes), ms};
}
ChatStep wait(int ms) {
    return {ChatStep::Kind::Wait, {}, ms};
}
ChatStep hold() {
    return {ChatStep::Kind::Hold, {}, 0};
}
ChatStep reset() {
    return {ChatStep::Kind::Reset, {}, 0};
}

ChatStep streamHead() {
    return sendBytes("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n");
}

ChatStep streamEnd() {
    return sendBytes("0\r\n\r\n");
}

ChatScript wholeAnswer(const std::string& status,
                       const std::string& body,
                       const std::string& type,
                       const std::string& more_headers) {
    return {sendBytes("HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\n" + more_headers +
                      "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body)};
}

std::string event(const std::string& data) {
    return "data: " + data + "\n\n";
}

std::string deltaEvent(const std::string& delta, const std::string& reason) {
    return event(R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",)"
                 R"("choices":[{"index":0,"delta":)" +
                 delta + R"(,"finish_reason":)" + reason + "}]}");
}

std::string wordEvent(const std::string& text) {
    return deltaEvent(R"({"content":")" + text + "\"}");
}

ChatScript goodAnswer(const std::vector<std::string>& words, const std::string& reason) {
    ChatScript script = {streamHead(), chunk(deltaEvent(R"({"role":"assistant","content":""})"))};
    for (const std::string& word : words) {
        script.push_back(chunk(wordEvent(word)));
    }
    script.push_back(chunk(deltaEvent("{}", "\"" + reason + "\"")));
    script.push_back(chunk(event(R"({"object":"chat.completion.chunk","choices":[],"usage":)"
                                 R"({"prompt_tokens":7,"completion_tokens":3,"total_tokens":10,)"
                                 R"("prompt_tokens_details":{"cached_tokens":2}}})")));
    script.push_back(chunk(event("[DONE]")));
    script.push_back(streamEnd());
    return script;
}

ChatStandin::ChatStandin(ChatScript answer, ChatScript models, int port)
    : answer_(std::move(answer)), models_(std::move(models)),
      health_(wholeAnswer("200 OK", R"({"status":"ok"})")),
      server_([this](int connection) { serve(connection); }, port) {
    if (models_.empty()) {
        models_ = wholeAnswer(
            "200 OK",
            R"({"object":"list","data":[)"
            R"({"id":"m","object":"model","owned_by":"vllm","parent":null,"max_model_len":4096},)"
            R"({"id":"m-poems","object":"model","owned_by":"vllm","parent":"m"}]})");
    }
}

ChatStandin::~ChatStandin() {
    is_ending_ = true;
}

std::string ChatStandin::base() const {
    return "http://127.0.0.1:" + std::to_string(port()) + "/v1";
}

std::vector<ChatRequestSeen> ChatStandin::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

size_t ChatStandin::numAsked() const {
    const std::lock_guard lock(mutex_);
    return static_cast<size_t>(
        std::count_if(requests_.begin(), requests_.end(),
                      [](const ChatRequestSeen& seen) { return seen.method == "POST"; }));
}

size_t ChatStandin::numGets(std::string_view path) const {
    const std::lock_guard lock(mutex_);
    return static_cast<size_t>(
        std::count_if(requests_.begin(), requests_.end(), [path](const ChatRequestSeen& seen) {
            return seen.method == "GET" && seen.path.starts_with(path);
        }));
}

void ChatStandin::setModels(ChatScript models) {
    const std::lock_guard lock(mutex_);
    models_ = std::move(models);
}

void ChatStandin::setHealth(ChatScript health) {
    const std::lock_guard lock(mutex_);
    health_ = std::move(health);
}

void ChatStandin::setAnswer(ChatScript answer) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
}

void ChatStandin::serve(int connection) {
    const auto seen = readRequest(connection, is_ending_);
    if (!seen.has_value()) {
        return;
    }
    ChatScript script;
    {
        const std::lock_guard lock(mutex_);
        requests_.push_back(*seen);
        script = seen->method == "POST"            ? answer_
                 : seen->path.ends_with("/health") ? health_
                                                   : models_;
    }
    play(connection, script);
}

void ChatStandin::play(int connection, const ChatScript& script) {
    const auto pause = [this](int ms) {
        for (int waited = 0; waited < ms && !is_ending_; waited += kPollMs) {
            std::this_thread::sleep_for(std::chrono::milliseconds(std::min(kPollMs, ms - waited)));
        }
    };
    for (const ChatStep& step : script) {
        bool is_taken = true;
        switch (step.kind) {
        case ChatStep::Kind::Send:
            is_taken = sendAll(connection, step.bytes);
            break;
        case ChatStep::Kind::Chunk:
            is_taken = sendAll(connection, asChunk(step.bytes));
            break;
        case ChatStep::Kind::Drip:
            for (size_t i = 0; i < step.bytes.size() && is_taken && !is_ending_; ++i) {
                is_taken = sendAll(connection, asChunk(step.bytes.substr(i, 1)));
                pause(step.ms);
            }
            break;
        case ChatStep::Kind::Wait:
            pause(step.ms);
            break;
        case ChatStep::Kind::Hold: {
            char byte = 0;
            while (!is_ending_) {
                if (isReadable(connection) && ::recv(connection, &byte, 1, 0) <= 0) {
                    is_taken = false;
                    break;
                }
            }
            break;
        }
        case ChatStep::Kind::Reset: {
            setSocketOption(connection, SOL_SOCKET, SO_LINGER, Linger{1, 0});
            return;
        }
        }
        if (!is_taken) {
            ++num_closed_;
            return;
        }
    }
    endSending(connection);
    // Until the other side has read everything: closing now would reset the connection.
    char byte = 0;
    while (!is_ending_ && (!isReadable(connection) || ::recv(connection, &byte, 1, 0) > 0)) {
    }
}

} // namespace support
