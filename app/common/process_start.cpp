// SPDX-License-Identifier: Apache-2.0
#include "app/common/process_start.h"

#ifdef _WIN32
#include <windows.h>

#include <cstdlib>
#else
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <initializer_list>
#endif

namespace app {

#ifndef _WIN32

namespace {

constexpr rlim_t kLeastStackBytes = rlim_t{1} << 20;
constexpr rlim_t kWantedStackBytes = rlim_t{8} << 20; ///< Linux' own default.

/// Overrunning a stack is a signal that nobody can turn into an error: the limit is looked at
/// before. The first thread's stack grows up to the limit of the moment; those of other threads
/// have the size that the limit gave when the program was started.
void takeStack() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeastStackBytes) {
        return; // RLIM_INFINITY is the largest number
    }
    limit.rlim_cur = std::min(limit.rlim_max, kWantedStackBytes);
    pthread_attr_t threads;
    if (limit.rlim_cur < kLeastStackBytes || ::setrlimit(RLIMIT_STACK, &limit) != 0 ||
        ::pthread_getattr_default_np(&threads) != 0) {
        std::fprintf(stderr,
                     "error: OutOfMemory: the stack is limited to %llu KiB and %llu are "
                     "needed; raise the limit (ulimit -s) and start again\n",
                     static_cast<unsigned long long>(limit.rlim_max / 1024),
                     static_cast<unsigned long long>(kLeastStackBytes / 1024));
        ::_exit(1);
    }
    (void)::pthread_attr_setstacksize(&threads, limit.rlim_cur);
    (void)::pthread_setattr_default_np(&threads);
    (void)::pthread_attr_destroy(&threads);
}

constexpr rlim_t kLeastDescriptors = 64, kWantedDescriptors = 1024;

/// A handler rather than SIG_IGN, which would be handed on to programs that we start.
void doNothing(int /*number*/) {}

void openOnNothing(int stream) {
    // Standard output is opened the wrong way round: what is written to it is lost, and must not
    // look written. Nobody asked for what goes to standard error.
    const int mode = stream == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    int opened = ::open("/dev/null", mode);
    if (opened < 0) {
        opened = ::open("/", O_RDONLY); // a system without devices: the number is taken at least
    }
    if (opened >= 0 && opened != stream) { // lower ones are open, so that this does not happen
        static_cast<void>(::dup2(opened, stream));
        static_cast<void>(::close(opened));
    }
}

} // namespace

void prepareProcess() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
            openOnNothing(stream);
        }
    }
    struct sigaction action = {};
    action.sa_handler = doNothing;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (const int number : {SIGPIPE, SIGXFSZ}) {
        static_cast<void>(::sigaction(number, &action, nullptr));
    }
    takeStack();
}

void prepareWindow() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWantedDescriptors) {
        return;
    }
    limit.rlim_cur = std::min(limit.rlim_max, kWantedDescriptors);
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < kLeastDescriptors) {
        std::fprintf(stderr,
                     "belfry: the number of open files is limited to %llu and %llu are needed; "
                     "raise the limit (ulimit -n) and start again\n",
                     static_cast<unsigned long long>(limit.rlim_cur),
                     static_cast<unsigned long long>(kLeastDescriptors));
        ::_exit(1);
    }
}

#else

void prepareWindow() {}

void prepareProcess() {
    SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32 | LOAD_LIBRARY_SEARCH_APPLICATION_DIR);
    // Compiled patterns of QRegularExpression (Qt 6.4) have a stack in a thread_local object. The
    // compilers meant in kernels/cpu/thread_owned.h free that memory before the object's destructor
    // runs: a thread that has used one reads what is gone when it ends, within a lock of the run
    // time that the end of the process then waits for without end. Patterns that are interpreted
    // have no such object.
    (void)_putenv_s("QT_ENABLE_REGEXP_JIT", "0");
}

#endif

} // namespace app
