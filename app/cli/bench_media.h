// SPDX-License-Identifier: Apache-2.0
// bench: what a picture and ten seconds of sound take from the request to the first token, on the
// path of a chat: a file is written, read, prepared, encoded and prefilled with text around it.
#pragma once

#include "app/cli/bench_values.h"
#include "engine/base/result.h"
#include "engine/run/engine.h"

#include <filesystem>

namespace cli {

/// One row of the benchmark, prompt_s and gflops left out. Medians of three behind one that makes
/// room and warms caches; every run has a file of its own, because a known one would not be encoded
/// again. The files stay in `folder`, made if need be.
engine::Result<MediumRow> benchImage(engine::Engine& engine, const std::filesystem::path& folder);
engine::Result<MediumRow> benchAudio(engine::Engine& engine, const std::filesystem::path& folder);

} // namespace cli
