// SPDX-License-Identifier: Apache-2.0
#include "ipc/limits.h"

#include "engine/base/paths.h"

#ifdef _WIN32
#include <windows.h>

#include <csignal>
#else
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "ipc/file_limits.h"
#include "ipc/system_calls.h"
#endif

namespace ipc {

#ifndef _WIN32

namespace {

/// Whether a driver's service is still to be connected.
std::atomic<bool> is_connecting = false;

/// Folders of "A:B" or "A;B", as the loader reads them.
void addFolders(std::vector<std::string>& folders, const std::string& list) {
    size_t from = 0;
    while (from < list.size()) {
        const size_t end = std::min(list.find_first_of(":;", from), list.size());
        if (end > from) {
            folders.push_back(list.substr(from, end - from));
        }
        from = end + 1;
    }
}

bool limitFilesOf(const HostOptions& host) {
    std::vector<std::string> read = host.hub_caches;
    read.push_back(host.demo_folder);
    addFolders(read, host.library_path);
    std::vector<std::string> write = host.writable;
    if (!host.rates_file.empty()) {
        write.push_back(engine::utf8Of(engine::pathFromUtf8(host.rates_file).parent_path()));
    }
    const bool has_driver =
        ::access("/dev/nvidiactl", F_OK) == 0 || ::access("/dev/dxg", F_OK) == 0; // or WSL's
    if (host.asks_cards && !host.compiled_kernels.empty() && has_driver) {
        write.push_back(host.compiled_kernels);
    }
    if (host.asks_cards && !host.sharing_folder.empty()) {
        write.push_back(host.sharing_folder);
        write.emplace_back("/dev/shm");
    }
    for (const std::string& folder : write) { // a rule needs something to stand for
        std::error_code ignored;
        std::filesystem::create_directories(folder, ignored);
    }
    return limitFiles(read, write);
}

/// More likely than the window, which holds what cannot be computed again.
bool offerToMemoryKiller() {
    std::FILE* const file = std::fopen("/proc/self/oom_score_adj", "we");
    if (file == nullptr) {
        return false;
    }
    const bool is_written = std::fputs("500", file) >= 0;
    return std::fclose(file) == 0 && is_written;
}

} // namespace

std::vector<std::string> limitProcess(const HostOptions& host) {
    std::vector<std::string> achieved;
    const auto note = [&achieved](bool is_achieved, const char* word) {
        if (is_achieved) {
            achieved.emplace_back(word);
        }
    };
    note(::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "ends with the window");
    note(offerToMemoryKiller(), "memory killer");
    // Ctrl+C in a terminal is the window's to answer; it closes the pipe when it ends.
    static_cast<void>(std::signal(SIGINT, SIG_IGN));
    static_cast<void>(std::signal(SIGHUP, SIG_IGN));
    const bool has_none = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    note(has_none, "no new privileges");
    is_connecting = host.asks_cards && !host.sharing_folder.empty();
    note(has_none && limitFilesOf(host), "files");
    note(has_none && filterSystemCalls(is_connecting), "system calls");
    return achieved;
}

void limitConnections(bool has_card) {
    if (has_card && is_connecting.exchange(false)) {
        static_cast<void>(closeConnections());
    }
}

#else

namespace {

/// What abort() ends with in a newer run time of C. The one of this compiler asks in a window of
/// its own first, where the program has one, and then says 3.
void endAsAborted(int /*signal*/) {
    constexpr UINT kFailFast = 0xC0000409;
    TerminateProcess(GetCurrentProcess(), kFailFast);
}

/// Without reports, whose memory has chats in it, and without debuggers, which are other programs.
LONG WINAPI endAsCrashed(EXCEPTION_POINTERS* exception) {
    TerminateProcess(GetCurrentProcess(), exception->ExceptionRecord->ExceptionCode);
    return EXCEPTION_EXECUTE_HANDLER;
}

} // namespace

std::vector<std::string> limitProcess(const HostOptions& /*host*/) {
    // A crash is the window's to tell: nothing else may wait for an answer about it.
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    SetUnhandledExceptionFilter(endAsCrashed);
    static_cast<void>(std::signal(SIGABRT, endAsAborted));
    // Ctrl+C in a terminal is the window's to answer.
    SetConsoleCtrlHandler(nullptr, TRUE);
    std::vector<std::string> achieved;
    BOOL is_in_job = FALSE;
    if (IsProcessInJob(GetCurrentProcess(), nullptr, &is_in_job) != 0 && is_in_job != FALSE) {
        achieved.emplace_back("in a job");
    }
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION job{};
    if (QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &job, sizeof(job),
                                  nullptr) == 0) {
        return achieved;
    }
    const DWORD flags = job.BasicLimitInformation.LimitFlags;
    if ((flags & JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE) != 0) {
        achieved.emplace_back("ends with the window");
    }
    if ((flags & JOB_OBJECT_LIMIT_ACTIVE_PROCESS) != 0 &&
        job.BasicLimitInformation.ActiveProcessLimit == 1) {
        achieved.emplace_back("no other programs");
    }
    return achieved;
}

void limitConnections(bool /*has_card*/) {}

#endif

} // namespace ipc
