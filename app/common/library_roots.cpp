// SPDX-License-Identifier: Apache-2.0
#include "app/common/library_roots.h"

#include "app/common/environment.h"
#include "engine/base/paths.h"

#include <system_error>

#include "models/hub/cache_layout.h"
#include "models/user_folders.h"

namespace app {

std::filesystem::path libraryFoldersFile() {
    const std::filesystem::path folder = settingsFolder();
    return folder.empty() ? folder : folder / "library-folders";
}

std::filesystem::path comparisonsFile() {
    const std::filesystem::path folder = settingsFolder();
    return folder.empty() ? folder : folder / "comparisons.json";
}

std::filesystem::path recentModelsFile() {
    const std::filesystem::path folder = settingsFolder();
    return folder.empty() ? folder : folder / "recent-models";
}

std::vector<models::Root> recentRoots() {
    std::vector<models::Root> roots;
    const auto folders = models::readFolderList(recentModelsFile());
    if (folders.has_value()) {
        for (const std::filesystem::path& folder : *folders) {
            roots.push_back({models::Place::Recent, folder});
        }
    }
    return roots;
}

std::vector<models::Root> libraryRoots() {
    using models::Place;
    std::vector<models::Root> roots;
    const std::filesystem::path chosen = models::hub::cacheFolder(hubEnvironment());
    if (!chosen.empty()) {
        roots.push_back({Place::HubCache, chosen});
    }
    for (const std::filesystem::path& cache : hubCaches()) { // also those that are not in use now
        if (cache != chosen) {
            roots.push_back({Place::HubCache, cache});
        }
    }
    if (const std::filesystem::path home = homeFolder(); !home.empty()) {
        roots.push_back({Place::LmStudio, home / ".lmstudio"});
        roots.push_back({Place::LmStudio, home / ".cache" / "lm-studio"}); // before 2025
        roots.push_back({Place::LlamaCpp, home / ".cache" / "llama.cpp"});
    }
    if (const std::filesystem::path models = ollamaFolder(); !models.empty()) {
        roots.push_back({Place::Ollama, models});
    }
    // What the window fetched and the hub's cache has no place for.
    const std::string data = chatsFolder();
    const std::filesystem::path own = engine::pathFromUtf8(data) / "models";
    if (std::error_code ignored; !data.empty() && std::filesystem::exists(own, ignored)) {
        roots.push_back({Place::UserFolder, own});
    }
    const auto folders = models::readFolderList(libraryFoldersFile());
    if (folders.has_value()) {
        for (const std::filesystem::path& folder : *folders) {
            roots.push_back({Place::UserFolder, folder});
        }
    }
    return roots;
}

} // namespace app
