// SPDX-License-Identifier: Apache-2.0
// A regular file opened for positioned reads. Never maps memory. Notices when the file changes
// between open and read. POSIX and Windows.
#pragma once

#include "engine/base/file_stamp.h"
#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace engine {

/// What the system says about the call that has just failed on this thread.
std::string lastErrorText();

class FileReader {
public:
    /// Opens for reading without blocking on pipes; the last path component must not be a link.
    /// Errors: InvalidFile with rule FileMissing, FileUnreadable or ST07 (not a regular file).
    /// `shown_name` replaces the file's own name in messages (for links into a cache).
    static Result<std::unique_ptr<FileReader>> open(const std::filesystem::path& path,
                                                    std::string shown_name = {});

    ~FileReader();
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;

    [[nodiscard]] uint64_t sizeBytes() const { return size_bytes_; }
    /// File name without folder, for messages.
    [[nodiscard]] const std::string& name() const { return name_; }

    /// Fills `out` from byte `offset`. Thread-safe.
    /// Errors: InvalidFile with rule ST08 (range beyond the end, size or modification time differ
    /// from when it was opened, file shortened meanwhile) or FileUnreadable (I/O error).
    [[nodiscard]] Result<void> read(uint64_t offset, std::span<std::byte> out) const;

    /// The file's stamp now. While it stays the same, so do the contents. nullopt when that cannot
    /// be said: the file changed in the last two seconds (a change right after may carry the same
    /// time) or lies on a file system that keeps no time of change (FAT, exFAT).
    [[nodiscard]] std::optional<FileStamp> stamp() const;

private:
    FileReader() = default;
    [[nodiscard]] Result<void> checkUnchanged() const;

    std::string name_;
    uint64_t size_bytes_ = 0;
    int64_t modified_ = 0; ///< Nanoseconds (POSIX) or 100 ns ticks (Windows), compared only.
    intptr_t handle_ = -1;
};

} // namespace engine
