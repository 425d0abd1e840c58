// SPDX-License-Identifier: Apache-2.0
// Splits a streamed reply into thinking, answer and calls of tools. Works on token ids, so that
// text which merely spells a marker stays text. Control tokens are hidden; stray and empty channels
// leave no trace.
#pragma once

#include "engine/text/chat_prompt.h"
#include "engine/text/detokenizer.h"

#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Stands for ChatTokens::quote in ReplyParser::calls(): no byte of UTF-8.
inline constexpr char kToolQuote = '\xff';

/// What one token added; both may be empty.
struct ReplyDelta {
    std::string thinking, answer;
};

class ReplyParser {
public:
    /// ChatTokens{} (all -1) makes a parser without channels: everything is answer.
    /// Without the ids of tools (ChatTokens::hasTools()) calls are answer, too.
    ReplyParser(Tokenizer tokenizer, const ChatTokens& tokens, DetokenizerOptions options = {});

    /// The prompt ended inside of a thought.
    void beginInThought() { state_ = State::Thinking; }

    ReplyDelta push(TokenId id);
    /// Gives out what is held back (half characters, half a channel name).
    ReplyDelta flush();

    [[nodiscard]] const std::string& thinking() const { return thinking_; } ///< All so far.
    [[nodiscard]] const std::string& answer() const { return answer_; }     ///< All so far.
    /// What the model wrote of calls, for ChatTurns::readCall(); one that was cut short as far as
    /// it goes.
    [[nodiscard]] const std::vector<std::string>& calls() const { return calls_; }
    /// Whether the next word is no part of the answer.
    [[nodiscard]] bool isThinking() const { return state_ != State::Answer; }

private:
    enum class State { Answer = 1, ChannelName, Thinking, Call };
    /// False: no token of a call.
    bool pushCall(TokenId id, ReplyDelta& delta);
    void take(std::string_view text, ReplyDelta& delta);
    void takeThinking(std::string_view text, ReplyDelta& delta);
    void openChannel();
    void closeChannel();

    StreamingDetokenizer detokenizer_;
    ChatTokens tokens_;
    State state_ = State::Answer;
    std::string
        channel_name_; ///< Name of the open channel, while it may still be that of thoughts.
    std::string held_newlines_; ///< End of the thought so far: dropped when the channel closes.
    std::string thinking_, answer_;
    std::vector<std::string> calls_;
};

} // namespace engine
