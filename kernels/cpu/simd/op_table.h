// SPDX-License-Identifier: Apache-2.0
// Builds the table of one instruction set from its kit (linear.h).
#pragma once

#include "kernels/cpu/simd/attention.h"
#include "kernels/cpu/simd/audio.h"
#include "kernels/cpu/simd/decode_steps.h"
#include "kernels/cpu/simd/elementwise.h"
#include "kernels/cpu/simd/experts.h"
#include "kernels/cpu/simd/linear.h"
#include "kernels/cpu/simd/norm_rope.h"

namespace kernels::cpu {

template <class Kit>
constexpr OpTable makeTable() {
    using V = typename Kit::V;
    using Sounds = Audio<typename Kit::MatmulExact>;
    return {
        .name = Kit::kName,
        .linear = Linear<Kit>::linear,
        .lora_accumulate = Linear<Kit>::loraAccumulate,
        .rms_norm = NormRope<V>::rmsNorm,
        .rms_norm_add = NormRope<V>::rmsNormAdd,
        .rope = NormRope<V>::rope,
        .attention = FlashAttention<typename Kit::Matmul>::run,
        .audio_attention = Sounds::attention,
        .subsample_conv = Sounds::subsampleConv,
        .gated_mul = Elementwise<V>::gatedMul,
        .sigmoid_mul = Elementwise<V>::sigmoidMul,
        .causal_conv1d = Sounds::causalConv1d,
        .clamp = Elementwise<V>::clamp,
        .add_scaled = Elementwise<V>::addScaled,
        .scale = Elementwise<V>::scale,
        .scale_columns = Elementwise<V>::scaleColumns,
        .add_columns = Elementwise<V>::addColumns,
        .soft_cap = Elementwise<V>::softCap,
        .gather_rows = Elementwise<V>::gatherRows,
        .store_rows = Elementwise<V>::storeRows,
        .lora_accumulate_all = Linear<Kit>::loraAccumulateAll,
        .takes_projection = DecodeSteps<Kit>::takesProjection,
        .project = DecodeSteps<Kit>::project,
        .attend_step = DecodeSteps<Kit>::attendStep,
        .expert_rows = Experts<Kit>::rows,
        .argmax = DecodeSteps<Kit>::argmax,
    };
}

} // namespace kernels::cpu
