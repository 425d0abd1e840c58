// SPDX-License-Identifier: Apache-2.0
#include "app/common/environment.h"

#include "engine/base/paths.h"

#include <cstdlib>
#include <optional>
#ifdef _WIN32
#include <cwchar>
#endif

namespace app {

namespace {

#ifdef _WIN32

constexpr const char* kHome = "USERPROFILE";

/// Empty where it is not set.
std::filesystem::path folderIn(const char* name) {
    const std::string narrow = name;
    const wchar_t* const value = ::_wgetenv(std::wstring(narrow.begin(), narrow.end()).c_str());
    return value == nullptr ? std::filesystem::path() : std::filesystem::path{value};
}

#else

constexpr const char* kHome = "HOME";

/// Empty where it is not set.
std::filesystem::path folderIn(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::filesystem::path() : std::filesystem::path{value};
}

#endif

} // namespace

std::filesystem::path homeFolder() {
    return folderIn(kHome);
}

std::vector<std::filesystem::path> hubCaches() {
    std::vector<std::filesystem::path> caches;
    if (const auto cache = folderIn("HF_HUB_CACHE"); !cache.empty()) {
        caches.push_back(cache);
    }
    if (const auto home = folderIn("HF_HOME"); !home.empty()) {
        caches.push_back(home / "hub");
    }
    if (const auto home = homeFolder(); !home.empty()) {
        caches.push_back(home / ".cache" / "huggingface" / "hub");
    }
    return caches;
}

models::hub::Environment hubEnvironment() {
    const auto text = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    const auto value_of = [](const std::string& name) -> std::optional<std::string> {
        const auto value = folderIn(name.c_str());
        return value.empty() ? std::nullopt : std::optional(engine::utf8Of(value));
    };
    const auto folder = [&](const char* name) {
        return engine::pathFromUtf8(
            models::hub::withVariables(engine::utf8Of(folderIn(name)), value_of));
    };
    models::hub::Environment out;
    out.home = homeFolder();
    out.xdg_cache_home = folder("XDG_CACHE_HOME");
    out.hf_home = folder("HF_HOME");
    out.hf_hub_cache = folder("HF_HUB_CACHE");
    out.huggingface_hub_cache = folder("HUGGINGFACE_HUB_CACHE");
    out.hf_token_path = folder("HF_TOKEN_PATH");
    out.hf_token = text("HF_TOKEN");
    out.hugging_face_hub_token = text("HUGGING_FACE_HUB_TOKEN");
    out.hf_endpoint = text("HF_ENDPOINT");
    out.modelscope_endpoint = text("MODELSCOPE_ENDPOINT");
    out.hf_hub_offline = text("HF_HUB_OFFLINE");
    out.hf_hub_disable_symlinks = text("HF_HUB_DISABLE_SYMLINKS");
    out.hf_hub_disable_implicit_token = text("HF_HUB_DISABLE_IMPLICIT_TOKEN");
    return out;
}

std::filesystem::path ollamaFolder() {
    if (auto models = folderIn("OLLAMA_MODELS"); models.is_absolute()) {
        return models;
    }
    const auto home = homeFolder();
    return home.empty() ? home : home / ".ollama" / "models";
}

std::string namedVariable(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::string() : std::string(value);
}

std::string libraryPath() {
    const char* const value = std::getenv("LD_LIBRARY_PATH");
    return value == nullptr ? std::string() : std::string(value);
}

std::string compiledKernelsFolder() {
    const std::string named = namedVariable("CUDA_CACHE_PATH");
    const std::string home = namedVariable("HOME");
    return named.empty() && !home.empty() ? home + "/.nv/ComputeCache" : named;
}

std::string sharingFolder() {
    std::string folder = namedVariable("CUDA_MPS_PIPE_DIRECTORY");
    folder = folder.empty() ? "/tmp/nvidia-mps" : folder;
    std::error_code ignored;
    return std::filesystem::exists(folder + "/control", ignored) ? folder : std::string();
}

std::chrono::seconds cardLimit() {
    constexpr long kUsual = 20;
    constexpr long kMost = 600;
    const char* const value = std::getenv("BELFRY_CARD_SECONDS");
    const long wanted = value == nullptr ? kUsual : std::strtol(value, nullptr, 10);
    return std::chrono::seconds(wanted >= 1 && wanted <= kMost ? wanted : kUsual);
}

std::string chatsFolder() {
#ifdef _WIN32
    const auto data = folderIn("LOCALAPPDATA");
#else
    const auto set = folderIn("XDG_DATA_HOME");
    const auto home = homeFolder();
    const auto data = set.is_absolute()    ? set
                      : home.is_absolute() ? home / ".local" / "share"
                                           : std::filesystem::path();
#endif
    return data.is_absolute() ? engine::utf8Of(data / "Belfry" / "Belfry") : std::string();
}

std::filesystem::path settingsFolder() {
#ifdef _WIN32
    const auto local = folderIn("LOCALAPPDATA");
    return local.is_absolute() ? local / "Belfry" : std::filesystem::path();
#else
    const auto set = folderIn("XDG_CONFIG_HOME");
    const auto home = homeFolder();
    return set.is_absolute()    ? set / "Belfry"
           : home.is_absolute() ? home / ".config" / "Belfry"
                                : std::filesystem::path();
#endif
}

std::string ratesFile() {
#ifdef _WIN32
    const auto local = folderIn("LOCALAPPDATA");
    const auto folder = local.is_absolute() ? local / "Belfry" / "cache" : std::filesystem::path();
#else
    const auto cache = folderIn("XDG_CACHE_HOME");
    const auto home = homeFolder();
    const auto folder = cache.is_absolute()  ? cache / "Belfry"
                        : home.is_absolute() ? home / ".cache" / "Belfry"
                                             : std::filesystem::path();
#endif
    return folder.empty() ? std::string() : engine::utf8Of(folder / "machine-rates");
}

} // namespace app
