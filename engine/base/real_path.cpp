// SPDX-License-Identifier: Apache-2.0
#include "engine/base/real_path.h"

#ifdef _WIN32
#include <windows.h>

#include <string>
#include <string_view>
#endif

namespace engine {

namespace fs = std::filesystem;

#ifdef _WIN32

namespace {

/// As other functions take and give it: without the words that end Windows' own reading of a path,
/// but where it is too long to be read without them.
fs::path plain(std::wstring name) {
    constexpr std::wstring_view kShare = L"\\\\?\\UNC\\";
    constexpr std::wstring_view kVerbatim = L"\\\\?\\";
    if (name.size() >= MAX_PATH) {
        return name;
    }
    if (name.starts_with(kShare)) {
        return L"\\\\" + name.substr(kShare.size());
    }
    return name.starts_with(kVerbatim) ? name.substr(kVerbatim.size()) : name;
}

} // namespace

fs::path realPath(const fs::path& path, std::error_code& failure) {
    failure.clear();
    // No access at all is asked for, so that a file that others hold is named as well.
    const HANDLE file =
        CreateFileW(path.c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
    std::wstring name;
    if (file != INVALID_HANDLE_VALUE) {
        // Asked twice: with no room it says how much it takes.
        const DWORD size = GetFinalPathNameByHandleW(file, nullptr, 0, VOLUME_NAME_DOS);
        name.resize(size);
        const DWORD written = GetFinalPathNameByHandleW(file, name.data(), size, VOLUME_NAME_DOS);
        name.resize(written < size ? written : 0);
    }
    if (name.empty()) {
        failure = std::error_code(static_cast<int>(GetLastError()), std::system_category());
    }
    if (file != INVALID_HANDLE_VALUE) {
        CloseHandle(file);
    }
    return name.empty() ? fs::path() : plain(std::move(name));
}

bool mayBeLink(const fs::path& path) {
    const DWORD attributes = GetFileAttributesW(path.c_str());
    return attributes != INVALID_FILE_ATTRIBUTES &&
           (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
}

#else

fs::path realPath(const fs::path& path, std::error_code& failure) {
    return fs::canonical(path, failure);
}

bool mayBeLink(const fs::path& path) {
    std::error_code failure;
    return fs::is_symlink(fs::symlink_status(path, failure));
}

#endif

} // namespace engine
