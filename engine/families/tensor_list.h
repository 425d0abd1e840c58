// SPDX-License-Identifier: Apache-2.0
// The one list of tensors of a model, derived from the config alone: name, shape, module, slot,
// whether it can be 4-bit, whether it may be absent. Inspect, planner, loader, adapters, the binder
// and the random-weight generator all read this list. Each family makes its own (family.h).
#pragma once

#include "engine/model/model_config.h"
#include "engine/model/tensor_entry.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// All tensors for this config in model order, unused ones included (is_unused). `lm_head.weight`
/// is not in the list: it is tied to embed_tokens, or headTensor().
std::vector<ExpectedTensor> listTensors(const ModelConfig& config);
/// Moves the towers to config.left_out: listTensors() lists theirs as unused from then on.
void leaveOutTowers(ModelConfig& config);
/// `lm_head.weight` of a model whose head is a tensor of its own (config.has_own_head).
ExpectedTensor headTensor(const ModelConfig& config);
/// Canonical names of the output head and of the table that a tied head shares.
inline constexpr std::string_view kHeadName = "lm_head.weight";
inline constexpr std::string_view kTokenTableName = "model.language_model.embed_tokens.weight";
/// The same by name; refers to `tensors`.
std::map<std::string_view, const ExpectedTensor*>
tensorsByName(const std::vector<ExpectedTensor>& tensors);

/// "model.language_model.layers.3.mlp.up_proj.weight" from any known spelling of a checkpoint
/// (with `language_model.model.`, without the leading `model.`, text-only exports, ...). Names
/// that fit no rule come back unchanged.
std::string canonicalTensorName(std::string_view name, bool is_text_only);

} // namespace engine
