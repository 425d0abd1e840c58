// SPDX-License-Identifier: Apache-2.0
// config.json texts of the published Gemma 4 sizes (configuration_gemma4.py of transformers and
// public test fixtures), in the flat spelling of the published files. No weights belong to
// them: for plans of models that are not on disk, benchmarks on random weights, and tests.
#pragma once

#include <string>

namespace engine {

/// `size` is "E2B", "E4B", "12B", "31B" or "26B-A4B". Empty for any other.
std::string publishedConfigJson(const std::string& size);
/// The instruction-tuned models' generation_config.json.
std::string publishedGenerationJson();
/// processor_config.json with a budget of 280 soft tokens.
std::string publishedProcessorJson();

/// config.json of the published assistant (multi-token prediction) of that size; empty for others.
std::string publishedAssistantJson(const std::string& size);

} // namespace engine
