// SPDX-License-Identifier: Apache-2.0
// The folder that a merge writes. It grows under another name beside its place and is given its own
// when all of it, the report too, is there: whatever ends the program, a folder with the asked for
// name is a complete one. Removed again unless the work succeeds.
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace engine {

class OutputFolder {
public:
    /// `wanted` must not exist or be empty. Errors: InvalidRequest (it is not), InvalidFile (it
    /// cannot be made).
    static Result<std::unique_ptr<OutputFolder>> open(const std::filesystem::path& wanted);
    ~OutputFolder();
    OutputFolder(const OutputFolder&) = delete;
    OutputFolder& operator=(const OutputFolder&) = delete;

    /// Where files are to be written.
    [[nodiscard]] const std::filesystem::path& work() const { return work_; }
    /// A file that was written, or is about to be.
    void add(const std::string& name) { names_.push_back(name); }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// The last step.
    Result<void> keep();

private:
    OutputFolder() = default;

    std::filesystem::path work_, final_;
    std::vector<std::string> names_;
    bool is_apart_ = false, is_kept_ = false;
};

} // namespace engine
