// SPDX-License-Identifier: Apache-2.0
// A line that is typed or pasted at a terminal, byte by byte. The terminal's own line editing
// (canonical mode) holds 4095 bytes and drops the rest, and it makes a line of each line of a
// pasted text. This class edits at the end of the line only and knows nothing of devices;
// console.cpp puts the terminal into the mode that it needs.
#pragma once

#include "app/common/terminal_text.h"

#include <string>

namespace cli {

class LineEditor {
public:
    enum class State {
        Typing = 1,
        Line,    ///< Enter: takeLine() has the text.
        Dropped, ///< Ctrl+C behind text, which is gone.
        End,     ///< Ctrl+C or Ctrl+D without text.
    };

    /// Takes one byte as the terminal sends it, with Enter as CR or LF. Backspace, Ctrl+W and
    /// Ctrl+U erase, Alt+Enter begins a new line. A text between the marks of a bracketed paste is
    /// taken whole. Appends what the terminal is to show to `echo`.
    State take(char byte, std::string& echo);
    /// The text, with LF between its lines; the next one begins empty.
    std::string takeLine();
    [[nodiscard]] const std::string& line() const { return line_; }

private:
    State takeKey(char byte, std::string& echo);
    void takeEscaped(char byte, std::string& echo);
    void keepEscaped(std::string& echo);
    void append(char byte, std::string& echo);
    void eraseCharacter(std::string& echo);

    std::string line_;
    std::string escape_; ///< ESC and what followed, while a sequence is incomplete.
    bool is_pasting_ = false;
    bool is_after_return_ = false; ///< The last pasted byte was CR; a LF behind it belongs to it.
    app::TerminalFilter filter_; ///< Keeps half a character back and control codes off the screen.
};

} // namespace cli
