// SPDX-License-Identifier: Apache-2.0
// Several adapters as one: for servers that apply one adapter to a question, at the strength of its
// file. Factors are put one below the other (PEFT's combination "cat"): with A = [A1; A2] and
// B = [c1 B1, c2 B2], c = strength * scaling, B A = c1 B1 A1 + c2 B2 A2, which is the sum itself
// and no approximation of it. Rank and alpha are the same number for all modules, the largest sum
// of ranks: programs read one of each, so the scaling is 1 everywhere, and what is missing is
// zeros.
#pragma once

#include "engine/api/merge.h"
#include "engine/base/result.h"
#include "engine/lora/adapter.h"
#include "engine/lora/merge.h"

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

struct StackRequest {
    std::vector<MergeInput> adapters;
    std::string base_model;           ///< As the new config names it; may be empty.
    std::filesystem::path out_folder; ///< Must not exist or be empty.
    std::stop_token stop;
};

/// Writes adapter_config.json and adapter_model.safetensors (fp32).
/// Errors: InvalidRequest (nothing to stack, a strength outside 0..2, output not empty),
/// Unsupported (what is more than a low-rank sum: DoRA, biases, replaced rows or tensors, experts;
/// a rank above 1024), InvalidFile, Cancelled.
Result<StackReport> stackAdapters(const StackRequest& request);

} // namespace engine
