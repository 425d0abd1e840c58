// SPDX-License-Identifier: Apache-2.0
// What both programs take from the environment for the engine, which reads none of it itself. The
// README lists every variable.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace app {

/// Where huggingface_hub keeps what it has downloaded, in the order in which that is chosen:
/// HF_HUB_CACHE, hub/ in HF_HOME, .cache/huggingface/hub/ in HOME. What is not set is left out.
std::vector<std::filesystem::path> hubCaches();

/// LD_LIBRARY_PATH, or nothing.
std::string libraryPath();

} // namespace app
