// SPDX-License-Identifier: Apache-2.0
#include "models/removal.h"

#include "engine/base/folder_list.h"
#include "engine/base/gguf_names.h"
#include "engine/base/paths.h"
#include "engine/base/real_path.h"
#include "engine/base/small_file.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace models {

namespace fs = std::filesystem;
using engine::Error;
using engine::ErrorCode;
using engine::phrase;
using engine::Result;
using engine::said;
using engine::Sentence;

namespace {

constexpr size_t kMaxFiles = 20'000; ///< Per removal.
constexpr int kMaxDepth = 16;

Error fileError(const fs::path& path, Sentence what) {
    return Error{ErrorCode::InvalidFile, said("%1: %2", engine::utf8Of(path), std::move(what))};
}

bool isBelow(const fs::path& path, const fs::path& root) {
    const auto [at, end] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
    return at == root.end();
}

fs::file_status statusOf(const fs::path& path) {
    std::error_code failure;
    return engine::statusOfName(path, failure);
}

uint64_t bytesOf(const fs::path& path) {
    std::error_code failure;
    if (!fs::is_regular_file(statusOf(path))) {
        return 0;
    }
    const uint64_t bytes = fs::file_size(path, failure);
    return failure ? 0 : bytes;
}

/// All below `folder` and itself, what is inside first. Links to folders are not entered.
Result<void> addTree(const fs::path& folder, Removal& removal, int depth = 0) {
    std::error_code failure;
    const std::vector<fs::path> names = engine::listFolder(folder, kMaxFiles, failure);
    if (failure) {
        return fileError(folder,
                         said("cannot be read (%1); nothing was deleted", failure.message()));
    }
    for (const fs::path& name : names) {
        const fs::path path = folder / name;
        if (removal.paths.size() >= kMaxFiles || depth > kMaxDepth) {
            return fileError(folder, phrase("holds more than a model does; nothing was deleted. "
                                            "Delete it with a file manager"));
        }
        if (fs::is_directory(statusOf(path))) {
            ENGINE_TRY(addTree(path, removal, depth + 1));
        } else {
            removal.bytes += bytesOf(path);
            removal.paths.push_back(path);
        }
    }
    removal.paths.push_back(folder);
    return {};
}

/// Blobs of the repository that the links below `folder` lead to.
void collectBlobs(const fs::path& folder,
                  const fs::path& blobs,
                  std::set<fs::path>& out,
                  int depth = 0) {
    std::error_code failure;
    for (const fs::path& name : engine::listFolder(folder, kMaxFiles, failure)) {
        const fs::path path = folder / name;
        const fs::file_status status = statusOf(path);
        if (fs::is_directory(status) && depth < kMaxDepth) {
            collectBlobs(path, blobs, out, depth + 1);
        } else if (fs::is_symlink(status)) {
            const fs::path blob = engine::realPath(path, failure);
            if (!failure && blob.parent_path() == blobs) {
                out.insert(blob);
            }
        }
    }
}

/// refs/main and its like that hold the commit.
void addRefs(const fs::path& folder, const std::string& commit, Removal& removal, int depth = 0) {
    constexpr size_t kMaxRefBytes = 256;
    constexpr int kMaxRefDepth = 3;
    std::error_code failure;
    for (const fs::path& name : engine::listFolder(folder, kMaxFiles, failure)) {
        const fs::path path = folder / name;
        const fs::file_status status = statusOf(path);
        if (fs::is_directory(status) && depth < kMaxRefDepth) {
            addRefs(path, commit, removal, depth + 1);
        } else if (fs::is_regular_file(status)) {
            const auto text = engine::readSmallFile(path, kMaxRefBytes);
            if (text.has_value() && text->starts_with(commit)) {
                removal.paths.push_back(path);
            }
        }
    }
}

/// The names of a GGUF model's files: one, or its parts.
std::vector<std::string> filesOf(const fs::path& file) {
    const std::string name = engine::utf8Of(file.filename());
    std::vector<std::string> names = engine::partNames(name);
    if (names.empty()) {
        names.push_back(name);
    }
    return names;
}

/// One of several GGUF models of a snapshot: its links, and the blobs that nothing else leads to.
void planGgufInCache(const Entry& entry,
                     const fs::path& repository,
                     const fs::path& snapshot,
                     Removal& removal) {
    const std::vector<std::string> files = filesOf(entry.path);
    const fs::path blobs = repository / "blobs";
    std::set<fs::path> others;
    std::vector<fs::path> own;
    std::error_code failure;
    for (const fs::path& name : engine::listFolder(repository / "snapshots", kMaxFiles, failure)) {
        if (name != snapshot.filename()) {
            collectBlobs(repository / "snapshots" / name, blobs, others);
        }
    }
    for (const fs::path& name : engine::listFolder(snapshot, kMaxFiles, failure)) {
        const fs::path path = snapshot / name;
        const fs::path blob = engine::realPath(path, failure);
        if (fs::is_directory(statusOf(path))) {
            collectBlobs(path, blobs, others);
        } else if (std::find(files.begin(), files.end(), engine::utf8Of(name)) == files.end()) {
            others.insert(blob);
        } else {
            removal.bytes += bytesOf(path); // not a link where the cache has none
            removal.paths.push_back(path);
            own.push_back(blob);
        }
    }
    for (const fs::path& blob : own) {
        if (blob.parent_path() == blobs && !others.contains(blob)) {
            removal.bytes += bytesOf(blob);
            removal.paths.push_back(blob);
        }
    }
}

Result<void> planCache(const Entry& entry, const fs::path& repository, Removal& removal) {
    removal.is_shared = true;
    const fs::path snapshots = repository / "snapshots";
    const fs::path snapshot = snapshots / engine::pathFromUtf8(entry.commit);
    const bool is_beginning = entry.commit.empty();
    const bool is_file =
        entry.form == Form::Gguf && entry.path.parent_path().filename() == snapshot.filename();
    if (is_file && engine::ggufFilesIn(snapshot, engine::GgufRole::Model).size() > 1) {
        planGgufInCache(entry, repository, snapshot, removal);
        return {};
    }
    if (!is_beginning && !is_file && entry.path.filename() != snapshot.filename()) {
        return Error{ErrorCode::InvalidRequest,
                     said("%1 is one of the folders of a download: others would go with it. "
                          "Delete the download (%2) with a file manager",
                          entry.name, engine::utf8Of(snapshot)),
                     {{"rule", "NotAlone"}}};
    }
    std::set<fs::path> own;
    std::set<fs::path> others;
    bool is_last = true;
    std::error_code failure;
    for (const fs::path& name : engine::listFolder(snapshots, kMaxFiles, failure)) {
        if (!is_beginning && name == snapshot.filename()) {
            collectBlobs(snapshot, repository / "blobs", own);
        } else if (fs::is_directory(statusOf(snapshots / name))) {
            is_last = false;
            collectBlobs(snapshots / name, repository / "blobs", others);
        }
    }
    if (is_last) {
        removal.is_whole_repository = true;
        ENGINE_TRY(addTree(repository, removal));
        const fs::path locks = repository.parent_path() / ".locks" / repository.filename();
        if (fs::is_directory(statusOf(locks))) {
            ENGINE_TRY(addTree(locks, removal));
        }
        return {};
    }
    // References first: whoever looks meanwhile does not find a half snapshot by its branch.
    addRefs(repository / "refs", entry.commit, removal);
    ENGINE_TRY(addTree(snapshot, removal));
    for (const fs::path& blob : own) {
        if (!others.contains(blob) && fs::exists(statusOf(blob))) {
            removal.bytes += bytesOf(blob);
            removal.paths.push_back(blob);
        }
    }
    const fs::path absent = repository / ".no_exist" / snapshot.filename();
    if (fs::is_directory(statusOf(absent))) {
        ENGINE_TRY(addTree(absent, removal));
    }
    fs::path list = repository / "trees" / snapshot.filename();
    list += ".json";
    if (fs::is_regular_file(statusOf(list))) {
        removal.paths.push_back(list);
    }
    return {};
}

/// Files that come with a model or an adapter.
bool isOfModel(const std::string& name) {
    constexpr auto kNames = std::to_array<std::string_view>({
        ".gitattributes",
        "LICENSE",
        "LICENSE.txt",
        "LICENSE.md",
        "NOTICE",
        "README.md",
        "USE_POLICY.md",
        "adapter_config.json",
        "added_tokens.json",
        "chat_template.jinja",
        "chat_template.json",
        "config.json",
        "generation_config.json",
        "merges.txt",
        "preprocessor_config.json",
        "processor_config.json",
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer.model",
        "tokenizer_config.json",
        "training_args.bin",
        "video_preprocessor_config.json",
        "vocab.json",
        "merge_report.json",
    });
    constexpr auto kEndings = std::to_array<std::string_view>(
        {".safetensors", ".safetensors.index.json", ".bin.index.json", ".gguf"});
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
           std::any_of(kEndings.begin(), kEndings.end(),
                       [&](std::string_view ending) { return name.ends_with(ending); }) ||
           ((name.starts_with("pytorch_model") || name.starts_with("adapter_model")) &&
            name.ends_with(".bin"));
}

Result<void> planFolder(const fs::path& folder, Removal& removal) {
    std::error_code failure;
    std::vector<fs::path> names = engine::listFolder(folder, kMaxFiles, failure);
    if (failure) {
        return fileError(folder,
                         said("cannot be read (%1); nothing was deleted", failure.message()));
    }
    std::sort(names.begin(), names.end());
    for (const fs::path& name : names) {
        const fs::path path = folder / name;
        const std::string shown = engine::utf8Of(name);
        const fs::file_status status = statusOf(path);
        if (fs::is_directory(status)) {
            const fs::path notes = path / "huggingface"; // of hf download --local-dir
            std::error_code unread;
            if (shown == ".cache" && fs::is_directory(statusOf(notes)) &&
                engine::listFolder(path, 2, unread).size() == 1) {
                ENGINE_TRY(addTree(path, removal));
            } else {
                removal.kept.push_back(shown + "/");
            }
        } else if ((fs::is_regular_file(status) || fs::is_symlink(status)) && isOfModel(shown)) {
            removal.bytes += bytesOf(path);
            removal.paths.push_back(path);
        } else {
            removal.kept.push_back(shown);
        }
    }
    if (removal.kept.empty()) {
        removal.paths.push_back(folder);
    }
    return {};
}

/// The file, and the further parts of a model in several; with the folder's last model also what
/// serves models alone.
void planGguf(const fs::path& file, Removal& removal) {
    using engine::GgufRole;
    const fs::path folder = file.parent_path();
    std::vector<std::string> names = filesOf(file);
    if (engine::ggufFilesIn(folder, GgufRole::Model).size() == 1) {
        for (const GgufRole role : {GgufRole::Projector, GgufRole::Assistant}) {
            const auto beside = engine::ggufFilesIn(folder, role);
            names.insert(names.end(), beside.begin(), beside.end());
        }
    }
    for (const std::string& one : names) {
        const fs::path path = folder / engine::pathFromUtf8(one);
        if (fs::exists(statusOf(path))) {
            removal.bytes += bytesOf(path);
            removal.paths.push_back(path);
        }
    }
}

} // namespace

Result<Removal> planRemoval(const Entry& entry) {
    Removal removal;
    if (entry.root.place == Place::Ollama) {
        // Its blobs are shared, and only its own lists say by whom.
        return Error{ErrorCode::InvalidRequest,
                     said("%1 is one of Ollama's: delete it with \"ollama rm %1\"", entry.name),
                     {{"rule", "NotOurs"}}};
    }
    removal.name = entry.name;
    std::error_code failure;
    const bool is_cached = !entry.repository.empty();
    const fs::path& place = is_cached ? entry.repository : entry.path;
    // A link in the place of a repository or a model's folder would lead elsewhere.
    const fs::path parent = engine::realPath(place.parent_path(), failure);
    if (failure || !fs::exists(statusOf(place))) {
        return fileError(place, phrase("is not there any more"));
    }
    removal.root = engine::realPath(entry.root.folder, failure);
    fs::path real = parent / place.filename();
    const bool is_moved = entry.root.place == Place::LmStudio; // its settings name another folder
    if (!failure && is_moved && !isBelow(real, removal.root)) {
        removal.root = parent;
    }
    if (failure || fs::is_symlink(statusOf(real)) ||
        !(isBelow(real, removal.root) || real == removal.root)) {
        return Error{ErrorCode::InvalidRequest,
                     said("%1: %2 does not lie in %3, where it was found (a link leads there): "
                          "delete it with a file manager",
                          entry.name, engine::utf8Of(place), engine::utf8Of(entry.root.folder)),
                     {{"rule", "OutsideRoot"}}};
    }
    if (is_cached) {
        ENGINE_TRY(planCache(entry, real, removal));
    } else if (entry.form == Form::Gguf) {
        planGguf(real, removal);
    } else {
        ENGINE_TRY(planFolder(real, removal));
    }
    return removal;
}

Result<void> remove(const Removal& removal) {
    for (const fs::path& path : removal.paths) {
        std::error_code failure;
        // Looked at again each time: a folder may have become a link meanwhile.
        const fs::path parent = engine::realPath(path.parent_path(), failure);
        const bool is_root = path == removal.root;
        if (failure || parent != path.parent_path() ||
            !(isBelow(parent, removal.root) || is_root)) {
            return fileError(path, phrase("its folder has changed; it was not deleted, nor what "
                                          "comes behind it. Search again"));
        }
        fs::remove(path, failure); // of a link, the link
        if (failure) {
            return fileError(path,
                             said("cannot be deleted (%1); what came before it is gone. Close "
                                  "what uses it, or delete it with a file manager",
                                  failure.message()));
        }
    }
    return {};
}

} // namespace models
