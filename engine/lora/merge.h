// SPDX-License-Identifier: Apache-2.0
// Merging adapters into a bf16 model folder: W' = bf16(fp32(W) + D), tensor by tensor from the
// bf16 base, everything else byte by byte; with a report that says how much of each update
// survives bf16 and how much 4-bit quantization would leave. Never merges into packed weights.
// The drift of logits, also after quantizing again, is measured by the caller.
#pragma once

#include "engine/api/merge.h"
#include "engine/base/result.h"
#include "engine/lora/adapter.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

struct MergeInput {
    std::shared_ptr<const Adapter> adapter;
    double strength = 1.0; ///< 0 to 2
};

struct MergeRequest {
    std::filesystem::path model_folder; ///< bf16 (or f16, f32) base; packed weights are refused.
    std::vector<MergeInput> adapters;   ///< In order.
    std::filesystem::path out_folder;   ///< Must not exist or be empty; not the model folder.
    uint64_t shard_bytes = 5'000'000'000ULL;
    bool measure_quantized =
        true; ///< Quantize W and W' to NF4 and report what is left of the update.
    std::function<void(double done, const std::string& tensor)> progress; ///< 0 to 1; may be empty.
    std::stop_token stop;
};

/// Streams the model through; peak memory is one tensor (three in fp32 while measuring).
/// On error the output folder is left as it was found (absent or empty).
/// Where adapters change a tied head and the embedding in different ways, the folder holds both and
/// its config.json says so.
/// Errors: InvalidRequest (packed base, output not empty, a bias that no layer has), InvalidFile
/// (non-finite result, `kept` outside 0.95..1.05: the gate), Cancelled.
Result<MergeReport> mergeAdapters(const MergeRequest& request);

/// The report as JSON, to be written on.
nlohmann::ordered_json mergeReportTree(const MergeReport& report);
/// Its text, as mergeAdapters writes it to <out>/merge_report.json.
std::string mergeReportJson(const MergeReport& report);

} // namespace engine
