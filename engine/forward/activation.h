// SPDX-License-Identifier: Apache-2.0
// The gated activations of layers by single functions.
#pragma once

#include "engine/forward/compute_context.h"
#include "engine/model/layer_recipe.h"

#include <string>

namespace engine {

/// y = act(gate) * up, element-wise; y may be gate.
inline Result<void> activatePair(DeviceScratch& home,
                                 Activation activation,
                                 kernels::MatF32 gate,
                                 kernels::MatF32 up,
                                 kernels::MutF32 y,
                                 const std::string& name) {
    const auto& ops = home.ops();
    const auto function = activation == Activation::Silu ? ops.silu_mul : ops.gelu_mul;
    return checkStatus(function(home.queue(), gate, up, y), "activation", name);
}

} // namespace engine
