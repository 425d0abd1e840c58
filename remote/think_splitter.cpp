// SPDX-License-Identifier: Apache-2.0
#include "remote/think_splitter.h"

#include <algorithm>
#include <array>
#include <utility>

namespace remote {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMarkers = {{
    {"<think>", "</think>"},
    {"<thinking>", "</thinking>"},
    {"<thought>", "</thought>"},
    {"[THINK]", "[/THINK]"},
    {"<|channel>thought\n", "<channel|>"},
}};

constexpr std::string_view kSpace = " \t\r\n";

/// Bytes at the end of `text` that may begin `marker`.
size_t beginningOf(std::string_view marker, std::string_view text) {
    for (size_t n = std::min(marker.size() - 1, text.size()); n > 0; --n) {
        if (marker.starts_with(text.substr(text.size() - n))) {
            return n;
        }
    }
    return 0;
}

} // namespace

bool ThinkSplitter::add(std::string_view piece, std::string& text, std::string& thinking) {
    held_ += piece;
    if (state_ == State::Beginning && !is_alone_) {
        const size_t begin = std::min(held_.find_first_not_of(kSpace, blanks_), held_.size());
        blanks_ = begin; // not looked at again with each piece
        const std::string_view rest = std::string_view(held_).substr(begin);
        bool may_come = rest.empty();
        for (const auto& [open, close] : kMarkers) {
            if (rest.starts_with(open)) {
                state_ = State::Thinking;
                end_ = close;
                held_.erase(0, begin + open.size());
                break;
            }
            may_come = may_come || open.starts_with(rest);
        }
        if (state_ == State::Beginning && may_come) {
            return false;
        }
    }
    if (state_ == State::Thinking) {
        const size_t at = held_.find(end_);
        const size_t length =
            at == std::string::npos ? held_.size() - beginningOf(end_, held_) : at;
        thinking.append(held_, 0, length);
        held_.erase(0, length);
        if (at == std::string::npos) {
            return false;
        }
        held_.erase(0, end_.size());
        has_thought_ = true;
        is_after_thought_ = true;
    }
    state_ = State::Answer;
    return addAnswer(text, thinking);
}

/// Hands on the answer. Of the marks that may stand in it only the first closing one counts, and
/// not where it is quoted: an answer may explain them.
bool ThinkSplitter::addAnswer(std::string& text, std::string& thinking) {
    bool was_thought = false;
    if (!has_thought_ && !is_alone_) {
        size_t kept = 0;
        for (const auto& [open, close] : kMarkers) {
            const size_t at = held_.find(close);
            kept = std::max(kept, at == std::string::npos ? beginningOf(close, held_) : 0);
            const char before = at == std::string::npos ? '`' : at == 0 ? last_ : held_[at - 1];
            if (before == '`' || before == '"' || before == '\'') {
                continue;
            }
            thinking.append(held_, 0, at);
            held_.erase(0, at + close.size());
            was_thought = has_thought_ = is_after_thought_ = true;
            break;
        }
        if (!was_thought) {
            text.append(held_, 0, held_.size() - kept);
            last_ = held_.size() > kept ? held_[held_.size() - kept - 1] : last_;
            held_.erase(0, held_.size() - kept);
            return false;
        }
    }
    if (is_after_thought_) {
        held_.erase(0, std::min(held_.find_first_not_of(kSpace), held_.size()));
        is_after_thought_ = held_.empty();
    }
    text += held_;
    held_.clear();
    return was_thought;
}

void ThinkSplitter::finish(std::string& text, std::string& thinking) {
    (state_ == State::Thinking ? thinking : text) += held_;
    held_.clear();
}

} // namespace remote
