// SPDX-License-Identifier: Apache-2.0
#include "engine/files/folder_advice.h"

#include "engine/base/folder_list.h"
#include "engine/base/paths.h"
#include "engine/files/model_files.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kModelConfig = "config.json";
constexpr std::string_view kAdapterConfig = "adapter_config.json";
constexpr std::string_view kAdapterWeights = "adapter_model.safetensors";

Error advice(std::string_view file,
             const Sentence& message,
             ErrorCode code = ErrorCode::InvalidFile) {
    return Error{code, message, {{"rule", "FileMissing"}, {"file", std::string(file)}}};
}

/// "org/name": how the Hugging Face Hub calls a repository.
bool looksLikeRepository(const std::string& text) {
    const size_t slash = text.find('/');
    const auto isPart = [](std::string_view part) {
        return !part.empty() && part[0] != '.' && part[0] != '~' &&
               std::all_of(part.begin(), part.end(), [](char c) {
                   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
               });
    };
    return slash != std::string::npos && isPart(std::string_view(text).substr(0, slash)) &&
           isPart(std::string_view(text).substr(slash + 1));
}

constexpr const char* kRepository = "repository"; ///< Key among an error's details.

/// The snapshot of a repository in one of the caches, if it is there.
std::string cachedSnapshot(std::string repository, std::string_view file, const HubCaches& caches) {
    repository.replace(repository.find('/'), 1, "--");
    for (const fs::path& cache : caches) {
        const fs::path folder = cache / pathFromUtf8("models--" + repository) / "snapshots";
        std::error_code failure;
        for (const fs::path& name : listFolder(folder, 100, failure)) {
            if (!cache.empty() && modelFileExists(folder / name, file)) {
                return utf8Of(folder / name);
            }
        }
    }
    return {};
}

Sentence noRepositoryFolder(const std::string& name, const Sentence& next_step) {
    return said("%1: there is no such folder. It looks like the name of a repository on the "
                "Hugging Face Hub; %2",
                name, next_step);
}

/// A path that is no folder at all.
Error notAFolder(const fs::path& path, std::string_view file, Phrase give) {
    const std::string shown = utf8Of(path);
    std::error_code failure;
    if (!fs::exists(path, failure)) {
        if (!looksLikeRepository(shown)) {
            return advice(file, said("%1: there is no such folder", shown));
        }
        Error error =
            advice(file, noRepositoryFolder(shown, said("get it with: belfry-cli get %1", shown)));
        error.details.emplace_back(kRepository, shown);
        return error;
    }
    const std::string name = utf8Of(path.filename());
    if (name.ends_with(".gguf")) {
        return advice(file,
                      said("%1 is a GGUF file (llama.cpp); Belfry opens folders in the Hugging "
                           "Face form, with config.json and safetensors files",
                           name),
                      ErrorCode::Unsupported);
    }
    const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const bool is_there = modelFileExists(parent, file);
    const Sentence what = said("%1 is a file; %2", name, give);
    return advice(file, is_there ? said("%1, here %2", what, utf8Of(parent)) : what);
}

std::string firstEndingIn(const fs::path& folder, std::string_view ending) {
    constexpr size_t kMaxEntries = 10'000;
    std::error_code failure;
    std::vector<fs::path> names = listFolder(folder, kMaxEntries, failure);
    std::sort(names.begin(), names.end());
    for (const fs::path& name : names) {
        if (std::string text = utf8Of(name); text.ends_with(ending)) {
            return text;
        }
    }
    return {};
}

} // namespace

Error notAModelFolder(const fs::path& path) {
    std::error_code failure;
    if (!fs::is_directory(path, failure)) {
        return notAFolder(path, kModelConfig,
                          phrase("give the folder that holds the model's config.json"));
    }
    const Sentence missing =
        said("config.json: there is no such file in the folder %1", utf8Of(path));
    if (modelFileExists(path, kAdapterConfig)) {
        return advice(kModelConfig, said("%1, but adapter_config.json is: this is an adapter. Open "
                                         "its base model and add the adapter to it",
                                         missing));
    }
    if (const std::string below = foldersBelowWith(path, kModelConfig); !below.empty()) {
        return advice(kModelConfig,
                      said("%1; below it there is one in: %2. Choose that folder", missing, below));
    }
    if (const std::string gguf = firstEndingIn(path, ".gguf"); !gguf.empty()) {
        return advice(kModelConfig,
                      said("%1, but %2 is: a GGUF file (llama.cpp). Belfry opens the Hugging Face "
                           "form of a model, with config.json and safetensors files",
                           missing, gguf),
                      ErrorCode::Unsupported);
    }
    return advice(kModelConfig,
                  said("%1; choose the folder that holds a Hugging Face model", missing));
}

Error withDownload(Error error, const HubCaches& caches) {
    std::string file;
    std::string repository;
    for (const auto& [key, value] : error.details) {
        file = key == "file" ? value : file;
        repository = key == kRepository ? value : repository;
    }
    if (repository.empty()) {
        return error;
    }
    std::erase_if(error.details, [](const auto& detail) { return detail.first == kRepository; });
    if (const std::string found = cachedSnapshot(repository, file, caches); !found.empty()) {
        error.say(
            noRepositoryFolder(repository, said("it has been downloaded to %1; give that", found)));
    }
    return error;
}

Error notAnAdapterFolder(const fs::path& path) {
    std::error_code failure;
    if (!fs::is_directory(path, failure)) {
        return notAFolder(path, kAdapterConfig,
                          phrase("give the folder that holds the adapter's adapter_config.json"));
    }
    const Sentence missing = said("%1: not found in %2", kAdapterConfig, utf8Of(path));
    if (const std::string below = foldersBelowWith(path, kAdapterConfig); !below.empty()) {
        return advice(kAdapterConfig,
                      said("%1; below it there is one in: %2. Choose that folder", missing, below));
    }
    if (modelFileExists(path, kModelConfig)) {
        return advice(
            kAdapterConfig,
            said("%1, but config.json is: this is a model, not an adapter. Open it as the model",
                 missing));
    }
    return advice(
        kAdapterConfig,
        said("%1; an adapter folder holds adapter_config.json and adapter_model.safetensors",
             missing));
}

Error noAdapterWeights(const fs::path& folder) {
    constexpr std::string_view kPickle = "adapter_model.bin";
    if (modelFileExists(folder, kPickle)) {
        return Error{ErrorCode::Unsupported,
                     said("%1: a Python pickle file can run code when it is read and is never "
                          "opened; convert the adapter to adapter_model.safetensors (PEFT: load it "
                          "and call save_pretrained)",
                          kPickle),
                     {{"file", std::string(kPickle)}}};
    }
    const Sentence missing = said("%1: not found in %2", kAdapterWeights, utf8Of(folder));
    if (modelFileExists(folder, "adapters.safetensors")) {
        return advice(kAdapterWeights,
                      said("%1, but adapters.safetensors is, as mlx-lm calls it; if PEFT wrote the "
                           "file, rename it to adapter_model.safetensors",
                           missing));
    }
    const std::string other = firstEndingIn(folder, ".safetensors");
    return advice(
        kAdapterWeights,
        other.empty()
            ? said("%1; download it", missing)
            : said("%1, but %2 is; if it is the adapter, rename it to adapter_model.safetensors",
                   missing, other));
}

} // namespace engine
