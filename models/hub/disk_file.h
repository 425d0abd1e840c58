// SPDX-License-Identifier: Apache-2.0
// The few calls to the system's files that a download needs and engine/base has not: appending
// without replacing, flushing, the lock that huggingface_hub takes. POSIX and Windows.
#pragma once

#include "engine/base/result.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>

namespace models::hub {

/// A disk that refuses, in words: what, which file, why, and what to do (full, larger than the disk
/// can, no permission). `code` is errno's.
engine::Error diskError(const std::filesystem::path& path, engine::Phrase what, int code);

/// Makes `folder` and those above it. Errors: HubDisk.
engine::Result<void> makeFolder(const std::filesystem::path& folder);

class DiskFile {
public:
    /// Created where it is not there (`is_private`: for its owner alone); a link or what is no
    /// plain file is refused. Errors: HubDisk.
    static engine::Result<std::unique_ptr<DiskFile>> openToAppend(const std::filesystem::path& path,
                                                                  bool is_private = false);
    ~DiskFile();
    DiskFile(const DiskFile&) = delete;
    DiskFile& operator=(const DiskFile&) = delete;

    [[nodiscard]] uint64_t sizeBytes() const;
    /// At the end. Errors: HubDisk, with the detail "full" where the disk is.
    engine::Result<void> write(std::span<const std::byte> bytes);
    engine::Result<void> truncate();
    /// Until the disk has it.
    engine::Result<void> flush();

private:
    DiskFile(std::filesystem::path path, int descriptor)
        : path_(std::move(path)), descriptor_(descriptor) {}
    std::filesystem::path path_;
    int descriptor_;
};

/// A lock as Python's filelock takes it (flock on POSIX, one byte on Windows), so that
/// huggingface_hub and Belfry do not fetch the same file at once. Where the file system knows no
/// locks it is none: the checksum guards what comes out. The file stays, as filelock leaves it.
class CacheLock {
public:
    /// Waits for who has it, up to `limit`. Errors: HubLocked, HubDisk, Cancelled.
    static engine::Result<std::unique_ptr<CacheLock>> take(const std::filesystem::path& path,
                                                           std::chrono::milliseconds limit,
                                                           const std::stop_token& stop);
    ~CacheLock();
    CacheLock(const CacheLock&) = delete;
    CacheLock& operator=(const CacheLock&) = delete;

private:
    explicit CacheLock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

enum class FileReaders : uint8_t {
    All = 1, ///< As the user's umask has it.
    Owner,   ///< Mode 0600, from its first byte on; on Windows the folder's rights.
};

/// `text` as a new file, or in place of an old one, by way of `temporary` (on the same disk): whole
/// or not at all. Errors: HubDisk.
engine::Result<void> writeSmallFile(const std::filesystem::path& path,
                                    const std::filesystem::path& temporary,
                                    std::string_view text,
                                    FileReaders readers = FileReaders::All);

} // namespace models::hub
