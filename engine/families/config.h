// SPDX-License-Identifier: Apache-2.0
// Reads a model folder's config.json, generation_config.json and processor_config.json: model_type
// says which family (family.h) knows them. Formats of Gemma 4: engine/families/gemma4/CONFIG.md.
#pragma once

#include "engine/base/result.h"
#include "engine/families/choice.h"
#include "engine/model/model_config.h"

#include <filesystem>
#include <string_view>

namespace engine {

/// Parses the texts of a model folder's JSON files; generation and processor may be empty
/// (defaults). Every number is range-checked before anything is allocated from it.
/// Errors: InvalidFile (names file, key, expected, found), Unsupported (other model_type,
/// unknown activation, rope type, ...).
Result<ModelConfig> parseModelConfig(std::string_view config_json,
                                     std::string_view generation_json,
                                     std::string_view processor_json,
                                     Families families = Families::Promised);

/// Reads config.json, generation_config.json, processor_config.json or preprocessor_config.json
/// of a folder (each bounded in size) and parses them.
Result<ModelConfig> readModelConfig(const std::filesystem::path& folder,
                                    Families families = Families::Promised);

} // namespace engine
