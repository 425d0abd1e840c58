// SPDX-License-Identifier: Apache-2.0
// The reference table.
#include "kernels/cpu/scalar/scalar_ops.h"
#include "kernels/cpu/tables.h"

namespace kernels {

const OpTable& cpuScalarOps() {
    static constexpr OpTable kTable = {
        .name = "cpu-scalar",
        .linear = cpu::scalar::linear,
        .lora_accumulate = cpu::scalar::loraAccumulate,
        .rms_norm = cpu::scalar::rmsNorm,
        .rms_norm_add = cpu::scalar::rmsNormAdd,
        .rope = cpu::scalar::rope,
        .attention = cpu::scalar::attention,
        .audio_attention = cpu::scalar::audioAttention,
        .subsample_conv = cpu::scalar::subsampleConv,
        .gated_mul = cpu::scalar::gatedMul,
        .sigmoid_mul = cpu::scalar::sigmoidMul,
        .causal_conv1d = cpu::scalar::causalConv1d,
        .clamp = cpu::scalar::clamp,
        .add_scaled = cpu::scalar::addScaled,
        .scale = cpu::scalar::scale,
        .scale_columns = cpu::scalar::scaleColumns,
        .add_columns = cpu::scalar::addColumns,
        .soft_cap = cpu::scalar::softCap,
        .gather_rows = cpu::scalar::gatherRows,
        .store_rows = cpu::scalar::storeRows,
        .lora_accumulate_all = cpu::scalar::loraAccumulateAll,
    };
    return kTable;
}

} // namespace kernels
