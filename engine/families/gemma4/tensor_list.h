// SPDX-License-Identifier: Apache-2.0
// The one list of tensors of a Gemma 4 model, derived from the config alone: name, shape, module,
// whether it can be 4-bit, whether it may be absent. Inspect, planner, loader, adapters and the
// random-weight generator all read this list. See ARCHITECTURE.md, 2.
#pragma once

#include "engine/api/part.h"
#include "engine/model/model_config.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

enum class TensorKind : uint8_t {
    Linear = 1, ///< 2-D `.weight` of an nn.Linear: may be 4-bit or q8.
    Embedding,  ///< embed_tokens, embed_tokens_per_layer: gathered; and the head.
    Experts,    ///< 3-D expert parameters.
    Vector,     ///< Norm weights, scalars, biases, router scales, position tables, convolutions.
    ClipScalar, ///< Rank-0 input_min/input_max/output_min/output_max; absent = no clip.
};

enum class Tower : uint8_t { Language = 1, Vision, Audio };

struct ExpectedTensor {
    std::string name; ///< Canonical: model.language_model.layers.0.self_attn.q_proj.weight
    std::string
        module; ///< The block a user moves: model.language_model.layers.0, model.vision_tower,
                ///< model.audio_tower, model.embed_vision, model.embed_audio,
                ///< model.language_model.embed_tokens, ...embed_tokens_per_layer,
                ///< model.language_model.per_layer_model_projection, model.language_model.norm, ...
    std::vector<int64_t> shape;
    TensorKind kind = TensorKind::Vector;
    Tower tower = Tower::Language;
    Part part = {};
    TensorUse use = TensorUse::Other;
    int layer = -1;          ///< Decoder or tower layer, -1 outside.
    bool is_required = true; ///< false: clip scalars.
    bool is_unused =
        false; ///< k/v projections and k_norm of KV-shared layers: known, never loaded.

    [[nodiscard]] int64_t numElements() const {
        int64_t n = 1;
        for (const int64_t d : shape) {
            n *= d;
        }
        return n;
    }
};

/// All tensors for this config in model order, unused ones included (is_unused). `lm_head.weight`
/// is not in the list: it is tied to embed_tokens, or headTensor().
std::vector<ExpectedTensor> listTensors(const ModelConfig& config);
/// `lm_head.weight` of a model whose head is a tensor of its own (config.has_own_head).
ExpectedTensor headTensor(const ModelConfig& config);
/// Canonical names of the output head and of the table that a tied head shares.
inline constexpr std::string_view kHeadName = "lm_head.weight";
inline constexpr std::string_view kTokenTableName = "model.language_model.embed_tokens.weight";
/// The same by name; refers to `tensors`.
std::map<std::string_view, const ExpectedTensor*>
tensorsByName(const std::vector<ExpectedTensor>& tensors);

/// True for tensors that quantization turns into 4-bit modules by default (the rule of
/// bitsandbytes through transformers): Kind Linear, not unused.
bool isQuantizable(const ExpectedTensor& tensor);

/// True for vectors that kernels read as fp32 (convolutions, biases, column scales): they are
/// converted once, at bind time. Norm weights are read in their stored type.
bool isTableVector(const std::string& tensor);
/// True for values the host reads once (layer_scalar, per_expert_scale, clip scalars) and for the
/// position table, which is gathered: no copy on the consumer's device.
bool isHostVector(const std::string& tensor);

/// "model.language_model.layers.3.mlp.up_proj.weight" from any known spelling of a checkpoint
/// (with `language_model.model.`, without the leading `model.`, text-only exports, ...). Names
/// that fit no rule come back unchanged.
std::string canonicalTensorName(std::string_view name, bool is_text_only);

} // namespace engine
