// SPDX-License-Identifier: Apache-2.0
// Where the pictures and sounds of requests lie while they are answered, as the engine reads files:
// a folder that only this user can look into, gone with the server.
#pragma once

#include "app/serve/folder_lock.h"
#include "engine/base/result.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace serve {

class MediaFolder {
public:
    /// In `base`, without one in the system's folder for temporary files. Removes what servers of
    /// this user that were killed left there. Errors: InvalidFile where none can be made.
    static engine::Result<std::shared_ptr<MediaFolder>>
    create(const std::filesystem::path& base = {});
    ~MediaFolder();
    MediaFolder(const MediaFolder&) = delete;
    MediaFolder& operator=(const MediaFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    /// A file, removed with the last copy of the pointer.
    using File = std::shared_ptr<const std::filesystem::path>;
    /// From any thread. Errors: InvalidFile (no space).
    static engine::Result<File> save(const std::shared_ptr<MediaFolder>& folder,
                                     std::string_view bytes);

private:
    MediaFolder(std::filesystem::path path, FolderLock lock)
        : path_(std::move(path)), lock_(std::move(lock)) {}

    std::filesystem::path path_;
    std::optional<FolderLock> lock_; ///< Tells other servers that this one runs.
    std::atomic<uint64_t> next_{1};
};

} // namespace serve
