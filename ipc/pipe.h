// SPDX-License-Identifier: Apache-2.0
// The two directions between the window's process and the engine's, as bytes. POSIX: a socket;
// Windows: two pipes. Reading and writing wait; one thread may do each. A socket can also be waited
// for without reading, by any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ipc {

/// Ends Pipe::wait() from another thread. POSIX alone.
class Waker {
public:
    Waker();
    ~Waker();
    Waker(const Waker&) = delete;
    Waker& operator=(const Waker&) = delete;
    /// The wait that runs, or else the next one, ends. Any thread.
    void wake() const;

private:
    friend class Pipe;
    int read_ = -1, write_ = -1; ///< -1: the system has none left; then a wait takes its time.
};

class Pipe {
public:
    /// A descriptor, on Windows a HANDLE.
    using End = intptr_t;
    static constexpr End kNone = -1;
    /// Whether there are wait() and tryRead().
#ifdef _WIN32
    static constexpr bool kCanWait = false;
#else
    static constexpr bool kCanWait = true;
#endif

    Pipe() = default;
    /// Owns both; they may be the same.
    Pipe(End in, End out) : in_(in), out_(out) {}
    ~Pipe() {
        close();
    }
    Pipe(Pipe&& other) noexcept;
    Pipe& operator=(Pipe&& other) noexcept;
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    /// What stands behind standard input and output, for the engine's process: both lead nowhere
    /// from then on, so that a library that prints says nothing to the window. isOpen() is false
    /// where the system does not give them.
    static Pipe takeStandardStreams();

    [[nodiscard]] bool isOpen() const {
        return in_ != kNone;
    }
    /// How many bytes came, at least one; 0: the other side is gone.
    size_t read(char* bytes, size_t most);
    /// Until something can be read, the other side is gone, or `waker` wakes; at most so long,
    /// negative: for ever.
    void wait(std::chrono::milliseconds most, const Waker* waker = nullptr) const;
    /// Like read(), but nullopt where nothing is there yet.
    std::optional<size_t> tryRead(char* bytes, size_t most);
    /// All of them; false: the other side is gone, or did not read for a long time (POSIX: 30 s).
    bool write(std::string_view bytes);
    /// The other side reads an end; a read that waits here ends, too (Windows: when the other
    /// process does). From any thread.
    void shut();

private:
    void close();

    End in_ = kNone, out_ = kNone;
};

} // namespace ipc
