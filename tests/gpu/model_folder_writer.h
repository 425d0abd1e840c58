// SPDX-License-Identifier: Apache-2.0
// A model folder of a published size with random bf16 weights, as a download would leave it: for
// measuring loads with files of the real size.
#pragma once

#include "engine/base/result.h"

#include <filesystem>
#include <string>

namespace gpu {

/// Writes config.json, generation_config.json, processor_config.json, tokenizer.json and
/// model.safetensors (10 GB for "e2b", 16 GB for "e4b") with as many threads as the machine has.
/// `vocabulary`: a tokenizer.json of Gemma 3; its added tokens are replaced by those of Gemma 4.
/// Errors: InvalidRequest (shape), InvalidFile (the disk refused).
engine::Result<void> writeModelFolder(const std::string& shape,
                                      const std::filesystem::path& vocabulary,
                                      const std::filesystem::path& folder);

} // namespace gpu
