// SPDX-License-Identifier: Apache-2.0
// How Gemma 4 calls its parts: the paths that its tensors, device maps and messages have. The one
// place where roles and names meet; what asks "which part is this" outside this folder asks the
// role. Spellings of other programs' maps are in engine/plan/map_keys.cpp, those of adapters'
// files in engine/lora/key_spelling.cpp.
#pragma once

#include "engine/api/part.h"

#include <array>
#include <string>
#include <string_view>

namespace engine {

/// Module path of a part: "model.language_model.layers.12", "model.vision_tower", "lm_head". Empty
/// for PartRole::Other.
std::string partName(Part part);

/// The last component of partName(), as sentences have it: "embed_tokens", "lm_head".
std::string shortPartName(Part part);

/// Name of the one tensor of an embedding, a head, a projection or a norm: partName() + ".weight".
std::string partTensorName(Part part);

/// Key of a run of decoder layers: "model.language_model.layers.[3-7]", without brackets for one;
/// and of the routed experts of these layers: the same and ".experts".
std::string layerRangeName(int first, int last);
std::string expertsRangeName(int first, int last);
/// True for the module of a layer's routed experts and for what lies below.
bool isExpertsName(std::string_view name);

/// The part that a canonical name (module, tensor, or anything below) lies in, of experts their
/// layer; Other for what is above all parts ("model", "model.language_model") or unknown.
Part partOfName(std::string_view name);

/// True for the decoder's path, for all names below it, known or not, and for the head.
bool isDecoderName(std::string_view name);

/// What the tensor or module of that name does, whether or not a model has it.
TensorUse tensorUseOfName(std::string_view name);

/// PEFT's default target_modules for this family: one regular expression.
std::string_view defaultAdapterTargets();

/// True for the seven linears that attention and MLP of decoder and towers have in common: what
/// adapters are usually trained on. `module`: also with the towers' inner ".linear".
bool isProjectionName(std::string_view module);

/// target_modules for exactly these: one regular expression.
std::string projectionTargets();

/// Parameters of a layer's experts below their module, in the order that PEFT wraps them.
const std::array<std::string_view, 2>& expertParameters();

/// The module of a use, as sentences have it: "k_proj"; empty for TensorUse::Other.
std::string shortUseName(TensorUse use);

/// What follows the path of its part in a name that partOfName() knows: "self_attn.q_proj.weight";
/// empty for the part itself.
std::string_view nameWithinPart(std::string_view name);

} // namespace engine
