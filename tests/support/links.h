// SPDX-License-Identifier: Apache-2.0
// Symbolic links for tests, on systems that make them: Windows does for a developer only, and wine
// not at all.
#pragma once

#include <filesystem>
#include <system_error>

#ifdef _WIN32
#include <windows.h>
#endif

namespace support {

/// False where this user or this system makes none. A relative target begins at the link's folder.
inline bool makeLink(const std::filesystem::path& target, const std::filesystem::path& link) {
#ifdef _WIN32
    constexpr DWORD kUnprivileged = 2; // SYMBOLIC_LINK_FLAG_ALLOW_UNPRIVILEGED_CREATE
    std::error_code unknown;
    const bool is_folder = std::filesystem::is_directory(link.parent_path() / target, unknown);
    std::filesystem::path native = target;
    native.make_preferred();
    // Looked at, as wine says of a link that it has not made that it has.
    const bool is_made =
        CreateSymbolicLinkW(link.c_str(), native.c_str(),
                            kUnprivileged | (is_folder ? SYMBOLIC_LINK_FLAG_DIRECTORY : 0)) != 0;
    const DWORD attributes = GetFileAttributesW(link.c_str());
    return is_made && attributes != INVALID_FILE_ATTRIBUTES &&
           (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
#else
    std::error_code failure;
    std::filesystem::create_symlink(target, link, failure);
    return !failure;
#endif
}

} // namespace support

/// Makes the link, or ends the test function as skipped.
#define BELFRY_LINK_OR_SKIP(target, link)                                                          \
    do {                                                                                           \
        if (!support::makeLink((target), (link))) {                                                \
            QSKIP("this system makes no symbolic links");                                          \
        }                                                                                          \
    } while (false)
