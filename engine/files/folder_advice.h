// SPDX-License-Identifier: Apache-2.0
// What somebody gave as a model or adapter folder that is none, told from what lies there: the name
// of a repository, one of the folder's files, a folder above or below the right one, the other of
// the two kinds, another program's format.
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <vector>

namespace engine {

/// For a path without config.json. InvalidFile, rule "FileMissing"; Unsupported for other formats.
Error notAModelFolder(const std::filesystem::path& path);

/// Folders in which huggingface_hub keeps what it has downloaded, the first that has it counts.
using HubCaches = std::vector<std::filesystem::path>;

/// The error of a name where a folder is meant (detail "repository", from the two functions here),
/// which says where that repository has been downloaded to, if it has. Other errors as they are.
Error withDownload(Error error, const HubCaches& caches);

/// For a path without adapter_config.json.
Error notAnAdapterFolder(const std::filesystem::path& path);

/// For an adapter folder without adapter_model.safetensors.
Error noAdapterWeights(const std::filesystem::path& folder);

} // namespace engine
