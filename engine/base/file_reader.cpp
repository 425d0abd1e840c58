// SPDX-License-Identifier: Apache-2.0
// Positioned reads on POSIX (open, fstat, pread) and Windows (CreateFileW, ReadFile with an
// offset). Before every read the size and modification time are compared with those at opening,
// because a checkpoint that is being rewritten would otherwise give a mixture of two models.
#include "engine/base/file_reader.h"

#include "engine/base/file_opening.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <string_view>
#include <utility>

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#endif

namespace engine {

namespace {

Error fileError(std::string_view rule, const std::string& file, const Sentence& what) {
    return Error{ErrorCode::InvalidFile,
                 said("%1: %2", file, what),
                 {{"rule", std::string(rule)}, {"file", file}}};
}

/// One call never asks the system for more than this (Linux stops at 2 GiB, Windows at 4 GiB).
constexpr size_t kMaxReadBytes = size_t{1} << 30;

struct FileState {
    uint64_t size_bytes = 0;
    int64_t modified = 0;
    bool is_regular = false;
};

#ifdef _WIN32

/// Asked before every read: not GetFileInformationByHandle(), which asks for the volume as well
/// (under wine that was half of a load's time).
bool queryState(intptr_t handle, FileState& state) {
    const auto file = reinterpret_cast<HANDLE>(handle);
    FILE_STANDARD_INFO sizes{};
    FILE_BASIC_INFO times{};
    if (GetFileInformationByHandleEx(file, FileStandardInfo, &sizes, sizeof(sizes)) == 0 ||
        GetFileInformationByHandleEx(file, FileBasicInfo, &times, sizeof(times)) == 0) {
        return false;
    }
    state.size_bytes = static_cast<uint64_t>(sizes.EndOfFile.QuadPart);
    state.modified = times.LastWriteTime.QuadPart;
    state.is_regular =
        (times.FileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) == 0;
    return true;
}

/// Where queryState() cannot tell.
bool isOnDisk(intptr_t handle) {
    return GetFileType(reinterpret_cast<HANDLE>(handle)) == FILE_TYPE_DISK;
}

bool queryStamp(intptr_t handle, FileStamp& stamp, int64_t& age_ms) {
    constexpr int64_t kTicksPerMs = 10'000;
    const auto file = reinterpret_cast<HANDLE>(handle);
    BY_HANDLE_FILE_INFORMATION info{};
    FILE_BASIC_INFO times{};
    if (GetFileInformationByHandle(file, &info) == 0 ||
        GetFileInformationByHandleEx(file, FileBasicInfo, &times, sizeof(times)) == 0) {
        return false;
    }
    FILETIME now{};
    GetSystemTimeAsFileTime(&now);
    stamp.file_number = (static_cast<uint64_t>(info.nFileIndexHigh) << 32) | info.nFileIndexLow;
    stamp.size_bytes = (static_cast<uint64_t>(info.nFileSizeHigh) << 32) | info.nFileSizeLow;
    stamp.modified = times.LastWriteTime.QuadPart;
    stamp.changed = times.ChangeTime.QuadPart;
    age_ms = (static_cast<int64_t>((static_cast<uint64_t>(now.dwHighDateTime) << 32) |
                                   now.dwLowDateTime) -
              stamp.changed) /
             kTicksPerMs;
    return stamp.changed != 0; // where the file system has no such time
}

#else

bool isOnDisk(intptr_t /*handle*/) {
    return true; // queryState() can tell
}

bool queryState(intptr_t handle, FileState& state) {
    struct stat info {};
    if (fstat(static_cast<int>(handle), &info) != 0) {
        return false;
    }
    state.size_bytes = static_cast<uint64_t>(info.st_size);
    state.modified =
        static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
    state.is_regular = S_ISREG(info.st_mode);
    return true;
}

bool queryStamp(intptr_t handle, FileStamp& stamp, int64_t& age_ms) {
    constexpr int64_t kSecond = 1'000'000'000;
    struct stat info {};
    timespec now{};
    if (fstat(static_cast<int>(handle), &info) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) {
        return false;
    }
    constexpr unsigned kFat = 0x4d44; // their time of change is that of modification
    constexpr unsigned kExFat = 0x2011bab0;
    struct statfs system {};
    if (fstatfs(static_cast<int>(handle), &system) != 0) {
        return false;
    }
    const auto kind = static_cast<unsigned>(system.f_type);
    if (kind == kFat || kind == kExFat) {
        return false;
    }
    stamp.file_number = static_cast<uint64_t>(info.st_ino);
    stamp.size_bytes = static_cast<uint64_t>(info.st_size);
    stamp.modified = static_cast<int64_t>(info.st_mtim.tv_sec) * kSecond + info.st_mtim.tv_nsec;
    stamp.changed = static_cast<int64_t>(info.st_ctim.tv_sec) * kSecond + info.st_ctim.tv_nsec;
    age_ms = (static_cast<int64_t>(now.tv_sec) * kSecond + now.tv_nsec - stamp.changed) / 1'000'000;
    return true;
}

#endif

} // namespace

std::string lastErrorText() {
#ifdef _WIN32
    return "Windows error " + std::to_string(GetLastError());
#else
    return std::strerror(errno);
#endif
}

Result<std::unique_ptr<FileReader>> FileReader::open(const std::filesystem::path& path,
                                                     std::string shown_name) {
    std::unique_ptr<FileReader> reader(new FileReader());
    reader->name_ = std::move(shown_name);
    if (reader->name_.empty()) {
        reader->name_ = utf8Of(path.filename());
    }
#ifdef _WIN32
    const HANDLE handle =
        CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                    OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
        const bool is_missing =
            GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND;
#else
    const int handle = openToRead(path, O_NOFOLLOW);
    if (handle < 0) {
        if (errno == ELOOP) {
            return fileError("ST07", reader->name_,
                             said("is a link where a regular file is expected"));
        }
        const bool is_missing = errno == ENOENT || errno == ENOTDIR;
#endif
        if (is_missing) {
            return fileError("FileMissing", reader->name_, said("there is no such file"));
        }
        return fileError("FileUnreadable", reader->name_,
                         said("cannot be opened: %1", lastErrorText()));
    }
#ifdef _WIN32
    reader->handle_ = reinterpret_cast<intptr_t>(handle);
#else
    reader->handle_ = handle;
#endif
    FileState state;
    if (!queryState(reader->handle_, state)) {
        return fileError("FileUnreadable", reader->name_,
                         said("cannot be examined: %1", lastErrorText()));
    }
    if (!state.is_regular || !isOnDisk(reader->handle_)) {
        return fileError(
            "ST07", reader->name_,
            said("is not a regular file (it is a folder, a pipe, a socket or a device)"));
    }
    reader->size_bytes_ = state.size_bytes;
    reader->modified_ = state.modified;
    return reader;
}

FileReader::~FileReader() {
    if (handle_ == -1) {
        return;
    }
#ifdef _WIN32
    CloseHandle(reinterpret_cast<HANDLE>(handle_));
#else
    ::close(static_cast<int>(handle_));
#endif
}

Result<void> FileReader::checkUnchanged() const {
    FileState state;
    if (!queryState(handle_, state)) {
        return fileError("FileUnreadable", name_, said("cannot be examined: %1", lastErrorText()));
    }
    if (state.size_bytes != size_bytes_) {
        return fileError(
            "ST08", name_,
            said("changed while it was open: it had %1 bytes, now it has %2; load the model again",
                 size_bytes_, state.size_bytes));
    }
    if (state.modified != modified_) {
        return fileError("ST08", name_,
                         said("changed while it was open: its modification time is another one; "
                              "load the model again"));
    }
    return {};
}

std::optional<FileStamp> FileReader::stamp() const {
    constexpr int64_t kSettledMs = 2000; // coarser than the clocks of file systems
    FileStamp stamp;
    int64_t age_ms = 0;
    const bool is_known = queryStamp(handle_, stamp, age_ms) && age_ms > kSettledMs;
    return is_known ? std::optional(stamp) : std::nullopt;
}

Result<void> FileReader::read(uint64_t offset, std::span<std::byte> out) const {
    if (offset > size_bytes_ || out.size() > size_bytes_ - offset) {
        return fileError("ST08", name_,
                         said("has %1 bytes, bytes %2 to %3 were asked for", size_bytes_, offset,
                              offset + out.size()));
    }
    ENGINE_TRY(checkUnchanged());
    size_t done = 0;
    while (done < out.size()) {
        const size_t wanted = std::min(out.size() - done, kMaxReadBytes);
        const uint64_t position = offset + done;
#ifdef _WIN32
        OVERLAPPED where{};
        where.Offset = static_cast<DWORD>(position & 0xffffffffU);
        where.OffsetHigh = static_cast<DWORD>(position >> 32);
        DWORD num_read = 0;
        const bool is_read = ReadFile(reinterpret_cast<HANDLE>(handle_), out.data() + done,
                                      static_cast<DWORD>(wanted), &num_read, &where) != 0;
        if (!is_read && GetLastError() != ERROR_HANDLE_EOF) {
#else
        const ssize_t num_read = ::pread(static_cast<int>(handle_), out.data() + done, wanted,
                                         static_cast<off_t>(position));
        if (num_read < 0 && errno == EINTR) {
            continue;
        }
        if (num_read < 0) {
#endif
            return fileError("FileUnreadable", name_,
                             said("reading at byte %1 failed: %2", position, lastErrorText()));
        }
        if (num_read == 0) {
            return fileError("ST08", name_,
                             said("ends at byte %1 although it had %2 bytes when it was opened",
                                  position, size_bytes_));
        }
        done += static_cast<size_t>(num_read);
    }
    return {};
}

} // namespace engine
