// SPDX-License-Identifier: Apache-2.0
// bench: what a picture and ten seconds of sound take from the request to the first token, on the
// path of a chat: a file is written, read, prepared, encoded and prefilled with text around it.
#pragma once

#include "engine/base/result.h"
#include "engine/run/engine.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace cli {

/// One row of the benchmark: the tower by itself ("seconds"), reading and preparing the file by
/// itself ("prepare_s"), and a whole request ("first_token_s", with least and most of its runs).
/// Medians of three behind one that makes room and warms caches; every run has a file of its own,
/// because a known one would not be encoded again. The files stay in `folder`, made if need be.
engine::Result<nlohmann::ordered_json> benchImage(engine::Engine& engine,
                                                  const std::filesystem::path& folder);
engine::Result<nlohmann::ordered_json> benchAudio(engine::Engine& engine,
                                                  const std::filesystem::path& folder);

} // namespace cli
