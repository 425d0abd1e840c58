// SPDX-License-Identifier: Apache-2.0
#ifndef _WIN32
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
#include <thread>

#include "ipc/child.h"

extern "C" char** environ;

namespace ipc {

struct ChildHandles {};

namespace {

using Clock = std::chrono::steady_clock;

/// A child that does not read for so long does not read at all.
constexpr timeval kWritePatience = {30, 0};

/// 0 or what errno would be.
int spawn(const std::vector<std::string>& words, int theirs, pid_t& child) {
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
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
    then(posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1));
#endif
#endif
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

} // namespace

engine::Result<std::unique_ptr<Child>> Child::start(const std::vector<std::string>& words) {
    std::array<int, 2> ends = {-1, -1};
    int failed = ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0 ? 0 : errno;
    std::unique_ptr<Child> child(new Child);
    pid_t id = -1;
    if (failed == 0) {
        child->pipe_ = Pipe(ends[0], ends[0]);
        for (const int end : ends) {
            static_cast<void>(::fcntl(end, F_SETFD, FD_CLOEXEC));
        }
        static_cast<void>(
            ::setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &kWritePatience, sizeof(timeval)));
        failed = spawn(words, ends[1], id);
        ::close(ends[1]);
    }
    if (failed != 0) {
        child->is_over_ = true;
        return engine::Error{engine::ErrorCode::Internal,
                             engine::said("the engine's process cannot be started (%1: %2); start "
                                          "Belfry with --in-process to do without it",
                                          words.front(), std::strerror(failed))};
    }
    child->id_ = id;
    return child;
}

Child::Child() = default;

Child::~Child() {
    pipe_.shut();
    static_cast<void>(end(std::chrono::milliseconds(0)));
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
