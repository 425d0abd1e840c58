// SPDX-License-Identifier: Apache-2.0
#include "ipc/file_limits.h"

#ifdef __linux__
#include "engine/base/paths.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <system_error>

namespace ipc {

namespace {

// linux/landlock.h of newer systems than the oldest that we build on.
constexpr long kCreate = 444, kAddRule = 445, kRestrict = 446;
constexpr uint32_t kAskVersion = 1;
constexpr uint32_t kBeneath = 1;
struct Handled {
    uint64_t files = 0, network = 0, scopes = 0;
};
struct __attribute__((packed)) BeneathRule {
    uint64_t allowed = 0;
    int32_t folder = -1;
};
constexpr uint64_t kWriteFile = 1U << 1, kReadFile = 1U << 2, kReadFolder = 1U << 3,
                   kRemoveFile = 1U << 5, kMakeFolder = 1U << 7, kMakeFile = 1U << 8,
                   kTruncate = 1U << 14, kAskDevice = 1U << 15;
constexpr uint64_t kRead = kReadFile | kReadFolder;
constexpr uint64_t kWrite = kRead | kWriteFile | kRemoveFile | kMakeFolder | kMakeFile | kTruncate;
constexpr uint64_t kDevice = kReadFile | kWriteFile | kAskDevice;
/// The rights that make sense for what is no folder.
constexpr uint64_t kOfFiles = kWriteFile | kReadFile | kTruncate | kAskDevice;

/// Bits that each version knows, and the size of what it is told.
Handled handledBy(int version, size_t& size) {
    constexpr std::array<int, 5> kBits = {13, 14, 15, 15, 16};
    const auto row = static_cast<size_t>(version < 5 ? version : 5) - 1;
    Handled handled;
    handled.files = (uint64_t{1} << static_cast<unsigned>(kBits[row])) - 1;
    size = sizeof(uint64_t);
    if (version >= 4) {
        handled.network = 3; // TCP: bind, connect
        size = 2 * sizeof(uint64_t);
    }
    if (version >= 6) {
        handled.scopes = 3; // abstract sockets, signals
        size = sizeof(Handled);
    }
    return handled;
}

class Rules {
public:
    Rules() {
        version_ = static_cast<int>(::syscall(kCreate, nullptr, 0, kAskVersion));
        if (version_ > 0) {
            size_t size = 0;
            handled_ = handledBy(version_, size);
            rules_ = static_cast<int>(::syscall(kCreate, &handled_, size, 0));
        }
    }
    ~Rules() {
        if (rules_ >= 0) {
            ::close(rules_);
        }
    }
    Rules(const Rules&) = delete;
    Rules& operator=(const Rules&) = delete;

    void allow(const std::string& path, uint64_t rights) const {
        const int folder = ::open(path.c_str(), O_PATH | O_CLOEXEC);
        if (folder < 0) {
            return;
        }
        allow(folder, rights);
        ::close(folder);
    }
    /// Errors: what is wrong is not allowed then.
    void allow(int folder, uint64_t rights) const {
        struct stat info {};
        if (::fstat(folder, &info) == 0) {
            const uint64_t fitting = S_ISDIR(info.st_mode) ? rights : rights & kOfFiles;
            const BeneathRule rule = {fitting & handled_.files, folder};
            static_cast<void>(::syscall(kAddRule, rules_, kBeneath, &rule, 0));
        }
    }
    [[nodiscard]] bool apply() const { return rules_ >= 0 && ::syscall(kRestrict, rules_, 0) == 0; }

private:
    int version_ = 0, rules_ = -1;
    Handled handled_;
};

/// The driver's, which have numbers.
void allowCards(const Rules& rules) {
    std::error_code failed;
    for (std::filesystem::directory_iterator at("/dev", failed), end; !failed && at != end;
         at.increment(failed)) {
        if (engine::utf8Of(at->path().filename()).starts_with("nvidia")) {
            rules.allow(engine::utf8Of(at->path()), kDevice | kReadFolder);
        }
    }
    rules.allow("/dev/dxg", kDevice); // WSL
}

} // namespace

bool limitFiles(const std::vector<std::string>& read, const std::vector<std::string>& write) {
    const Rules rules;
    constexpr std::array kReadable = {
        "/usr",           "/lib",
        "/lib32",         "/lib64",
        "/opt/cuda",      "/nix/store",
        "/gnu/store",     "/run/opengl-driver",
        "/run/nvidia",    "/etc/ld.so.cache",
        "/etc/localtime", "/etc/os-release",
        "/etc/nvidia",    "/etc/alternatives",
        "/sys",           "/proc/sys",
        "/proc/driver",   "/proc/cpuinfo",
        "/proc/devices",  "/proc/filesystems",
        "/proc/meminfo",  "/proc/modules",
        "/proc/stat",     "/proc/version",
    };
    for (const char* const path : kReadable) {
        rules.allow(path, kRead);
    }
    for (const char* const path : {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}) {
        rules.allow(path, kDevice);
    }
    allowCards(rules);
    // Stays open: the kernel forgets the folder of a process that nobody has open when memory is
    // short, and the rule with it.
    static const int own = ::open("/proc/self", O_PATH | O_CLOEXEC);
    // The driver names its threads in task/*/comm, which it opens as if to make it anew.
    rules.allow(own, kRead | kWriteFile | kTruncate);
    for (const std::string& path : read) {
        rules.allow(path, kRead);
    }
    for (const std::string& path : write) {
        rules.allow(path, kWrite);
    }
    return rules.apply();
}

} // namespace ipc

#endif
