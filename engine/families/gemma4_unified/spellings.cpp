// SPDX-License-Identifier: Apache-2.0
#include "engine/families/gemma4_unified/spellings.h"

namespace engine {

std::string moduleTreeName(std::string_view name) {
    constexpr std::string_view kPublished = "model.vision_embedder.";
    constexpr std::string_view kProjection = "model.embed_vision.embedding_projection";
    constexpr std::string_view kVision = "model.embed_vision.";
    if (name.starts_with(kPublished)) {
        return std::string(kVision) + std::string(name.substr(kPublished.size()));
    }
    if (name.starts_with(kProjection)) {
        return std::string(kVision) + "multimodal_embedder." +
               std::string(name.substr(kVision.size()));
    }
    return std::string(name);
}

} // namespace engine
