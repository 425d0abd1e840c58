// SPDX-License-Identifier: Apache-2.0
// Names of the tensors of GGUF models, for files that say to which of them they belong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace engine::gguf {

/// "blk.3.attn_q.weight" as "model.language_model.layers.3.self_attn.q_proj.weight", a projector's
/// names as well. nullopt: not known, or with columns in another order than the published.
std::optional<std::string> publishedName(std::string_view stored, bool is_llama);

/// Where a row of a head of llama's attn_q and attn_k is stored, which ggml rotates by neighbours:
/// 0, D/2, 1, D/2 + 1, ... of the published rows. `head_dim` is even.
uint64_t pairedRow(uint64_t row, uint64_t head_dim);

} // namespace engine::gguf
