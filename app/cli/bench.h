// SPDX-License-Identifier: Apache-2.0
// bench: bench_command.cpp measures prompts and decoding, bench_media.cpp a picture and a sound,
// and bench_output.cpp puts the report into lines. The report is what --json prints. Rates are per
// second, GB are 1e9 bytes, GFLOP/s count a multiply-add as two, shares are of 1.
#pragma once

#include "engine/base/result.h"
#include "engine/run/engine.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace cli {

/// Not of nothing.
inline double medianOf(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Adds "image" and "audio" where the loaded model has towers for them: what a picture and ten
/// seconds of sound take from the request to the first token, on the path of a chat. encode_s is
/// preparation and encoding within the request, prepare_s reading and preparation by themselves.
/// Files are written into `folder`, which must be there.
engine::Result<void> benchMedia(engine::Engine& engine,
                                const std::filesystem::path& folder,
                                nlohmann::ordered_json& report);

/// Lines on stdout.
void printBench(const nlohmann::ordered_json& report);

} // namespace cli
