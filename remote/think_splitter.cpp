// SPDX-License-Identifier: Apache-2.0
#include "remote/think_splitter.h"

#include <algorithm>
#include <array>
#include <utility>

namespace remote {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kMarkers = {{
    {"<think>", "</think>"},
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

void ThinkSplitter::add(std::string_view piece, std::string& text, std::string& thinking) {
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
            return;
        }
    }
    if (state_ == State::Thinking) {
        const size_t at = held_.find(end_);
        const size_t length =
            at == std::string::npos ? held_.size() - beginningOf(end_, held_) : at;
        thinking.append(held_, 0, length);
        held_.erase(0, length);
        if (at == std::string::npos) {
            return;
        }
        held_.erase(0, end_.size());
        is_after_thought_ = true;
    }
    state_ = State::Answer;
    if (is_after_thought_) {
        held_.erase(0, std::min(held_.find_first_not_of(kSpace), held_.size()));
        is_after_thought_ = held_.empty();
    }
    text += held_;
    held_.clear();
}

void ThinkSplitter::finish(std::string& text, std::string& thinking) {
    (state_ == State::Thinking ? thinking : text) += held_;
    held_.clear();
}

} // namespace remote
