// SPDX-License-Identifier: Apache-2.0
// What a family of models is to the rest of the engine: how its files are read, which tensors it
// has and how its conversations are written. What its layers compute is in the config that it makes
// (engine/model/layer_recipe.h). Its tensors carry canonical names (gemma4/names.h) and slots
// (engine/model/tensor_entry.h); nothing outside engine/families asks which family a model is of.
//
// A family to add: a folder with a reader and a list, and a line in registry.cpp.
#pragma once

#include "engine/base/result.h"
#include "engine/families/chat_turns.h"
#include "engine/files/checkpoint.h"
#include "engine/model/model_config.h"
#include "engine/model/tensor_entry.h"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace engine {

/// JSON texts of a checkpoint; empty where it has none.
struct ConfigTexts {
    std::string_view config, generation, processor, preprocessor;
};

struct Family {
    std::string_view name; ///< ModelConfig::family
    std::span<const std::string_view> model_types;
    /// Errors: as parseModelConfig().
    Result<ModelConfig> (*parse)(const ConfigTexts& texts);
    /// What else the checkpoint says; nullptr: nothing.
    Result<void> (*finish)(const Checkpoint& checkpoint, ModelConfig& config);
    /// All tensors for this config in model order, but lm_head.weight.
    std::vector<ExpectedTensor> (*list)(const ModelConfig& config);
    /// How its conversations are written.
    std::unique_ptr<const ChatTurns> (*turns)(const ModelConfig& config,
                                              const Checkpoint& checkpoint,
                                              const Tokenizer& tokenizer);
};

} // namespace engine
