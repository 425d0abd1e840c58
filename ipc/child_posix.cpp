// SPDX-License-Identifier: Apache-2.0
#ifndef _WIN32
#include "engine/base/thread_limit.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "ipc/attendant.h"
#include "ipc/child.h"

extern "C" char** environ;

namespace ipc {

struct ChildHandles {
    ChildHandles(int printed, int asked) : attendant(printed, asked) {}
    Attendant attendant;
};

namespace {

using Clock = std::chrono::steady_clock;

/// A child that does not read for so long does not read at all.
constexpr timeval kWritePatience = {30, 0};

/// Both ends of what a child is given: [0] here, [1] there.
using Ends = std::array<int, 2>;

void closeBoth(const Ends& ends) {
    for (const int end : ends) {
        if (end >= 0) {
            ::close(end);
        }
    }
}

/// Sockets of this kind, which are closed in other programs. 0 or what errno would be.
int connect(int kind, Ends& ends) {
    return ::socketpair(AF_UNIX, kind | SOCK_CLOEXEC, 0, ends.data()) == 0 ? 0 : errno;
}

/// A pipe, likewise.
int makePipe(Ends& ends) {
    return ::pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno;
}

/// 0 or what errno would be.
int spawn(const std::vector<std::string>& words, int theirs, int printed, int asked, pid_t& child) {
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
    int failed = posix_spawn_file_actions_adddup2(&files, theirs, STDIN_FILENO);
    const auto then = [&failed](int answer) { failed = failed != 0 ? failed : answer; };
    then(posix_spawn_file_actions_adddup2(&files, theirs, STDOUT_FILENO));
    then(posix_spawn_file_actions_adddup2(&files, printed, STDERR_FILENO));
    then(posix_spawn_file_actions_adddup2(&files, asked, kLendingEnd));
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
    then(posix_spawn_file_actions_addclosefrom_np(&files, kLendingEnd + 1));
#endif
#endif
    then(posix_spawnattr_setsigmask(&how, &none));
    // A session of its own: no terminal that it could type into.
    then(posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID));
    if (failed == 0) {
        failed =
            posix_spawn(&child, words.front().c_str(), &files, &how, arguments.data(), environ);
    }
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

} // namespace

engine::Result<std::unique_ptr<Child>> Child::start(const std::vector<std::string>& words) {
    Ends talk = {-1, -1};
    Ends print = {-1, -1};
    Ends lend = {-1, -1};
    int failed = connect(SOCK_STREAM, talk);
    failed = failed != 0 ? failed : connect(SOCK_SEQPACKET, lend);
    failed = failed != 0 ? failed : makePipe(print);
    std::unique_ptr<Child> child(new Child);
    child->is_over_ = true; // there is none yet that could be waited for, or killed
    pid_t id = -1;
    if (failed == 0) {
        static_cast<void>(
            ::setsockopt(talk[0], SOL_SOCKET, SO_SNDTIMEO, &kWritePatience, sizeof(timeval)));
        failed = spawn(words, talk[1], print[1], lend[1], id);
    }
    std::optional<engine::Error> shortage;
    if (failed == 0) {
        child->id_ = id;
        child->is_over_ = false;
        child->pipe_ = Pipe(talk[0], talk[0]);
        talk[0] = -1;
        static_cast<void>(::fcntl(print[0], F_SETFL, O_NONBLOCK));
        try {
            child->handles_ = std::make_unique<ChildHandles>(std::exchange(print[0], -1),
                                                             std::exchange(lend[0], -1));
        } catch (const std::exception& problem) { // the system starts no thread
            shortage = engine::threadShortage(problem).value_or(
                engine::Error{engine::ErrorCode::Internal, problem.what()});
        }
    }
    closeBoth(talk);
    closeBoth(print);
    closeBoth(lend);
    if (shortage.has_value()) {
        return *std::move(shortage); // and the process is ended
    }
    if (failed != 0) {
        return engine::Error{engine::ErrorCode::Internal,
                             engine::said("the engine's process cannot be started (%1: %2); start "
                                          "Belfry with --in-process to do without it",
                                          words.front(), std::strerror(failed))};
    }
    return child;
}

Child::Child() = default;

Child::~Child() {
    pipe_.shut();
    static_cast<void>(end(std::chrono::milliseconds(0)));
}

void Child::allow(const std::vector<std::string>& paths) {
    handles_->attendant.allow(paths);
}

bool Child::hasEnded(std::chrono::milliseconds wait) {
    constexpr std::chrono::milliseconds kLook{2};
    const Clock::time_point last = Clock::now() + wait;
    for (;;) {
        int status = 0;
        const pid_t answer = ::waitpid(static_cast<pid_t>(id_), &status, WNOHANG);
        if (answer == id_ || (answer < 0 && errno != EINTR)) {
            const bool is_crash = answer == id_ && WIFSIGNALED(status);
            end_.kind = is_crash ? engine::ChildEnd::Kind::Crashed : engine::ChildEnd::Kind::Exited;
            end_.code = static_cast<uint32_t>(is_crash        ? WTERMSIG(status)
                                              : answer == id_ ? WEXITSTATUS(status)
                                                              : 0);
            return true;
        }
        if (Clock::now() >= last) {
            return false;
        }
        std::this_thread::sleep_for(kLook);
    }
}

void Child::kill() {
    ::kill(static_cast<pid_t>(id_), SIGKILL);
}

} // namespace ipc
#endif
