// SPDX-License-Identifier: Apache-2.0
// What a piece of a model is to everybody who places, counts, shows or adapts it: a role, not a
// name. Every tensor and every module carries its part, filled once from the list of tensors of its
// family. How a part is called in files, maps and messages is the family's business (PartNames in
// its folder).
#pragma once

#include <cstdint>

namespace engine {

/// The blocks that a user moves.
enum class PartRole : uint8_t {
    Other = 1,          ///< No part of any model that is known.
    Embedding,          ///< The token table; also the head, while both are one.
    PerLayerTable,      ///< Per-layer embeddings: a row a token for all layers.
    PerLayerProjection, ///< What turns hidden states into per-layer inputs,
    PerLayerNorm,       ///< and the norm behind it.
    Layer,              ///< One layer of the decoder. It and Experts have a number.
    FinalNorm,          ///< Behind the last layer.
    Head,               ///< Hidden state to logits.
    VisionTower,
    VisionProjector, ///< Features of the tower to soft tokens.
    AudioTower,
    AudioProjector,
    Assistant, ///< Drafts tokens that the model then checks; loaded where it is asked for.
    Experts,   ///< Routed experts of one layer, as a block apart; the tensors' part is the layer.
};

struct Part {
    PartRole role = PartRole::Other;
    int layer = -1; ///< Index of the layer (Layer and Experts), from 0; -1 for all others.
    friend bool operator==(const Part&, const Part&) = default;
};

constexpr Part layerPart(int layer) {
    return {PartRole::Layer, layer};
}

constexpr Part expertsPart(int layer) {
    return {PartRole::Experts, layer};
}

/// Tower or projector of pictures.
constexpr bool isVision(Part part) {
    return part.role == PartRole::VisionTower || part.role == PartRole::VisionProjector;
}
/// Tower or projector of sounds.
constexpr bool isAudio(Part part) {
    return part.role == PartRole::AudioTower || part.role == PartRole::AudioProjector;
}
/// True for a tower or its projector: used for attachments alone, not for every token.
constexpr bool isMedia(Part part) {
    return isVision(part) || isAudio(part);
}
constexpr bool isProjector(Part part) {
    return part.role == PartRole::VisionProjector || part.role == PartRole::AudioProjector;
}

/// What a tensor does within its part, where somebody asks.
enum class TensorUse : uint8_t {
    Other = 1,
    Query, ///< Projections of a decoder layer's attention,
    Key,
    Value,
    KeyNorm, ///< and norms of its keys and values.
    ValueNorm,
    MlpDown,     ///< A decoder layer's projection back to the hidden size.
    AudioOutput, ///< Weight and bias of the audio tower's last linear, the only one with a bias.
};

} // namespace engine
