// SPDX-License-Identifier: Apache-2.0
#include "engine/families/gemma4/recipes.h"

namespace engine {

LayerRecipe decoderRecipe(const TextConfig& text) {
    LayerRecipe recipe;
    recipe.branches = {{BranchBody::Attention},
                       {text.has_moe ? BranchBody::MlpWithExperts : BranchBody::Mlp}};
    if (text.ple_size > 0) {
        recipe.branches.push_back({BranchBody::PerLayerInput, false});
    }
    recipe.has_scalar = true;
    recipe.attention_scale = 1.0; // the norms of q and k have it in their weights
    return recipe;
}

LayerRecipe visionRecipe() {
    LayerRecipe recipe;
    recipe.branches = {{BranchBody::Attention}, {BranchBody::Mlp}};
    recipe.attention_scale = 1.0;
    return recipe;
}

LayerRecipe audioRecipe(const AudioConfig& audio) {
    const Branch half{BranchBody::FeedForward, true, true, audio.residual_weight, true};
    LayerRecipe recipe;
    recipe.branches = {half,
                       {BranchBody::RelativeAttention, true, true, 1.0, true},
                       {BranchBody::Convolution, true, false},
                       half};
    recipe.activation = Activation::Silu;
    recipe.has_head_norms = recipe.has_value_norm = false;
    return recipe;
}

} // namespace engine
