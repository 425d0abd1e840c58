// SPDX-License-Identifier: Apache-2.0
#include "models/hub/disk_file.h"

#include "engine/base/paths.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "models/hub/hub_client.h"
#include "models/hub/hub_error.h"
#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <sys/file.h>
#include <unistd.h>
#endif

namespace models::hub {

namespace fs = std::filesystem;
using engine::Error;
using engine::phrase;
using engine::Result;
using engine::said;
using std::chrono::milliseconds;

namespace {

#ifdef _WIN32

int openFile(const fs::path& path, int flags, int) {
    return ::_wopen(path.c_str(), flags | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
}
int closeFile(int descriptor) {
    return ::_close(descriptor);
}
int64_t lengthOf(int descriptor) {
    return ::_filelengthi64(descriptor);
}
int cutFile(int descriptor) {
    return ::_chsize_s(descriptor, 0) == 0 && ::_lseeki64(descriptor, 0, SEEK_SET) == 0 ? 0 : -1;
}
int flushFile(int descriptor) {
    return ::_commit(descriptor);
}
int64_t writeFile(int descriptor, const void* bytes, size_t n) {
    return ::_write(descriptor, bytes, static_cast<unsigned>(n));
}
/// True: taken. False with errno EWOULDBLOCK: somebody else has it.
bool lockFile(int descriptor) {
    // The first byte, which Python's filelock takes by _locking(); wine's leaves errno as it was.
    OVERLAPPED place = {};
    const auto file = reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor)); // NOLINT: its number
    constexpr DWORD kHow = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    if (::LockFileEx(file, kHow, 0, 1, 0, &place) != 0) {
        return true;
    }
    const DWORD why = ::GetLastError();
    errno = why == ERROR_LOCK_VIOLATION || why == ERROR_IO_PENDING ? EWOULDBLOCK : EINVAL;
    return false;
}
bool isPlainFile(int descriptor) {
    struct _stat64 facts = {};
    return ::_fstat64(descriptor, &facts) == 0 && (facts.st_mode & _S_IFREG) != 0;
}
bool isStillThere(int, const fs::path&) {
    return true;
} // an open file cannot be replaced there
constexpr int kNoLinks = 0;

#else

int openFile(const fs::path& path, int flags, int mode) {
    return ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode);
}
int closeFile(int descriptor) {
    return ::close(descriptor);
}
int64_t lengthOf(int descriptor) {
    struct stat facts = {};
    return ::fstat(descriptor, &facts) == 0 ? static_cast<int64_t>(facts.st_size) : -1;
}
int cutFile(int descriptor) {
    return ::ftruncate(descriptor, 0);
}
int flushFile(int descriptor) {
    return ::fsync(descriptor);
}
int64_t writeFile(int descriptor, const void* bytes, size_t n) {
    return ::write(descriptor, bytes, n);
}
bool lockFile(int descriptor) {
    return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
}
bool isPlainFile(int descriptor) {
    struct stat facts = {};
    return ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
}
/// Whether `path` still leads to the open file: filelock may have removed it meanwhile.
bool isStillThere(int descriptor, const fs::path& path) {
    struct stat open_facts = {};
    struct stat named_facts = {};
    return ::fstat(descriptor, &open_facts) == 0 && ::stat(path.c_str(), &named_facts) == 0 &&
           open_facts.st_ino == named_facts.st_ino && open_facts.st_dev == named_facts.st_dev;
}
constexpr int kNoLinks = O_NOFOLLOW;

#endif

constexpr int kUsualMode = 0664; // less the user's umask, and never for everybody to write

bool isFull(int code) {
#ifdef EDQUOT
    return code == ENOSPC || code == EDQUOT;
#else
    return code == ENOSPC;
#endif
}

} // namespace

Error diskError(const fs::path& path, engine::Phrase what, int code) {
    const std::string name = engine::utf8Of(path);
    const std::string why = std::generic_category().message(code);
    if (isFull(code)) {
        Error error = hubError("HubDisk", said("%1: the disk is full; what has arrived is kept: "
                                               "make room and give the same command again",
                                               name));
        error.details.emplace_back("full", "1");
        return error;
    }
    if (code == EFBIG) {
        return hubError("HubDisk", said("%1: the disk takes no file of this size (FAT: 4 GiB); "
                                        "choose a folder on another disk with --to or "
                                        "HF_HUB_CACHE",
                                        name));
    }
    if (code == EACCES || code == EPERM || code == EROFS) {
        return hubError("HubDisk", said("%1: %2: %3; choose a folder that you may write to with "
                                        "--to or HF_HUB_CACHE",
                                        name, what, why));
    }
    return hubError("HubDisk", said("%1: %2: %3; check the disk and try again", name, what, why));
}

Result<void> makeFolder(const fs::path& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure && !fs::is_directory(folder)) {
        return diskError(folder, phrase("the folder cannot be made"), failure.value());
    }
    return {};
}

Result<std::unique_ptr<DiskFile>> DiskFile::openToAppend(const fs::path& path, bool is_private) {
    const int descriptor =
        openFile(path, O_RDWR | O_CREAT | O_APPEND | kNoLinks, is_private ? 0600 : kUsualMode);
    if (descriptor < 0) {
        return diskError(path, phrase("cannot be written"), errno);
    }
    auto file = std::unique_ptr<DiskFile>(new DiskFile(path, descriptor));
    if (!isPlainFile(descriptor)) {
        return hubError("HubDisk",
                        said("%1 is no plain file; remove it and try again", engine::utf8Of(path)));
    }
    return file;
}

DiskFile::~DiskFile() {
    closeFile(descriptor_);
}

uint64_t DiskFile::sizeBytes() const {
    return static_cast<uint64_t>(std::max<int64_t>(0, lengthOf(descriptor_)));
}

Result<void> DiskFile::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const int64_t n = writeFile(descriptor_, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return diskError(path_, phrase("cannot be written"), n < 0 ? errno : ENOSPC);
        }
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
    return {};
}

Result<void> DiskFile::truncate() {
    return cutFile(descriptor_) == 0
               ? Result<void>()
               : Result<void>(diskError(path_, phrase("cannot be emptied"), errno));
}

Result<void> DiskFile::flush() {
    // Some file systems cannot: then the checksum has to do.
    if (flushFile(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) {
        return diskError(path_, phrase("cannot be flushed"), errno);
    }
    return {};
}

Result<std::unique_ptr<CacheLock>>
CacheLock::take(const fs::path& path, milliseconds limit, const std::stop_token& stop) {
    constexpr milliseconds kBetween(100);
    ENGINE_TRY(makeFolder(path.parent_path()));
    const auto end = std::chrono::steady_clock::now() + limit;
    while (true) {
        const int descriptor = openFile(path, O_RDWR | O_CREAT | kNoLinks, kUsualMode);
        if (descriptor < 0) {
            return diskError(path, phrase("cannot be opened"), errno);
        }
        auto lock = std::unique_ptr<CacheLock>(new CacheLock(descriptor));
        const bool is_taken = lockFile(descriptor);
        // A file system without locks: go on without.
        if ((is_taken && isStillThere(descriptor, path)) || (!is_taken && errno != EWOULDBLOCK)) {
            return lock;
        }
        lock.reset();
        if (std::chrono::steady_clock::now() >= end) {
            return hubError("HubLocked",
                            said("another program fetches the same file and has not been done in "
                                 "%1 s (%2 is locked): let it end, then try again",
                                 limit.count() / 1000, engine::utf8Of(path)));
        }
        if (!waitFor(kBetween, stop)) {
            return networkError({HttpEnd::Kind::Cancelled}, {});
        }
    }
}

CacheLock::~CacheLock() {
    closeFile(descriptor_); // gives the lock back
}

Result<void> writeSmallFile(const fs::path& path,
                            const fs::path& temporary,
                            std::string_view text,
                            FileReaders readers) {
    ENGINE_TRY(makeFolder(path.parent_path()));
    ENGINE_TRY(makeFolder(temporary.parent_path()));
    {
        const bool is_private = readers == FileReaders::Owner;
        std::error_code ignored;
        if (is_private) {
            fs::remove(temporary, ignored); // one that is left over may be everybody's to read
        }
        ENGINE_ASSIGN(const auto file, DiskFile::openToAppend(temporary, is_private));
        ENGINE_TRY(file->truncate());
        ENGINE_TRY(file->write(std::as_bytes(std::span(text.data(), text.size()))));
        ENGINE_TRY(file->flush());
    }
    std::error_code failure;
    fs::rename(temporary, path, failure);
    return failure ? Result<void>(diskError(path, phrase("cannot be written"), failure.value()))
                   : Result<void>();
}

} // namespace models::hub
