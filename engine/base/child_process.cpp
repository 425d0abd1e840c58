// SPDX-License-Identifier: Apache-2.0
// POSIX: posix_spawn, and a look at the pipe and at the child in turn: a program that the child
// started may hold the pipe open after its end, so that the end of the pipe says nothing. Windows:
// CreateProcessW within a job that ends with this process.
#include "engine/base/child_process.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#ifdef _WIN32
#include "engine/base/detached_thread.h"
#include "engine/base/windows_process.h"
#else
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
extern "C" char** environ;
#endif

namespace engine {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLook{10};           ///< Between two looks at the child.
constexpr milliseconds kAfterTheKill{1000}; ///< A process that hangs in the kernel outlives it.

void keep(std::string& output, const char* bytes, size_t count) {
    output.append(bytes, std::min(count, ChildEnd::kMostOutput - output.size()));
}

} // namespace

#ifdef _WIN32

namespace {

void readWhatIsThere(HANDLE pipe, std::string& output) {
    std::array<char, 4096> piece{};
    DWORD there = 0;
    while (PeekNamedPipe(pipe, nullptr, 0, nullptr, &there, nullptr) != 0 && there > 0) {
        DWORD got = 0;
        if (ReadFile(pipe, piece.data(), static_cast<DWORD>(piece.size()), &got, nullptr) == 0) {
            return;
        }
        keep(output, piece.data(), got);
    }
}

} // namespace

ChildEnd
runChild(const std::vector<std::string>& words, milliseconds limit, const std::stop_token& stop) {
    const Clock::time_point end = Clock::now() + limit;
    ChildEnd result;
    SECURITY_ATTRIBUTES inherited{sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};
    Handle in;
    Handle out;
    if (CreatePipe(in.out(), out.out(), &inherited, 0) == 0) {
        result.why = systemError("CreatePipe");
        return result;
    }
    SetHandleInformation(in.get(), HANDLE_FLAG_INHERIT, 0);
    const Handle nothing(CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
                                     FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING,
                                     0, nullptr));
    Handle job;
    Handle process;
    result.why = startInJob(words, {nothing.get(), out.get(), nothing.get()}, 0, job, process);
    out.reset();
    if (!result.why.empty()) {
        return result;
    }
    for (;;) {
        const DWORD waited = WaitForSingleObject(process.get(), static_cast<DWORD>(kLook.count()));
        readWhatIsThere(in.get(), result.output);
        if (waited == WAIT_OBJECT_0) {
            DWORD code = 0;
            GetExitCodeProcess(process.get(), &code);
            result.code = code;
            // An exception nobody caught ends a process with its own number.
            constexpr DWORD kExceptions = 0xC0000000;
            result.kind = code >= kExceptions ? ChildEnd::Kind::Crashed : ChildEnd::Kind::Exited;
            return result;
        }
        if (stop.stop_requested() || Clock::now() >= end) {
            result.kind =
                stop.stop_requested() ? ChildEnd::Kind::Stopped : ChildEnd::Kind::TimedOut;
            TerminateProcess(process.get(), 1);
            WaitForSingleObject(process.get(), static_cast<DWORD>(kAfterTheKill.count()));
            return result;
        }
    }
}

std::string crashName(uint32_t code) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "exception 0x%08X", static_cast<unsigned>(code));
    return text.data();
}

void endWithParent(std::chrono::seconds limit) {
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    // The job it was put in ends it with its parent.
    runDetached([limit] {
        std::this_thread::sleep_for(limit);
        TerminateProcess(GetCurrentProcess(), 1);
    });
}

#else

namespace {

void closeAll(std::array<int, 2>& pipe) {
    for (int& end : pipe) {
        if (end >= 0) {
            ::close(end);
        }
        end = -1;
    }
}

/// 0 or what errno would be.
int start(const std::vector<std::string>& words, int out, pid_t& child) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    if (posix_spawn_file_actions_init(&files) != 0) {
        return ENOMEM;
    }
    if (posix_spawnattr_init(&how) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    sigset_t none;
    sigemptyset(&none);
    int failed = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    const auto then = [&failed](int answer) { failed = failed != 0 ? failed : answer; };
    then(posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO));
    then(posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0));
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
    // Nothing else of ours: a driver that starts helpers would hand locks and sockets on.
    then(posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1));
#endif
#endif
    // A thread of ours may block signals; those of the terminal reach the child as they reach us.
    then(posix_spawnattr_setsigmask(&how, &none));
    then(posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK));
    if (failed == 0) {
        failed =
            posix_spawn(&child, words.front().c_str(), &files, &how, arguments.data(), environ);
    }
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/// Reads without waiting; false at the end of the pipe.
bool readWhatIsThere(int pipe, std::string& output) {
    std::array<char, 4096> piece{};
    for (;;) {
        const ssize_t got = ::read(pipe, piece.data(), piece.size());
        if (got > 0) {
            keep(output, piece.data(), static_cast<size_t>(got));
        } else if (got == 0) {
            return false;
        } else if (errno != EINTR) {
            return errno == EAGAIN;
        }
    }
}

/// Whether the child is gone; then `result` says how.
bool hasEnded(pid_t child, ChildEnd& result) {
    int status = 0;
    const pid_t answer = ::waitpid(child, &status, WNOHANG);
    if (answer == 0 || (answer < 0 && errno == EINTR)) {
        return false;
    }
    result.kind = ChildEnd::Kind::Exited;
    if (answer == child) {
        const bool is_crash = WIFSIGNALED(status);
        result.kind = is_crash ? ChildEnd::Kind::Crashed : ChildEnd::Kind::Exited;
        result.code = static_cast<uint32_t>(is_crash ? WTERMSIG(status) : WEXITSTATUS(status));
    } // else somebody reaps all children here: what it printed has to do
    return true;
}

} // namespace

ChildEnd
runChild(const std::vector<std::string>& words, milliseconds limit, const std::stop_token& stop) {
    const Clock::time_point end = Clock::now() + limit;
    ChildEnd result;
    std::array<int, 2> pipe = {-1, -1};
    pid_t child = -1;
    int failed = ::pipe2(pipe.data(), O_CLOEXEC) == 0 ? 0 : errno;
    if (failed == 0 && ::fcntl(pipe[0], F_SETFL, O_NONBLOCK) != 0) {
        failed = errno;
    }
    failed = failed == 0 ? start(words, pipe[1], child) : failed;
    if (failed != 0) {
        closeAll(pipe);
        result.why = words.front() + ": " + std::strerror(failed);
        return result;
    }
    ::close(std::exchange(pipe[1], -1));
    bool is_open = true;
    while (!hasEnded(child, result)) {
        if (stop.stop_requested() || Clock::now() >= end) {
            result.kind =
                stop.stop_requested() ? ChildEnd::Kind::Stopped : ChildEnd::Kind::TimedOut;
            ::kill(child, SIGKILL);
            ChildEnd killed;
            const Clock::time_point last = Clock::now() + kAfterTheKill;
            while (!hasEnded(child, killed) && Clock::now() < last) {
                std::this_thread::sleep_for(kLook);
            }
            closeAll(pipe);
            return result;
        }
        pollfd look = {pipe[0], POLLIN, 0};
        if (is_open && ::poll(&look, 1, static_cast<int>(kLook.count())) > 0) {
            is_open = readWhatIsThere(pipe[0], result.output);
        } else if (!is_open) {
            std::this_thread::sleep_for(kLook);
        }
    }
    static_cast<void>(readWhatIsThere(pipe[0], result.output));
    closeAll(pipe);
    return result;
}

std::string crashName(uint32_t code) {
    static constexpr std::array<std::pair<int, const char*>, 9> kNames = {{{SIGSEGV, "SIGSEGV"},
                                                                           {SIGBUS, "SIGBUS"},
                                                                           {SIGABRT, "SIGABRT"},
                                                                           {SIGILL, "SIGILL"},
                                                                           {SIGFPE, "SIGFPE"},
                                                                           {SIGKILL, "SIGKILL"},
                                                                           {SIGTERM, "SIGTERM"},
                                                                           {SIGINT, "SIGINT"},
                                                                           {SIGSYS, "SIGSYS"}}};
    for (const auto& [number, name] : kNames) {
        if (number == static_cast<int>(code)) {
            return name;
        }
    }
    return "signal " + std::to_string(code);
}

void endWithParent(std::chrono::seconds limit) {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    // Also where the parent died before that line.
    static_cast<void>(std::signal(SIGALRM, SIG_DFL));
    static_cast<void>(::alarm(static_cast<unsigned>(limit.count())));
}

#endif

} // namespace engine
