// SPDX-License-Identifier: Apache-2.0
#include "engine/text/reply_parser.h"

namespace engine {

ReplyParser::ReplyParser(Tokenizer tokenizer, const ChatTokens& tokens, DetokenizerOptions options)
    : detokenizer_(std::move(tokenizer), options), tokens_(tokens) {}

bool ReplyParser::pushCall(TokenId id, ReplyDelta& delta) {
    if (!tokens_.hasTools()) {
        return false;
    }
    if (id == tokens_.call_begin) {
        take(detokenizer_.flush(), delta);
        closeChannel();
        calls_.emplace_back();
        state_ = State::Call;
        return true;
    }
    if (state_ == State::Call && (id == tokens_.call_end || id == tokens_.quote)) {
        take(detokenizer_.flush(), delta);
        if (id == tokens_.quote) {
            calls_.back() += kToolQuote;
        } else {
            state_ = State::Answer;
        }
        return true;
    }
    return id == tokens_.call_end; // a stray one
}

ReplyDelta ReplyParser::push(TokenId id) {
    ReplyDelta delta;
    if (pushCall(id, delta)) {
        return delta;
    }
    const bool opens = id >= 0 && id == tokens_.channel_begin;
    const bool closes = id >= 0 && id == tokens_.channel_end;
    if (opens || closes) {
        take(detokenizer_.flush(), delta);
        if (opens) {
            openChannel();
        } else {
            closeChannel();
        }
    } else {
        take(detokenizer_.push(id), delta);
    }
    return delta;
}

ReplyDelta ReplyParser::flush() {
    ReplyDelta delta;
    take(detokenizer_.flush(), delta);
    closeChannel();
    return delta;
}

void ReplyParser::take(std::string_view text, ReplyDelta& delta) {
    if (text.empty()) {
        return;
    }
    if (state_ == State::Call) {
        calls_.back() += text;
        return;
    }
    if (state_ == State::Answer) {
        answer_ += text;
        delta.answer += text;
        return;
    }
    if (state_ == State::Thinking) {
        takeThinking(text, delta);
        return;
    }
    channel_name_ += text;
    const std::string_view thoughts = tokens_.thought_header;
    if (channel_name_.size() < thoughts.size() && thoughts.starts_with(channel_name_)) {
        return; // may still become the header
    }
    state_ = State::Thinking;
    std::string_view rest = channel_name_;
    if (rest.starts_with(thoughts)) {
        rest.remove_prefix(thoughts.size());
    }
    takeThinking(rest, delta);
    channel_name_.clear();
}

void ReplyParser::takeThinking(std::string_view text, ReplyDelta& delta) {
    const size_t last = text.find_last_not_of('\n');
    if (last == std::string_view::npos) {
        held_newlines_ += text;
        return;
    }
    const size_t before = delta.thinking.size();
    // Channels after the first begin on a line of their own; nothing precedes the first.
    delta.thinking += held_newlines_;
    delta.thinking += text.substr(0, last + 1);
    thinking_ += std::string_view(delta.thinking).substr(before);
    held_newlines_ = text.substr(last + 1);
}

void ReplyParser::openChannel() {
    if (state_ != State::Answer) {
        closeChannel(); // an opening mark inside a thought begins the next one
    }
    state_ = State::ChannelName;
    held_newlines_ = thinking_.empty() ? "" : "\n";
}

void ReplyParser::closeChannel() {
    channel_name_.clear(); // no more than a part of the header
    held_newlines_.clear();
    state_ = State::Answer;
}

} // namespace engine
