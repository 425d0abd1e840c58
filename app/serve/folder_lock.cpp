// SPDX-License-Identifier: Apache-2.0
#include "app/serve/folder_lock.h"

#include "engine/base/paths.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace serve {

namespace fs = std::filesystem;

namespace {

constexpr std::intptr_t kNone = -1;

#ifdef _WIN32

std::intptr_t openLocked(const fs::path& file, bool makes) {
    // Shared with nobody: while it is open nobody else opens it.
    HANDLE handle =
        CreateFileW(file.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                    makes ? OPEN_ALWAYS : OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    return handle == INVALID_HANDLE_VALUE ? kNone : reinterpret_cast<std::intptr_t>(handle);
}
void closeLocked(std::intptr_t handle) {
    CloseHandle(reinterpret_cast<HANDLE>(handle));
}
/// The folder for temporary files is this user's there.
bool isPrivate(const fs::path& folder) {
    std::error_code code;
    return fs::is_directory(fs::symlink_status(folder, code));
}

#else

std::intptr_t openLocked(const fs::path& file, bool makes) {
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    const int descriptor = ::open(file.c_str(), makes ? flags | O_CREAT : flags, 0600);
    struct stat facts = {};
    if (descriptor >= 0 && ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) &&
        ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
        return descriptor;
    }
    if (descriptor >= 0) {
        ::close(descriptor);
    }
    return kNone;
}
void closeLocked(std::intptr_t handle) {
    ::close(static_cast<int>(handle));
}
bool isPrivate(const fs::path& folder) {
    struct stat facts = {};
    return ::lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
           facts.st_uid == ::geteuid() && (facts.st_mode & 0077U) == 0;
}

#endif

} // namespace

std::optional<FolderLock> FolderLock::take(const fs::path& folder, bool makes) {
    const std::intptr_t handle = openLocked(folder / kFile, makes);
    return handle == kNone ? std::nullopt : std::optional(FolderLock(handle));
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : handle_(std::exchange(other.handle_, kNone)) {}

FolderLock::~FolderLock() {
    if (handle_ != kNone) {
        closeLocked(handle_);
    }
}

bool FolderLock::isOwn(const fs::path& folder) {
    std::error_code code;
    if (!isPrivate(folder)) {
        return false;
    }
    fs::directory_iterator entries(folder, code);
    for (; !code && entries != fs::directory_iterator(); entries.increment(code)) {
        const std::string name = engine::utf8Of(entries->path().filename());
        const bool is_number =
            std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (!fs::is_regular_file(entries->symlink_status(code)) || (name != kFile && !is_number)) {
            return false;
        }
    }
    return !code;
}

} // namespace serve
