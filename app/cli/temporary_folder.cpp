// SPDX-License-Identifier: Apache-2.0
#include "app/cli/temporary_folder.h"

#include "engine/base/paths.h"

#include <random>
#include <system_error>

namespace cli {

namespace fs = std::filesystem;

engine::Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make(const std::string& name) {
    std::random_device random;
    std::error_code failure;
    auto folder = std::unique_ptr<TemporaryFolder>(new TemporaryFolder);
    const fs::path path =
        fs::temp_directory_path(failure) / ("belfry-" + name + "-" + std::to_string(random()));
    if (failure || !fs::create_directory(path, failure)) {
        return engine::Error{engine::ErrorCode::InvalidFile,
                             engine::utf8Of(path) +
                                 " cannot be made; set TMPDIR to a folder that can be written"};
    }
    folder->path_ = path;
    fs::permissions(path, fs::perms::owner_all, failure);
    return folder;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) {
        fs::remove_all(path_, ignored);
    }
}

} // namespace cli
