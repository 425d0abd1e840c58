// SPDX-License-Identifier: Apache-2.0
// Frequencies of the rotary embeddings and the sines of the audio tower's relative positions.
// Pure functions of the config. Formulas: ARCHITECTURE.md, 3.6, 4.4 and 5.4.
#pragma once

#include "engine/model/model_config.h"

#include <cstdint>
#include <vector>

namespace engine {

/// [head_dim / 2]: theta^(-2j / head_dim) / factor / divisors[j] for the first
/// floor(rotary_factor * head_dim / 2) pairs, 0 (identity) for the rest.
std::vector<float> textFrequencies(const RopeConfig& rope, int64_t head_dim);

/// [head_dim / 4]: theta^(-2j / (head_dim / 2)); one half of the head turns with x, one with y.
std::vector<float> visionFrequencies(const VisionConfig& vision);

/// [count, hidden]: row d = sin(d tau_i), i < hidden/2, then cos(d tau_i);
/// tau_i = exp(-i ln(10000) / (hidden/2 - 1)).
std::vector<float> relativePositionSines(int64_t hidden, int64_t count);

} // namespace engine
