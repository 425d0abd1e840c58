// SPDX-License-Identifier: Apache-2.0
#include "engine/base/real_path.h"

#ifdef _WIN32
#include <windows.h>

#include <string>
#include <string_view>
#include <vector>
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

/// Path of an opened file, as Windows writes long names; empty: GetLastError() says why.
std::wstring nameOf(HANDLE file, const fs::path& path) {
    // Asked twice: with no room it says how much it takes.
    const DWORD size = GetFinalPathNameByHandleW(file, nullptr, 0, VOLUME_NAME_DOS);
    if (size > 0) {
        std::wstring name(size, L'\0');
        const DWORD written = GetFinalPathNameByHandleW(file, name.data(), size, VOLUME_NAME_DOS);
        name.resize(written < size ? written : 0);
        return name;
    }
    // wine names no file of more than 260 characters there, but says what the name on the volume
    // is. It is taken for one on the volume of `path` if that is where the file lies.
    if (GetLastError() != ERROR_MORE_DATA) {
        return {};
    }
    constexpr size_t kLongestName = 32768; // characters, Windows' own limit
    std::vector<FILE_NAME_INFO> room(kLongestName * sizeof(wchar_t) / sizeof(FILE_NAME_INFO) + 1);
    const std::wstring drive = fs::absolute(path).root_name().native();
    BY_HANDLE_FILE_INFORMATION about{};
    DWORD volume = 0;
    if (GetFileInformationByHandleEx(file, FileNameInfo, room.data(),
                                     static_cast<DWORD>(room.size() * sizeof(FILE_NAME_INFO))) ==
            0 ||
        GetFileInformationByHandle(file, &about) == 0 ||
        GetVolumeInformationW((drive + L"\\").c_str(), nullptr, 0, &volume, nullptr, nullptr,
                              nullptr, 0) == 0) {
        return {};
    }
    if (volume != about.dwVolumeSerialNumber) {
        SetLastError(ERROR_MORE_DATA);
        return {};
    }
    return L"\\\\?\\" + drive +
           std::wstring(room[0].FileName, room[0].FileNameLength / sizeof(wchar_t));
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
        name = nameOf(file, path);
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

fs::file_status statusOfName(const fs::path& path, std::error_code& failure) {
    if (mayBeLink(path)) {
        WIN32_FIND_DATAW found{};
        const HANDLE search = FindFirstFileW(path.c_str(), &found);
        const bool is_found = search != INVALID_HANDLE_VALUE;
        if (is_found) {
            FindClose(search);
        }
        // The tag says whether the name stands for another place. Where none is told (wine has none
        // for links of the system below it), it is taken for a link: nobody enters those.
        const DWORD tag = is_found ? found.dwReserved0 : 0;
        if (tag == 0 || IsReparseTagNameSurrogate(tag)) {
            failure.clear();
            return fs::file_status(fs::file_type::symlink);
        }
    }
    return fs::status(path, failure);
}

#else

fs::path realPath(const fs::path& path, std::error_code& failure) {
    return fs::canonical(path, failure);
}

bool mayBeLink(const fs::path& path) {
    std::error_code failure;
    return fs::is_symlink(fs::symlink_status(path, failure));
}

fs::file_status statusOfName(const fs::path& path, std::error_code& failure) {
    return fs::symlink_status(path, failure);
}

#endif

} // namespace engine
