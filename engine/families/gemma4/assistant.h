// SPDX-License-Identifier: Apache-2.0
// Drafting assistants of Gemma 4 (model_type gemma4_assistant, the 12B's gemma4_unified_assistant):
// what their files say, and whether one belongs to a model.
#pragma once

#include "engine/base/result.h"
#include "engine/files/checkpoint.h"
#include "engine/files/tensor_source.h"
#include "engine/model/model_config.h"

#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// The assistant's config, fitted to `model`: its layers know whose keys and values they read.
/// generation_json may be empty. Errors: InvalidFile, Unsupported (another kind of model),
/// InvalidRequest (an assistant of another model: names both sizes).
Result<AssistantConfig> parseAssistantConfig(std::string_view config_json,
                                             std::string_view generation_json,
                                             const ModelConfig& model);
Result<AssistantConfig> readAssistantConfig(const Checkpoint& checkpoint, const ModelConfig& model);

/// The canonical name of a tensor of the assistant's files; nullopt for what is no weight of its
/// own: the order of its vocabulary, and a copy of the table as lm_head.
std::optional<std::string> assistantTensorName(std::string_view stored);

/// Canonical name of the assistant's token table.
std::string assistantTableName();

/// Fills token_ordering of an assistant that has groups, from masked_embedding.token_ordering
/// (int64, [vocab] or [groups, tokens of a group]). Errors: InvalidFile (absent, wrong type or
/// shape, a token twice or outside the vocabulary), those of reading.
Result<void> readTokenOrdering(const TensorSource& source, AssistantConfig& assistant);

} // namespace engine
