// SPDX-License-Identifier: Apache-2.0
// A checkpoint that does not exist: random bf16 weights in the exact shapes of a config, made on
// the fly, the same bytes for the same (seed, tensor, offset). For benchmarks and tests of sizes
// nobody wants to download; the values keep activations finite and mean nothing.
#pragma once

#include "engine/files/tensor_source.h"
#include "engine/model/model_config.h"

#include <cstdint>
#include <memory>

namespace engine {

/// Linear weights have sigma 1/sqrt(inputs), embeddings 1/sqrt(width), norm weights lie about 1,
/// clip limits about +-30. Unused tensors of the list are left out. No errors.
std::unique_ptr<TensorSource> makeRandomSource(const ModelConfig& config, uint64_t seed);

} // namespace engine
