// SPDX-License-Identifier: Apache-2.0
// Decoders of Llama's form: RMS norms in front, SwiGLU, RoPE (plain, or scaled as of Llama 3.1),
// full attention everywhere, text only: Llama 3, SmolLM2, Mistral's layers without a window.
#pragma once

#include "engine/families/family.h"

namespace engine {

/// rope_type of a config.json that was written from a GGUF file: "divisors" divide the frequencies.
inline constexpr std::string_view kDividedRope = "divided";

const Family& llamaFamily();

} // namespace engine
