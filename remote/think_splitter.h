// SPDX-License-Identifier: Apache-2.0
// Thoughts that a server leaves in the text of a reply, where it has no parser for them: between
// <think> and </think> or other pairs of marks, at the beginning of the reply alone. Where the
// server's template has written the opening mark, only the closing one comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace remote {

class ThinkSplitter {
public:
    /// Adds the next text, cut anywhere, and appends to both what can be told by now.
    /// True where a closing mark came without an opening one: all text before this call, and what
    /// is appended to `thinking`, are thoughts.
    [[nodiscard]] bool add(std::string_view piece, std::string& text, std::string& thinking);
    /// What was held back.
    void finish(std::string& text, std::string& thinking);
    /// The server tells thoughts apart: all that comes is text.
    void leaveAlone() { is_alone_ = true; }

private:
    [[nodiscard]] bool addAnswer(std::string& text, std::string& thinking);

    enum class State : uint8_t { Beginning = 1, Thinking, Answer };

    State state_ = State::Beginning;
    bool is_alone_ = false;
    bool has_thought_ = false;      ///< No further mark is looked for.
    bool is_after_thought_ = false; ///< Line breaks before the answer are the server's layout.
    char last_ = '\0';              ///< The last byte of the answer that was handed on.
    std::string held_;              ///< May still become a marker.
    size_t blanks_ = 0;             ///< That held_ begins with.
    std::string_view end_;          ///< What ends the thought.
};

} // namespace remote
