// SPDX-License-Identifier: Apache-2.0
// Reads a checkpoint's config.json, generation_config.json and processor_config.json: model_type
// says which family (family.h) knows them. Formats of Gemma 4: engine/families/gemma4/CONFIG.md.
#pragma once

#include "engine/base/result.h"
#include "engine/files/checkpoint.h"
#include "engine/model/model_config.h"

#include <filesystem>
#include <string_view>

namespace engine {

/// Parses the texts of a checkpoint's JSON files; generation and processor may be empty
/// (defaults). Every number is range-checked before anything is allocated from it.
/// Errors: InvalidFile (names file, key, expected, found), Unsupported (other model_type,
/// unknown activation, rope type, ...).
Result<ModelConfig> parseModelConfig(std::string_view config_json,
                                     std::string_view generation_json,
                                     std::string_view processor_json);

/// Reads config, generation, processor or preprocessor texts of a checkpoint (each bounded in size)
/// and parses them, and what else the family reads (templates).
Result<ModelConfig> readModelConfig(const Checkpoint& checkpoint);

/// The same of a Hugging Face folder.
Result<ModelConfig> readModelConfig(const std::filesystem::path& folder);

} // namespace engine
