// SPDX-License-Identifier: Apache-2.0
#include "ipc/system_calls.h"

#ifdef __linux__
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace ipc {

namespace {

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kMachine = 0; // no filter there
#endif

// Calls that older headers of the C library do not name; the numbers are those of every machine.
constexpr uint32_t kCloseRange = 436;
constexpr uint32_t kFaccessAt2 = 439;
constexpr uint32_t kEpollPwait2 = 441;
constexpr uint32_t kFutexWaitV = 449;
constexpr uint32_t kCacheStat = 451;
/// From here on calls are numbered alike on every machine, and come with newer kernels.
constexpr uint32_t kFirstOfNewer = 424;

/// Allowed whatever their arguments are.
constexpr uint32_t kAllowed[] = {
    // Descriptors that are open.
    __NR_read,
    __NR_write,
    __NR_readv,
    __NR_writev,
    __NR_pread64,
    __NR_pwrite64,
    __NR_preadv,
    __NR_pwritev,
    __NR_preadv2,
    __NR_pwritev2,
    __NR_lseek,
    __NR_close,
    kCloseRange,
    __NR_dup,
    __NR_dup3,
    __NR_fstat,
    __NR_fstatfs,
    __NR_fsync,
    __NR_fdatasync,
    __NR_sync_file_range,
    __NR_ftruncate,
    __NR_fallocate,
    __NR_fadvise64,
    __NR_readahead,
    __NR_flock,
    __NR_getdents64,
    __NR_sendfile,
    __NR_splice,
    __NR_tee,
    __NR_copy_file_range,
    kCacheStat,
    // Files by name: Landlock says which.
    __NR_newfstatat,
    __NR_statx,
    __NR_statfs,
    __NR_readlinkat,
    __NR_faccessat,
    kFaccessAt2,
    __NR_getcwd,
    __NR_mkdirat,
    __NR_unlinkat,
    __NR_renameat,
    __NR_renameat2,
    __NR_linkat,
    __NR_umask,
    // Memory.
    __NR_mmap,
    __NR_munmap,
    __NR_mremap,
    __NR_mprotect,
    __NR_brk,
    __NR_madvise,
    __NR_mincore,
    __NR_msync,
    __NR_mlock,
    __NR_mlock2,
    __NR_munlock,
    __NR_mlockall,
    __NR_munlockall,
    __NR_memfd_create,
    __NR_mbind,
    __NR_get_mempolicy,
    __NR_set_mempolicy,
    __NR_pkey_alloc,
    __NR_pkey_free,
    __NR_pkey_mprotect,
    // Threads, signals to oneself, time.
    __NR_futex,
    kFutexWaitV,
    __NR_set_robust_list,
    __NR_get_robust_list,
    __NR_set_tid_address,
    __NR_rseq,
    __NR_membarrier,
    __NR_gettid,
    __NR_getpid,
    __NR_getppid,
    __NR_getpgid,
    __NR_getsid,
    __NR_exit,
    __NR_exit_group,
    __NR_wait4,
    __NR_waitid,
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_rt_sigpending,
    __NR_rt_sigsuspend,
    __NR_rt_sigtimedwait,
    __NR_sigaltstack,
    __NR_restart_syscall,
    __NR_sched_yield,
    __NR_sched_getaffinity,
    __NR_sched_getparam,
    __NR_sched_getscheduler,
    __NR_sched_getattr,
    __NR_sched_get_priority_max,
    __NR_sched_get_priority_min,
    __NR_sched_rr_get_interval,
    __NR_getpriority,
    __NR_getcpu,
    __NR_nanosleep,
    __NR_clock_nanosleep,
    __NR_clock_gettime,
    __NR_clock_getres,
    __NR_gettimeofday,
    __NR_times,
    __NR_getitimer,
    __NR_setitimer,
    __NR_timer_create,
    __NR_timer_settime,
    __NR_timer_gettime,
    __NR_timer_getoverrun,
    __NR_timer_delete,
    __NR_timerfd_create,
    __NR_timerfd_settime,
    __NR_timerfd_gettime,
    __NR_eventfd2,
    __NR_epoll_create1,
    __NR_epoll_ctl,
    __NR_epoll_pwait,
    kEpollPwait2,
    __NR_ppoll,
    __NR_pselect6,
    __NR_pipe2,
    // Sockets that are open, and those that a driver waits at for its own kind.
    __NR_bind,
    __NR_listen,
    __NR_accept,
    __NR_accept4,
    __NR_sendmsg,
    __NR_recvfrom,
    __NR_recvmsg,
    __NR_shutdown,
    __NR_getsockname,
    __NR_getpeername,
    __NR_getsockopt,
    __NR_setsockopt,
    // What the process and the machine are; fewer rights, never more.
    __NR_uname,
    __NR_sysinfo,
    __NR_getrusage,
    __NR_getrlimit,
    __NR_setrlimit,
    __NR_getuid,
    __NR_geteuid,
    __NR_getgid,
    __NR_getegid,
    __NR_getresuid,
    __NR_getresgid,
    __NR_getgroups,
    __NR_capget,
    __NR_getrandom,
    __NR_seccomp,
#ifdef __x86_64__ // the forms of old that later machines do without
    __NR_stat,
    __NR_lstat,
    __NR_access,
    __NR_readlink,
    __NR_mkdir,
    __NR_rmdir,
    __NR_unlink,
    __NR_rename,
    __NR_link,
    __NR_creat,
    __NR_getdents,
    __NR_dup2,
    __NR_pipe,
    __NR_poll,
    __NR_select,
    __NR_epoll_create,
    __NR_epoll_wait,
    __NR_eventfd,
    __NR_getpgrp,
    __NR_time,
    __NR_alarm,
    __NR_pause,
    __NR_arch_prctl,
#endif
};

/// The flags of threads; what a thread has beyond these makes name spaces or processes.
constexpr uint32_t kThreadFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                                  CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
                                  CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | CLONE_DETACHED;
/// The kind of a socket without SOCK_CLOEXEC and SOCK_NONBLOCK.
constexpr uint32_t kSocketKind = 0xf;
/// Rights of a file but those to read and write it that its owner has, and everybody to read it.
constexpr uint32_t kOtherRights = 07777U & ~0644U;
/// What opening empties a file with, or opens it for neither reading nor writing: before Linux 6.2
/// Landlock asks no right to write for either.
constexpr uint32_t kOpening = O_ACCMODE | O_TRUNC;
constexpr uint32_t kEmptying[] = {O_RDONLY | O_TRUNC, O_ACCMODE, O_ACCMODE | O_TRUNC};
constexpr uint32_t kAll = 0xffffffff;

using Filter = std::vector<sock_filter>;

void answer(Filter& filter, uint32_t what) {
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, what));
}

void refuse(Filter& filter, int error) {
    answer(filter, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
}

/// What was loaded is `value`: the next statement; else the one behind it.
void whenEqual(Filter& filter, uint32_t value) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
}

/// The low half of an argument, as the kernel takes those that are 32 bits wide, or the high one.
void load(Filter& filter, unsigned argument, bool is_high = false) {
    const size_t at = offsetof(seccomp_data, args) + 8 * size_t{argument} + (is_high ? 4 : 0);
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(at)));
}

/// One call: `body` for it, which answers in the end.
template <typename Body>
void inCall(Filter& filter, uint32_t number, const Body& body) {
    Filter inner;
    body(inner);
    filter.push_back(
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, static_cast<uint8_t>(inner.size())));
    filter.insert(filter.end(), inner.begin(), inner.end());
}

/// Goes on where the argument, without the bits that `mask` leaves out, is one of these; refuses
/// the call else.
void demand(Filter& filter,
            unsigned argument,
            const std::vector<uint32_t>& values,
            uint32_t mask = kAll) {
    load(filter, argument);
    if (mask != kAll) {
        filter.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    }
    for (size_t i = 0; i < values.size(); ++i) {
        // Over the comparisons that are left and the refusal.
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[i],
                                  static_cast<uint8_t>(values.size() - i), 0));
    }
    refuse(filter, EPERM);
}

/// The call with such an argument, and no other.
void onlyWith(Filter& filter,
              uint32_t number,
              unsigned argument,
              const std::vector<uint32_t>& values,
              uint32_t mask = kAll) {
    inCall(filter, number, [&](Filter& body) {
        demand(body, argument, values, mask);
        answer(body, SECCOMP_RET_ALLOW);
    });
}

/// The call, but not to empty what may be read alone.
void opening(Filter& filter, uint32_t number, unsigned flags) {
    inCall(filter, number, [flags](Filter& body) {
        load(body, flags);
        body.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kOpening));
        for (const uint32_t refused : kEmptying) {
            whenEqual(body, refused);
            refuse(body, EPERM);
        }
        answer(body, SECCOMP_RET_ALLOW);
    });
}

void addThreads(Filter& filter) {
    inCall(filter, __NR_clone, [](Filter& body) {
        demand(body, 0, {CLONE_VM | CLONE_THREAD}, ~kThreadFlags | CLONE_VM | CLONE_THREAD);
        answer(body, SECCOMP_RET_ALLOW);
    });
    const auto own = static_cast<uint32_t>(::getpid());
    for (const uint32_t number : {__NR_kill, __NR_tgkill}) {
        onlyWith(filter, number, 0, {own});
    }
    for (const uint32_t number : {__NR_prlimit64, __NR_sched_setaffinity, __NR_sched_setscheduler,
                                  __NR_sched_setparam, __NR_sched_setattr, __NR_move_pages}) {
        onlyWith(filter, number, 0, {0, own});
    }
    constexpr uint32_t kNameMemory = 0x53564d41; // PR_SET_VMA, of newer headers
    inCall(filter, __NR_prctl, [](Filter& body) {
        load(body, 0);
        constexpr uint8_t kOver = 4; // the statements about it, which allow to take it away alone
        body.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_DUMPABLE, 0, kOver));
        load(body, 1);
        whenEqual(body, 0);
        answer(body, SECCOMP_RET_ALLOW);
        refuse(body, EPERM);
        demand(body, 0,
               {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP,
                PR_GET_TIMERSLACK, PR_CAPBSET_READ, PR_GET_THP_DISABLE, kNameMemory});
        answer(body, SECCOMP_RET_ALLOW);
    });
}

void addDescriptors(Filter& filter) {
    // The driver's, without a letter (unified memory), with F, and with G (WSL); of terminals and
    // sockets what only asks.
    inCall(filter, __NR_ioctl, [](Filter& body) {
        load(body, 1);
        for (const uint32_t command : {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX}) {
            whenEqual(body, command);
            answer(body, SECCOMP_RET_ALLOW);
        }
        constexpr uint32_t kLetter = 0xff00;
        demand(body, 1, {0, 'F' << 8, 'G' << 8}, kLetter);
        answer(body, SECCOMP_RET_ALLOW);
    });
    // Neither owners nor signals nor leases.
    onlyWith(filter, __NR_fcntl, 1,
             {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK,
              F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_GETPIPE_SZ, F_SETPIPE_SZ,
              F_ADD_SEALS, F_GET_SEALS});
    onlyWith(filter, __NR_fchmod, 1, {0}, kOtherRights);
    opening(filter, __NR_openat, 2);
#ifdef __x86_64__
    opening(filter, __NR_open, 1);
#endif
}

void addSockets(Filter& filter, bool connects) {
    // With an address it would reach another socket than the one it is connected with; sendmsg()
    // does not, of these kinds of sockets.
    inCall(filter, __NR_sendto, [](Filter& body) {
        constexpr unsigned kAddress = 4;
        demand(body, kAddress, {0});
        load(body, kAddress, true);
        whenEqual(body, 0);
        answer(body, SECCOMP_RET_ALLOW);
        refuse(body, EPERM);
    });
    for (const uint32_t number : {__NR_socket, __NR_socketpair}) {
        inCall(filter, number, [](Filter& body) {
            demand(body, 0, {AF_UNIX});
            demand(body, 1, {SOCK_STREAM, SOCK_SEQPACKET}, kSocketKind);
            answer(body, SECCOMP_RET_ALLOW);
        });
    }
    if (connects) {
        whenEqual(filter, __NR_connect);
        answer(filter, SECCOMP_RET_ALLOW);
    }
}

/// Numbers of another machine mean other calls. Leaves the number of the call loaded.
Filter begun() {
    Filter filter;
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0));
    answer(filter, SECCOMP_RET_KILL_PROCESS);
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    return filter;
}

bool install(Filter& filter) {
    const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    return kMachine != 0 && ::syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
                                      SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

} // namespace

bool filterSystemCalls(bool connects) {
    Filter filter = begun();
    addThreads(filter);
    addDescriptors(filter);
    addSockets(filter, connects);
    for (const uint32_t number : kAllowed) {
        whenEqual(filter, number);
        answer(filter, SECCOMP_RET_ALLOW);
    }
    // The rest; clone3, whose flags a filter does not see, is one of the newer ones.
    constexpr uint32_t kX32 = 0x40000000; // the same calls once more, on a PC
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 1, 0));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstOfNewer, 1, 0));
    refuse(filter, EPERM);
    refuse(filter, ENOSYS);
    return install(filter);
}

bool closeConnections() {
    Filter filter = begun();
    for (const uint32_t number : {__NR_connect, __NR_socket}) {
        whenEqual(filter, number);
        refuse(filter, EPERM);
    }
    answer(filter, SECCOMP_RET_ALLOW);
    return install(filter);
}

} // namespace ipc

#endif
