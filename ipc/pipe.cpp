// SPDX-License-Identifier: Apache-2.0
#include "ipc/pipe.h"

#include <algorithm>
#include <utility>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <windows.h>
#else
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#endif

namespace ipc {

Pipe::Pipe(Pipe&& other) noexcept
    : in_(std::exchange(other.in_, kNone)), out_(std::exchange(other.out_, kNone)) {}

Pipe& Pipe::operator=(Pipe&& other) noexcept {
    std::swap(in_, other.in_);
    std::swap(out_, other.out_);
    return *this;
}

#ifdef _WIN32

Waker::Waker() = default;
Waker::~Waker() = default;
void Waker::wake() const {}

namespace {

HANDLE handleOf(Pipe::End end) {
    return reinterpret_cast<HANDLE>(end); // NOLINT(performance-no-int-to-ptr)
}

// Descriptors of the run time of C, as on POSIX.
constexpr int kStandardInput = 0;
constexpr int kStandardOutput = 1;

} // namespace

Pipe Pipe::takeStandardStreams() {
    // Duplicates, as the run time of C has the handles themselves: it closes them when its streams
    // are turned to where nobody reads.
    const HANDLE self = GetCurrentProcess();
    HANDLE in = nullptr;
    HANDLE out = nullptr;
    if (DuplicateHandle(self, GetStdHandle(STD_INPUT_HANDLE), self, &in, 0, FALSE,
                        DUPLICATE_SAME_ACCESS) == 0) {
        return {};
    }
    if (DuplicateHandle(self, GetStdHandle(STD_OUTPUT_HANDLE), self, &out, 0, FALSE,
                        DUPLICATE_SAME_ACCESS) == 0) {
        CloseHandle(in);
        return {};
    }
    Pipe pipe(reinterpret_cast<End>(in), reinterpret_cast<End>(out));
    const int nothing = ::_open("NUL", _O_RDWR | _O_BINARY | _O_NOINHERIT);
    const bool is_apart = nothing >= 0 && ::_dup2(nothing, kStandardInput) == 0 &&
                          ::_dup2(nothing, kStandardOutput) == 0;
    if (nothing > kStandardOutput) {
        ::_close(nothing);
    }
    SetStdHandle(STD_INPUT_HANDLE, nullptr);
    SetStdHandle(STD_OUTPUT_HANDLE, nullptr);
    return is_apart ? std::move(pipe) : Pipe();
}

size_t Pipe::read(char* bytes, size_t most) {
    DWORD got = 0;
    const auto wanted = static_cast<DWORD>(std::min<size_t>(most, 1U << 20U));
    return ReadFile(handleOf(in_), bytes, wanted, &got, nullptr) != 0 ? got : 0;
}

bool Pipe::write(std::string_view bytes) {
    while (!bytes.empty()) {
        DWORD written = 0;
        const auto wanted = static_cast<DWORD>(std::min<size_t>(bytes.size(), 1U << 20U));
        if (WriteFile(handleOf(out_), bytes.data(), wanted, &written, nullptr) == 0 ||
            written == 0) {
            return false;
        }
        bytes.remove_prefix(written);
    }
    return true;
}

void Pipe::shut() {
    if (out_ != kNone && out_ != in_) {
        CloseHandle(handleOf(std::exchange(out_, kNone)));
    }
}

void Pipe::close() {
    for (End* const end : {&in_, &out_}) {
        if (*end != kNone) {
            CloseHandle(handleOf(std::exchange(*end, kNone)));
        }
    }
}

#else

Waker::Waker() {
    std::array<int, 2> ends = {-1, -1};
    if (::pipe(ends.data()) != 0) {
        return;
    }
    for (const int end : ends) {
        static_cast<void>(::fcntl(end, F_SETFD, FD_CLOEXEC));
        static_cast<void>(::fcntl(end, F_SETFL, O_NONBLOCK));
    }
    read_ = ends[0];
    write_ = ends[1];
}

Waker::~Waker() {
    for (const int end : {read_, write_}) {
        if (end >= 0) {
            ::close(end);
        }
    }
}

void Waker::wake() const {
    const char word = 0;
    // Where it is full it wakes already.
    static_cast<void>(::write(write_, &word, sizeof(word)) == sizeof(word));
}

void Pipe::wait(std::chrono::milliseconds most, const Waker* waker) const {
    std::array<pollfd, 2> ends = {};
    ends[0] = {static_cast<int>(in_), POLLIN, 0};
    ends[1] = {waker != nullptr ? waker->read_ : -1, POLLIN, 0}; // negative: is left out
    const int64_t bound =
        std::min<int64_t>(most.count(), std::numeric_limits<int>::max()); // 24 days
    if (::poll(ends.data(), ends.size(), bound < 0 ? -1 : static_cast<int>(bound)) > 0 &&
        waker != nullptr && ends[1].revents != 0) {
        std::array<char, 64> words = {};
        while (::read(waker->read_, words.data(), words.size()) > 0) {
        }
    }
}

std::optional<size_t> Pipe::tryRead(char* bytes, size_t most) {
    for (;;) {
        const ssize_t got = ::recv(static_cast<int>(in_), bytes, most, MSG_DONTWAIT);
        if (got >= 0) {
            return static_cast<size_t>(got);
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return std::nullopt;
        }
        if (errno != EINTR) {
            return 0;
        }
    }
}

Pipe Pipe::takeStandardStreams() {
    // Duplicates beyond the three streams, which then lead nowhere and to standard error.
    const int in = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    Pipe pipe(in, out);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool is_apart = nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
                          ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    if (nothing >= 0) {
        ::close(nothing);
    }
    return in >= 0 && out >= 0 && is_apart ? std::move(pipe) : Pipe();
}

size_t Pipe::read(char* bytes, size_t most) {
    for (;;) {
        const ssize_t got = ::read(static_cast<int>(in_), bytes, most);
        if (got >= 0) {
            return static_cast<size_t>(got);
        }
        if (errno != EINTR) {
            return 0;
        }
    }
}

bool Pipe::write(std::string_view bytes) {
#ifdef MSG_NOSIGNAL
    constexpr int kFlags = MSG_NOSIGNAL; // a reader that is gone is an answer, not the end of us
#else
    constexpr int kFlags = 0;
#endif
    while (!bytes.empty()) {
        const ssize_t sent = ::send(static_cast<int>(out_), bytes.data(), bytes.size(), kFlags);
        if (sent > 0) {
            bytes.remove_prefix(static_cast<size_t>(sent));
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

void Pipe::shut() {
    if (out_ != kNone) {
        ::shutdown(static_cast<int>(out_), SHUT_RDWR);
    }
}

void Pipe::close() {
    if (out_ != kNone && out_ != in_) {
        ::close(static_cast<int>(out_));
    }
    if (in_ != kNone) {
        ::close(static_cast<int>(in_));
    }
    in_ = out_ = kNone;
}

#endif

} // namespace ipc
