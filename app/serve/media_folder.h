// SPDX-License-Identifier: Apache-2.0
// Where the pictures and sounds of requests lie while they are answered, as the engine reads files:
// a folder that only this user can look into, gone with the server.
#pragma once

#include "engine/base/result.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace serve {

class MediaFolder {
public:
    /// In the system's folder for temporary files. Errors: InvalidFile where none can be made.
    static engine::Result<std::shared_ptr<MediaFolder>> create();
    ~MediaFolder();
    MediaFolder(const MediaFolder&) = delete;
    MediaFolder& operator=(const MediaFolder&) = delete;

    /// A file, removed with the last copy of the pointer.
    using File = std::shared_ptr<const std::filesystem::path>;
    /// From any thread. Errors: InvalidFile (no space).
    static engine::Result<File> save(const std::shared_ptr<MediaFolder>& folder,
                                     std::string_view bytes);

private:
    explicit MediaFolder(std::filesystem::path path) : path_(std::move(path)) {}

    std::filesystem::path path_;
    std::atomic<uint64_t> next_{1};
};

} // namespace serve
