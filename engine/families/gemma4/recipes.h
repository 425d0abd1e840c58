// SPDX-License-Identifier: Apache-2.0
// What Gemma 4's layers compute, as recipes (engine/model/layer_recipe.h). Formulas:
// ARCHITECTURE.md, sections 3 to 5.
#pragma once

#include "engine/model/model_config.h"

namespace engine {

/// Attention and a GELU MLP between norms, then the per-layer inputs (E2B, E4B); experts beside the
/// MLP (26B-A4B).
LayerRecipe decoderRecipe(const TextConfig& text);
/// Attention of every patch to every patch, and a GELU MLP.
LayerRecipe visionRecipe();
/// Conformer: half a feed-forward, attention, light convolution, half a feed-forward.
LayerRecipe audioRecipe(const AudioConfig& audio);

} // namespace engine
