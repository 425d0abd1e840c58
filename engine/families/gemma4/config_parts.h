// SPDX-License-Identifier: Apache-2.0
// The readers of config.json's parts, one function per part; private to
// engine/families/gemma4/config*.cpp and to the 12B's folder beside it.
#pragma once

#include "engine/base/json/section.h"
#include "engine/families/family.h"
#include "engine/model/model_config.h"

#include <string_view>
#include <vector>

namespace engine {

inline constexpr int64_t kMaxWidth = 65536; ///< Hidden sizes.
inline constexpr int64_t kMaxHeads = 1024;

/// Whose text_config is read: an assistant's layers all read keys and values of another model.
enum class TextOf : uint8_t { Model = 1, Assistant };
/// text_config, or the root of a text-only model. All layers' sizes are filled in.
TextConfig readTextConfig(const JsonSection& section, TextOf whose = TextOf::Model);
VisionConfig readVisionConfig(const JsonSection& section);
AudioConfig readAudioConfig(const JsonSection& section);
/// patch_size x pooling_kernel_size must be the side in pixels of what becomes one soft token.
void requirePatchSide(const JsonSection& section, int64_t side);
/// Only this value is implemented; absent: taken as that.
void requireInteger(const JsonSection& section, std::string_view key, int64_t wanted);
void requireModelType(const JsonSection& section, std::string_view name);
/// The shapes of activations are checked against "gelu_pytorch_tanh" or "silu".
void requireActivation(const JsonSection& section, std::string_view key, std::string_view name);

/// What the models of one model_type have of their own.
struct Gemma4Kind {
    std::string_view model_type; ///< text_config has the same with "_text".
    std::string_view class_name; ///< architectures: the same with "ForConditionalGeneration".
    VisionConfig (*vision)(const JsonSection& section);
    AudioConfig (*audio)(const JsonSection& section);
    std::vector<ExpectedTensor> (*list)(const ModelConfig& config);
};
/// Family::parse of a kind.
Result<ModelConfig> parseGemma4Config(const ConfigTexts& texts, const Gemma4Kind& kind);
/// Family::finish: what the checkpoint says beside its JSON texts, the form of its chat template.
Result<void> finishGemma4Config(const Checkpoint& checkpoint, ModelConfig& config);

} // namespace engine
