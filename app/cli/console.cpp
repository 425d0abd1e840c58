// SPDX-License-Identifier: Apache-2.0
#include "app/cli/console.h"

#include "app/cli/interrupt.h"
#include "app/cli/line_editor.h"
#include "app/common/terminal_text.h"

#include <nlohmann/json.hpp>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <windows.h>
#else
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#endif

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <streambuf>
#include <string_view>
#include <vector>

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr size_t kMaxWaiting = size_t{1} << 16U;
/// Limit for a typed line or a whole text: far more than any model reads, far less than memory.
constexpr size_t kMaxInputBytes = size_t{256} << 20U;

constexpr int kInputStream = 0;
constexpr int kOutputStream = 1;
constexpr int kErrorStream = 2;

Result<void> checkInput(size_t size) {
    if (size > kMaxInputBytes) {
        return Error{ErrorCode::InvalidRequest, "standard input: more than " +
                                                    std::to_string(kMaxInputBytes >> 20U) +
                                                    " MiB in one piece; expected a text"};
    }
    if (std::ferror(stdin) != 0) {
        return Error{ErrorCode::InvalidFile,
                     "standard input cannot be read (is it a folder?); expected a text"};
    }
    return {};
}

#ifdef _WIN32

bool isTerminalStream(int stream) {
    return ::_isatty(stream) != 0;
}

int64_t writeStream(int stream, std::string_view bytes) {
    return ::_write(stream, bytes.data(), static_cast<unsigned>(bytes.size()));
}

void waitForStream(int /*stream*/) {}

/// Bytes pass as they are, and a console takes them for UTF-8.
void prepareStreams() {
    for (const int stream : {kInputStream, kOutputStream, kErrorStream}) {
        static_cast<void>(::_setmode(stream, _O_BINARY));
    }
    static_cast<void>(::SetConsoleOutputCP(CP_UTF8));
}

/// The next bytes of what is typed. Windows reads a console in UTF-8 by no other way: its narrow
/// calls give zeros for what is not ASCII. Ctrl+Z at the start of a line ends the input.
bool readTyped(std::string& waiting) {
    std::array<wchar_t, 4096> units{};
    DWORD count = 0;
    const HANDLE input = ::GetStdHandle(STD_INPUT_HANDLE);
    do {
        ::SetLastError(ERROR_SUCCESS);
        if (::ReadConsoleW(input, units.data(), units.size() - 1, &count, nullptr) == 0) {
            return false;
        }
    } while (count == 0 && ::GetLastError() == ERROR_OPERATION_ABORTED); // Ctrl+C: interrupt.h
    if (count == 0 || units[0] == L'\x1a') {
        return false;
    }
    // Half a pair of surrogates: the other half comes with the next read.
    if (units[count - 1] >= 0xd800 && units[count - 1] <= 0xdbff) {
        DWORD more = 0;
        static_cast<void>(::ReadConsoleW(input, units.data() + count, 1, &more, nullptr));
        count += more;
    }
    const int wide = static_cast<int>(count);
    const int size =
        ::WideCharToMultiByte(CP_UTF8, 0, units.data(), wide, nullptr, 0, nullptr, nullptr);
    const size_t before = waiting.size();
    waiting.resize(before + static_cast<size_t>(size));
    ::WideCharToMultiByte(CP_UTF8, 0, units.data(), wide, waiting.data() + before, size, nullptr,
                          nullptr);
    return true;
}

/// The next byte of standard input, EOF at its end.
int nextByte() {
    static const bool is_typed = isTerminalStream(kInputStream);
    static std::string waiting;
    static size_t taken = 0;
    if (!is_typed) {
        return std::getc(stdin);
    }
    if (taken == waiting.size()) {
        waiting.clear();
        taken = 0;
        if (!readTyped(waiting) || waiting.empty()) {
            return EOF;
        }
    }
    return static_cast<unsigned char>(waiting[taken++]);
}

#else

bool isTerminalStream(int stream) {
    return ::isatty(stream) != 0;
}

/// Bytes written, or -1 with errno.
int64_t writeStream(int stream, std::string_view bytes) {
    return ::write(stream, bytes.data(), bytes.size());
}

/// Until a stream that whoever started us made non-blocking takes more.
void waitForStream(int stream) {
    pollfd waited{stream, POLLOUT, 0};
    static_cast<void>(::poll(&waited, 1, -1));
}

void prepareStreams() {}

/// The next byte of standard input, EOF at its end.
int nextByte() {
    return std::getc(stdin);
}

/// While one lives, the terminal hands over each byte as it is typed, without showing it, and
/// Ctrl+C as a byte; it marks what is pasted. Ctrl+Z and Ctrl+\ stay the terminal's.
class TypingMode {
public:
    TypingMode() : is_terminal_(::tcgetattr(kInputStream, &former_) == 0) { enter(); }
    ~TypingMode() {
        show("\x1b[?2004l");
        if (is_terminal_) {
            static_cast<void>(::tcsetattr(kInputStream, TCSADRAIN, &former_));
        }
    }
    TypingMode(const TypingMode&) = delete;
    TypingMode& operator=(const TypingMode&) = delete;

    /// Once more after the program was stopped and goes on: a shell gives the terminal back in its
    /// own mode.
    void enter() {
        termios mode = former_;
        mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
        mode.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR);
        mode.c_cc[VINTR] = _POSIX_VDISABLE;
        mode.c_cc[VMIN] = 1;
        mode.c_cc[VTIME] = 0;
        if (is_terminal_) {
            static_cast<void>(::tcsetattr(kInputStream, TCSADRAIN, &mode));
        }
        show("\x1b[?2004h");
    }
    /// On the terminal that is typed at, also where standard output is a file.
    static void show(std::string_view text) {
        const int stream =
            (::fcntl(kInputStream, F_GETFL) & O_ACCMODE) == O_RDWR ? kInputStream : kErrorStream;
        while (!text.empty()) {
            const int64_t written = writeStream(stream, text);
            if (written < 0 && errno != EINTR && errno != EAGAIN) {
                return;
            }
            if (written < 0 && errno == EAGAIN) {
                waitForStream(stream);
            }
            text.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
        }
    }
    /// Whether a shell has put the terminal back, and this program is in front.
    [[nodiscard]] bool isLost() const {
        termios now{};
        return is_terminal_ && ::tcgetattr(kInputStream, &now) == 0 &&
               (now.c_lflag & ICANON) != 0 && ::tcgetpgrp(kInputStream) == ::getpgrp();
    }

private:
    termios former_{};
    bool is_terminal_;
};

/// What was typed behind the end of a line, for the next one.
struct TypedAhead {
    std::string bytes;
    size_t taken = 0;
};

TypedAhead& typedAhead() {
    static TypedAhead ahead;
    return ahead;
}

/// Reads what is typed into `waiting`; false at the end of the terminal and when an end is asked
/// for. A signal may come just before the wait, so the wait ends every 100 ms to look.
bool readTyped(TypingMode& mode, std::string& waiting, int wait_ms) {
    for (;;) {
        pollfd typed{kInputStream, POLLIN, 0};
        const int ready = ::poll(&typed, 1, wait_ms < 0 ? 100 : wait_ms);
        // Ctrl+C is a signal until the terminal hands it over as a byte.
        if (isEndRequested() || interruptToken().stop_requested()) {
            return false;
        }
        const bool is_interrupted = ready < 0 && errno == EINTR;
        if (is_interrupted || (ready == 0 && wait_ms < 0 && mode.isLost())) {
            mode.enter(); // after Ctrl+Z and fg
        } else if (ready < 0 || (ready == 0 && wait_ms >= 0)) {
            return false;
        } else if (ready > 0) {
            std::array<char, 4096> bytes{};
            const ssize_t count = ::read(kInputStream, bytes.data(), bytes.size());
            if (count > 0) {
                waiting.append(bytes.data(), static_cast<size_t>(count));
                return true;
            }
            if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
                return false;
            }
        }
    }
}

/// One line from the terminal: readLine().
Result<bool> readTypedLine(std::string& line, std::string_view prompt) {
    TypingMode mode;
    std::cerr << prompt << std::flush;
    LineEditor editor;
    auto& [waiting, taken] = typedAhead();
    auto state = LineEditor::State::Typing;
    while (state == LineEditor::State::Typing &&
           (taken < waiting.size() || readTyped(mode, waiting, -1))) {
        std::string echo;
        while (taken < waiting.size() && state == LineEditor::State::Typing) {
            state = editor.take(waiting[taken++], echo);
        }
        mode.show(echo);
        ENGINE_TRY(checkInput(editor.line().size()));
    }
    if (state != LineEditor::State::Line && taken > 0 && waiting[taken - 1] == '\x03') {
        requestStop(); // as the signal that Ctrl+C is elsewhere
    }
    if (taken == waiting.size()) {
        waiting.clear();
        taken = 0;
    }
    // The terminal's own mode would cut a long line of these.
    while (waiting.size() < kMaxInputBytes && readTyped(mode, waiting, 0)) {
    }
    line = editor.takeLine();
    return state == LineEditor::State::Line || state == LineEditor::State::Dropped;
}

#endif

/// A standard stream: filters, waits for flushes, remembers the first failure.
class StreamBuffer : public std::streambuf {
public:
    explicit StreamBuffer(int stream) : stream_(stream), is_terminal_(isTerminalStream(stream)) {}

    void setVerbatim(bool is_verbatim) {
        finishCharacter();
        is_verbatim_ = is_verbatim && !is_terminal_;
    }
    [[nodiscard]] int failure() const { return failure_; }
    [[nodiscard]] bool isTerminal() const { return is_terminal_; }

    /// Past the filter: our own control codes.
    void putRaw(std::string_view text) {
        waiting_ += text;
        sync();
    }
    void finishCharacter() { waiting_ += filter_.finish(); }

protected:
    int_type overflow(int_type c) override {
        if (!traits_type::eq_int_type(c, traits_type::eof())) {
            const char byte = traits_type::to_char_type(c);
            xsputn(&byte, 1);
        }
        return failure_ == 0 ? traits_type::not_eof(c) : traits_type::eof();
    }
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        const std::string_view piece(text, static_cast<size_t>(size));
        if (is_verbatim_) {
            waiting_ += piece;
        } else {
            waiting_ += filter_.pass(piece);
        }
        if (waiting_.size() >= kMaxWaiting) {
            sync();
        }
        return failure_ == 0 ? size : 0;
    }
    int sync() override {
        std::string_view left = waiting_;
        while (!left.empty() && failure_ == 0) {
            const int64_t written = writeStream(stream_, left);
            if (written >= 0) {
                left.remove_prefix(static_cast<size_t>(written));
            } else if (errno == EAGAIN) {
                waitForStream(stream_);
            } else if (errno != EINTR) {
                failure_ = errno;
            }
        }
        waiting_.clear();
        return failure_ == 0 ? 0 : -1;
    }

private:
    int stream_;
    bool is_terminal_;
    bool is_verbatim_ = false;
    int failure_ = 0;
    app::TerminalFilter filter_;
    std::string waiting_;
};

// Never destroyed: std::cout is flushed behind the last destructor.
StreamBuffer& output() {
    static auto* buffer = new StreamBuffer(kOutputStream);
    return *buffer;
}
StreamBuffer& errors() {
    static auto* buffer = new StreamBuffer(kErrorStream);
    return *buffer;
}

std::string formatted(const char* format, va_list values) {
    va_list again;
    va_copy(again, values);
    const int size = std::vsnprintf(nullptr, 0, format, values);
    std::string text(static_cast<size_t>(size > 0 ? size : 0), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    return text;
}

} // namespace

void openConsole() {
    prepareStreams();
    std::cout.rdbuf(&output());
    std::cerr.rdbuf(&errors());
    std::clog.rdbuf(&errors());
}

int closeConsole(int code) {
    output().finishCharacter();
    std::cout.flush();
    const int failure = output().failure();
    if (failure != 0) {
        std::cerr << "error: InvalidFile: standard output could not be written ("
                  << std::strerror(failure)
                  << "), so what was to be printed is lost or cut; free space or send it "
                     "elsewhere\n";
    }
    errors().finishCharacter();
    std::cerr.flush();
    return failure != 0 && code == 0 ? 1 : code;
}

bool isOutputLost() {
    return output().failure() != 0;
}

Verbatim::Verbatim() {
    output().setVerbatim(true);
}

Verbatim::~Verbatim() {
    output().setVerbatim(false);
}

void printJson(const nlohmann::ordered_json& value) {
    printJson(value, false);
}

void printJson(const nlohmann::ordered_json& value, bool is_out_elsewhere) {
    const std::string text =
        value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    if (is_out_elsewhere) {
        std::cerr << text << "\n";
        return;
    }
    const Verbatim verbatim;
    std::cout << text << "\n";
}

void print(const char* format, ...) {
    va_list values;
    va_start(values, format);
    std::cout << formatted(format, values);
    va_end(values);
}

void printError(const char* format, ...) {
    va_list values;
    va_start(values, format);
    std::cerr << formatted(format, values);
    va_end(values);
}

void showProgress(const std::string& text) {
    if (isErrorTerminal()) {
        errors().putRaw("\r" + app::terminalText(text) + "\x1b[K");
    }
}

bool isOutputTerminal() {
    return isTerminalStream(kOutputStream);
}

bool isErrorTerminal() {
    return errors().isTerminal();
}

bool isInputTerminal() {
    return isTerminalStream(kInputStream);
}

bool watchesForEnd() {
#ifdef _WIN32
    return false;
#else
    return isInputTerminal();
#endif
}

bool isStandardOutput([[maybe_unused]] const std::string& path) {
#ifdef _WIN32
    return false; // no name leads to a stream there
#else
    struct stat out {};
    struct stat named {};
    return ::fstat(kOutputStream, &out) == 0 && ::stat(path.c_str(), &named) == 0 &&
           out.st_dev == named.st_dev && out.st_ino == named.st_ino && !S_ISCHR(out.st_mode);
#endif
}

Result<bool> readLine(std::string& line, std::string_view prompt) {
    line.clear();
    bool has_any = false;
    std::cout.flush();
#ifndef _WIN32
    if (isInputTerminal()) {
        std::cerr.flush();
        return readTypedLine(line, prompt);
    }
#endif
    std::cerr << prompt;
    for (int c = nextByte(); c != EOF; c = nextByte()) {
        has_any = true;
        if (c == '\n') {
            break;
        }
        line += static_cast<char>(c);
        ENGINE_TRY(checkInput(line.size()));
    }
    ENGINE_TRY(checkInput(0));
    if (line.ends_with('\r')) {
        line.pop_back();
    }
    return has_any;
}

Result<std::string> readInput() {
    std::string text;
    if (isInputTerminal()) {
        std::string line;
        for (;;) {
            ENGINE_ASSIGN(const bool has_line, readLine(line));
            if (interruptToken().stop_requested()) {
                return Error{ErrorCode::Cancelled, "standard input: interrupted"};
            }
            if (!has_line) {
                return text + line;
            }
            text += line + "\n";
            ENGINE_TRY(checkInput(text.size()));
        }
    }
    std::array<char, 8192> piece{};
    while (const size_t size = std::fread(piece.data(), 1, piece.size(), stdin)) {
        text.append(piece.data(), size);
        ENGINE_TRY(checkInput(text.size()));
    }
    ENGINE_TRY(checkInput(0));
    return text;
}

} // namespace cli
