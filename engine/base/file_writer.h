// SPDX-License-Identifier: Apache-2.0
// Writes a file so that a reader sees either the old state or the complete new file: into a
// temporary file in the same folder, flushed to disk, then renamed. POSIX and Windows.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace engine {

class FileWriter {
public:
    /// Creates the temporary file beside `target`. With is_replacing_allowed = false an existing
    /// target is refused here and again at commit().
    /// Errors: InvalidRequest with rule ST09 (target exists), InvalidFile with rule WriteFailed.
    static Result<std::unique_ptr<FileWriter>> create(const std::filesystem::path& target,
                                                      bool is_replacing_allowed);

    /// Removes the temporary file unless commit() succeeded. What a large one held is given back on
    /// a thread of its own.
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    /// Appends. Errors: InvalidFile with rule WriteFailed (disk full, ...).
    Result<void> write(std::span<const std::byte> bytes);
    /// Flushes to disk and renames. Nothing may be written afterwards. Without flushing a power cut
    /// may leave an incomplete file under the final name: for files that are checked when read.
    Result<void> commit(bool is_flushing = true);

private:
    FileWriter() = default;
    void closeHandle();

    std::filesystem::path target_;
    std::filesystem::path temporary_;
    std::string name_;
    intptr_t handle_ = -1;
    uint64_t num_written_ = 0;
    bool is_replacing_allowed_ = false;
    bool is_committed_ = false;
};

} // namespace engine
