// SPDX-License-Identifier: Apache-2.0
#include "engine/files/folder_advice.h"

#include "engine/base/ascii.h"
#include "engine/base/folder_list.h"
#include "engine/base/gguf_names.h"
#include "engine/base/paths.h"
#include "engine/files/foreign_format.h"
#include "engine/files/model_files.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace engine {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kModelConfig = "config.json";
constexpr std::string_view kAdapterConfig = "adapter_config.json";
constexpr std::string_view kAdapterWeights = "adapter_model.safetensors";
constexpr Phrase kChooseModel = phrase("choose the folder that holds a Hugging Face model: "
                                       "config.json and .safetensors files");

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

/// Files as another program has them.
struct OtherForm {
    std::string_view endings; ///< How the names of such files end.
    std::string_view program; ///< Empty: `words` say it.
    Phrase words = {};
};

constexpr Phrase kArchive = phrase("is an archive; unpack it and choose the folder that comes out");

/// First what most probably holds the model.
constexpr auto kOtherForms = std::to_array<OtherForm>({
    {".gguf .ggml", "", kGgufAdvice},
    {".onnx .onnx_data", "ONNX"},
    {".h5 .keras .pb", "TensorFlow"},
    {".msgpack", "Flax"},
    {".tflite .task .litertlm", "LiteRT"},
    {".npz", "NumPy"},
    {".nemo", "NeMo"},
    {".mlmodel .mlpackage", "Core ML"},
    {".bin .pt .pth .ckpt .pkl", "", kPickleByName},
    {".zip .tar .tgz .gz .xz .7z .zst", "", kArchive},
});

bool endsInOneOf(const std::string& name, std::string_view endings) {
    const size_t dot = name.rfind('.');
    return dot != std::string::npos &&
           (std::string(endings) + " ").find(lowered(name.substr(dot)) + " ") != std::string::npos;
}

/// Files are called anything: "sha256-..." in Ollama's folder.
bool beginsAsGguf(const fs::path& folder, const std::string& name) {
    const auto format = recogniseForeignFormat(headOfModelFile(folder, name, 16), true);
    return format.has_value() && format->rule == "GgufFile";
}

/// What the files are instead of a model that Belfry runs; empty: none of them tells.
Sentence otherForm(const fs::path& folder, const std::vector<std::string>& names) {
    constexpr int kMostHeads = 16;
    int heads = 0;
    for (const std::string& name : names) {
        if (name.find('.') == std::string::npos && heads++ < kMostHeads &&
            beginsAsGguf(folder, name)) {
            return said("%1 %2", name, kGgufAdvice);
        }
    }
    const auto find = [&names](std::string_view endings) {
        return std::find_if(names.begin(), names.end(), [endings](const std::string& name) {
            return endsInOneOf(name, endings);
        });
    };
    // Both are published side by side, as training arguments are.
    const bool has_safetensors = find(".safetensors") != names.end();
    for (const OtherForm& form : kOtherForms) {
        const auto name = find(form.endings);
        if (name != names.end() && (form.words.text != kPickleByName.text || !has_safetensors)) {
            return form.program.empty()
                       ? said("%1 %2", *name, form.words)
                       : said("%1 is a model in the form of %2; Belfry runs the model as it was "
                              "published: choose the Hugging Face folder with config.json and "
                              ".safetensors files",
                              *name, form.program);
        }
    }
    return {};
}

Error noEntry(const fs::path& path, std::string_view file) {
    return advice(file, said("%1 may not be looked into; ask its owner for the right to read it",
                             utf8Of(path)));
}

/// A path that is no folder at all.
Error notAFolder(const fs::path& path, std::string_view file, Phrase give) {
    const std::string shown = utf8Of(path);
    std::error_code failure;
    if (!fs::exists(path, failure)) {
        if (failure == std::errc::permission_denied) {
            return noEntry(path, file);
        }
        if (!looksLikeRepository(shown)) {
            return advice(file, said("%1: there is no such folder", shown));
        }
        Error error =
            advice(file, noRepositoryFolder(shown, said("get it with: belfry-cli get %1", shown)));
        error.details.emplace_back(kRepository, shown);
        return error;
    }
    const std::string name = utf8Of(path.filename());
    const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const bool is_there = modelFileExists(parent, file);
    if (is_there && !lowered(name).ends_with(".gguf")) {
        return advice(file, said("%1 is a file; choose its folder: %2", name, utf8Of(parent)));
    }
    if (const Sentence form = otherForm(parent, {name}); !form.isEmpty()) {
        return advice(file, form, ErrorCode::Unsupported);
    }
    return advice(file, said("%1 is a file, not a folder; %2", name, give));
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
        return notAFolder(path, kModelConfig, kChooseModel);
    }
    constexpr size_t kMaxEntries = 10'000;
    std::vector<std::string> names;
    for (const fs::path& name : listFolder(path, kMaxEntries, failure)) {
        names.push_back(utf8Of(name));
    }
    if (names.empty()) {
        return failure == std::errc::permission_denied
                   ? noEntry(path, kModelConfig)
                   : advice(kModelConfig, said("%1 is empty; %2", utf8Of(path), kChooseModel));
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
    std::sort(names.begin(), names.end());
    if (const Sentence form = otherForm(path, names); !form.isEmpty()) {
        return advice(kModelConfig, form, ErrorCode::Unsupported);
    }
    return advice(kModelConfig, said("%1; %2", missing, kChooseModel));
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
        return notAFolder(
            path, kAdapterConfig,
            phrase("give the folder that holds the adapter's adapter_config.json, or a GGUF "
                   "file"));
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
    if (const auto files = ggufFilesIn(path, GgufRole::Model); !files.empty()) {
        return advice(kAdapterConfig, said("%1, but %2 is; if that is the adapter, give the file",
                                           missing, files.front()));
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
