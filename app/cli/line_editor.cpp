// SPDX-License-Identifier: Apache-2.0
#include "app/cli/line_editor.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace cli {

namespace {

constexpr char kEscape = '\x1b';
constexpr char kInterrupt = '\x03';   ///< Ctrl+C.
constexpr size_t kLongestEscape = 32; ///< No key sends more.

bool isContinuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

/// The code point of one whole character in UTF-8, U+FFFD for other bytes.
uint32_t codePoint(std::string_view character) {
    const auto first = static_cast<unsigned char>(character.front());
    if (character.size() == 1) {
        return first < 0x80 ? first : 0xfffd;
    }
    uint32_t code = first & (0x7fU >> character.size());
    for (const char byte : character.substr(1)) {
        code = (code << 6U) | (static_cast<unsigned char>(byte) & 0x3fU);
    }
    return code;
}

/// Columns that a terminal gives a character. wcwidth() would depend on the locale, which stays
/// "C".
int columnsOf(uint32_t code) {
    const bool is_combining = (code >= 0x300 && code <= 0x36f) ||
                              (code >= 0x200b && code <= 0x200d) ||
                              (code >= 0xfe00 && code <= 0xfe0f) || code == 0xfeff;
    const bool is_wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
                         (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
                         (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
                         (code >= 0xffe0 && code <= 0xffe6) ||
                         (code >= 0x1f300 && code <= 0x1faff) ||
                         (code >= 0x20000 && code <= 0x3fffd);
    return is_combining ? 0 : is_wide ? 2 : 1;
}

} // namespace

LineEditor::State LineEditor::take(char byte, std::string& echo) {
    if (byte == kInterrupt) { // a way out also where the end of a paste never comes
        escape_.clear();
        is_pasting_ = false;
    }
    if (!escape_.empty()) {
        takeEscaped(byte, echo);
        return State::Typing;
    }
    if (byte == kEscape) {
        escape_ = byte;
        return State::Typing;
    }
    if (!is_pasting_) {
        return takeKey(byte, echo);
    }
    const bool is_rest_of_line_end = byte == '\n' && is_after_return_;
    is_after_return_ = byte == '\r';
    if (!is_rest_of_line_end) {
        append(byte == '\r' ? '\n' : byte, echo);
    }
    return State::Typing;
}

std::string LineEditor::takeLine() {
    return std::exchange(line_, {});
}

LineEditor::State LineEditor::takeKey(char byte, std::string& echo) {
    switch (byte) {
    case '\r':
    case '\n':
        echo += filter_.finish() + "\n";
        return State::Line;
    case kInterrupt: {
        const bool is_empty = line_.empty();
        line_.clear();
        echo += filter_.finish() + "^C\n";
        return is_empty ? State::End : State::Dropped;
    }
    case '\x04': // Ctrl+D
        if (line_.empty()) {
            echo += "\n";
            return State::End;
        }
        return State::Typing;
    case '\b':
    case '\x7f':
        eraseCharacter(echo);
        return State::Typing;
    case '\x15': // Ctrl+U
        while (!line_.empty()) {
            eraseCharacter(echo);
        }
        return State::Typing;
    case '\x17': // Ctrl+W
        while (!line_.empty() && (line_.back() == ' ' || line_.back() == '\t')) {
            eraseCharacter(echo);
        }
        while (!line_.empty() && line_.back() != ' ' && line_.back() != '\t' &&
               line_.back() != '\n') {
            eraseCharacter(echo);
        }
        return State::Typing;
    default:
        if (static_cast<unsigned char>(byte) >= 0x20 || byte == '\t') {
            append(byte, echo);
        }
        return State::Typing;
    }
}

/// Follows a sequence to its end: ESC [ parameters and a letter or '~', ESC O and a letter, ESC and
/// a key. Keys that have no meaning here, such as arrows, leave nothing in the line.
void LineEditor::takeEscaped(char byte, std::string& echo) {
    if (byte == kEscape) { // another sequence begins: what came before was none
        keepEscaped(echo);
        escape_ = byte;
        return;
    }
    escape_ += byte;
    const std::string_view sequence = escape_;
    const bool is_control = sequence.size() > 1 && sequence[1] == '[';
    const bool is_open = is_control ? sequence.size() == 2 || byte < '@' : sequence == "\x1bO";
    if (is_open && sequence.size() < kLongestEscape) {
        return;
    }
    if (sequence == "\x1b[200~") {
        is_pasting_ = true;
        is_after_return_ = false;
    } else if (sequence == "\x1b[201~") {
        is_pasting_ = false;
    } else if (sequence == "\x1b\r" || sequence == "\x1b\n") {
        append('\n', echo);
    } else {
        keepEscaped(echo);
    }
    escape_.clear();
}

/// In a pasted text it is part of the text.
void LineEditor::keepEscaped(std::string& echo) {
    const std::string text = std::exchange(escape_, {});
    for (size_t i = 0; is_pasting_ && i < text.size(); ++i) {
        append(text[i], echo);
    }
}

void LineEditor::append(char byte, std::string& echo) {
    line_ += byte;
    echo += filter_.pass(std::string_view(&byte, 1));
}

void LineEditor::eraseCharacter(std::string& echo) {
    if (line_.empty()) {
        return;
    }
    echo += filter_.finish();
    size_t begin = line_.size() - 1;
    while (begin > 0 && line_.size() - begin < 4 && isContinuation(line_[begin])) {
        --begin;
    }
    const std::string character = line_.substr(begin);
    line_.resize(begin);
    if (character == "\n") { // the cursor cannot go back up: the line before is shown once more
        const size_t before = line_.rfind('\n');
        echo += "\n" +
                app::terminalText(before == std::string::npos ? line_ : line_.substr(before + 1));
        return;
    }
    for (int columns = columnsOf(codePoint(character)); columns > 0; --columns) {
        echo += "\b \b";
    }
}

} // namespace cli
