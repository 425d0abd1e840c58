// SPDX-License-Identifier: Apache-2.0
// A folder of one run's own, readable by this user alone, which is gone when the run is.
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <memory>
#include <string>

namespace cli {

class TemporaryFolder {
public:
    /// Errors: InvalidFile where the system's folder for temporary files cannot be written.
    static engine::Result<std::unique_ptr<TemporaryFolder>> make(const std::string& name);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    TemporaryFolder() = default;
    std::filesystem::path path_;
};

} // namespace cli
