// SPDX-License-Identifier: Apache-2.0
#include "engine/families/llama/family.h"

#include "engine/families/config_texts.h"
#include "engine/families/generation_config.h"
#include "engine/families/tensor_lister.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
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

/// What is meant where a config.json does not say it, as transformers' classes have it.
struct Usual {
    int64_t max_positions = 2048;
    std::optional<int64_t> kv_heads; ///< nullopt: as many as there are heads of queries.
};
constexpr Usual kLlama = {};
constexpr Usual kMistral = {131'072, 8};

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

/// Divisors of the frequencies as of Llama 3.1: slow rotations are slowed by a factor, fast ones
/// are not, and those between the two blend (transformers: modeling_rope_utils, "llama3").
std::vector<double> readLlama3Divisors(const JsonSection& rope, double theta, int64_t head_dim) {
    constexpr std::string_view kOriginal = "original_max_position_embeddings";
    for (const std::string_view key : {"factor", "low_freq_factor", "high_freq_factor"}) {
        if (!rope.has(key)) {
            rope.invalid("ConfigMissing", key, said("is missing, expected a number"));
        }
    }
    const double factor = rope.number("factor", 1.0, 1e6, 1.0);
    const double low = rope.number("low_freq_factor", 1e-3, 1e6, 1.0);
    const double high = rope.number("high_freq_factor", 1e-3, 1e6, 4.0);
    const auto original = static_cast<double>(rope.integer(kOriginal, 1, kMaxPositions));
    if (high <= low) {
        rope.invalid("ConfigRange", "high_freq_factor",
                     said("is %1, expected more than low_freq_factor", shownNumber(high)));
    }
    std::vector<double> divisors(static_cast<size_t>(head_dim / 2));
    for (size_t j = 0; j < divisors.size(); ++j) {
        const double exponent = 2.0 * static_cast<double>(j) / static_cast<double>(head_dim);
        const double wavelength = 2.0 * std::numbers::pi * std::pow(theta, exponent);
        const double kept = std::clamp((original / wavelength - low) / (high - low), 0.0, 1.0);
        divisors[j] = 1.0 / ((1.0 - kept) / factor + kept);
    }
    return divisors;
}

/// Divisors that GGUF files state themselves.
std::vector<double> readStatedDivisors(const JsonSection& rope, int64_t head_dim) {
    std::vector<double> divisors;
    if (const Json* list = rope.find("divisors"); list != nullptr) {
        for (const Json& item : list->items) {
            divisors.push_back(item.number().value_or(0.0));
        }
    }
    if (static_cast<int64_t>(divisors.size()) != head_dim / 2 ||
        !std::all_of(divisors.begin(), divisors.end(), [](double d) { return d >= 1e-6; })) {
        rope.invalid("ConfigRange", "divisors",
                     said("is no list of %1 numbers above zero", head_dim / 2));
    }
    return divisors;
}

RopeConfig readRope(const JsonSection& section, int64_t head_dim) {
    RopeConfig rope;
    rope.theta = section.number("rope_theta", 1.0, 1e15, rope.theta);
    const JsonSection own =
        section.section(section.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
    rope.theta = own.number("rope_theta", 1.0, 1e15, rope.theta);
    const std::string type = own.text(own.has("rope_type") ? "rope_type" : "type", "default");
    if (type == "llama3") {
        rope.divisors = readLlama3Divisors(own, rope.theta, head_dim);
    } else if (type == kDividedRope) {
        rope.divisors = readStatedDivisors(own, head_dim);
    } else if (type != "default") {
        own.unsupported("rope_type", said("is \"%1\"; only default and llama3 are implemented",
                                          type.substr(0, 60)));
    }
    return rope;
}

/// Mistral's layers have a window unless the config says null. One that is as long as the context
/// changes nothing.
void refuseWindow(const Json& tree, const JsonSection& section, int64_t max_positions) {
    constexpr int64_t kUsualWindow = 4096;
    const Json* stated = tree.find("sliding_window");
    if (stated != nullptr && stated->is(Json::Kind::Null)) {
        return;
    }
    const int64_t window = section.integer("sliding_window", 1, kMaxPositions, kUsualWindow);
    if (window < max_positions) {
        section.unsupported("sliding_window",
                            said("is %1, also where it is not given; only null is implemented for "
                                 "this kind of model",
                                 window));
    }
}

TextConfig readText(const JsonSection& section, const Usual& usual) {
    TextConfig text;
    text.num_layers = section.integer("num_hidden_layers", 1, kMaxLayers);
    text.hidden_size = section.integer("hidden_size", 1, kMaxWidth);
    text.vocab_size = section.integer("vocab_size", 1, kMaxVocab);
    text.num_heads = section.integer("num_attention_heads", 1, kMaxHeads);
    text.max_positions =
        section.integer("max_position_embeddings", 1, kMaxPositions, usual.max_positions);
    text.sliding_window = text.max_positions; // no layer slides
    text.rms_norm_eps = section.number("rms_norm_eps", 1e-30, 1.0, 1e-6);
    text.pad_token_id = section.integer("pad_token_id", 0, text.vocab_size - 1, 0);
    text.bos_token_id = section.integer("bos_token_id", 0, text.vocab_size - 1, 1);
    text.recipe = decoderRecipe();
    text.recipe.has_query_gate = section.boolean("attn_output_gate", false);
    LayerConfig layer;
    layer.num_kv_heads = section.integer("num_key_value_heads", 1, kMaxHeads,
                                         usual.kv_heads.value_or(text.num_heads));
    layer.head_dim = section.integer("head_dim", 2, 512,
                                     text.hidden_size / std::max<int64_t>(1, text.num_heads));
    text.full_rope = readRope(section, layer.head_dim);
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
        list.linear("self_attn.q_proj", query_width * text.recipe.queryParts(), hidden, Query);
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
    const bool is_mistral = root.text("model_type", "llama") == "mistral";
    config.architecture = is_mistral ? "MistralForCausalLM" : "LlamaForCausalLM";
    config.variant = "custom";
    config.text = readText(root, is_mistral ? kMistral : kLlama);
    if (is_mistral) {
        refuseWindow(config_tree, root, config.text.max_positions);
    }
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
    static constexpr std::array<std::string_view, 2> kModelTypes = {"llama", "mistral"};
    static constexpr Family kFamily = {"llama", kModelTypes,      parseConfig,
                                       nullptr, listLlamaTensors, folderTurns};
    return kFamily;
}

} // namespace engine
