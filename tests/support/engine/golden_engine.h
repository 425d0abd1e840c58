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

/// A case as token ids with its media files.
engine::GenerateRequest goldenCaseRequest(const GoldenCase& c);

/// Logits of the last `rows` tokens; ends the test program on error.
std::vector<float> engineLogits(engine::Engine& engine, const GoldenCase& c, int64_t rows);

/// Greedy tokens, nothing suppressed, no stop.
std::vector<int32_t> engineGreedy(engine::Engine& engine, const GoldenCase& c, int count);

/// Empty when every device's measured bytes equal the plan's, part by part; else what differs.
std::string memoryDifference(const engine::Engine& engine);

std::string goldenAdapter(const std::string& family, const std::string& name);

} // namespace support
