// SPDX-License-Identifier: Apache-2.0
// Where a path leads when every link on its way is followed. Instead of std::filesystem's
// canonical(), symlink_status() and is_symlink(), which know no links on Windows: neither symbolic
// ones nor junctions.
#pragma once

#include <filesystem>
#include <system_error>

namespace engine {

/// The file or folder itself, which must exist; an empty path and `failure` otherwise.
std::filesystem::path realPath(const std::filesystem::path& path, std::error_code& failure);

/// False for what is certainly no link. True also for other things that a file system resolves by
/// itself on Windows (files that are fetched when they are read): realPath() tells them apart.
bool mayBeLink(const std::filesystem::path& path);

/// Status of the name itself, links not followed: file_type::symlink for a symbolic link or a
/// junction, also for one that leads nowhere.
std::filesystem::file_status statusOfName(const std::filesystem::path& path,
                                          std::error_code& failure);

} // namespace engine
