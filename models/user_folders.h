// SPDX-License-Identifier: Apache-2.0
// The folders that the user named, in a small file of the configuration folder: one path per line,
// UTF-8; lines that begin with '#' are for people. Of the user, not of a program.
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <vector>

namespace models {

/// Most folders that are kept.
inline constexpr size_t kMaxUserFolders = 100;

/// No file: no folders. Errors: InvalidFile (cannot be read, is no plain file, is too large).
engine::Result<std::vector<std::filesystem::path>>
readFolderList(const std::filesystem::path& file);

/// Replaces the file as a whole, and makes the folder it lies in. Errors: InvalidRequest (a path
/// that is not absolute or holds a line break, too many), InvalidFile (cannot be written).
engine::Result<void> writeFolderList(const std::filesystem::path& file,
                                     const std::vector<std::filesystem::path>& folders);

} // namespace models
