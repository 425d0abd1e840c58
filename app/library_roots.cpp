// SPDX-License-Identifier: Apache-2.0
#include "app/library_roots.h"

#include "app/environment.h"

#include "library/folder_list.h"
#include "library/hub/cache_layout.h"

namespace app {

std::filesystem::path libraryFoldersFile() {
    const std::filesystem::path folder = settingsFolder();
    return folder.empty() ? folder : folder / "library-folders";
}

std::vector<library::Root> libraryRoots() {
    using library::Place;
    std::vector<library::Root> roots;
    const std::filesystem::path chosen = library::hub::cacheFolder(hubEnvironment());
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
    const auto folders = library::readFolderList(libraryFoldersFile());
    if (folders.has_value()) {
        for (const std::filesystem::path& folder : *folders) {
            roots.push_back({Place::UserFolder, folder});
        }
    }
    return roots;
}

} // namespace app
