// SPDX-License-Identifier: Apache-2.0
// A server with OpenAI's API on this computer that answers what a script says, byte for byte and at
// its own pace, because most of what goes wrong no HTTP library would do. It remembers requests.
#pragma once

#include "tests/support/loopback.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace support {

struct ChatRequestSeen {
    std::string method, path;
    std::map<std::string, std::string> headers; ///< Names in lower case.
    std::string body;
};

/// One step of an answer.
struct ChatStep {
    enum class Kind { Send = 1, Chunk, Drip, Wait, Hold, Reset };
    Kind kind = Kind::Send;
    std::string bytes; ///< Send as they are; Chunk as one chunk of HTTP; Drip one by one.
    int ms = 0;        ///< Wait; Drip: between two of them.
};

using ChatScript = std::vector<ChatStep>;

ChatStep sendBytes(std::string bytes);
ChatStep chunk(std::string bytes);
ChatStep drip(std::string bytes, int ms);
ChatStep wait(int ms);
ChatStep hold();  ///< Says nothing until the other side goes.
ChatStep reset(); ///< Ends the connection without a goodbye.

/// Head of a stream in chunks.
ChatStep streamHead();
/// Its end.
ChatStep streamEnd();
/// An answer with a length, closed behind it.
ChatScript wholeAnswer(const std::string& status,
                       const std::string& body,
                       const std::string& type = "application/json",
                       const std::string& more_headers = {});
/// "data: ...\n\n"
std::string event(const std::string& data);
/// The event of a delta, as all servers send it. `delta` and `reason` are JSON.
std::string deltaEvent(const std::string& delta, const std::string& reason = "null");
/// The same for a piece of text, which needs no escape.
std::string wordEvent(const std::string& text);
/// Head, these words an event each, a reason, usage, "[DONE]", end.
ChatScript goodAnswer(const std::vector<std::string>& words, const std::string& reason = "stop");

class ChatStandin {
public:
    /// `port`: one that a stand-in had before; 0: any.
    explicit ChatStandin(ChatScript answer, ChatScript models = {}, int port = 0);
    ~ChatStandin();
    ChatStandin(const ChatStandin&) = delete;
    ChatStandin& operator=(const ChatStandin&) = delete;

    [[nodiscard]] std::string base() const; ///< "http://127.0.0.1:40001/v1"
    [[nodiscard]] int port() const { return server_.port(); }
    [[nodiscard]] std::vector<ChatRequestSeen> requests() const;
    /// Requests of the chat alone.
    [[nodiscard]] size_t numAsked() const;
    /// Connections that the client ended while the server still had something to say.
    [[nodiscard]] int numClosedByClient() const { return num_closed_; }
    /// GET requests below this path.
    [[nodiscard]] size_t numGets(std::string_view path) const;
    void setAnswer(ChatScript answer);
    void setModels(ChatScript models);
    void setHealth(ChatScript health);

private:
    void serve(int connection);
    void play(int connection, const ChatScript& script);

    ChatScript answer_, models_, health_;
    std::atomic<bool> is_ending_{false};
    std::atomic<int> num_closed_{0};
    mutable std::mutex mutex_;
    std::vector<ChatRequestSeen> requests_;
    LoopbackServer server_;
};

} // namespace support
