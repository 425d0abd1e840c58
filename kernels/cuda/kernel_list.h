// SPDX-License-Identifier: Apache-2.0
// The kernels of the device code by name: X(identifier), where the symbol in the fatbin is
// "belfry_" + identifier. One list for the loader, the launches and the fake driver of the tests.
#pragma once

#include <cstddef>

namespace kernels::cuda {

#define BELFRY_CUDA_KERNELS(X)                                                                     \
    X(fill_f32)                                                                                    \
    X(rms_norm)                                                                                    \
    X(rope)                                                                                        \
    X(gated_mul)                                                                                   \
    X(sigmoid_mul)                                                                                 \
    X(causal_conv1d)                                                                               \
    X(clamp)                                                                                       \
    X(axpby)                                                                                       \
    X(columns)                                                                                     \
    X(soft_cap)                                                                                    \
    X(gather_rows)                                                                                 \
    X(store_rows)                                                                                  \
    X(store_code_rows)                                                                             \
    X(to_bf16)                                                                                     \
    X(linear_reference)                                                                            \
    X(lora_down)                                                                                   \
    X(lora_up)                                                                                     \
    X(lora_down_tensor)                                                                            \
    X(lora_up_tensor)                                                                              \
    X(attention_reference)                                                                         \
    X(audio_attention)                                                                             \
    X(subsample_conv)                                                                              \
    X(expand_any)                                                                                  \
    X(expand_blocks)                                                                               \
    X(expand_four_bit)                                                                             \
    X(quantize_blocks)                                                                             \
    X(quantize_rows)                                                                               \
    X(gemm_128)                                                                                    \
    X(gemm_64)                                                                                     \
    X(expand_group)                                                                                \
    X(product_128)                                                                                 \
    X(product_64)                                                                                  \
    X(product_gate)                                                                                \
    X(product_pair_128)                                                                            \
    X(product_pair_64)                                                                             \
    X(product_codes)                                                                               \
    X(product_codes_pair)                                                                          \
    X(product_codes_16)                                                                            \
    X(product_codes_16_pair)                                                                       \
    X(product_codes_32)                                                                            \
    X(product_codes_32_pair)                                                                       \
    X(product_half_320)                                                                            \
    X(product_half_320_updates)                                                                    \
    X(product_half_256)                                                                            \
    X(product_half_256_updates)                                                                    \
    X(product_half_192)                                                                            \
    X(product_half_192_updates)                                                                    \
    X(product_half_128)                                                                            \
    X(product_half_128_updates)                                                                    \
    X(product_half_pair_256)                                                                       \
    X(product_half_pair_256_updates)                                                               \
    X(product_half_pair_192)                                                                       \
    X(product_half_pair_192_updates)                                                               \
    X(product_half_pair_128)                                                                       \
    X(product_half_pair_128_updates)                                                               \
    X(product_wide_256)                                                                            \
    X(product_wide_192)                                                                            \
    X(product_wide_128)                                                                            \
    X(product_wide_pair_256)                                                                       \
    X(product_wide_pair_192)                                                                       \
    X(product_wide_pair_128)                                                                       \
    X(product_wide_256_updates)                                                                    \
    X(product_wide_192_updates)                                                                    \
    X(product_wide_128_updates)                                                                    \
    X(product_wide_pair_256_updates)                                                               \
    X(product_wide_pair_192_updates)                                                               \
    X(product_wide_pair_128_updates)                                                               \
    X(product_ranks)                                                                               \
    X(product_128_updates)                                                                         \
    X(product_64_updates)                                                                          \
    X(product_gate_updates)                                                                        \
    X(product_pair_128_updates)                                                                    \
    X(product_pair_64_updates)                                                                     \
    X(product_codes_updates)                                                                       \
    X(product_codes_pair_updates)                                                                  \
    X(product_codes_16_updates)                                                                    \
    X(product_codes_16_pair_updates)                                                               \
    X(product_codes_32_updates)                                                                    \
    X(product_codes_32_pair_updates)                                                               \
    X(norm_rows)                                                                                   \
    X(norm_rows_wide)                                                                              \
    X(gate_rows)                                                                                   \
    X(head_rows)                                                                                   \
    X(scale_to_half)                                                                               \
    X(pool_rows)                                                                                   \
    X(flash_open_64)                                                                               \
    X(flash_open_72)                                                                               \
    X(project_four_bit)                                                                            \
    X(project_int8)                                                                                \
    X(project_blocks)                                                                              \
    X(project_bf16)                                                                                \
    X(attend_step_256)                                                                             \
    X(attend_step_512)                                                                             \
    X(router_scores)                                                                               \
    X(choose_experts)                                                                              \
    X(order_experts)                                                                               \
    X(product_experts)                                                                             \
    X(product_experts_gated)                                                                       \
    X(product_experts_32)                                                                          \
    X(product_experts_32_gated)                                                                    \
    X(product_experts_16)                                                                          \
    X(product_experts_16_gated)                                                                    \
    X(product_experts_blocks)                                                                      \
    X(sum_experts)                                                                                 \
    X(experts_bf16)                                                                                \
    X(experts_four_bit)                                                                            \
    X(experts_nested)                                                                              \
    X(experts_blocks)                                                                              \
    X(route_experts)                                                                               \
    X(merge_experts)                                                                               \
    X(placed_experts_bf16)                                                                         \
    X(placed_experts_four_bit)                                                                     \
    X(placed_experts_nested)                                                                       \
    X(placed_experts_blocks)                                                                       \
    X(stream)                                                                                      \
    X(stream_updates)                                                                              \
    X(stream_any_updates)                                                                          \
    X(stream_plans)                                                                                \
    X(stream_half)                                                                                 \
    X(stream_half_updates)                                                                         \
    X(stream_blocks)                                                                               \
    X(stream_blocks_updates)                                                                       \
    X(stream_large)                                                                                \
    X(stream_large_updates)                                                                        \
    X(stream_async)                                                                                \
    X(stream_async_updates)                                                                        \
    X(stream_async_half)                                                                           \
    X(stream_async_half_updates)                                                                   \
    X(stream_async_blocks)                                                                         \
    X(stream_async_blocks_updates)                                                                 \
    X(stream_async_large)                                                                          \
    X(stream_async_large_updates)                                                                  \
    X(stream_rows)                                                                                 \
    X(stream_rows_updates)                                                                         \
    X(stream_rows_large)                                                                           \
    X(stream_rows_large_updates)                                                                   \
    X(argmax)                                                                                      \
    X(token_inputs_four_bit)                                                                       \
    X(token_inputs_int8)                                                                           \
    X(token_inputs_bf16)                                                                           \
    X(cap_argmax)                                                                                  \
    X(top_logits)                                                                                  \
    X(draft_groups)                                                                                \
    X(draft_largest)                                                                               \
    X(flash_64)                                                                                    \
    X(flash_256)                                                                                   \
    X(flash_512)                                                                                   \
    X(flash_512_double)                                                                            \
    X(flash_small_256)                                                                             \
    X(flash_small_512)                                                                             \
    X(per_layer_rows)                                                                              \
    X(probe_read)                                                                                  \
    X(probe_multiply)

enum class KernelId : int {
#define BELFRY_KERNEL_ID(name) name,
    BELFRY_CUDA_KERNELS(BELFRY_KERNEL_ID)
#undef BELFRY_KERNEL_ID
        count // NOLINT(readability-identifier-naming): beside the kernels' own names
};
inline constexpr size_t kKernelCount = static_cast<size_t>(KernelId::count);

/// "belfry_..." as exported by the fatbin.
constexpr const char* kernelName(KernelId id) {
    constexpr const char* kNames[] = {
#define BELFRY_KERNEL_NAME(name) "belfry_" #name,
        BELFRY_CUDA_KERNELS(BELFRY_KERNEL_NAME)
#undef BELFRY_KERNEL_NAME
    };
    return kNames[static_cast<size_t>(id)];
}

} // namespace kernels::cuda
