// SPDX-License-Identifier: Apache-2.0
// Golden models through the whole engine: folder, plan, loader, our own media front end. For tests
// of placements, formats and adapters.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/load_request.h"
#include "engine/run/engine.h"
#include "tests/support/model/golden_model.h"

#include <string>
#include <vector>

namespace support {

/// float32 path, context 256, as stored; `folder` below goldenDir()/family.
engine::LoadRequest goldenRequest(const std::string& family, const std::string& folder = "model");

/// The same for a folder of a test's own with e2b's model in it.
engine::LoadRequest folderRequest(const std::filesystem::path& folder);

/// LABEL.gguf of goldenMoreDir()/gguf-`name`, with LABEL.mmproj.gguf where there is one.
engine::LoadRequest goldenGgufRequest(const std::string& name, const std::string& label);

/// One of the "cases" of such a folder's cases.json; its media lie beside the folders.
engine::GenerateRequest goldenGgufCase(const nlohmann::json& c);

/// The most probable `tokens` tokens behind these ids, whatever they are.
engine::GenerateRequest greedyRequest(std::vector<int32_t> ids, int64_t tokens);

/// A case as token ids with its media files.
engine::GenerateRequest goldenCaseRequest(const GoldenCase& c);

/// Logits of the last `rows` tokens; ends the test program on error.
std::vector<float> engineLogits(engine::Engine& engine, const GoldenCase& c, int64_t rows);

/// Greedy tokens, nothing suppressed, no stop.
std::vector<int32_t> engineGreedy(engine::Engine& engine, const GoldenCase& c, int count);

/// Empty when every device's measured bytes equal the plan's, part by part; else what differs. A
/// real card's context is not predicted to the byte: `counts_context`.
std::string memoryDifference(const engine::Engine& engine, bool counts_context = true);

/// A device map with a default place and entries of its "map".
std::string nativeMap(const std::string& fallback, const std::string& entries);

std::string goldenAdapter(const std::string& family, const std::string& name);

} // namespace support
