// SPDX-License-Identifier: Apache-2.0
// What an engine's process that was taken over would try, from inside its limits: "NAME: errno" a
// line, 0 where it succeeded. On POSIX systems.
#pragma once

#ifndef _WIN32
#include "engine/base/file_writer.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "ipc/limits.h"

namespace probe {

class Teller {
public:
    explicit Teller(std::FILE* out) : out_(out) {}
    void operator()(const char* name, long answer) const {
        std::fprintf(out_, "%s: %d\n", name, answer < 0 ? errno : 0);
        std::fflush(out_);
    }

private:
    std::FILE* out_;
};

/// Other processes: `other` is one of the same user.
inline void reachProcesses(const Teller& tell, pid_t other) {
    char* const words[] = {const_cast<char*>("/bin/true"), nullptr};
    tell("execve", ::execve("/bin/true", words, nullptr));
    tell("ptrace", ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
    tell("attach", ::ptrace(PTRACE_ATTACH, other, nullptr, nullptr));
    tell("kill", ::kill(other, 0));
    tell("kill all", ::kill(-1, 0));
    tell("kill own", ::kill(::getpid(), 0));
    siginfo_t info = {};
    info.si_code = SI_QUEUE;
    tell("sigqueue", ::syscall(SYS_rt_sigqueueinfo, other, SIGURG, &info));
    tell("tgsigqueue", ::syscall(SYS_rt_tgsigqueueinfo, other, other, SIGURG, &info));
    rlimit64 limit = {};
    tell("limit own", ::syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit));
    tell("limit other", ::syscall(SYS_prlimit64, other, RLIMIT_NOFILE, nullptr, &limit));
    tell("pidfd", ::syscall(434, other, 0));
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(0, &cores);
    tell("cores other", ::sched_setaffinity(other, sizeof(cores), &cores));
    tell("priority other", ::setpriority(PRIO_PROCESS, static_cast<id_t>(other), 5));
    char byte = 0;
    iovec here = {&byte, 1};
    tell("read memory", ::syscall(SYS_process_vm_readv, other, &here, 1, &here, 1, 0));
    const auto become = [&tell](const char* name, unsigned long flags) {
        const long made = ::syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
        if (made == 0) {
            ::_exit(0);
        }
        tell(name, made);
        if (made > 0) {
            ::waitpid(static_cast<pid_t>(made), nullptr, 0);
        }
    };
    become("fork", 0);
    become("name spaces", CLONE_NEWUSER | CLONE_NEWNET);
    tell("clone3", ::syscall(435, nullptr, 0));
    tell("unshare", ::unshare(CLONE_NEWUSER));
    const int owned = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    tell("owner", ::fcntl(owned, F_SETOWN, other));
    tell("signal of owner", ::fcntl(owned, F_SETSIG, SIGURG));
    tell("outlive", ::prctl(PR_SET_PDEATHSIG, 0));
    tell("dumpable", ::prctl(PR_SET_DUMPABLE, 1));
}

inline void reachSockets(const Teller& tell, const std::string& folder) {
    tell("AF_INET", ::socket(AF_INET, SOCK_STREAM, 0));
    tell("AF_INET6", ::socket(AF_INET6, SOCK_DGRAM, 0));
    tell("AF_NETLINK", ::socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER));
    tell("datagram", ::socket(AF_UNIX, SOCK_DGRAM, 0));
    const int local = ::socket(AF_UNIX, SOCK_STREAM, 0);
    tell("AF_UNIX", local);
    sockaddr_un bus = {};
    bus.sun_family = AF_UNIX;
    std::snprintf(bus.sun_path, sizeof(bus.sun_path), "%s/bus", folder.c_str());
    const auto* const address = reinterpret_cast<const sockaddr*>(&bus);
    tell("connect", ::connect(local, address, sizeof(bus)));
    tell("send to", ::sendto(local, "x", 1, MSG_NOSIGNAL, address, sizeof(bus)));
    long worked = 0;
    std::thread([&worked] { worked = ::socket(AF_INET, SOCK_STREAM, 0); }).join();
    tell("thread", worked);
}

inline void reachKernel(const Teller& tell) {
    char key = 'x';
    tell("type", ::ioctl(STDERR_FILENO, TIOCSTI, &key));
    tell("paste", ::ioctl(STDERR_FILENO, 0x541C, &key)); // TIOCLINUX
    tell("discipline", ::ioctl(STDERR_FILENO, TIOCSETD, &key));
    tell("terminal", ::ioctl(STDERR_FILENO, TIOCSCTTY, 0));
    tell("io_uring", ::syscall(425, 1, nullptr));
    tell("bpf", ::syscall(SYS_bpf, 0, nullptr, 0));
    tell("mount", ::syscall(SYS_mount, "none", "/", "tmpfs", 0, 0));
    tell("fsopen", ::syscall(430, "tmpfs", 0));
    tell("keyctl", ::syscall(SYS_keyctl, 0, 0, 0, 0, 0));
    tell("userfaultfd", ::syscall(SYS_userfaultfd, 0));
    tell("perf", ::syscall(SYS_perf_event_open, nullptr, 0, 0, 0, 0));
    tell("handle", ::syscall(SYS_open_by_handle_at, 0, nullptr, 0));
#ifdef __x86_64__
    tell("x32", ::syscall(0x40000000L + 39));
#endif
    tell("memfd", ::memfd_create("x", MFD_CLOEXEC));
}

/// `folder` has the files "mine" and "bus", which nobody has named.
inline void reachFiles(const Teller& tell, const std::string& folder, pid_t other) {
    const auto place = [&folder](const char* name) { return folder + "/" + name; };
    const auto open = [&tell](const char* name, const std::string& path, int flags) {
        tell(name, ::open(path.c_str(), flags | O_CLOEXEC, 0600));
    };
    open("empty file", place("mine"), O_RDONLY | O_TRUNC);
    open("mode 3", place("mine"), O_ACCMODE);
    open("empty mode 3", place("mine"), O_ACCMODE | O_TRUNC);
#ifdef __x86_64__
    tell("empty, old call", ::syscall(SYS_open, place("mine").c_str(), O_RDONLY | O_TRUNC));
#endif
    open("read file", place("mine"), O_RDONLY);
    open("write file", place("mine"), O_WRONLY);
    open("make file", place("made"), O_WRONLY | O_CREAT);
    open("list folder", folder, O_RDONLY | O_DIRECTORY);
    open("passwords", "/etc/passwd", O_RDONLY);
    open("terminals", "/dev/ptmx", O_RDWR | O_NOCTTY);
    open("environment", "/proc/" + std::to_string(other) + "/environ", O_RDONLY);
    open("memory", "/proc/" + std::to_string(other) + "/mem", O_RDWR);
    open("own maps", "/proc/self/maps", O_RDONLY);
    // As the driver of cards does for its threads, which else does not start.
    open("name thread", "/proc/self/task/" + std::to_string(::syscall(SYS_gettid)) + "/comm",
         O_WRONLY | O_CREAT | O_TRUNC);
    tell("rename", ::rename(place("mine").c_str(), place("other").c_str()));
    tell("unlink", ::unlink(place("mine").c_str()));
    tell("make folder", ::mkdir(place("folder").c_str(), 0700));
    tell("chmod", ::chmod(place("mine").c_str(), 0777));
    tell("link", ::symlink("/etc/passwd", place("link").c_str()));
}

inline void all(const Teller& tell, const std::string& folder, pid_t other) {
    reachProcesses(tell, other);
    reachSockets(tell, folder);
    reachKernel(tell);
    reachFiles(tell, folder, other);
}

/// Limits this process and tells on standard output; the other process is the one that started it.
inline void limits(const std::string& folder) {
    const pid_t other = ::getppid();
    for (const std::string& limit : ipc::limitProcess({})) {
        std::printf("%s: achieved\n", limit.c_str());
    }
    all(Teller(stdout), folder, other);
}

/// In an engine's process, with limits: tells in the file "told" of the folder that it may write.
/// What it tries is in the folder beside that one, whose name has "-user" behind it.
inline void inside(const std::string& folder, pid_t other) {
    std::FILE* const out = std::fopen((folder + "/told").c_str(), "we");
    if (out != nullptr) {
        std::fprintf(out, "session: %d\n", ::getsid(0) == ::getpid() ? 0 : 1);
        std::fprintf(out, "is terminal: %d\n", ::isatty(STDERR_FILENO));
        std::fprintf(stderr, "the probe speaks \x1b[31mred\n");
        all(Teller(out), folder + "-user", other);
        const std::string own = folder + "/private";
        if (const auto writer = engine::FileWriter::create(own, true); writer.has_value()) {
            (*writer)->makePrivate();
            static_cast<void>((*writer)->commit());
        }
        struct stat info = {};
        std::fprintf(out, "rights: %o\n", ::stat(own.c_str(), &info) == 0 ? info.st_mode : 0U);
        std::fclose(out);
    }
}

} // namespace probe
#endif
