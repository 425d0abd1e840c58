// SPDX-License-Identifier: Apache-2.0
// What a layer computes, as data: residual branches in order, each
//
//   x = x + weight * post(body(pre(x)))
//
// with RMS norms pre and post where it has them; then x = x * scalar (decoder layers that have
// one). A family (engine/families) says it once; the executors of engine/forward walk it: single
// functions, fused rows, fused steps of a token.
#pragma once

#include "kernels/views.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace engine {

using kernels::Activation;

enum class BranchBody : uint8_t {
    Attention = 1,     ///< o(attend(q h, k h, v h)), keys and values from the layer or its KV owner
    Mlp,               ///< down(act(gate h) * up h)
    MlpWithExperts,    ///< the same beside routed experts, which read x itself
    PerLayerInput,     ///< back(act(gate h) * this layer's slice of the per-layer inputs)
    FeedForward,       ///< out(act(in h)); audio
    RelativeAttention, ///< banded attention with relative keys; audio
    Convolution,       ///< light convolution; audio
};

struct Branch {
    BranchBody body = BranchBody::Attention;
    bool has_pre_norm = true;
    bool has_post_norm = true;
    double weight = 1.0;
    bool is_clipped = false; ///< x in front of it and its result are clamped (audio).
};

struct LayerRecipe {
    std::vector<Branch> branches;
    Activation activation = kernels::kDefaultActivation;
    bool has_head_norms = true; ///< RMS norms with weight of every head of q and k, before RoPE.
    bool has_value_norm = true; ///< RMS norm without weight of every head of v.
    /// Behind each head's query, q makes a gate of as many values; o reads attention's output times
    /// the gates' sigmoid.
    bool has_query_gate = false;
    bool has_scalar = false;      ///< x = x * layer_scalar behind the last branch.
    double attention_scale = 0.0; ///< Scale of q k^T; 0: head_dim^-1/2.

    [[nodiscard]] float attentionScale(int64_t head_dim) const {
        return attention_scale > 0 ? static_cast<float>(attention_scale)
                                   : 1.0F / std::sqrt(static_cast<float>(head_dim));
    }
    /// Values that q makes for one of a query.
    [[nodiscard]] int64_t queryParts() const { return has_query_gate ? 2 : 1; }
    [[nodiscard]] bool has(BranchBody body) const {
        for (const Branch& branch : branches) {
            if (branch.body == body) {
                return true;
            }
        }
        return false;
    }
};

} // namespace engine
