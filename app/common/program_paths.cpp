// SPDX-License-Identifier: Apache-2.0
#include "app/common/program_paths.h"

#include "engine/base/paths.h"

#include <filesystem>
#include <string>
#include <system_error>

#ifdef _WIN32
#include <windows.h>
#endif

namespace app {

namespace {

/// The running program's file; empty where the system does not say.
std::filesystem::path programFile() {
#ifdef _WIN32
    constexpr size_t kLongestPath = 32768; // Windows' own limit
    std::wstring name(kLongestPath, L'\0');
    name.resize(GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size())));
    return std::filesystem::path{name};
#else
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error);
#endif
}

} // namespace

std::string demoModelFolder() {
    std::error_code error;
    const std::filesystem::path folder = programFile().parent_path();
    const std::filesystem::path sources = engine::pathFromUtf8(BELFRY_RESOURCES_DIR);
    for (const std::filesystem::path& candidate :
         {folder / "../share/belfry/demo_model", folder / "demo_model",
          sources.empty() ? sources : sources / "demo_model"}) {
        if (candidate.empty()) { // a package: what lies in the current folder is not meant
            continue;
        }
        if (std::filesystem::is_regular_file(candidate / "config.json", error)) {
            return engine::utf8Of(std::filesystem::weakly_canonical(candidate, error));
        }
    }
    return {};
}

std::string programFolder() {
    return engine::utf8Of(programFile().parent_path());
}

std::string ownProgram() {
#ifdef _WIN32
    return engine::utf8Of(programFile());
#else
    return "/proc/self/exe"; // also of a program that an update has replaced
#endif
}

} // namespace app
