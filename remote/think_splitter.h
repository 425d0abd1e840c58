// SPDX-License-Identifier: Apache-2.0
// Thoughts that a server leaves in the text of a reply, where it has no parser for them: between
// <think> and </think>, or in Gemma's channel, at the beginning of the reply alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace remote {

class ThinkSplitter {
public:
    /// Adds the next text, cut anywhere, and appends to both what can be told by now.
    void add(std::string_view piece, std::string& text, std::string& thinking);
    /// What was held back.
    void finish(std::string& text, std::string& thinking);
    /// The server tells thoughts apart: all that comes is text.
    void leaveAlone() { is_alone_ = true; }

private:
    enum class State : uint8_t { Beginning = 1, Thinking, Answer };

    State state_ = State::Beginning;
    bool is_alone_ = false;
    bool is_after_thought_ = false; ///< Line breaks before the answer are the server's layout.
    std::string held_;              ///< May still become a marker.
    size_t blanks_ = 0; ///< That held_ begins with.
    std::string_view end_;          ///< What ends the thought.
};

} // namespace remote
