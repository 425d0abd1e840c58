// SPDX-License-Identifier: Apache-2.0
// A PEFT adapter that nobody trained: random factors on linear layers of a model, written as an
// ordinary folder. For measuring what adapters cost on shapes without a published adapter.
#pragma once

#include "engine/api/measure.h"
#include "engine/base/result.h"
#include "engine/families/tensor_list.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace engine {

/// Writes adapter_config.json and adapter_model.safetensors (bf16) with rank `rank` on the linear
/// layers of the list that `targets` names, alpha = rank. The factors are small, so that the model
/// still computes with ordinary numbers; the same seed gives the same bytes.
/// Errors: InvalidRequest (rank outside 1..1024), InvalidFile (the folder cannot be written).
Result<void> writeRandomAdapter(const std::filesystem::path& folder,
                                const std::vector<ExpectedTensor>& tensors,
                                int64_t rank,
                                AdapterTargets targets,
                                uint64_t seed);

} // namespace engine
