// SPDX-License-Identifier: Apache-2.0
// Starting another program on Windows, for child_process.cpp and the engine's process: it inherits
// its three streams and nothing else, and ends with this process.
#pragma once

#ifdef _WIN32

#include <windows.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// A handle that closes itself.
class Handle {
public:
    explicit Handle(HANDLE handle = nullptr) : handle_(handle) {}
    ~Handle() { reset(); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    void reset(HANDLE to = nullptr) {
        if (handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE) {
            CloseHandle(handle_);
        }
        handle_ = to;
    }
    [[nodiscard]] HANDLE get() const { return handle_; }
    [[nodiscard]] HANDLE* out() { return &handle_; }
    /// From now on somebody else's.
    [[nodiscard]] HANDLE release() { return std::exchange(handle_, nullptr); }

private:
    HANDLE handle_;
};

/// "CreatePipe: Windows error 5", of the error that the calling thread met last.
std::string systemError(const char* what);

/// What a program gets as its streams; handles that can be inherited.
struct ChildStreams {
    HANDLE in = nullptr, out = nullptr, error = nullptr;
};

/// Starts words[0] (UTF-8) in a job that ends with `job`. `most_processes` in that job, 0: any
/// number. What was wrong; empty: it runs.
std::string startInJob(const std::vector<std::string>& words,
                       const ChildStreams& streams,
                       uint32_t most_processes,
                       Handle& job,
                       Handle& process);

} // namespace engine

#endif
