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
    switch (activation) {
    case Activation::GeluTanh:
        return checkStatus(ops.gelu_mul(home.queue(), gate, up, y), "activation", name);
    case Activation::Silu:
        return checkStatus(ops.silu_mul(home.queue(), gate, up, y), "activation", name);
    }
    return Error{ErrorCode::Internal, name + ": unknown activation"};
}

} // namespace engine
