// SPDX-License-Identifier: Apache-2.0
// vision_config and audio_config. Keys and bounds: engine/families/gemma4/CONFIG.md.
#include "engine/families/gemma4/config_parts.h"
#include "engine/families/gemma4/recipes.h"

#include <utility>

namespace engine {

namespace {

constexpr int64_t kMaxTowerLayers = 256;

} // namespace

VisionConfig readVisionConfig(const JsonSection& section) {
    requireModelType(section, "gemma4_vision");
    VisionConfig vision;
    vision.hidden_size = section.integer("hidden_size", 1, kMaxWidth);
    vision.intermediate_size = section.integer("intermediate_size", 1, int64_t{1} << 20);
    vision.num_layers = section.integer("num_hidden_layers", 1, kMaxTowerLayers);
    vision.num_heads = section.integer("num_attention_heads", 1, kMaxHeads);
    vision.head_dim = section.integer("head_dim", 4, 4096, 64);
    vision.patch_size = section.integer("patch_size", 1, 256, 16);
    vision.pooling_kernel = section.integer("pooling_kernel_size", 1, 16, 3);
    vision.position_table_size =
        section.integer("position_embedding_size", 1, int64_t{1} << 20, 10240);
    vision.rms_norm_eps = section.number("rms_norm_eps", 1e-30, 1.0, 1e-6);
    vision.has_clipped_linears = section.boolean("use_clipped_linears", false);
    vision.standardize = section.boolean("standardize", false);
    requireActivation(section, "hidden_activation", "gelu_pytorch_tanh");
    if (section.boolean("attention_bias", false)) {
        section.unsupported("attention_bias",
                            said("is true; attention biases are not implemented"));
    }
    if (vision.head_dim % 4 != 0) {
        section.invalid(
            "ConfigRange", "head_dim",
            said("is %1, expected a multiple of 4 (rotary halves on two axes)", vision.head_dim));
    }
    if (vision.num_heads * vision.head_dim != vision.hidden_size) {
        section.invalid("ConfigRange", "hidden_size",
                        said("is %1, expected num_attention_heads x head_dim = %2",
                             vision.hidden_size, vision.num_heads * vision.head_dim));
    }
    const int64_t num_kv_heads =
        section.integer("num_key_value_heads", 1, kMaxHeads, vision.num_heads);
    if (num_kv_heads != vision.num_heads) {
        section.unsupported("num_key_value_heads",
                            said("is %1; only as many as num_attention_heads (%2) is implemented",
                                 num_kv_heads, vision.num_heads));
    }

    vision.rope_theta = section.number("rope_theta", 1.0, 1e15, vision.rope_theta);
    const JsonSection rope =
        section.section(section.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
    const std::string_view type_key = rope.has("rope_type") ? "rope_type" : "type";
    const std::string type = rope.text(type_key, "default");
    if (type != "default" && type != "axial") {
        rope.unsupported(type_key, said("is \"%1\"; only default and axial are implemented",
                                        type.substr(0, 60)));
    }
    vision.rope_theta = rope.number("rope_theta", 1.0, 1e15, vision.rope_theta);
    vision.recipe = visionRecipe();
    return vision;
}

AudioConfig readAudioConfig(const JsonSection& section) {
    requireModelType(section, "gemma4_audio");
    AudioConfig audio;
    audio.hidden_size = section.integer("hidden_size", 4, kMaxWidth);
    audio.num_layers = section.integer("num_hidden_layers", 1, kMaxTowerLayers);
    audio.num_heads = section.integer("num_attention_heads", 1, kMaxHeads);
    audio.output_size = section.integer("output_proj_dims", 1, kMaxWidth);
    audio.conv_kernel = section.integer("conv_kernel_size", 1, 64, 5);
    audio.context_left = section.integer("attention_context_left", 2, 4096, 13);
    audio.residual_weight = section.number("residual_weight", 0.0, 10.0, 0.5);
    audio.logit_cap = section.number("attention_logit_cap", 1e-3, 1e6, 50.0);
    audio.gradient_clipping = section.number("gradient_clipping", 1e-3, 1e300, 1e10);
    audio.rms_norm_eps = section.number("rms_norm_eps", 1e-30, 1.0, 1e-6);
    audio.has_clipped_linears = section.boolean("use_clipped_linears", true);
    audio.has_softplus_scale = section.boolean("has_softplus_scale", false);
    requireActivation(section, "hidden_act", "silu");
    if (audio.hidden_size % 2 != 0 || audio.hidden_size % audio.num_heads != 0) {
        section.invalid("ConfigRange", "hidden_size",
                        said("is %1, expected an even multiple of num_attention_heads (%2)",
                             audio.hidden_size, audio.num_heads));
    }
    if (section.integer("attention_context_right", 0, 4096, 0) != 0) {
        section.unsupported("attention_context_right",
                            said("is not 0; only causal audio is implemented"));
    }
    const std::vector<int64_t> channels = section.integers("subsampling_conv_channels", 1, 4096);
    if (section.has("subsampling_conv_channels") && channels.size() != 2) {
        section.invalid("ConfigRange", "subsampling_conv_channels",
                        said("has %1 entries, expected 2", channels.size()));
    }
    audio.conv_channels[0] = channels.size() == 2 ? channels[0] : 128;
    audio.conv_channels[1] = channels.size() == 2 ? channels[1] : 32;
    audio.recipe = audioRecipe(audio);
    return audio;
}

} // namespace engine
