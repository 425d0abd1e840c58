// SPDX-License-Identifier: Apache-2.0
// Parts of the list of tensors that the 12B has in common with the others; private to
// engine/families/gemma4 and the 12B's folder beside it.
#pragma once

#include "engine/families/tensor_lister.h"
#include "engine/model/model_config.h"

namespace engine {

/// Embeddings, decoder layers, head norm.
void listGemma4Language(Lister& list, const TextConfig& text);
void listGemma4Assistant(Lister& list, const AssistantConfig& assistant);

} // namespace engine
