// SPDX-License-Identifier: Apache-2.0
// Who runs the decoder layers of a call: both executors walk the same recipe
// (engine/model/layer_recipe.h). Which one a layer has is chosen when the model is bound
// (DecoderLayer::takes_rows). Single tokens have a third one, layer_steps.h.
#pragma once

#include "engine/forward/layers/call_rows.h"

namespace engine {

/// What the layers of one call share.
struct LayerCall {
    LayerStack stack;
    const KvCache& kv;
    CallRows& rows;
};

class LayerExecutor {
public:
    LayerExecutor() = default;
    LayerExecutor(const LayerExecutor&) = delete;
    LayerExecutor& operator=(const LayerExecutor&) = delete;
    virtual ~LayerExecutor() = default;

    /// Keys and values of a layer that owns them to the cache: of all rows of the call. x [rows,
    /// hidden] on the layer's device, in front of the layer.
    virtual Result<void> storeKeys(const LayerCall& call, int layer, kernels::MutF32 x) = 0;
    /// x = the layer of x, for the last rows of the call; positions are on its devices.
    /// are_keys_stored: storeKeys() was called for it.
    virtual Result<void>
    runLayer(const LayerCall& call, int layer, kernels::MutF32 x, bool are_keys_stored) = 0;
};

} // namespace engine
