// SPDX-License-Identifier: Apache-2.0
// The calls of the C library that change files, under their own names: the dynamic linker finds a
// program's own first. Each does what it always does (fsync: nothing, no test loses power) and is
// then written down.
#undef _FORTIFY_SOURCE // its inline versions have the names that are defined here
#include "tests/app/store/write_log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace {

using support::FileCall;
using support::LeftOut;
using Kind = FileCall::Kind;

struct Recorder {
    std::mutex mutex;
    bool is_on = false;
    std::string folder;
    LeftOut left_out = LeftOut::Nothing;
    std::vector<FileCall> log;
    std::map<int, int> files;           ///< Descriptor -> file.
    std::map<int, std::string> folders; ///< Descriptor of an open folder -> its path.
    std::map<std::string, int> names;   ///< Path -> file.
    int next_file = 1;
};

Recorder& recorder() {
    static auto* const kRecorder = new Recorder; // outlives every file that is closed at the end
    return *kRecorder;
}

template <typename Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the name is a string and a type at once
#define REAL(name) (real<decltype(&::name)>(#name))

/// The path within the folder ("" = the folder itself), or false.
bool inside(const char* path, std::string& out) {
    const std::string& folder = recorder().folder;
    const std::string_view text(path);
    if (text == folder) {
        out.clear();
        return true;
    }
    if (!text.starts_with(folder) || text.size() <= folder.size() || text[folder.size()] != '/') {
        return false;
    }
    out = text.substr(folder.size() + 1);
    return true;
}

void add(FileCall call) {
    recorder().log.push_back(std::move(call));
}

int newFile() {
    return recorder().next_file++;
}

std::string nameOf(int file) {
    for (const auto& [name, number] : recorder().names) {
        if (number == file) {
            return name;
        }
    }
    return {};
}

bool exists(const char* path) {
    struct stat info {};
    return lstat(path, &info) == 0;
}

void noteOpened(int fd, const char* path, int flags, bool was_there) {
    std::string name;
    Recorder& r = recorder();
    if (fd < 0 || !inside(path, name)) {
        return;
    }
    struct stat info {};
    fstat(fd, &info);
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        r.files[fd] = newFile();
        return;
    }
    if (S_ISDIR(info.st_mode)) {
        r.folders[fd] = name;
        return;
    }
    if (!was_there) {
        r.names[name] = newFile();
        FileCall call;
        call.kind = Kind::Link;
        call.file = r.names[name];
        call.path = name;
        add(call);
    } else if (r.names.count(name) == 0) {
        r.names[name] = newFile(); // was there before the log began
    }
    r.files[fd] = r.names[name];
    if (was_there && (flags & O_TRUNC) != 0) {
        FileCall call;
        call.kind = Kind::Truncate;
        call.file = r.files[fd];
        add(call);
    }
}

template <typename Open>
int opened(const char* path, int flags, Open open) {
    Recorder& r = recorder();
    if (!r.is_on) {
        return open();
    }
    const std::lock_guard lock(r.mutex);
    const bool was_there = exists(path);
    const int fd = open();
    noteOpened(fd, path, flags, was_there);
    return fd;
}

void noteWrite(int fd, const void* data, ssize_t size, off64_t offset) {
    Recorder& r = recorder();
    const auto file = r.files.find(fd);
    if (size <= 0 || file == r.files.end()) {
        return;
    }
    FileCall call;
    call.kind = Kind::Write;
    call.file = file->second;
    call.offset = static_cast<uint64_t>(offset);
    call.data.assign(static_cast<const char*>(data), static_cast<size_t>(size));
    add(std::move(call));
}

int noteTruncate(int result, int fd, off64_t size) {
    Recorder& r = recorder();
    const auto file = r.files.find(fd);
    if (r.is_on && result == 0 && file != r.files.end()) {
        FileCall call;
        call.kind = Kind::Truncate;
        call.file = file->second;
        call.offset = static_cast<uint64_t>(size);
        add(call);
    }
    return result;
}

int noteSync(int fd) {
    Recorder& r = recorder();
    if (!r.is_on) {
        return 0;
    }
    const std::lock_guard lock(r.mutex);
    FileCall call;
    if (const auto folder = r.folders.find(fd); folder != r.folders.end()) {
        if (r.left_out == LeftOut::SyncsOfFolders) {
            return 0;
        }
        call.kind = Kind::SyncFolder;
        call.path = folder->second;
    } else if (const auto file = r.files.find(fd); file != r.files.end()) {
        const std::string name = nameOf(file->second);
        const bool is_wal = name.ends_with("-wal");
        const bool is_database = name.ends_with(".sqlite");
        if ((r.left_out == LeftOut::SyncsOfWal && is_wal) ||
            (r.left_out == LeftOut::SyncsOfDatabase && is_database) ||
            (r.left_out == LeftOut::SyncsOfAttachments && !is_wal && !is_database &&
             !name.ends_with("-journal"))) {
            return 0;
        }
        call.kind = Kind::SyncFile;
        call.file = file->second;
    } else {
        return 0;
    }
    add(call);
    return 0;
}

void noteLinked(int file, const std::string& to, const std::string& from) {
    Recorder& r = recorder();
    r.names[to] = file;
    FileCall call;
    call.kind = Kind::Link;
    call.file = file;
    call.path = to;
    call.from = from;
    add(call);
}

template <typename Rename>
int renamed(const char* from, const char* to, Rename rename) {
    Recorder& r = recorder();
    if (!r.is_on) {
        return rename();
    }
    const std::lock_guard lock(r.mutex);
    const int result = rename();
    std::string from_name;
    std::string to_name;
    const bool is_from = inside(from, from_name);
    const bool is_to = inside(to, to_name);
    if (result != 0 || (!is_from && !is_to)) {
        return result;
    }
    if (!is_from || !is_to) {
        std::fprintf(stderr, "write_log: %s moves in or out of the folder\n", from);
        std::abort();
    }
    const int file = r.names.count(from_name) != 0 ? r.names[from_name] : newFile();
    r.names.erase(from_name);
    noteLinked(file, to_name, from_name);
    return result;
}

template <typename Unlink>
int unlinked(const char* path, Unlink unlink) {
    Recorder& r = recorder();
    if (!r.is_on) {
        return unlink();
    }
    const std::lock_guard lock(r.mutex);
    const int result = unlink();
    FileCall call;
    if (result == 0 && inside(path, call.path)) {
        call.kind = Kind::Unlink;
        r.names.erase(call.path);
        add(call);
    }
    return result;
}

template <typename Make>
int madeFolder(const char* path, Make make) {
    Recorder& r = recorder();
    if (!r.is_on) {
        return make();
    }
    const std::lock_guard lock(r.mutex);
    const int result = make();
    FileCall call;
    if (result == 0 && inside(path, call.path)) {
        call.kind = Kind::MakeFolder;
        add(call);
    }
    return result;
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming, cert-dcl50-cpp): the C library's names and forms
#define MODE_OF(flags, mode)                                                                       \
    mode_t mode = 0;                                                                               \
    if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) {                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        (mode) = va_arg(rest, mode_t);                                                             \
        va_end(rest);                                                                              \
    }

extern "C" {
int open(const char* path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(path, flags, [&] { return REAL(open)(path, flags, mode); });
}
int open64(const char* path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(path, flags, [&] { return REAL(open64)(path, flags, mode); });
}
int openat(int folder, const char* path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(path, flags, [&] { return REAL(openat)(folder, path, flags, mode); });
}
int openat64(int folder, const char* path, int flags, ...) {
    MODE_OF(flags, mode)
    return opened(path, flags, [&] { return REAL(openat64)(folder, path, flags, mode); });
}
int close(int fd) {
    Recorder& r = recorder();
    if (r.is_on) {
        const std::lock_guard lock(r.mutex);
        r.files.erase(fd);
        r.folders.erase(fd);
        return REAL(close)(fd);
    }
    return REAL(close)(fd);
}
ssize_t write(int fd, const void* data, size_t size) {
    Recorder& r = recorder();
    if (!r.is_on) {
        return REAL(write)(fd, data, size);
    }
    const std::lock_guard lock(r.mutex);
    const off64_t at = r.files.count(fd) != 0 ? lseek64(fd, 0, SEEK_CUR) : 0;
    const ssize_t written = REAL(write)(fd, data, size);
    noteWrite(fd, data, written, at);
    return written;
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
    Recorder& r = recorder();
    if (!r.is_on) {
        return REAL(pwrite)(fd, data, size, offset);
    }
    const std::lock_guard lock(r.mutex);
    const ssize_t written = REAL(pwrite)(fd, data, size, offset);
    noteWrite(fd, data, written, offset);
    return written;
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
    Recorder& r = recorder();
    if (!r.is_on) {
        return REAL(pwrite64)(fd, data, size, offset);
    }
    const std::lock_guard lock(r.mutex);
    const ssize_t written = REAL(pwrite64)(fd, data, size, offset);
    noteWrite(fd, data, written, offset);
    return written;
}
int ftruncate(int fd, off_t size) noexcept {
    const std::lock_guard lock(recorder().mutex);
    return noteTruncate(REAL(ftruncate)(fd, size), fd, size);
}
int ftruncate64(int fd, off64_t size) noexcept {
    const std::lock_guard lock(recorder().mutex);
    return noteTruncate(REAL(ftruncate64)(fd, size), fd, size);
}
int fsync(int fd) {
    return noteSync(fd);
}
int fdatasync(int fd) {
    return noteSync(fd);
}
int rename(const char* from, const char* to) noexcept {
    return renamed(from, to, [&] { return REAL(rename)(from, to); });
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
    return renamed(from, to, [&] { return REAL(renameat)(from_folder, from, to_folder, to); });
}
int renameat2(
    int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
    return renamed(from, to,
                   [&] { return REAL(renameat2)(from_folder, from, to_folder, to, flags); });
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
    Recorder& r = recorder();
    if (!r.is_on) {
        return REAL(linkat)(from_folder, from, to_folder, to, flags);
    }
    const std::lock_guard lock(r.mutex);
    const int result = REAL(linkat)(from_folder, from, to_folder, to, flags);
    std::string name;
    int fd = -1;
    if (result == 0 && inside(to, name) && std::sscanf(from, "/proc/self/fd/%d", &fd) == 1 &&
        r.files.count(fd) != 0) {
        noteLinked(r.files[fd], name, {});
    }
    return result;
}
int unlink(const char* path) noexcept {
    return unlinked(path, [&] { return REAL(unlink)(path); });
}
int remove(const char* path) noexcept {
    return unlinked(path, [&] { return REAL(remove)(path); });
}
int mkdir(const char* path, mode_t mode) noexcept {
    return madeFolder(path, [&] { return REAL(mkdir)(path, mode); });
}
} // extern "C"
// NOLINTEND(readability-identifier-naming, cert-dcl50-cpp)

namespace support {

void startLog(const std::string& folder, LeftOut left_out) {
    endLog();
    Recorder& r = recorder();
    const std::lock_guard lock(r.mutex);
    r.folder = folder;
    r.left_out = left_out;
    r.files.clear();
    r.folders.clear();
    r.names.clear();
    r.next_file = 1;
    r.is_on = true;
}

void addMark(int mark) {
    const std::lock_guard lock(recorder().mutex);
    FileCall call;
    call.mark = mark;
    add(call);
}

std::vector<FileCall> endLog() {
    Recorder& r = recorder();
    const std::lock_guard lock(r.mutex);
    r.is_on = false;
    return std::exchange(r.log, {});
}

} // namespace support
