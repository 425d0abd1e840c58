// SPDX-License-Identifier: Apache-2.0
// models: what the library finds on this computer, deleting of it, and the folders that it looks
// in.
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/model_names.h"
#include "app/cli/models_output.h"
#include "app/cli/output.h"
#include "app/cli/word_values.h"
#include "app/common/library_roots.h"
#include "engine/base/paths.h"
#include "engine/base/real_path.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

#include "models/names.h"
#include "models/removal.h"
#include "models/user_folders.h"

namespace cli {

namespace fs = std::filesystem;
using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

std::vector<models::Root> rootsOf(const Arguments& arguments) {
    std::vector<models::Root> roots = app::libraryRoots();
    const std::vector<models::Root> recent = app::recentRoots();
    roots.insert(roots.end(), recent.begin(), recent.end());
    for (const std::string& folder : arguments.folders) {
        roots.push_back({models::Place::UserFolder, engine::pathFromUtf8(folder)});
    }
    return roots;
}

/// By name, else by its folder or file.
Result<models::Entry> entryOf(const std::string& word, const models::ScanResult& found) {
    std::error_code failure;
    const fs::path path = engine::realPath(engine::pathFromUtf8(word), failure);
    if (!failure) {
        for (const models::Entry& entry : found.entries) {
            if (entry.real_path == path) {
                return entry;
            }
        }
    }
    auto model = models::resolveName(word, models::Kind::Model, found.entries);
    if (model.has_value()) {
        return model;
    }
    auto adapter = models::resolveName(word, models::Kind::Adapter, found.entries);
    return adapter.has_value() ? adapter : model;
}

Result<bool> isAgreedTo(const models::Removal& removal, const Arguments& arguments) {
    if (arguments.is_agreed) {
        return true;
    }
    const std::string question = removalText(removal);
    if (arguments.is_json || !isInputTerminal()) {
        return Error{ErrorCode::InvalidRequest,
                     question + "Nothing was deleted: agree to it with --yes"};
    }
    std::cerr << question;
    std::string answer;
    ENGINE_ASSIGN(const bool is_there, readLine(answer, "Delete? [y/N] "));
    return is_there && (answer == "y" || answer == "Y" || answer == "yes");
}

Result<void> deleteModel(const Arguments& arguments) {
    models::ScanOptions options;
    options.roots = rootsOf(arguments);
    ENGINE_ASSIGN(const models::ScanResult found, scanLibrary(std::move(options)));
    ENGINE_ASSIGN(const models::Entry entry, entryOf(arguments.deleted, found));
    ENGINE_ASSIGN(const models::Removal removal, models::planRemoval(entry));
    ENGINE_ASSIGN(const bool is_agreed, isAgreedTo(removal, arguments));
    if (!is_agreed) {
        std::cout << "nothing was deleted\n";
        return {};
    }
    ENGINE_TRY(models::remove(removal));
    if (arguments.is_json) {
        printJson({{"deleted", removal.name},
                   {"path", engine::utf8Of(entry.path)},
                   {"bytes", removal.bytes},
                   {"kept", removal.kept}});
    } else {
        std::cout << "deleted " << removal.name << ": " << byteText(removal.bytes)
                  << " are free again\n";
    }
    return {};
}

Result<void> changeFolders(const Arguments& arguments) {
    const fs::path file = app::libraryFoldersFile();
    if (file.empty()) {
        return Error{ErrorCode::InvalidRequest,
                     "there is no place for settings: set HOME (on Windows LOCALAPPDATA)"};
    }
    const bool is_added = !arguments.added_folder.empty();
    const std::string& word = is_added ? arguments.added_folder : arguments.removed_folder;
    std::error_code failure;
    const fs::path folder = fs::absolute(engine::pathFromUtf8(word), failure).lexically_normal();
    if (is_added && !fs::is_directory(folder, failure)) {
        return Error{ErrorCode::InvalidFile, word + ": there is no such folder"};
    }
    ENGINE_ASSIGN(std::vector<fs::path> folders, models::readFolderList(file));
    const auto known = std::find(folders.begin(), folders.end(), folder);
    if (!is_added && known == folders.end()) {
        std::string message = word + ": is none of the folders that were added";
        for (const fs::path& other : folders) {
            message += "\n  " + engine::utf8Of(other);
        }
        return Error{ErrorCode::InvalidRequest, message};
    }
    if (!is_added) {
        folders.erase(known);
    } else if (known == folders.end()) {
        folders.push_back(folder);
    }
    return models::writeFolderList(file, folders);
}

} // namespace

Result<void> runModels(const engine::EngineOptions& options, const Arguments& arguments) {
    if (!arguments.deleted.empty()) {
        return deleteModel(arguments);
    }
    if (!arguments.added_folder.empty() || !arguments.removed_folder.empty()) {
        ENGINE_TRY(changeFolders(arguments));
    }
    models::ScanOptions scan;
    scan.roots = rootsOf(arguments);
    if (!arguments.is_unplanned) {
        scan.make_assessor = [options] {
            return std::make_unique<models::EngineAssessor>(options);
        };
    }
    models::ScanListener listener;
    const bool shows = !arguments.is_json && isErrorTerminal();
    size_t count = 0;
    listener.on_entry = [&](const models::Entry& entry) {
        if (shows) {
            showProgress("looking: " + std::to_string(++count) + " " + entry.name);
        }
    };
    const auto found = scanLibrary(std::move(scan), listener);
    if (shows) {
        showProgress("");
    }
    if (!found.has_value()) {
        return found.error();
    }
    if (arguments.is_json) {
        printJson(modelsJson(*found));
    } else {
        std::cout << modelsText(*found);
    }
    return {};
}

} // namespace cli
