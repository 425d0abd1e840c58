// SPDX-License-Identifier: Apache-2.0
// One tensor of a model as its family lists it: name, shape, the part that it belongs to and what
// the forward pass does with it. Inspect, planner, loader, adapters, the random-weight generator
// and the binder read the one list (engine/families); none of them looks at names to know what a
// tensor is.
#pragma once

#include "engine/api/part.h"

#include <cstdint>
#include <string>
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

/// Where the forward pass binds a tensor, within its part and layer (engine/forward/bound_model.h
/// has the shapes).
enum class TensorSlot : uint8_t {
    None = 0, ///< Nowhere.
    Weight,   ///< The one tensor of an embedding, a table, a norm, a projection, a head.
    // Layers of decoder and vision tower. PreNorm and PostNorm: of the branch with that index.
    PreNorm,
    PostNorm,
    Query,
    Key,
    Value,
    Output,
    QueryNorm,
    KeyNorm,
    MlpGate,
    MlpUp,
    MlpDown,
    PerLayerGate,
    PerLayerBack,
    LayerScalar,
    Router,
    RouterScale,
    ExpertScale,
    ExpertGateUp,
    ExpertDown,
    DenseNorm,
    ExpertPreNorm,
    ExpertPostNorm,
    // Towers outside their layers.
    Patches,
    PositionTable,
    PatchBias,     ///< Behind Patches; of embedders, as the two below.
    PatchNorm,     ///< Layer norms: of a patch (0), behind Patches (1), behind the positions (2).
    PatchNormBias, ///< Likewise.
    StdBias,
    StdScale,
    ConvWeight, ///< Index 0, 1.
    ConvNorm,   ///< Index 0, 1.
    TowerInput,
    TowerOutput,
    TowerOutputBias,
    // Layers of the audio tower. FeedForwardIn and -Out: of the branch with that index.
    FeedForwardIn,
    FeedForwardOut,
    RelativeKey,
    PerDimScale,
    ConvStart,
    ConvEnd,
    Depthwise,
    ConvInnerNorm,
    OutNorm,
    // The assistant outside its layers.
    DraftIn,    ///< From the model's embedding and hidden state,
    DraftOut,   ///< and back to the latter's size.
    DraftNorm,  ///< Behind its last layer.
    DraftTable, ///< Token table; only its head reads it.
    Centroids,
};

/// Which bound of a clipped linear a ClipScalar is.
enum class ClipEnd : uint8_t { None = 0, InputMin, InputMax, OutputMin, OutputMax };

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
    TensorSlot slot = TensorSlot::None;
    ClipEnd clip = ClipEnd::None; ///< For the linear in that slot.
    int slot_index = 0;
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

/// True for tensors that quantization turns into 4-bit modules by default (the rule of
/// bitsandbytes through transformers): Kind Linear, not unused.
inline bool isQuantizable(const ExpectedTensor& tensor) {
    return tensor.kind == TensorKind::Linear && !tensor.is_unused;
}

/// True for vectors that kernels read as fp32 (convolutions, biases, column scales): they are
/// converted once, at bind time. Norm weights are read in their stored type.
inline bool isTableVector(const ExpectedTensor& tensor) {
    switch (tensor.slot) {
    case TensorSlot::ConvWeight:
    case TensorSlot::ConvNorm:
    case TensorSlot::Depthwise:
    case TensorSlot::PerDimScale:
    case TensorSlot::TowerOutputBias:
    case TensorSlot::StdBias:
    case TensorSlot::StdScale:
    case TensorSlot::RouterScale:
        return true;
    default:
        return false;
    }
}

/// True for values the host reads once and for the position table, which is gathered: no copy on
/// the consumer's device.
inline bool isHostVector(const ExpectedTensor& tensor) {
    switch (tensor.slot) {
    case TensorSlot::LayerScalar:
    case TensorSlot::ExpertScale:
    case TensorSlot::PositionTable:
    case TensorSlot::PatchBias:
    case TensorSlot::PatchNorm:
    case TensorSlot::PatchNormBias:
        return true;
    default:
        return false;
    }
}

} // namespace engine
