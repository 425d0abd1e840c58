// SPDX-License-Identifier: Apache-2.0
// The readers of config.json's parts, one function per part; private to
// engine/families/gemma4/config*.cpp.
#pragma once

#include "engine/base/json/section.h"
#include "engine/model/model_config.h"

namespace engine {

inline constexpr int64_t kMaxWidth = 65536; ///< Hidden sizes.
inline constexpr int64_t kMaxHeads = 1024;

/// Whose text_config is read: an assistant's layers all read keys and values of another model.
enum class TextOf : uint8_t { Model = 1, Assistant };
/// text_config, or the root of a text-only model. All layers' sizes are filled in.
TextConfig readTextConfig(const JsonSection& section, TextOf whose = TextOf::Model);
VisionConfig readVisionConfig(const JsonSection& section);
AudioConfig readAudioConfig(const JsonSection& section);
/// The shapes of activations are checked against "gelu_pytorch_tanh" or "silu".
void requireActivation(const JsonSection& section, std::string_view key, std::string_view name);

} // namespace engine
