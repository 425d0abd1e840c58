// SPDX-License-Identifier: Apache-2.0
#include "engine/base/assistant_folder.h"

#include "engine/base/folder_list.h"
#include "engine/base/gguf_names.h"
#include "engine/base/paths.h"
#include "engine/base/small_file.h"

#include <string>

namespace engine {

namespace {

bool hasConfig(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::exists(folder / "config.json", ignored);
}

/// "NAME-assistant" beside "NAME".
std::filesystem::path sibling(std::filesystem::path folder) {
    folder += "-assistant";
    return folder;
}

/// Finds the assistant of a model at models--OWNER--NAME/snapshots/COMMIT.
std::filesystem::path inCache(const std::filesystem::path& model) {
    constexpr size_t kMostCommit = 200; // 40 digits and whatever an editor left behind them
    constexpr size_t kMostSnapshots = 4096;
    const std::filesystem::path repository = model.parent_path().parent_path();
    if (model.parent_path().filename() != "snapshots" ||
        !utf8Of(repository.filename()).starts_with("models--")) {
        return {};
    }
    const std::filesystem::path assistant = sibling(repository);
    if (const auto commit = readSmallFile(assistant / "refs" / "main", kMostCommit);
        commit.has_value()) {
        const size_t length = commit->find_last_not_of(" \t\r\n") + 1;
        std::filesystem::path named =
            assistant / "snapshots" / pathFromUtf8(commit->substr(0, length));
        if (length > 0 && hasConfig(named)) {
            return named;
        }
    }
    std::error_code failed;
    std::filesystem::path last;
    const std::filesystem::path snapshots = assistant / "snapshots";
    for (const std::filesystem::path& name : listFolder(snapshots, kMostSnapshots, failed)) {
        if (hasConfig(snapshots / name) && last < snapshots / name) {
            last = snapshots / name;
        }
    }
    return last;
}

} // namespace

std::filesystem::path assistantFolderOf(std::filesystem::path model) {
    if (!model.has_filename()) {
        model = model.parent_path();
    }
    if (model.empty()) {
        return {};
    }
    const std::filesystem::path own =
        ggufRole(utf8Of(model.filename())) == GgufRole::None ? model : model.parent_path();
    if (const auto files = ggufFilesIn(own, GgufRole::Assistant); !files.empty()) {
        return own / pathFromUtf8(files.front());
    }
    for (const std::filesystem::path& folder : {sibling(model), model / "assistant"}) {
        if (hasConfig(folder)) {
            return folder;
        }
    }
    return inCache(model);
}

} // namespace engine
