// SPDX-License-Identifier: Apache-2.0
// Decoders of Llama's form: RMS norms in front, SwiGLU, plain RoPE, full attention everywhere, text
// only. Not a promise to users (no tokenizer of theirs, no chat template): it keeps the seams of
// the engine honest, and is what a second family costs.
#pragma once

#include "engine/families/family.h"

namespace engine {

const Family& llamaFamily();

} // namespace engine
