// SPDX-License-Identifier: Apache-2.0
// The names in a folder. Instead of std::filesystem::directory_iterator, whose step to the next
// entry is noexcept in libstdc++ and allocates: where memory runs out there, the program ends.
#pragma once

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

namespace engine {

/// At most max_names names of a folder's entries in no particular order, without "." and "..".
/// Sets `failure` when the folder cannot be read (to the end); the names so far come all the same.
/// Throws only std::bad_alloc.
std::vector<std::filesystem::path>
listFolder(const std::filesystem::path& folder, size_t max_names, std::error_code& failure);

} // namespace engine
