// SPDX-License-Identifier: Apache-2.0
// The cache's format is glibc's "new" one: a magic text, a header of 48 bytes, entries of 24 bytes
// (flags, offsets of name and path, OS version, hardware capabilities), then the texts. Older
// systems put the old format before it. Offsets count from the magic text.
#include "kernels/cuda/system_library.h"

#if !defined(_WIN32)

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>

namespace kernels::cuda {

namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr size_t kHeaderBytes = 48;
constexpr size_t kEntryBytes = 24;
/// A large installation's has some hundred KiB.
constexpr size_t kMaxCacheBytes = size_t{16} << 20;

/// Where drivers are on systems whose cache is missing or is not glibc's: distributions, WSL,
/// containers, NixOS.
constexpr const char* kFolders[] = {
#if defined(__x86_64__)
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
    "/usr/lib/aarch64-linux-gnu",
    "/lib/aarch64-linux-gnu",
#endif
    "/usr/lib64",
    "/lib64",
    "/usr/lib",
    "/lib",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib"};

uint32_t wordAt(std::string_view bytes, size_t at) {
    uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    return word;
}

/// The text that begins at `at`; empty when it does not end.
std::string_view textAt(std::string_view bytes, size_t at) {
    if (at >= bytes.size()) {
        return {};
    }
    const size_t end = bytes.find('\0', at);
    return end == std::string_view::npos ? std::string_view() : bytes.substr(at, end - at);
}

std::string loaderCache() {
    std::ifstream file("/etc/ld.so.cache", std::ios::binary);
    std::string bytes;
    std::array<char, 4096> piece{}; // a thread may have a small stack
    while (file && bytes.size() < kMaxCacheBytes) {
        file.read(piece.data(), piece.size());
        bytes.append(piece.data(), static_cast<size_t>(file.gcount()));
    }
    return bytes;
}

/// Whether this program itself was linked with an RPATH or a RUNPATH.
bool hasRunPath() {
    bool found = false;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* result) {
            for (size_t i = 0; i < info->dlpi_phnum; ++i) {
                if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) {
                    continue;
                }
                // The loader says where it is as a number.
                // NOLINTNEXTLINE(performance-no-int-to-ptr)
                const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr +
                                                                       info->dlpi_phdr[i].p_vaddr);
                for (; entry->d_tag != DT_NULL; ++entry) {
                    if (entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH) {
                        *static_cast<bool*>(result) = true;
                    }
                }
            }
            return 1; // the program comes first: libraries do not matter
        },
        &found);
    return found;
}

/// What setLibraryPath() was told; `to`: from now on this.
std::string libraryPath(const std::string* to) {
    static std::mutex mutex;
    static std::string path;
    const std::lock_guard lock(mutex);
    if (to != nullptr) {
        path = *to;
    }
    return path;
}

} // namespace

std::vector<std::string> pathsInLoaderCache(std::string_view cache, std::string_view name) {
    std::vector<std::string> paths;
    const size_t start = cache.find(kMagic);
    if (start == std::string_view::npos || cache.size() - start < kHeaderBytes) {
        return paths;
    }
    const std::string_view bytes = cache.substr(start);
    const size_t entries =
        std::min<size_t>(wordAt(bytes, kMagic.size()), (bytes.size() - kHeaderBytes) / kEntryBytes);
    for (size_t i = 0; i < entries; ++i) {
        const size_t entry = kHeaderBytes + i * kEntryBytes;
        const std::string_view path = textAt(bytes, wordAt(bytes, entry + 8));
        if (textAt(bytes, wordAt(bytes, entry + 4)) == name && path.starts_with('/')) {
            paths.emplace_back(path);
        }
    }
    return paths;
}

std::vector<std::string>
systemLibraryPaths(std::string_view name, std::string_view library_path, std::string_view cache) {
    std::vector<std::string> paths;
    std::string_view rest = library_path;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find_first_of(":;"), rest.size());
        if (rest.starts_with('/')) {
            paths.push_back(std::string(rest.substr(0, end)) + "/" + std::string(name));
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    for (std::string& path : pathsInLoaderCache(cache, name)) {
        paths.push_back(std::move(path));
    }
    for (const char* folder : kFolders) {
        paths.push_back(std::string(folder) + "/" + std::string(name));
    }
    return paths;
}

void setLibraryPath(const std::string& path) {
    if (!path.empty()) {
        (void)libraryPath(&path);
    }
}

void* openSystemLibrary(const char* name) {
    if (!hasRunPath()) {
        return dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    for (const std::string& path : systemLibraryPaths(name, libraryPath(nullptr), loaderCache())) {
        // A library of the wrong kind (32 bits), or none: the next.
        if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
            return library;
        }
    }
    return nullptr;
}

std::string findSystemLibrary(const char* name) {
    for (std::string& path : systemLibraryPaths(name, libraryPath(nullptr), loaderCache())) {
        if (::access(path.c_str(), R_OK) == 0) {
            return std::move(path);
        }
    }
    return {};
}

std::string fileOfSymbol(const void* symbol) {
    Dl_info info{};
    const bool is_found = symbol != nullptr && ::dladdr(symbol, &info) != 0;
    return is_found && info.dli_fname != nullptr ? info.dli_fname : "";
}

} // namespace kernels::cuda

#else

#include <windows.h>

#include <array>

namespace kernels::cuda {

namespace {

std::string utf8Of(const wchar_t* text) {
    std::array<char, 3 * MAX_PATH> bytes{};
    const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes.data(),
                                         static_cast<int>(bytes.size()), nullptr, nullptr);
    return size > 0 ? std::string(bytes.data()) : std::string();
}

} // namespace

void setLibraryPath(const std::string& /*path*/) {}

void* openSystemLibrary(const char* name) {
    // The system folder only: a file of this name beside a program must not be run.
    return reinterpret_cast<void*>(LoadLibraryExA(name, nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32));
}

std::string findSystemLibrary(const char* name) {
    std::array<wchar_t, MAX_PATH> folder{};
    const UINT size = GetSystemDirectoryW(folder.data(), static_cast<UINT>(folder.size()));
    if (size == 0 || size >= folder.size()) {
        return {};
    }
    std::wstring path = std::wstring(folder.data()) + L"\\";
    for (const char* c = name; *c != '\0'; ++c) {
        path += static_cast<wchar_t>(*c);
    }
    return GetFileAttributesW(path.c_str()) == INVALID_FILE_ATTRIBUTES ? std::string()
                                                                       : utf8Of(path.c_str());
}

std::string fileOfSymbol(const void* symbol) {
    HMODULE library = nullptr;
    std::array<wchar_t, MAX_PATH> path{};
    const DWORD how =
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (symbol == nullptr ||
        GetModuleHandleExW(how, reinterpret_cast<LPCWSTR>(symbol), &library) == 0 ||
        GetModuleFileNameW(library, path.data(), static_cast<DWORD>(path.size() - 1)) == 0) {
        return {};
    }
    return utf8Of(path.data());
}

} // namespace kernels::cuda

#endif
