// SPDX-License-Identifier: Apache-2.0
// Bounded looks at a disk that nobody vouches for. Before each operation a step is asked for: the
// scanner hears there that the disk still answers, and ends a scan there. After a refused step
// every question is answered with nothing, at once. Writes nothing, waits for no pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace models {

struct Limits {
    int max_depth = 4;               ///< Folders below a root.
    size_t max_entries = 20'000;     ///< Names of one root.
    size_t max_folder_names = 5'000; ///< Names of one folder.
    size_t max_text_bytes = size_t{4} << 20;
};

/// What there is at a path.
struct Look {
    enum class Kind : uint8_t { Nothing = 1, File, Folder, Link, Other };
    Kind kind = Kind::Nothing;
    uint64_t bytes = 0;   ///< Files.
    int64_t modified = 0; ///< Files: seconds since 1970.
};

class Disk {
public:
    /// Called with the path that is about to be asked for; false: no more.
    using Step = std::function<bool(const std::filesystem::path&)>;

    Disk(const Limits& limits, Step step) : limits_(limits), step_(std::move(step)) {}

    [[nodiscard]] const Limits& limits() const { return limits_; }
    /// A step was refused.
    [[nodiscard]] bool isOver() const { return is_over_; }
    /// Names were left out.
    [[nodiscard]] bool isCut() const { return is_cut_; }

    /// Names in a folder, sorted. Sets `failure` when it cannot be read.
    std::vector<std::filesystem::path> list(const std::filesystem::path& folder,
                                            std::error_code& failure);
    /// Links are not followed.
    Look look(const std::filesystem::path& path);
    /// The file that a model may read as folder/name: also a link to a blob of a hub's cache, whose
    /// size and date it then has. Nothing: none, or a link that leads out or nowhere.
    Look lookAtModelFile(const std::filesystem::path& folder, const std::string& name);
    /// A whole plain file; "" when there is none, it is larger than max_text_bytes or cannot be
    /// read. With `in_folder` for files of a model, whose links are followed by its rules.
    std::string read(const std::filesystem::path& path);
    std::string readModelFile(const std::filesystem::path& folder, const std::string& name);
    /// The first bytes (1,024) of a model's file; fewer when there are fewer.
    std::string head(const std::filesystem::path& folder, const std::string& name);
    /// Without links; `path` itself when that cannot be told.
    std::filesystem::path real(const std::filesystem::path& path);

private:
    bool mayGoOn(const std::filesystem::path& path);

    Limits limits_;
    Step step_;
    size_t num_entries_ = 0;
    bool is_over_ = false;
    bool is_cut_ = false;
};

} // namespace models
