// SPDX-License-Identifier: Apache-2.0
// A small file read whole: notes of our own and texts that a person names. What is no plain file (a
// named pipe, a device) is refused at once instead of being waited for or read without end.
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>

namespace engine {

/// Links are followed. At most max_bytes + 1 bytes are ever read, whatever the file says its size
/// is. Errors: InvalidFile with rule FileMissing, FileUnreadable, ST07 (no plain file) or TooLarge.
Result<std::string> readSmallFile(const std::filesystem::path& path, size_t max_bytes);

} // namespace engine
