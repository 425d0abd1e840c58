// SPDX-License-Identifier: Apache-2.0
// The published sizes' configuration as JSON text.
#include "engine/families/gemma4/published_shapes.h"

#include <nlohmann/json.hpp>

namespace engine {

using nlohmann::json;

namespace {

/// `period` - 1 sliding layers, then a full one, repeated.
json layerTypes(int num_layers, int period) {
    json types = json::array();
    for (int i = 0; i < num_layers; ++i) {
        types.push_back((i + 1) % period == 0 ? "full_attention" : "sliding_attention");
    }
    return types;
}

json textConfig(const std::string& size) {
    json text = {{"model_type", size == "12B" ? "gemma4_unified_text" : "gemma4_text"},
                 {"vocab_size", 262144},
                 {"hidden_activation", "gelu_pytorch_tanh"},
                 {"rms_norm_eps", 1e-6},
                 {"attention_bias", false},
                 {"attention_dropout", 0.0},
                 {"tie_word_embeddings", true},
                 {"pad_token_id", 0},
                 {"eos_token_id", 1},
                 {"bos_token_id", 2},
                 {"initializer_range", 0.02},
                 {"final_logit_softcapping", 30.0},
                 {"head_dim", 256},
                 {"global_head_dim", 512},
                 {"vocab_size_per_layer_input", 262144},
                 {"enable_moe_block", false},
                 {"use_double_wide_mlp", false},
                 {"num_experts", nullptr},
                 {"top_k_experts", nullptr},
                 {"moe_intermediate_size", nullptr},
                 {"use_cache", true},
                 {"rope_parameters",
                  {{"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 10000.0}}},
                   {"full_attention",
                    {{"rope_type", "proportional"},
                     {"rope_theta", 1000000.0},
                     {"partial_rotary_factor", 0.25}}}}}};
    const bool is_small = size == "E2B" || size == "E4B";
    text["hidden_size_per_layer_input"] = is_small ? 256 : 0;
    text["sliding_window"] = is_small ? 512 : 1024;
    text["max_position_embeddings"] = is_small ? 131072 : 262144;
    text["attention_k_eq_v"] = !is_small;
    text["use_bidirectional_attention"] = is_small ? json(nullptr) : json("vision");
    text["num_global_key_value_heads"] = nullptr;
    text["num_kv_shared_layers"] = 0;
    if (size == "E2B") {
        text.update({{"hidden_size", 1536},
                     {"intermediate_size", 6144},
                     {"num_hidden_layers", 35},
                     {"num_attention_heads", 8},
                     {"num_key_value_heads", 1},
                     {"num_kv_shared_layers", 20},
                     {"use_double_wide_mlp", true},
                     {"layer_types", layerTypes(35, 5)}});
    } else if (size == "E4B") {
        text.update({{"hidden_size", 2560},
                     {"intermediate_size", 10240},
                     {"num_hidden_layers", 42},
                     {"num_attention_heads", 8},
                     {"num_key_value_heads", 2},
                     {"num_kv_shared_layers", 18},
                     {"layer_types", layerTypes(42, 6)}});
    } else if (size == "12B") {
        text.update({{"hidden_size", 3840},
                     {"intermediate_size", 15360},
                     {"num_hidden_layers", 48},
                     {"num_attention_heads", 16},
                     {"num_key_value_heads", 8},
                     {"num_global_key_value_heads", 1},
                     {"layer_types", layerTypes(48, 6)}});
    } else if (size == "31B") {
        text.update({{"hidden_size", 5376},
                     {"intermediate_size", 21504},
                     {"num_hidden_layers", 60},
                     {"num_attention_heads", 32},
                     {"num_key_value_heads", 16},
                     {"num_global_key_value_heads", 4},
                     {"layer_types", layerTypes(60, 6)}});
    } else if (size == "26B-A4B") {
        text.update({{"hidden_size", 2816},
                     {"intermediate_size", 2112},
                     {"num_hidden_layers", 30},
                     {"num_attention_heads", 16},
                     {"num_key_value_heads", 8},
                     {"num_global_key_value_heads", 2},
                     {"layer_types", layerTypes(30, 6)},
                     {"enable_moe_block", true},
                     {"num_experts", 128},
                     {"top_k_experts", 8},
                     {"moe_intermediate_size", 704}});
    }
    return text;
}

json visionConfig(bool is_small) {
    json vision = {{"model_type", "gemma4_vision"},
                   {"patch_size", 16},
                   {"pooling_kernel_size", 3},
                   {"position_embedding_size", 10240},
                   {"rms_norm_eps", 1e-6},
                   {"attention_bias", false},
                   {"hidden_activation", "gelu_pytorch_tanh"},
                   {"default_output_length", 280},
                   {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 100.0}}}};
    vision["hidden_size"] = is_small ? 768 : 1152;
    vision["intermediate_size"] = is_small ? 3072 : 4304;
    vision["num_hidden_layers"] = is_small ? 16 : 27;
    vision["num_attention_heads"] = is_small ? 12 : 16;
    vision["num_key_value_heads"] = is_small ? 12 : 16;
    vision["head_dim"] = is_small ? 64 : 72;
    vision["global_head_dim"] = is_small ? 64 : 72;
    vision["use_clipped_linears"] = is_small;
    vision["standardize"] = !is_small;
    return vision;
}

json audioConfig() {
    return {{"model_type", "gemma4_audio"},
            {"hidden_size", 1024},
            {"num_hidden_layers", 12},
            {"num_attention_heads", 8},
            {"hidden_act", "silu"},
            {"subsampling_conv_channels", {128, 32}},
            {"conv_kernel_size", 5},
            {"residual_weight", 0.5},
            {"attention_chunk_size", 12},
            {"attention_context_left", 13},
            {"attention_context_right", 0},
            {"attention_logit_cap", 50.0},
            {"attention_invalid_logits_value", -1e9},
            {"use_clipped_linears", true},
            {"rms_norm_eps", 1e-6},
            {"gradient_clipping", 1e10},
            {"output_proj_dims", 1536}};
}

json visionEmbedderConfig() {
    return {{"model_type", "gemma4_unified_vision"},
            {"patch_size", 16},
            {"pooling_kernel_size", 3},
            {"model_patch_size", 48},
            {"mm_embed_dim", 3840},
            {"mm_posemb_size", 1120},
            {"num_soft_tokens", 280},
            {"output_proj_dims", 3840},
            {"rms_norm_eps", 1e-6}};
}

json audioEmbedderConfig() {
    return {{"model_type", "gemma4_unified_audio"},
            {"audio_embed_dim", 640},
            {"hidden_size", 640},
            {"output_proj_dims", 640},
            {"audio_samples_per_token", 640},
            {"rms_norm_eps", 1e-6}};
}

} // namespace

std::string publishedConfigJson(const std::string& size) {
    const bool is_unified = size == "12B";
    if (size != "E2B" && size != "E4B" && size != "31B" && size != "26B-A4B" && !is_unified) {
        return {};
    }
    const bool is_small = size == "E2B" || size == "E4B";
    json config = {
        {"architectures",
         {is_unified ? "Gemma4UnifiedForConditionalGeneration" : "Gemma4ForConditionalGeneration"}},
        {"model_type", is_unified ? "gemma4_unified" : "gemma4"},
        {"dtype", "bfloat16"},
        {"tie_word_embeddings", true},
        {"image_token_id", 258880},
        {"audio_token_id", 258881},
        {"video_token_id", 258884},
        {"boi_token_id", 255999},
        {"eoi_token_id", 258882},
        {"boa_token_id", 256000},
        {"eoa_token_id", 258883},
        {"eoa_token_index", 258883},
        {"vision_soft_tokens_per_image", 280},
        {"eos_token_id", {1, 106}}};
    config["text_config"] = textConfig(size);
    config["vision_config"] = is_unified ? visionEmbedderConfig() : visionConfig(is_small);
    config["audio_config"] = is_unified ? audioEmbedderConfig()
                             : is_small ? audioConfig()
                                        : json(nullptr);
    return config.dump(2);
}

std::string publishedAssistantJson(const std::string& size) {
    if (publishedConfigJson(size).empty()) {
        return {};
    }
    const bool is_small = size == "E2B" || size == "E4B";
    json text = textConfig(size);
    const json backbone = text["hidden_size"];
    text.update({{"hidden_size", is_small ? 256 : 1024},
                 {"intermediate_size", is_small ? 2048 : 8192},
                 {"num_hidden_layers", 4},
                 {"num_attention_heads", is_small        ? 4
                                         : size == "31B" ? 32
                                                         : 16},
                 {"num_kv_shared_layers", 4},
                 {"layer_types", layerTypes(4, 4)},
                 {"hidden_size_per_layer_input", 0},
                 {"vocab_size_per_layer_input", 0},
                 {"final_logit_softcapping", nullptr},
                 {"use_bidirectional_attention", nullptr},
                 {"use_double_wide_mlp", false},
                 {"enable_moe_block", false}});
    const bool is_unified = size == "12B";
    return json(
               {{"architectures",
                 {is_unified ? "Gemma4UnifiedAssistantForCausalLM" : "Gemma4AssistantForCausalLM"}},
                {"model_type", is_unified ? "gemma4_unified_assistant" : "gemma4_assistant"},
                {"dtype", "bfloat16"},
                {"backbone_hidden_size", backbone},
                {"use_ordered_embeddings", is_small},
                {"num_centroids", 2048},
                {"centroid_intermediate_top_k", 32},
                {"tie_word_embeddings", true},
                {"text_config", text}})
        .dump(2);
}

std::string publishedGenerationJson() {
    return json({{"bos_token_id", 2},
                 {"pad_token_id", 0},
                 {"do_sample", true},
                 {"eos_token_id", {1, 106, 50}},
                 {"temperature", 1.0},
                 {"top_k", 64},
                 {"top_p", 0.95}})
        .dump(2);
}

std::string publishedProcessorJson() {
    return json({{"processor_class", "Gemma4Processor"},
                 {"image_seq_length", 280},
                 {"audio_seq_length", 750},
                 {"audio_ms_per_token", 40},
                 {"image_processor",
                  {{"do_convert_rgb", true},
                   {"do_resize", true},
                   {"do_rescale", true},
                   {"rescale_factor", 1.0 / 255.0},
                   {"do_normalize", false},
                   {"resample", 3},
                   {"patch_size", 16},
                   {"pooling_kernel_size", 3},
                   {"max_soft_tokens", 280}}},
                 {"feature_extractor",
                  {{"feature_size", 128},
                   {"sampling_rate", 16000},
                   {"frame_length", 320},
                   {"hop_length", 160},
                   {"fft_length", 512},
                   {"fft_overdrive", false},
                   {"min_frequency", 0.0},
                   {"max_frequency", 8000.0},
                   {"preemphasis", 0.0},
                   {"dither", 0.0},
                   {"input_scale_factor", 1.0},
                   {"mel_floor", 0.001},
                   {"per_bin_mean", nullptr},
                   {"per_bin_stddev", nullptr},
                   {"padding_side", "right"}}}})
        .dump(2);
}

} // namespace engine
