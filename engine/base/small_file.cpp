// SPDX-License-Identifier: Apache-2.0
#include "engine/base/small_file.h"

#include "engine/base/file_opening.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#ifdef _WIN32
#include <fstream>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#endif

namespace engine {

namespace {

Error fileError(std::string_view rule, const std::filesystem::path& path, const Sentence& what) {
    std::string file = utf8Of(path);
    return Error{ErrorCode::InvalidFile,
                 said("%1: %2", file, what),
                 {{"rule", std::string(rule)}, {"file", std::move(file)}}};
}

Error tooLarge(const std::filesystem::path& path, size_t max_bytes) {
    return fileError("TooLarge", path,
                     said("has more than %1 bytes, the most that is expected of it", max_bytes));
}

#ifndef _WIN32
/// An open file that is closed with it.
struct Descriptor {
    int number = -1;
    explicit Descriptor(int opened) : number(opened) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number >= 0) {
            ::close(number);
        }
    }
};
#endif

} // namespace

Result<std::string> readSmallFile(const std::filesystem::path& path, size_t max_bytes) {
    constexpr size_t kPieceBytes = 8192; // on the stack, which may be small
    std::string text;
    std::array<char, kPieceBytes> piece{};
#ifdef _WIN32
    std::error_code failure;
    if (!std::filesystem::exists(path, failure)) {
        return fileError("FileMissing", path, said("there is no such file"));
    }
    if (!std::filesystem::is_regular_file(path, failure)) {
        return fileError("ST07", path, said("is not a plain file"));
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        return fileError("FileUnreadable", path, said("cannot be opened"));
    }
    while (in && text.size() <= max_bytes) {
        in.read(piece.data(),
                static_cast<std::streamsize>(std::min(piece.size(), max_bytes + 1 - text.size())));
        text.append(piece.data(), static_cast<size_t>(in.gcount()));
    }
#else
    const Descriptor file(openToRead(path, 0));
    if (file.number < 0) {
        const bool is_missing = errno == ENOENT || errno == ENOTDIR;
        return is_missing ? fileError("FileMissing", path, said("there is no such file"))
                          : fileError("FileUnreadable", path,
                                      said("cannot be opened: %1", std::strerror(errno)));
    }
    struct stat info {};
    if (::fstat(file.number, &info) != 0 || !S_ISREG(info.st_mode)) {
        return fileError(
            "ST07", path,
            said("is not a plain file (it is a folder, a pipe, a socket or a device)"));
    }
    if (info.st_size > 0 && static_cast<uintmax_t>(info.st_size) > max_bytes) {
        return tooLarge(path, max_bytes);
    }
    while (text.size() <= max_bytes) {
        const size_t wanted = std::min(piece.size(), max_bytes + 1 - text.size());
        const ssize_t num_read = ::read(file.number, piece.data(), wanted);
        if (num_read < 0 && errno == EINTR) {
            continue;
        }
        if (num_read < 0) {
            return fileError("FileUnreadable", path,
                             said("cannot be read: %1", std::strerror(errno)));
        }
        if (num_read == 0) {
            break;
        }
        text.append(piece.data(), static_cast<size_t>(num_read));
    }
#endif
    if (text.size() > max_bytes) {
        return tooLarge(path, max_bytes);
    }
    return text;
}

} // namespace engine
