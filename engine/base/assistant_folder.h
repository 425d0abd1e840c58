// SPDX-License-Identifier: Apache-2.0
// Where the drafting assistant of a model lies. Published ones are named after their model, with
// "-assistant" behind the name, and so are the folders that hold them; nothing is opened here.
#pragma once

#include <filesystem>

namespace engine {

/// A GGUF file "mtp-..." beside the GGUF model, or in the model's folder; else the first of these
/// that has a config.json: MODEL-assistant beside the model, MODEL/assistant,
/// and for a model in a hub's cache (models--OWNER--NAME/snapshots/COMMIT) the assistant there:
/// what its refs/main names, else its snapshot whose name sorts last. Empty: none.
std::filesystem::path assistantFolderOf(std::filesystem::path model);

} // namespace engine
