// SPDX-License-Identifier: Apache-2.0
// Says of a folder that a process which runs has it: a file inside that is locked as long as that
// process lives, however it ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace serve {

class FolderLock {
public:
    static constexpr const char* kFile = "lock";

    /// Nothing where another process has it, or no such file can be opened. `makes`: makes the file
    /// where there is none.
    static std::optional<FolderLock> take(const std::filesystem::path& folder, bool makes);
    FolderLock(FolderLock&& other) noexcept;
    FolderLock& operator=(FolderLock&& other) = delete;
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    ~FolderLock();

    /// Whether the folder is one that nobody but this user can look into and that holds nothing but
    /// such a file and files named by numbers. No link is followed.
    static bool isOwn(const std::filesystem::path& folder);

private:
    explicit FolderLock(std::intptr_t handle) : handle_(handle) {}
    std::intptr_t handle_; ///< A descriptor, on Windows a handle; -1: none.
};

} // namespace serve
