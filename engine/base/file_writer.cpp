// SPDX-License-Identifier: Apache-2.0
// Temporary file, flush, rename.
#include "engine/base/file_writer.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
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
/// From so many on, what a given up file held is given back on a thread of its own.
constexpr uint64_t kMinBytesClosedApart = uint64_t{64} << 20U;
#endif

Error writeError(const std::string& file, const std::string& what) {
    return Error{
        ErrorCode::InvalidFile, file + ": " + what, {{"rule", "WriteFailed"}, {"file", file}}};
}

Error existsError(const std::string& file) {
    return Error{
        ErrorCode::InvalidRequest,
        file + ": the file exists already and is not replaced (it may be in use); choose another "
               "folder or remove it first",
        {{"rule", "ST09"}, {"file", file}}};
}

#ifdef _WIN32
std::string lastErrorText() {
    return "Windows error " + std::to_string(GetLastError());
}
#else
std::string lastErrorText() {
    return std::strerror(errno);
}
#endif

} // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::create(const fs::path& target,
                                                       bool is_replacing_allowed) {
    std::unique_ptr<FileWriter> writer(new FileWriter());
    writer->target_ = target;
    writer->is_replacing_allowed_ = is_replacing_allowed;
    const std::u8string utf8_name = target.filename().u8string();
    writer->name_.assign(utf8_name.begin(), utf8_name.end());
    std::error_code failure;
    if (!is_replacing_allowed && fs::exists(fs::symlink_status(target, failure))) {
        return existsError(writer->name_);
    }
    std::random_device random;
    for (int i = 0; i < kMaxNameTries; ++i) {
        fs::path temporary = target;
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
            writer->handle_ = raw;
            writer->temporary_ = std::move(temporary);
            return writer;
        }
        if (!is_taken) {
            break;
        }
    }
    return writeError(writer->name_, "cannot be created: " + lastErrorText());
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
    if (!is_committed_ && handle_ != -1) {
        // The name goes at once; the last close gives gigabytes of pages and blocks back, which
        // takes a second on a busy disk: nobody who cancels is to wait for it.
        fs::remove(temporary_, failure);
        if (num_written_ >= kMinBytesClosedApart) {
            try {
                std::thread([handle = static_cast<int>(handle_)] { ::close(handle); }).detach();
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
        if (num_written < 0 && errno == EINTR) {
            continue;
        }
        if (num_written < 0) {
#endif
            return writeError(name_, "writing failed: " + lastErrorText());
        }
        done += static_cast<size_t>(num_written);
        num_written_ += static_cast<uint64_t>(num_written);
    }
    return {};
}

Result<void> FileWriter::commit(bool is_flushing) {
#ifdef _WIN32
    const bool is_flushed =
        !is_flushing || FlushFileBuffers(reinterpret_cast<HANDLE>(handle_)) != 0;
#else
    const bool is_flushed = !is_flushing || ::fsync(static_cast<int>(handle_)) == 0;
#endif
    if (!is_flushed) {
        return writeError(name_, "flushing to disk failed: " + lastErrorText());
    }
    closeHandle();
    std::error_code failure;
    if (is_replacing_allowed_) {
        fs::rename(temporary_, target_, failure);
    } else {
        // A hard link fails when the target has appeared meanwhile, which rename would not.
        fs::create_hard_link(temporary_, target_, failure);
        if (failure == std::errc::file_exists) {
            return existsError(name_);
        }
        if (failure) { // file systems without hard links
            if (fs::exists(fs::symlink_status(target_, failure))) {
                return existsError(name_);
            }
            fs::rename(temporary_, target_, failure);
        } else {
            fs::remove(temporary_, failure);
            failure.clear();
        }
    }
    if (failure) {
        return writeError(name_, "renaming the finished file failed: " + failure.message());
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
