// SPDX-License-Identifier: Apache-2.0
// What a model says of itself, as plain, range-checked values. A family (engine/families) fills
// them from its files; everything else reads them. Every size the engine uses comes from here or
// from tensor shapes; nothing is hard-coded.
#pragma once

#include "engine/api/sentence.h"
#include "engine/model/layer_recipe.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

enum class LayerType : uint8_t { Sliding = 1, Full };

struct RopeConfig {
    double theta = 10000.0;
    double rotary_factor = 1.0; ///< Share of the head that rotates ("proportional"), else 1.
    double factor = 1.0;        ///< Divides all frequencies.
    /// [head_dim / 2] divides single frequencies besides (Llama 3.1); empty: none.
    std::vector<double> divisors = {};
};

/// One decoder layer's own sizes.
struct LayerConfig {
    LayerType type = LayerType::Full;
    int64_t head_dim = 0;
    int64_t num_kv_heads = 0;
    int64_t intermediate_size = 0; ///< Doubled already where use_double_wide_mlp applies.
    bool is_kv_shared = false;
    int kv_source = -1;  ///< Layer whose K/V this one reads; its own index for owners.
    bool k_is_v = false; ///< No v_proj: v0 = k0 (attention_k_eq_v in full layers).
};

struct TextConfig {
    int64_t hidden_size = 0, vocab_size = 0, num_layers = 0, num_heads = 0;
    int64_t sliding_window = 0; ///< Keys visible including the own position.
    int64_t max_positions = 0;
    int64_t ple_size = 0; ///< hidden_size_per_layer_input; 0 = no per-layer embeddings.
    int64_t ple_vocab_size = 0;
    int64_t num_kv_shared_layers = 0;
    double rms_norm_eps = 1e-6;
    double final_logit_softcap = 0.0; ///< 0 = none.
    bool has_moe = false;
    int64_t num_experts = 0, top_k_experts = 0, moe_intermediate_size = 0;
    bool is_vision_bidirectional = false; ///< use_bidirectional_attention == "vision".
    RopeConfig sliding_rope, full_rope;
    LayerRecipe recipe;           ///< The same for every layer.
    double embedding_scale = 1.0; ///< Factor of rows of the token table.
    std::vector<LayerConfig> layers;
    int64_t pad_token_id = 0, bos_token_id = 2;
    /// Index of the last layer that owns KV; prompt tokens other than the last stop after its K/V.
    [[nodiscard]] int lastKvOwner() const;
};

struct VisionConfig {
    /// false: nothing but an embedding of each patch, of hidden_size values (12B). A patch is then
    /// one soft token, and there are no layers.
    bool has_tower = true;
    int64_t hidden_size = 0, intermediate_size = 0, num_layers = 0, num_heads = 0, head_dim = 0;
    int64_t patch_size = 16, pooling_kernel = 3, position_table_size = 0;
    double rope_theta = 100.0, rms_norm_eps = 1e-6;
    bool has_clipped_linears = false, standardize = false;
    LayerRecipe recipe;
};

struct AudioConfig {
    /// false: the projector takes frames of output_size samples as they are (12B). A frame is then
    /// one soft token, and nothing else below means anything but rms_norm_eps.
    bool has_tower = true;
    int64_t hidden_size = 0, num_layers = 0, num_heads = 0, output_size = 0;
    int64_t conv_channels[2] = {0, 0};
    int64_t conv_kernel = 5;
    int64_t mel_bins = 128;
    int64_t context_left = 13; ///< Reach of attention is context_left - 1 keys.
    double residual_weight = 0.5, logit_cap = 50.0, gradient_clipping = 1e10, rms_norm_eps = 1e-6;
    bool has_clipped_linears = false;
    bool has_softplus_scale = false; ///< The files hold softplus(per_dim_scale), as GGUF's do.
    LayerRecipe recipe;
};

/// A model's drafting assistant (multi-token prediction): a small decoder beside it whose layers
/// own no keys and values but read those of the model.
struct AssistantConfig {
    TextConfig text; ///< Each layer's kv_source: the model's layer whose keys and values it reads.
    int64_t backbone_size = 0;    ///< Hidden size of the model that it was made for.
    int64_t num_centroids = 0;    ///< Groups that its head chooses from first; 0: one product.
    int64_t top_centroids = 0;    ///< Groups whose tokens are looked at.
    int64_t num_draft_tokens = 0; ///< What its makers advise; 0: nothing said.
    std::vector<int64_t> suppress_tokens; ///< Never drafted.
    std::vector<Sentence> warnings;       ///< What was odd in its files and accepted.
    /// Token of every place of the grouped vocabulary, groups one after the other; nullptr without
    /// groups, or where only headers are at hand.
    std::shared_ptr<const std::vector<int32_t>> token_ordering;

    /// Tokens of one group.
    [[nodiscard]] int64_t groupSize() const {
        return num_centroids > 0 ? text.vocab_size / num_centroids : 0;
    }
    /// Rows of the token table that one draft looks at.
    [[nodiscard]] int64_t candidates() const {
        return num_centroids > 0 ? top_centroids * groupSize() : text.vocab_size;
    }
    /// Values of the widest layer's queries.
    [[nodiscard]] int64_t widestQuery() const {
        int64_t widest = 0;
        for (const LayerConfig& layer : text.layers) {
            widest = layer.head_dim > widest ? layer.head_dim : widest;
        }
        return widest * text.num_heads;
    }
};

struct GenerationDefaults {
    double temperature = 1.0, top_p = 0.95, min_p = 0.0, repetition_penalty = 1.0;
    int64_t top_k = 64;
    bool do_sample = true;
    std::vector<int64_t> eos_token_ids;
    std::vector<int64_t> suppress_tokens;
    std::vector<std::string> stop_strings; ///< A reply ends behind one of them.
};

struct ProcessorConfig {
    int64_t image_tokens = 280;     ///< Soft-token budget, one of 70, 140, 280, 560, 1120.
    int64_t max_audio_tokens = 750; ///< audio_seq_length: 30 s.
};

inline constexpr std::string_view kCompressedTensors = "compressed-tensors"; ///< quant_method

/// Quantization block of config.json, of bitsandbytes or compressed-tensors (W4A16). The tensors'
/// own keys decide what is packed; this is for cross-checking and the report.
struct QuantizationHint {
    std::string quant_method, compute_dtype;
    std::string quant_type; ///< FormatRow::option of the format that the packed weights have.
    bool load_in_4bit = false, load_in_8bit = false, double_quant = false;
    std::vector<std::string> skip_modules; ///< Not packed; of compressed-tensors also "re:...".
};

/// Towers that the files describe and a request left out (LoadRequest::is_text_only).
struct LeftOutTowers {
    std::optional<VisionConfig> vision;
    std::optional<AudioConfig> audio;
};

struct ModelConfig {
    std::string family;       ///< Family::name of who read it, for the list of its tensors.
    std::string architecture; ///< "Gemma4ForConditionalGeneration", "Gemma4ForCausalLM", ...
    std::string variant;      ///< "E2B", "12B", ... when sizes match a published one, else "custom"
    TextConfig text;
    std::optional<VisionConfig> vision;
    std::optional<AudioConfig> audio;
    std::optional<AssistantConfig> assistant; ///< Only where drafts were asked for.
    /// Taken out of the two above: their tensors are listed as unused, nothing of them is loaded.
    LeftOutTowers left_out;
    /// Media tokens; -1 = none (only where the model has no tower that needs the token).
    int64_t image_token_id = 258880, audio_token_id = 258881, video_token_id = 258884;
    int64_t boi_token_id = 255999, eoi_token_id = 258882, boa_token_id = 256000,
            eoa_token_id = 258883;
    bool is_large_template =
        false; ///< 12B, 26B-A4B, 31B: generation prompt closes an empty thought.
    /// As config.json says; PEFT goes by it alone when it ties adapters of table and head.
    bool tie_word_embeddings = true;
    /// lm_head.weight is a tensor of its own, with other values than the token table. The weight
    /// files decide (engine/families/gemma4/stored_head.h); before they were looked at: what
    /// config.json says.
    bool has_own_head = false;
    bool is_table_stored_as_head = false; ///< The files hold the one table as lm_head.weight.
    std::string dtype;                    ///< "bfloat16", ...
    std::optional<QuantizationHint> quantization;
    GenerationDefaults generation;
    ProcessorConfig processor;
    std::vector<Sentence> warnings; ///< Unusual but accepted: for the load report.

    /// A tower for pictures or sounds, rather than an embedder or nothing.
    [[nodiscard]] bool hasVisionTower() const { return vision && vision->has_tower; }
    [[nodiscard]] bool hasAudioTower() const { return audio && audio->has_tower; }
};

} // namespace engine
