// SPDX-License-Identifier: Apache-2.0
// The chunks of a streamed chat completion (and the object of one that is not streamed), as words
// for the window and one reply at the end. Both spellings of thoughts, thoughts inside of the text,
// tool calls in pieces, usage, errors in the stream. Nothing of what was taken is taken back by an
// error that comes later.
#pragma once

#include "engine/api/chat.h"
#include "engine/base/json/tree.h"
#include "engine/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remote/think_splitter.h"

namespace remote {

class ChatStream {
public:
    explicit ChatStream(std::string host) : host_(std::move(host)) {}

    /// The data of one event; what is new is appended to `update`. Errors: as answerError() and
    /// toldError().
    engine::Result<void> addEvent(std::string_view data, engine::ReplyUpdate& update);
    /// The body of an answer that is no stream of events: one object, or one in each line. Errors:
    /// the same.
    engine::Result<void> addWhole(std::string_view body, engine::ReplyUpdate& update);
    /// What was held back; call once, at the end of what came.
    void finish(engine::ReplyUpdate& update);

    /// "[DONE]" came: nothing behind it counts.
    [[nodiscard]] bool isDone() const { return is_done_; }
    /// The server said why the reply ends.
    [[nodiscard]] bool hasEnd() const { return !reason_.empty(); }
    [[nodiscard]] bool hasWords() const {
        return !reply_.text.empty() || !reply_.thinking.empty() || !calls_.empty();
    }
    /// Events with words.
    [[nodiscard]] int64_t pieces() const { return pieces_; }
    /// Text, thoughts, calls, reason, counts of tokens, notes. Times and seed are the caller's.
    [[nodiscard]] engine::Reply reply() const;

private:
    /// No words: blank, or the last one, or behind it.
    bool addsNothing(std::string_view data);
    engine::Result<void> addLines(std::string_view data, engine::ReplyUpdate& update);
    engine::Result<void> addObject(const engine::Json& root, engine::ReplyUpdate& update);
    engine::Result<void> addMessage(const engine::Json& message, engine::ReplyUpdate& update);
    engine::Result<void> addCalls(const engine::Json& calls);
    void addUsage(const engine::Json& usage);
    void addText(std::string_view text, engine::ReplyUpdate& update);

    std::string host_;
    engine::Reply reply_;
    ThinkSplitter splitter_;
    std::vector<engine::ToolCall> calls_;
    std::string reason_;
    bool is_done_ = false;
    bool has_usage_ = false;
    int64_t pieces_ = 0;
    size_t word_bytes_ = 0; ///< Text and thoughts, also what the splitter holds back.
    size_t call_bytes_ = 0; ///< Names and arguments of all calls.
};

} // namespace remote
