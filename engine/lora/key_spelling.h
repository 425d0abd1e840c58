// SPDX-License-Identifier: Apache-2.0
// Keys of adapter_model.safetensors: which module and which part of the adapter a key names, in
// every spelling that training tools write (with and without the PEFT prefix, text-only and older
// vision-language paths, outer and inner names of clipped linears, adapter names inside the key).
// Pure text; whether the module exists and is targeted is decided in adapter.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What the tensor is within its module.
enum class AdapterLeaf : uint8_t {
    LoraA = 1,          ///< [r, in]
    LoraB,              ///< [out, r]
    LoraBBias,          ///< [out]
    EmbeddingA,         ///< [r, vocabulary]
    EmbeddingB,         ///< [dim, r]
    Magnitude,          ///< [out], DoRA
    TrainableTokens,    ///< [tokens, dim]
    BaseLayerParameter, ///< base_layer.weight, base_layer.bias: saved base values.
    Parameter,          ///< Any other parameter of the module: modules_to_save, trained biases.
};

/// Naming families. One file must stay within one family.
enum class KeyLayout : uint8_t {
    Shared = 1,  ///< lm_head: the same in several families.
    Conditional, ///< model.language_model.*, model.vision_tower.*
    TextOnly,    ///< model.layers.*, model.embed_tokens (Gemma4ForCausalLM)
    OldWrapper,  ///< language_model.model.*, language_model.lm_head (before transformers 5)
    InnerModel,  ///< language_model.layers.* (Gemma4Model without the head)
    BareTower,   ///< vision_tower.*, embed_audio.*: OldWrapper or InnerModel.
    BareText,    ///< layers.*, embed_tokens (Gemma4TextModel)
    Unknown,
};

struct AdapterKey {
    AdapterLeaf leaf = AdapterLeaf::Parameter;
    std::string parameter; ///< "weight", "bias", ...: BaseLayerParameter and Parameter.
    /// base_layer components between module and leaf: nested wrappers of target_parameters.
    int base_layer_depth = 0;
    std::string spelled_module;   ///< Prefix stripped, otherwise as in the file; patterns see this.
    std::string canonical_module; ///< model.language_model.layers.0.self_attn.q_proj; outer names
                                  ///< of clipped linears stay outer (adapter.h appends .linear).
    KeyLayout layout = KeyLayout::Unknown;
};

/// Takes a key apart. nullopt when it has no module part.
std::optional<AdapterKey> parseAdapterKey(std::string_view key);

/// The canonical path of a module spelled in any family; the family through `layout`.
std::string canonicalModulePath(std::string_view spelled, KeyLayout* layout = nullptr);

/// A canonical module path in the spelling of a family; nullopt when the family has no such name.
std::optional<std::string> spellModulePath(std::string_view canonical, KeyLayout layout);

/// "model.language_model.layers.*" etc., for messages.
std::string_view keyLayoutName(KeyLayout layout);

} // namespace engine
