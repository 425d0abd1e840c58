// SPDX-License-Identifier: Apache-2.0
// Temporary file, flush, rename; straight into what is no plain file.
#include "engine/base/file_writer.h"

#include "engine/base/detached_thread.h"
#include "engine/base/file_reader.h"
#include "engine/base/paths.h"
#include "engine/base/real_path.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>
#endif

namespace engine {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxWriteBytes = size_t{1} << 30;
constexpr int kMaxNameTries = 100;
#ifndef _WIN32
/// A reader that is started together with us opens its pipe within this.
constexpr int kPipeTries = 60;
constexpr std::chrono::milliseconds kPipeWait{50};
/// From so many on, what a given up file held is given back on a thread of its own.
constexpr uint64_t kMinBytesClosedApart = uint64_t{64} << 20U;
#endif

Error writeError(const std::string& file, const Sentence& what) {
    return Error{ErrorCode::InvalidFile,
                 said("%1: %2", file, what),
                 {{"rule", "WriteFailed"}, {"file", file}}};
}

Error existsError(const std::string& file) {
    return Error{ErrorCode::InvalidRequest,
                 said("%1: the file exists already and is not replaced (it may be in use); choose "
                      "another folder or remove it first",
                      file),
                 {{"rule", "ST09"}, {"file", file}}};
}

Error noPlainFileError(const std::string& file, const Sentence& what) {
    return Error{ErrorCode::InvalidFile,
                 said("%1: %2", file, what),
                 {{"rule", "NoPlainFile"}, {"file", file}}};
}

std::string nameOf(const fs::path& target) {
    const std::string name = utf8Of(target.filename());
    return name.empty() ? utf8Of(target) : name;
}

/// Where bytes for a target really go.
struct Place {
    fs::path target;         ///< No link any more.
    int own_descriptor = -1; ///< It is a name of this one (/dev/stdout, /proc/self/fd/1).
    bool is_plain = true;    ///< A plain file, or nothing yet.
};

#ifndef _WIN32
/// The number when `path` lies in this process's own folder of open descriptors, else -1. What the
/// kernel says of such a link is no path: "pipe:[77]", or a file that has been renamed since.
int ownDescriptor(const fs::path& path) {
    std::error_code failure;
    const fs::path folder =
        fs::canonical(path.has_parent_path() ? path.parent_path() : fs::path("."), failure);
    const std::string own = "/proc/" + std::to_string(::getpid());
    const std::string thread = own + "/task/" + std::to_string(::getpid());
    const std::string name = utf8Of(path.filename());
    const bool is_number = !name.empty() && name.size() < 8 &&
                           name.find_first_not_of("0123456789") == std::string::npos;
    return !failure && is_number && (folder == own + "/fd" || folder == thread + "/fd")
               ? std::stoi(name)
               : -1;
}
#endif

Result<Place> leadsToNoFile(const fs::path& target) {
    return writeError(nameOf(target), said("is a link that leads to no file (too many links, or "
                                           "one that cannot be read); name the file itself"));
}

#ifdef _WIN32
/// Follows links. One whose target is not there yet is refused: what it says is no path by itself.
Result<Place> followed(const fs::path& target) {
    Place place;
    std::error_code failure;
    // Asked of every file: wine shows links of the system below it as what they lead to.
    place.target = realPath(target, failure);
    if (failure) {
        if (fs::is_symlink(statusOfName(target, failure))) {
            return leadsToNoFile(target);
        }
        place.target = target;
    }
    return place;
}
#else
/// Follows links, also one whose target is not there yet, as a shell's > does.
Result<Place> followed(const fs::path& target) {
    constexpr int kMaxLinks = 40; // as the kernel follows
    Place place;
    place.target = target;
    std::error_code failure;
    for (int i = 0; i <= kMaxLinks; ++i) {
        if (!fs::is_symlink(fs::symlink_status(place.target, failure))) {
            return place;
        }
        place.own_descriptor = ownDescriptor(place.target);
        if (place.own_descriptor >= 0) {
            return place;
        }
        const fs::path next = fs::read_symlink(place.target, failure);
        if (failure) {
            break;
        }
        if (!next.is_absolute() && place.target.parent_path().filename() == "fd" &&
            !fs::exists(fs::symlink_status(place.target.parent_path() / next, failure))) {
            return place; // "pipe:[77]" of another process: what it is, is asked through the link
        }
        place.target = next.is_absolute() ? next : place.target.parent_path() / next;
    }
    return leadsToNoFile(target);
}
#endif

/// Where to write, or why not: nothing but a plain file is ever renamed over.
Result<Place> placeOf(const fs::path& target, bool is_replacing_allowed, NoPlainFile choice) {
    const std::string name = nameOf(target);
    std::error_code failure;
    if (target.empty() || target.filename().empty()) {
        return noPlainFileError(name, said("is not the name of a file; name one"));
    }
    if (!is_replacing_allowed && fs::exists(statusOfName(target, failure))) {
        return existsError(name);
    }
    ENGINE_ASSIGN(Place place, followed(target));
    const fs::file_status status = fs::status(place.target, failure);
    const bool is_own = place.own_descriptor >= 0;
    if (!is_own && (status.type() == fs::file_type::not_found || fs::is_regular_file(status))) {
        return place;
    }
    place.is_plain = false;
    const auto refused = [&](Phrase what) {
        return noPlainFileError(name, said("is %1, expected a plain file; name another", what));
    };
    switch (status.type()) {
    case fs::file_type::directory:
        return refused(phrase("a folder"));
    case fs::file_type::block:
        return refused(phrase("a disk"));
    case fs::file_type::socket:
        if (!is_own) {
            return refused(phrase("a socket"));
        }
        break;
    case fs::file_type::fifo:
    case fs::file_type::character:
    case fs::file_type::regular: // of an own descriptor
        break;
    default:
        return writeError(name, said("cannot be examined: %1", failure.message()));
    }
    if (choice == NoPlainFile::Refuse) {
        return refused(status.type() == fs::file_type::fifo ? phrase("a pipe")
                                                            : phrase("a device"));
    }
    return place;
}

} // namespace

Result<void> FileWriter::openTemporary() {
    std::random_device random;
    for (int i = 0; i < kMaxNameTries; ++i) {
        fs::path temporary = target_;
        temporary += ".tmp" + std::to_string(random());
#ifdef _WIN32
        const HANDLE handle = CreateFileW(temporary.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW,
                                          FILE_ATTRIBUTE_NORMAL, nullptr);
        const bool is_open = handle != INVALID_HANDLE_VALUE;
        const bool is_taken = !is_open && GetLastError() == ERROR_FILE_EXISTS;
        const auto raw = reinterpret_cast<intptr_t>(handle);
#else
        const int raw = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        const bool is_open = raw >= 0;
        const bool is_taken = !is_open && errno == EEXIST;
#endif
        if (is_open) {
            handle_ = raw;
            temporary_ = std::move(temporary);
#ifndef _WIN32
            struct stat former {};
            if (::stat(target_.c_str(), &former) == 0) {
                // Who may read the file that is replaced is not changed by replacing it.
                static_cast<void>(::fchmod(raw, former.st_mode & 0777U));
            }
#endif
            return {};
        }
        if (!is_taken) {
            break;
        }
    }
    return writeError(name_, said("cannot be created: %1", lastErrorText()));
}

Result<void> FileWriter::openInto() {
#ifdef _WIN32
    return noPlainFileError(name_, said("is not a plain file"));
#else
    int raw = -1;
    if (own_descriptor_ >= 0) {
        raw = ::fcntl(own_descriptor_, F_DUPFD_CLOEXEC, 3);
    } else {
        // Without O_NONBLOCK a pipe that nobody reads would be waited for without end.
        for (int i = 0; i < kPipeTries; ++i) {
            raw = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
            if (raw >= 0 || errno != ENXIO) {
                break;
            }
            std::this_thread::sleep_for(kPipeWait);
        }
    }
    if (raw < 0) {
        return errno == ENXIO
                   ? noPlainFileError(name_, said("is a pipe that no program reads; start the "
                                                  "reader first, or name a file"))
                   : writeError(name_, said("cannot be opened: %1", lastErrorText()));
    }
    handle_ = raw;
    if (own_descriptor_ < 0) {
        const int flags = ::fcntl(raw, F_GETFL);
        if (flags >= 0) {
            static_cast<void>(::fcntl(raw, F_SETFL, flags & ~O_NONBLOCK));
        }
    }
    if (::isatty(raw) != 0) {
        return noPlainFileError(name_, said("is a terminal; name a file"));
    }
    is_written_into_ = true;
    return {};
#endif
}

Result<std::unique_ptr<FileWriter>>
FileWriter::create(const fs::path& target, bool is_replacing_allowed, NoPlainFile no_plain_file) {
    std::unique_ptr<FileWriter> writer(new FileWriter());
    writer->name_ = nameOf(target);
    writer->is_replacing_allowed_ = is_replacing_allowed;
    ENGINE_ASSIGN(const Place place, placeOf(target, is_replacing_allowed, no_plain_file));
    writer->target_ = place.target;
    writer->own_descriptor_ = place.own_descriptor;
    ENGINE_TRY(place.is_plain ? writer->openTemporary() : writer->openInto());
    return writer;
}

Result<void>
FileWriter::check(const fs::path& target, bool is_replacing_allowed, NoPlainFile no_plain_file) {
    ENGINE_ASSIGN(const Place place, placeOf(target, is_replacing_allowed, no_plain_file));
    const fs::path folder =
        place.target.has_parent_path() ? place.target.parent_path() : fs::path(".");
    std::error_code failure;
    if (place.is_plain && !fs::is_directory(folder, failure)) {
        return writeError(
            nameOf(target),
            said("the folder %1 does not exist; make it or name another place", utf8Of(folder)));
    }
    return {};
}

void FileWriter::closeHandle() {
    if (handle_ == -1) {
        return;
    }
#ifdef _WIN32
    CloseHandle(reinterpret_cast<HANDLE>(handle_));
#else
    ::close(static_cast<int>(handle_));
#endif
    handle_ = -1;
}

FileWriter::~FileWriter() {
    std::error_code failure;
#ifndef _WIN32
    if (!is_committed_ && handle_ != -1 && !is_written_into_) {
        // The name goes at once; the last close gives gigabytes of pages and blocks back, which
        // takes a second on a busy disk: nobody who cancels is to wait for it.
        fs::remove(temporary_, failure);
        if (num_written_ >= kMinBytesClosedApart) {
            try {
                runDetached([handle = static_cast<int>(handle_)] { ::close(handle); });
                handle_ = -1;
            } catch (const std::exception&) { // no thread to be had: closed below
            }
        }
        closeHandle();
        return;
    }
#endif
    closeHandle();
    if (!is_committed_ && !temporary_.empty()) {
        fs::remove(temporary_, failure);
    }
}

void FileWriter::makePrivate() {
#ifndef _WIN32
    if (!is_written_into_) {
        static_cast<void>(::fchmod(static_cast<int>(handle_), 0600));
    }
#endif
}

Result<void> FileWriter::write(std::span<const std::byte> bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
        const size_t wanted = std::min(bytes.size() - done, kMaxWriteBytes);
#ifdef _WIN32
        DWORD num_written = 0;
        const bool is_written = WriteFile(reinterpret_cast<HANDLE>(handle_), bytes.data() + done,
                                          static_cast<DWORD>(wanted), &num_written, nullptr) != 0;
        if (!is_written) {
#else
        const ssize_t num_written = ::write(static_cast<int>(handle_), bytes.data() + done, wanted);
        if (num_written < 0 && (errno == EINTR || (is_written_into_ && errno == EAGAIN))) {
            if (errno == EAGAIN) { // a descriptor that whoever started us made so
                pollfd waited{static_cast<int>(handle_), POLLOUT, 0};
                static_cast<void>(::poll(&waited, 1, -1));
            }
            continue;
        }
        if (num_written < 0) {
#endif
            return writeError(name_, said("writing failed: %1", lastErrorText()));
        }
        done += static_cast<size_t>(num_written);
        num_written_ += static_cast<uint64_t>(num_written);
    }
    return {};
}

Result<void> FileWriter::commit(bool is_flushing) {
#ifndef _WIN32
    if (is_written_into_) {
        const bool is_closed = ::close(static_cast<int>(std::exchange(handle_, -1))) == 0;
        if (!is_closed) { // where network file systems tell of a full disk
            return writeError(name_, said("writing failed: %1", lastErrorText()));
        }
        is_committed_ = true;
        return {};
    }
#endif
#ifdef _WIN32
    const bool is_flushed =
        !is_flushing || FlushFileBuffers(reinterpret_cast<HANDLE>(handle_)) != 0;
#else
    const bool is_flushed = !is_flushing || ::fsync(static_cast<int>(handle_)) == 0;
#endif
    if (!is_flushed) {
        return writeError(name_, said("flushing to disk failed: %1", lastErrorText()));
    }
    closeHandle();
    std::error_code failure;
    const fs::file_status now = statusOfName(target_, failure);
    if (fs::exists(now) && !fs::is_regular_file(now)) { // put there meanwhile
        return noPlainFileError(name_, said("is not a plain file any more; name another"));
    }
    if (is_replacing_allowed_) {
        fs::rename(temporary_, target_, failure);
    } else {
        // A hard link fails when the target has appeared meanwhile, which rename would not.
        fs::create_hard_link(temporary_, target_, failure);
        if (failure == std::errc::file_exists) {
            return existsError(name_);
        }
        if (failure) { // file systems without hard links
            if (fs::exists(statusOfName(target_, failure))) {
                return existsError(name_);
            }
            fs::rename(temporary_, target_, failure);
        } else {
            fs::remove(temporary_, failure);
            failure.clear();
        }
    }
    if (failure) {
        return writeError(name_, said("renaming the finished file failed: %1", failure.message()));
    }
    is_committed_ = true;
#ifndef _WIN32
    if (!is_flushing) {
        return {};
    }
    // The new name is on disk only after the folder is flushed too; best effort.
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    const int folder_handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_handle >= 0) {
        static_cast<void>(::fsync(folder_handle));
        ::close(folder_handle);
    }
#endif
    return {};
}

} // namespace engine
