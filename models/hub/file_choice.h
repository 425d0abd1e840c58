// SPDX-License-Identifier: Apache-2.0
// Which files of a repository are a model or an adapter that Belfry loads, and which are the same
// weights again in a form that it does not.
#pragma once

#include <string>
#include <vector>

#include "models/hub/hub_client.h"

namespace models::hub {

struct FileChoice {
    std::vector<ListedFile> wanted;   ///< Small files first, then by name.
    std::vector<ListedFile> left_out; ///< In the hub's order.
};

/// Takes from the repository's own folder *.safetensors with their index, configurations,
/// tokenizer, processor, chat template, adapter, README and LICENSE. Left out: other forms of the
/// weights (.bin, .pt, .gguf, .h5, .onnx, ...), programs, pictures, and everything in folders
/// (original/, onnx/, checkpoints). With `takes_all` everything is wanted. Of two wanted texts
/// whose names this computer takes for the same the second is left out: a repository may have
/// README.md and readme.md.
FileChoice chooseFiles(const std::vector<ListedFile>& files, bool takes_all);

/// Errors: HubListing where this computer cannot keep one of these names, or not two of them side
/// by side.
engine::Result<void> checkNames(const std::vector<ListedFile>& files, const std::string& id);

/// Why there is nothing to load among `files`, with the way out: no safetensors but other forms.
/// Empty: there is.
engine::Phrase nothingToLoad(const std::vector<ListedFile>& files);

} // namespace models::hub
