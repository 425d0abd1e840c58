// SPDX-License-Identifier: Apache-2.0
// Where models are looked for on this computer, for both programs.
#pragma once

#include <filesystem>
#include <vector>

#include "models/entry.h"

namespace app {

/// The file that keeps the folders that the user named (models/user_folders.h); empty where the
/// environment names no place for settings.
std::filesystem::path libraryFoldersFile();

/// The file in which belfry-cli keeps what compare found (models/comparisons.h); empty as above.
std::filesystem::path comparisonsFile();

/// The file in which the window notes the models that it used lately, as readFolderList() reads it:
/// its settings are Qt's to read, and belfry-cli has none. Empty as above.
std::filesystem::path recentModelsFile();

/// Those models, one folder each; none where the file cannot be read.
std::vector<models::Root> recentRoots();

/// The caches of the hub, the folders of LM Studio and llama.cpp, and those that the user named.
/// Nothing is looked at but the file of the latter; where that cannot be read, they are left out.
std::vector<models::Root> libraryRoots();

} // namespace app
