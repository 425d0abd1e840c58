// SPDX-License-Identifier: Apache-2.0
// What to say when the model's arithmetic gave NaN or an infinity. Values are not looked at while
// weights load or tokens run; once a result is unusable, this computes the prompt again and looks
// at every layer's output, then reads the weights of the first bad layer from the files: either one
// of their values is not finite, or what the layer computes is too large for a float. Private to
// the engine.
#pragma once

#include "engine/base/result.h"
#include "engine/run/engine_state.h"
#include "engine/run/finite.h"
#include "engine/run/generator.h"

#include <stop_token>

namespace engine {

/// The error with its cause: InvalidFile that names the first bad layer and tensor and a next step.
/// `prompt` with all tokens of the reply so far; nullptr where none was ready (a tower failed). The
/// cache holds what was computed anew afterwards, or nothing. Errors of the search itself
/// (Cancelled, reading) come back instead; other errors than notFiniteError() come back as they
/// are.
Error explainNotFinite(Loaded& target,
                       const PreparedPrompt* prompt,
                       Error found,
                       const std::stop_token& stop);

} // namespace engine
