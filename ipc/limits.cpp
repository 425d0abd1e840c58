// SPDX-License-Identifier: Apache-2.0
#include "ipc/limits.h"

#ifdef _WIN32
#include <windows.h>

#include <csignal>
#endif
#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#endif

namespace ipc {

#ifdef __linux__

namespace {

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kMachine = 0; // no filter there
#endif

/// Those that the headers of the C library know; what they do not know they cannot be asked to
/// deny, and an older kernel does not have.
constexpr uint32_t kDenied[] = {
    __NR_execve,
    __NR_execveat,
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_tkill,
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_setns,
    __NR_unshare,
    __NR_add_key,
    __NR_request_key,
    __NR_keyctl,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_kexec_load,
    __NR_reboot,
    __NR_swapon,
    __NR_swapoff,
    __NR_acct,
    __NR_quotactl,
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_open_by_handle_at,
#ifdef __NR_io_uring_setup // which opens sockets without socket()
    __NR_io_uring_setup,
    __NR_io_uring_enter,
    __NR_io_uring_register,
#endif
#ifdef __NR_pidfd_send_signal
    __NR_pidfd_send_signal,
#endif
#ifdef __NR_pidfd_getfd
    __NR_pidfd_getfd,
#endif
};

using Filter = std::vector<sock_filter>;

void load(Filter& filter, size_t offset) {
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
}

void answer(Filter& filter, uint32_t what) {
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, what));
}

/// What was loaded is `value`: the next statement; else the one behind it.
void whenEqual(Filter& filter, uint32_t value) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
}

/// The call `number` is allowed where its first argument is one of these, and else refused.
void onlyWith(Filter& filter, uint32_t number, const std::vector<uint32_t>& firsts) {
    // Past: the load, two statements for each, the refusal.
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0,
                              static_cast<uint8_t>(2 * firsts.size() + 2)));
    load(filter, offsetof(seccomp_data, args));
    for (const uint32_t first : firsts) {
        whenEqual(filter, first);
        answer(filter, SECCOMP_RET_ALLOW);
    }
    answer(filter, SECCOMP_RET_ERRNO | EPERM);
}

bool installFilter() {
    if (kMachine == 0) {
        return false;
    }
    Filter filter;
    load(filter, offsetof(seccomp_data, arch));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0));
    answer(filter, SECCOMP_RET_KILL_PROCESS); // numbers of another machine mean other calls
    load(filter, offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    constexpr uint32_t kX32 = 0x40000000; // the same calls once more, from here on
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1));
    answer(filter, SECCOMP_RET_ERRNO | EPERM);
#endif
    for (const uint32_t number : kDenied) {
        whenEqual(filter, number);
        answer(filter, SECCOMP_RET_ERRNO | EPERM);
    }
    onlyWith(filter, __NR_socket, {AF_UNIX, AF_NETLINK});
    const auto own = static_cast<uint32_t>(::getpid());
    onlyWith(filter, __NR_kill, {own});
    onlyWith(filter, __NR_tgkill, {own});
    answer(filter, SECCOMP_RET_ALLOW);
    const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
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

std::vector<std::string> limitProcess() {
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
    note(has_none && installFilter(), "system calls");
    return achieved;
}

#elif defined(_WIN32)

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

std::vector<std::string> limitProcess() {
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

#else

std::vector<std::string> limitProcess() {
    return {};
}

#endif

} // namespace ipc
