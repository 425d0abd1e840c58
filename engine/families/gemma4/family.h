// SPDX-License-Identifier: Apache-2.0
// Gemma 4: E2B, E4B, 26B-A4B, 31B. Files: CONFIG.md; formulas: ARCHITECTURE.md. The 12B:
// engine/families/gemma4_unified.
#pragma once

#include "engine/families/family.h"

namespace engine {

const Family& gemma4Family();

/// All tensors in the order of the forward pass: embeddings, decoder layers, head norm, vision
/// tower, audio tower. See ARCHITECTURE.md, section 2.
std::vector<ExpectedTensor> listGemma4Tensors(const ModelConfig& config);

} // namespace engine
