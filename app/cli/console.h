// SPDX-License-Identifier: Apache-2.0
// Everything that belfry-cli reads from and writes to its terminal, pipe or file. std::cout and
// std::cerr go through here: control codes of foreign texts are filtered, and output that was lost
// (a full disk, a reader that went away) is remembered and ends the program with an error.
#pragma once

#include "engine/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>

namespace cli {

/// Call once, before the first output.
void openConsole();
/// Writes out what waits. `code`, or 1 with a word on stderr where output was lost.
int closeConsole(int code);
[[nodiscard]] bool isOutputLost();

/// While one lives, bytes on standard output are as they are, for other programs: a reply, JSON, an
/// exported map. A terminal gets them filtered all the same.
class Verbatim {
public:
    Verbatim();
    ~Verbatim();
    Verbatim(const Verbatim&) = delete;
    Verbatim& operator=(const Verbatim&) = delete;
};

/// Any text in it that is not UTF-8 is replaced, never an exception.
void printJson(const nlohmann::ordered_json& value);
/// The same on standard error, where `is_out_elsewhere`: the output itself is on standard output.
void printJson(const nlohmann::ordered_json& value, bool is_out_elsewhere);

/// printf to standard output and to standard error.
[[gnu::format(printf, 1, 2)]] void print(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void printError(const char* format, ...);

/// On a terminal: `text` in place of the line that stands there; empty: nothing.
void showProgress(const std::string& text);
[[nodiscard]] bool isOutputTerminal();
[[nodiscard]] bool isErrorTerminal();
/// Somebody types: standard input is a terminal.
[[nodiscard]] bool isInputTerminal();

/// Whether `path` leads to where standard output goes, so that nothing else may be said there.
[[nodiscard]] bool isStandardOutput(const std::string& path);

/// Where somebody types, readLine() returns when SIGTERM or SIGHUP come, so that the terminal gets
/// its mode back.
[[nodiscard]] bool watchesForEnd();

/// The next line of standard input without its line end (LF or CR LF). False at the end. A text
/// that is pasted into a terminal is one line with LF in it (line_editor.h). Errors: InvalidRequest
/// for a line without end, InvalidFile where it cannot be read.
/// `prompt` is shown on standard error when the terminal takes whole lines, not before.
engine::Result<bool> readLine(std::string& line, std::string_view prompt = {});
/// All of standard input; errors as readLine.
engine::Result<std::string> readInput();

} // namespace cli
