// SPDX-License-Identifier: Apache-2.0
#include "app/network/network_part.h"

#include "app/common/program_paths.h"
#include "engine/base/paths.h"

#include <filesystem>
#include <system_error>
#include <vector>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#include <sys/stat.h>
#endif

namespace app {

namespace fs = std::filesystem;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using engine::said;

namespace {

#ifdef _WIN32

constexpr const char* kModule = "belfry-network.dll";

/// Beside the program, where what both need lies once.
fs::path shippedFolder(const fs::path& program) {
    return program;
}

bool isOurs(const fs::path& file) {
    std::error_code ignored;
    return fs::is_regular_file(file, ignored);
}

/// Its own libraries from its own folder and the system's, never from the current one.
void* openModule(const fs::path& file, std::string& why) {
    HMODULE module = LoadLibraryExW(
        file.c_str(), nullptr, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (module == nullptr) {
        why = std::system_category().message(static_cast<int>(GetLastError()));
    }
    return reinterpret_cast<void*>(module);
}

void* symbolOf(void* module) {
    return reinterpret_cast<void*>(
        GetProcAddress(reinterpret_cast<HMODULE>(module), kNetworkSymbol));
}

#else

constexpr const char* kModule = "belfry-network.so";

fs::path shippedFolder(const fs::path& program) {
    return program.parent_path() / "lib" / "belfry";
}

/// A plain file that not everybody may have written.
bool isOurs(const fs::path& file) {
    struct stat facts = {};
    return ::stat(file.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           (facts.st_mode & S_IWOTH) == 0 && (facts.st_uid == 0 || facts.st_uid == ::geteuid());
}

void* openModule(const fs::path& file, std::string& why) {
    void* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
        const char* const told = ::dlerror();
        why = told == nullptr ? "" : told;
    }
    return module;
}

void* symbolOf(void* module) {
    return ::dlsym(module, kNetworkSymbol);
}

#endif

Error notThere(const std::string& why) {
    return {
        ErrorCode::Unsupported,
        said("belfry-cli's network part (%1) cannot be used (%2); install Belfry whole and Qt 6 "
             "Network, or fetch the model with Python's \"hf download\"",
             kModule, why)};
}

Result<NetworkPart*> open() {
    const fs::path program = engine::pathFromUtf8(programFolder());
    const fs::path built = engine::pathFromUtf8(BELFRY_MODULE_DIR);
    std::vector<fs::path> folders;
    if (!program.empty()) {
        folders.push_back(shippedFolder(program));
    }
    if (!built.empty()) { // a build that is no package
        folders.insert(folders.begin(), built);
    }
    for (const fs::path& folder : folders) {
        const fs::path file = folder / kModule;
        if (!isOurs(file)) {
            continue;
        }
        std::string why;
        void* const module = openModule(file, why);
        if (module == nullptr) {
            return notThere(why);
        }
        const auto open_part = reinterpret_cast<OpenNetworkPart>(symbolOf(module));
        NetworkPart* const part =
            open_part == nullptr ? nullptr : open_part(networkBuild().c_str());
        return part == nullptr
                   ? Result<NetworkPart*>(notThere(engine::utf8Of(file) + ": of another build"))
                   : Result<NetworkPart*>(part);
    }
    return notThere(folders.empty() ? "" : engine::utf8Of(folders.back() / kModule));
}

} // namespace

Result<NetworkPart*> networkPart() {
    static const Result<NetworkPart*> kPart = open();
    return kPart;
}

} // namespace app
