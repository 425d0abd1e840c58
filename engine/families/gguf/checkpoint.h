// SPDX-License-Identifier: Apache-2.0
// A model in GGUF files as a checkpoint: the texts of a Hugging Face folder, written from the
// metadata, and its tensors under their published names. Families read it like any folder and know
// nothing of GGUF. Towers come from a second file, the projector ("mmproj"), or from the same one,
// as in Ollama's blobs.
#pragma once

#include "engine/base/result.h"
#include "engine/files/checkpoint.h"

#include <filesystem>
#include <memory>

namespace engine {

/// True for a path that ends in ".gguf" or a plain file that begins as one (Ollama's blobs).
bool isGgufFile(const std::filesystem::path& path);

/// `projector`: the file with the towers; empty: the model's own, else the one in its folder whose
/// width is the model's, if there is one. Errors: of openGgufModel(); Unsupported for another
/// architecture, a tokenizer or a tensor that is not known; InvalidFile where the metadata
/// contradict themselves or the projector belongs to another model (names the right one where it
/// lies beside it).
Result<std::shared_ptr<const Checkpoint>> ggufCheckpoint(const std::filesystem::path& file,
                                                         const std::filesystem::path& projector);

/// A folder or a GGUF file; a folder with one GGUF model in place of a Hugging Face one stands for
/// that file. Opens nothing of other folders yet. Errors: as ggufCheckpoint(); InvalidFile for a
/// folder with several GGUF models.
Result<std::shared_ptr<const Checkpoint>>
openCheckpoint(const std::filesystem::path& model, const std::filesystem::path& projector = {});

} // namespace engine
