// SPDX-License-Identifier: Apache-2.0
// Writes a file so that a reader sees either the old state or the complete new file: into a
// temporary file in the same folder, flushed to disk, then renamed. Only a plain file is ever
// replaced: a link is followed to the file that it names, and what is there and is no plain file
// (a pipe, a device) is written into or refused, never renamed over. POSIX and Windows.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace engine {

/// What to do with a target that is there and is no plain file.
enum class NoPlainFile {
    Refuse = 1,
    /// For targets that a person names: a named pipe, a character device such as a null device, an
    /// own open descriptor (/dev/stdout). Folders, disks, sockets and terminals are refused still.
    WriteInto,
};

class FileWriter {
public:
    /// Creates the temporary file beside `target`, or beside what it is a link to. With
    /// is_replacing_allowed = false an existing target is refused here and again at commit(). A
    /// named pipe is waited for a few seconds until somebody reads it.
    /// Errors: InvalidRequest with rule ST09 (target exists), InvalidFile with rule WriteFailed or
    /// NoPlainFile.
    static Result<std::unique_ptr<FileWriter>>
    create(const std::filesystem::path& target,
           bool is_replacing_allowed,
           NoPlainFile no_plain_file = NoPlainFile::Refuse);

    /// What create() would refuse, told before any work; opens and changes nothing.
    static Result<void> check(const std::filesystem::path& target,
                              bool is_replacing_allowed,
                              NoPlainFile no_plain_file = NoPlainFile::Refuse);

    /// Removes the temporary file unless commit() succeeded. What a large one held is given back on
    /// a thread of its own.
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    /// Nobody but the user may read and write the file, whoever could the one that is replaced. By
    /// its descriptor: a process with limits (ipc/limits.h) changes the rights of no name. On
    /// Windows the folder's rights hold.
    void makePrivate();
    /// Appends. Errors: InvalidFile with rule WriteFailed (disk full, ...).
    Result<void> write(std::span<const std::byte> bytes);
    /// Flushes to disk and renames. Nothing may be written afterwards. Without flushing a power cut
    /// may leave an incomplete file under the final name: for files that are checked when read.
    Result<void> commit(bool is_flushing = true);

private:
    FileWriter() = default;
    void closeHandle();
    Result<void> openTemporary();
    Result<void> openInto();

    std::filesystem::path target_;
    std::filesystem::path temporary_;
    std::string name_;
    intptr_t handle_ = -1;
    uint64_t num_written_ = 0;
    int own_descriptor_ = -1;      ///< The target is a name of this open descriptor.
    bool is_written_into_ = false; ///< No temporary file: bytes go straight to the target.
    bool is_replacing_allowed_ = false;
    bool is_committed_ = false;
};

} // namespace engine
