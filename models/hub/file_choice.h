// SPDX-License-Identifier: Apache-2.0
// Which files of a repository are a model or an adapter that Belfry loads, and which are the same
// weights again in a form that it does not.
#pragma once

#include <cstddef>
#include <optional>
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

/// The GGUF model of one quantization.
struct GgufModel {
    std::string quantization;      ///< "Q4_K_M"; of a name that tells none, the file's.
    std::vector<ListedFile> parts; ///< One file, or all parts of a split one.
    [[nodiscard]] uint64_t bytes() const;
};

/// What a repository has as GGUF files.
struct GgufFiles {
    std::vector<GgufModel> models; ///< By bytes.
    size_t chosen = 0;             ///< The one that is fetched.
    /// Towers and drafts in a file of their own, for each of the models: the one with the most
    /// exact towers, the one quantized as the chosen model or else the first.
    std::optional<ListedFile> projector, assistant;
};

/// GGUF files among `files`, also in folders below (as split ones are published). Chosen is what
/// `quantization` names, in any case; "": Q4_K_M or, without it, what comes next to it. nullopt:
/// there is no such.
std::optional<GgufFiles> chooseGguf(const std::vector<ListedFile>& files,
                                    const std::string& quantization);

/// As chooseFiles(), of a repository of GGUF files: the chosen model with what belongs to it.
FileChoice chooseFiles(const std::vector<ListedFile>& files, const GgufFiles& gguf);

/// Whether the repository's own folder has weights as safetensors.
bool hasSafetensors(const std::vector<ListedFile>& files);

/// Errors: HubListing where this computer cannot keep one of these names, or not two of them side
/// by side.
engine::Result<void> checkNames(const std::vector<ListedFile>& files, const std::string& id);

/// Why there is nothing to load among `files`, with the way out: no safetensors but other forms.
/// Empty: there is.
engine::Phrase nothingToLoad(const std::vector<ListedFile>& files);

} // namespace models::hub
