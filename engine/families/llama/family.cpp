// SPDX-License-Identifier: Apache-2.0
#include "engine/families/llama/family.h"

#include "engine/families/config_texts.h"
#include "engine/families/generation_config.h"
#include "engine/families/tensor_lister.h"

#include <array>
#include <string>
#include <utility>

namespace engine {

namespace {

// Bounds as of Gemma 4's sizes: everything is range-checked before anything is allocated from it.
constexpr int64_t kMaxLayers = 1024;
constexpr int64_t kMaxWidth = 65536;
constexpr int64_t kMaxMlpWidth = int64_t{1} << 20;
constexpr int64_t kMaxHeads = 1024;
constexpr int64_t kMaxVocab = int64_t{1} << 22;
constexpr int64_t kMaxPositions = int64_t{1} << 24;

constexpr int kAttention = 0; ///< Branches of the recipe.
constexpr int kMlp = 1;

/// x + o(attend(norm x)), then x + down(silu(gate norm x) * up norm x).
LayerRecipe decoderRecipe() {
    LayerRecipe recipe;
    recipe.branches = {{BranchBody::Attention, true, false}, {BranchBody::Mlp, true, false}};
    recipe.activation = Activation::Silu;
    recipe.has_head_norms = recipe.has_value_norm = false;
    return recipe;
}

void refuse(const JsonSection& section, std::string_view key) {
    if (section.boolean(key, false)) {
        section.unsupported(key, said("is true; biases are not implemented"));
    }
}

RopeConfig readRope(const JsonSection& section) {
    RopeConfig rope;
    rope.theta = section.number("rope_theta", 1.0, 1e15, rope.theta);
    const JsonSection own =
        section.section(section.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
    rope.theta = own.number("rope_theta", 1.0, 1e15, rope.theta);
    const std::string type = own.text(own.has("rope_type") ? "rope_type" : "type", "default");
    if (type != "default") {
        own.unsupported("rope_type",
                        said("is \"%1\"; only default is implemented", type.substr(0, 60)));
    }
    return rope;
}

TextConfig readText(const JsonSection& section) {
    TextConfig text;
    text.num_layers = section.integer("num_hidden_layers", 1, kMaxLayers);
    text.hidden_size = section.integer("hidden_size", 1, kMaxWidth);
    text.vocab_size = section.integer("vocab_size", 1, kMaxVocab);
    text.num_heads = section.integer("num_attention_heads", 1, kMaxHeads);
    text.max_positions = section.integer("max_position_embeddings", 1, kMaxPositions, 2048);
    text.sliding_window = text.max_positions; // no layer slides
    text.rms_norm_eps = section.number("rms_norm_eps", 1e-30, 1.0, 1e-6);
    text.pad_token_id = section.integer("pad_token_id", 0, text.vocab_size - 1, 0);
    text.bos_token_id = section.integer("bos_token_id", 0, text.vocab_size - 1, 1);
    text.full_rope = readRope(section);
    text.recipe = decoderRecipe();
    LayerConfig layer;
    layer.num_kv_heads = section.integer("num_key_value_heads", 1, kMaxHeads, text.num_heads);
    layer.head_dim = section.integer("head_dim", 2, 512,
                                     text.hidden_size / std::max<int64_t>(1, text.num_heads));
    layer.intermediate_size = section.integer("intermediate_size", 1, kMaxMlpWidth);
    if (layer.head_dim % 2 != 0 || text.num_heads % layer.num_kv_heads != 0) {
        section.invalid(
            "ConfigRange", "num_key_value_heads",
            said("is %1 with heads of %2; expected a divisor of num_attention_heads and even heads",
                 layer.num_kv_heads, layer.head_dim));
    }
    for (int64_t i = 0; i < text.num_layers; ++i) {
        layer.kv_source = static_cast<int>(i);
        text.layers.push_back(layer);
    }
    const std::string activation = section.text("hidden_act", "silu");
    if (activation != "silu") {
        section.unsupported("hidden_act",
                            said("is \"%1\"; only silu is implemented", activation.substr(0, 60)));
    }
    refuse(section, "attention_bias");
    refuse(section, "mlp_bias");
    return text;
}

std::vector<ExpectedTensor> listLlamaTensors(const ModelConfig& config) {
    using enum TensorSlot;
    const TextConfig& text = config.text;
    const int64_t hidden = text.hidden_size;
    std::vector<ExpectedTensor> tensors;
    Lister list(tensors);
    list.enter({PartRole::Embedding});
    list.add("weight", TensorKind::Embedding, {text.vocab_size, hidden}, Weight);
    for (int i = 0; i < static_cast<int>(text.layers.size()); ++i) {
        const LayerConfig& layer = text.layers[static_cast<size_t>(i)];
        const int64_t query_width = text.num_heads * layer.head_dim;
        const int64_t kv_width = layer.num_kv_heads * layer.head_dim;
        list.enter(layerPart(i));
        list.norm("input_layernorm", hidden, PreNorm, kAttention);
        list.linear("self_attn.q_proj", query_width, hidden, Query);
        list.linear("self_attn.k_proj", kv_width, hidden, Key);
        list.linear("self_attn.v_proj", kv_width, hidden, Value);
        list.linear("self_attn.o_proj", hidden, query_width, Output);
        list.norm("post_attention_layernorm", hidden, PreNorm, kMlp);
        list.linear("mlp.gate_proj", layer.intermediate_size, hidden, MlpGate);
        list.linear("mlp.up_proj", layer.intermediate_size, hidden, MlpUp);
        list.linear("mlp.down_proj", hidden, layer.intermediate_size, MlpDown);
    }
    list.enter({PartRole::FinalNorm});
    list.add("weight", TensorKind::Vector, {hidden}, Weight);
    return tensors;
}

Result<ModelConfig> parseConfig(const ConfigTexts& texts) {
    ENGINE_ASSIGN(const Json config_tree, parseConfigObject(texts.config, "config.json"));
    JsonProblems problems;
    const JsonSection root(&config_tree, "config.json", "", problems);
    ModelConfig config;
    config.architecture = "LlamaForCausalLM";
    config.variant = "custom";
    config.text = readText(root);
    if (problems.error) {
        return *problems.error; // everything below needs sizes that hold
    }
    config.image_token_id = config.audio_token_id = config.video_token_id = -1;
    config.boi_token_id = config.eoi_token_id = config.boa_token_id = config.eoa_token_id = -1;
    config.tie_word_embeddings = root.boolean("tie_word_embeddings", false);
    config.has_own_head = !config.tie_word_embeddings;
    config.dtype = root.text(root.has("dtype") ? "dtype" : "torch_dtype", "");
    config.quantization = readQuantization(root.section("quantization_config"));
    config.generation = readGeneration(texts.generation, config.text,
                                       DefaultsReader(config_tree, "config.json", problems.warnings)
                                           .tokens("eos_token_id", config.text.vocab_size),
                                       problems.warnings);
    if (problems.error) {
        return *problems.error;
    }
    ENGINE_TRY(checkTotalSize(listLlamaTensors(config), config));
    config.warnings = std::move(problems.warnings);
    return config;
}

} // namespace

const Family& llamaFamily() {
    static constexpr std::array<std::string_view, 1> kModelTypes = {"llama"};
    static constexpr Family kFamily = {"llama", kModelTypes,      parseConfig,
                                       nullptr, listLlamaTensors, folderTurns};
    return kFamily;
}

} // namespace engine
