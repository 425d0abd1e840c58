// SPDX-License-Identifier: Apache-2.0
// text_config: sizes, layer types, which layer reads whose keys and values, rotary tables. Old and
// new spellings and all bounds: engine/families/gemma4/CONFIG.md.
#include "engine/families/gemma4/config_parts.h"
#include "engine/families/gemma4/recipes.h"

#include <cmath>
#include <map>
#include <utility>

namespace engine {

namespace {

constexpr int64_t kMaxLayers = 1024;
constexpr int64_t kMaxMlpWidth = 1 << 20; ///< Before doubling.
constexpr int64_t kMaxVocab = 1 << 24;
constexpr int64_t kMaxPositions = 1 << 27;
constexpr int64_t kMaxHeadDim = 4096;
constexpr int64_t kMaxHeadsWidth = 1 << 20; ///< Heads times head size.
constexpr int64_t kMaxPleWidth = 1 << 27;   ///< Layers times per-layer embedding size.
constexpr int64_t kMaxExperts = 4096;

/// What per_layer_config may change in a layer.
struct LayerOverride {
    std::optional<int64_t> head_dim;
    std::optional<int64_t> num_kv_heads;
};

/// Decimal digits, possibly with zeros in front, as a number below `limit`; nullopt otherwise.
std::optional<int64_t> parseLayerIndex(std::string_view text, int64_t limit) {
    if (text.empty() || text.size() > 8) {
        return std::nullopt;
    }
    int64_t index = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        index = index * 10 + (c - '0');
    }
    return index < limit ? std::optional<int64_t>(index) : std::nullopt;
}

int64_t
readHeadDim(const JsonSection& section, std::string_view key, std::optional<int64_t> fallback) {
    const int64_t head_dim = section.integer(key, 2, kMaxHeadDim, fallback);
    if (head_dim % 2 != 0) {
        section.invalid("ConfigRange", key,
                        said("is %1, expected an even number (rotary halves)", head_dim));
    }
    return head_dim;
}

std::map<int64_t, LayerOverride> readLayerOverrides(const JsonSection& section,
                                                    int64_t num_layers) {
    std::map<int64_t, LayerOverride> overrides;
    const Json* object = section.find("per_layer_config");
    if (object == nullptr || !object->is(Json::Kind::Object)) {
        return overrides; // section() has recorded a wrong type
    }
    const JsonSection list = section.section("per_layer_config");
    for (const auto& [key, key_at, value] : object->members) {
        const auto index = parseLayerIndex(key, num_layers);
        if (!index) {
            list.invalid("ConfigRange", key,
                         said("is not a layer index from 0 to %1", num_layers - 1));
            return {};
        }
        if (!value.is(Json::Kind::Object)) {
            list.invalid("ConfigType", key, said("is %1, expected an object", shownJson(value)));
            return {};
        }
        const JsonSection layer = list.section(key);
        LayerOverride own;
        for (const JsonMember& member : value.members) {
            const std::string& name = member.key;
            if (name == "head_dim") {
                own.head_dim = readHeadDim(layer, name, std::nullopt);
            } else if (name == "num_key_value_heads") {
                own.num_kv_heads = layer.integer(name, 1, kMaxHeads);
            } else {
                layer.unsupported(name, said("cannot differ between layers in this version; only "
                                             "head_dim and num_key_value_heads can"));
                return {};
            }
        }
        if (!overrides.emplace(*index, own).second) {
            list.invalid("ConfigDuplicate", key,
                         said("names layer %1 a second time (leading zeros do not count)", *index));
            return {};
        }
    }
    return overrides;
}

std::vector<LayerType> readLayerTypes(const JsonSection& section, int64_t num_layers) {
    std::vector<LayerType> types;
    if (!section.has("layer_types")) {
        // Five sliding layers, then a full one.
        for (int64_t i = 0; i < num_layers; ++i) {
            types.push_back((i + 1) % 6 == 0 ? LayerType::Full : LayerType::Sliding);
        }
        types.back() = LayerType::Full;
        return types;
    }
    const std::vector<std::string> names =
        section.texts("layer_types", static_cast<size_t>(kMaxLayers));
    if (section.problems().error) {
        return types;
    }
    if (names.size() != static_cast<size_t>(num_layers)) {
        section.invalid("ConfigRange", "layer_types",
                        said("has %1 entries, num_hidden_layers is %2", names.size(), num_layers));
        return types;
    }
    for (const std::string& name : names) {
        if (name != "sliding_attention" && name != "full_attention") {
            section.unsupported(
                "layer_types",
                said("holds \"%1\"; only sliding_attention and full_attention are known",
                     name.substr(0, 60)));
            return types;
        }
        types.push_back(name == "full_attention" ? LayerType::Full : LayerType::Sliding);
    }
    if (types.back() != LayerType::Full) {
        section.warn("layer_types",
                     said("ends with a sliding layer; the last layer is always full"));
        types.back() = LayerType::Full;
    }
    return types;
}

/// One rotary table. `section` may not exist: then all values are `rope` as given.
RopeConfig readRope(const JsonSection& section, RopeConfig rope) {
    if (!section.exists()) {
        return rope;
    }
    rope.theta = section.number("rope_theta", 1.0, 1e15, rope.theta);
    rope.factor = section.number("factor", 1e-3, 1e6, 1.0);
    const std::string_view type_key = section.has("rope_type") ? "rope_type" : "type";
    const std::string type = section.text(type_key, "default");
    if (type == "proportional") {
        rope.rotary_factor = section.number("partial_rotary_factor", 0.0, 1.0, 1.0);
        return rope;
    }
    rope.rotary_factor = 1.0;
    if (type != "default" && type != "linear") {
        section.unsupported(
            type_key,
            said("is \"%1\"; only default, linear and proportional are known", type.substr(0, 60)));
    }
    if (section.number("partial_rotary_factor", 0.0, 1.0, 1.0) != 1.0) {
        section.unsupported(
            "partial_rotary_factor",
            said("is not 1 with rope_type \"%1\"; only proportional tables may be partial", type));
    }
    if (type == "default") {
        rope.factor = 1.0; // as the reference: "default" ignores a factor
    }
    return rope;
}

/// rope_parameters per layer type (new), rope_scaling per layer type, or rope_theta,
/// rope_local_base_freq and one rope_scaling for the full layers (older).
void readRopes(const JsonSection& section, TextConfig& text) {
    text.sliding_rope = RopeConfig{10'000.0, 1.0, 1.0};
    text.full_rope = RopeConfig{1'000'000.0, 0.25, 1.0};
    text.sliding_rope.theta =
        section.number("rope_local_base_freq", 1.0, 1e15, text.sliding_rope.theta);
    text.full_rope.theta = section.number("rope_theta", 1.0, 1e15, text.full_rope.theta);
    for (const std::string_view key : {"rope_parameters", "rope_scaling"}) {
        if (!section.has(key)) {
            continue;
        }
        const JsonSection ropes = section.section(key);
        if (ropes.has("sliding_attention") || ropes.has("full_attention")) {
            text.sliding_rope = readRope(ropes.section("sliding_attention"), text.sliding_rope);
            text.full_rope = readRope(ropes.section("full_attention"), text.full_rope);
        } else if (ropes.exists()) {
            section.warn(
                key,
                said("has no members per layer type; it is taken for the full-attention layers"));
            text.full_rope = readRope(ropes, text.full_rope);
        }
        return;
    }
}

void readExperts(const JsonSection& section, TextConfig& text) {
    text.has_moe = section.boolean("enable_moe_block", false);
    if (!text.has_moe) {
        return;
    }
    text.num_experts = section.integer("num_experts", 1, kMaxExperts);
    text.top_k_experts = section.integer("top_k_experts", 1, kMaxExperts);
    text.moe_intermediate_size = section.integer("moe_intermediate_size", 1, kMaxMlpWidth);
    if (text.top_k_experts > text.num_experts) {
        section.invalid(
            "ConfigRange", "top_k_experts",
            said("is %1, num_experts is only %2", text.top_k_experts, text.num_experts));
    }
}

/// Sizes of every layer; needs text's own sizes.
void readLayers(const JsonSection& section, TextConfig& text, TextOf whose) {
    const bool is_k_eq_v = section.boolean("attention_k_eq_v", false);
    const bool is_double_wide = section.boolean("use_double_wide_mlp", false);
    const int64_t intermediate_size = section.integer("intermediate_size", 1, kMaxMlpWidth);
    const int64_t num_kv_heads = section.integer("num_key_value_heads", 1, text.num_heads);
    const int64_t head_dim = readHeadDim(section, "head_dim", 256);
    const bool has_overrides = section.has("per_layer_config");
    int64_t full_head_dim = head_dim;
    int64_t full_kv_heads = num_kv_heads;
    if (!has_overrides) {
        full_head_dim = readHeadDim(section, "global_head_dim", 512);
        if (is_k_eq_v) {
            full_kv_heads =
                section.integer("num_global_key_value_heads", 1, text.num_heads, num_kv_heads);
        }
    } else {
        static_cast<void>(section.section("per_layer_config")); // records a wrong type
    }
    const auto overrides = readLayerOverrides(section, text.num_layers);
    const std::vector<LayerType> types = readLayerTypes(section, text.num_layers);
    if (section.problems().error) {
        return;
    }

    const int64_t first_shared = text.num_layers - text.num_kv_shared_layers;
    int last_owner_of_type[3] = {-1, -1, -1};
    for (int64_t i = 0; i < text.num_layers; ++i) {
        LayerConfig layer;
        layer.type = types[static_cast<size_t>(i)];
        const bool is_full = layer.type == LayerType::Full;
        layer.head_dim = is_full ? full_head_dim : head_dim;
        layer.num_kv_heads = is_full ? full_kv_heads : num_kv_heads;
        if (const auto own = overrides.find(i); own != overrides.end()) {
            layer.head_dim = own->second.head_dim.value_or(layer.head_dim);
            layer.num_kv_heads = own->second.num_kv_heads.value_or(layer.num_kv_heads);
        }
        layer.k_is_v = is_k_eq_v && is_full;
        layer.is_kv_shared = i >= first_shared || whose == TextOf::Assistant;
        layer.intermediate_size =
            is_double_wide && layer.is_kv_shared ? 2 * intermediate_size : intermediate_size;
        int& owner = last_owner_of_type[static_cast<size_t>(layer.type)];
        if (!layer.is_kv_shared) {
            owner = static_cast<int>(i);
        }
        layer.kv_source = owner;
        const Sentence name = said("layer %1", i);
        if (owner < 0 && whose == TextOf::Model) {
            section.invalid("ConfigRange", "num_kv_shared_layers",
                            said("is %1: %2 shares keys and values, but no layer of its type "
                                 "before layer %3 owns any",
                                 text.num_kv_shared_layers, name, first_shared));
            return;
        }
        if (text.num_heads % layer.num_kv_heads != 0) {
            section.invalid(
                "ConfigRange", "num_key_value_heads",
                said("gives %1 %2 key/value heads, which do not divide its %3 query heads", name,
                     layer.num_kv_heads, text.num_heads));
            return;
        }
        if (text.num_heads * layer.head_dim > kMaxHeadsWidth) {
            section.invalid("ConfigRange", "head_dim",
                            said("gives %1 %2 heads of %3, more than %4 values together", name,
                                 text.num_heads, layer.head_dim, kMaxHeadsWidth));
            return;
        }
        text.layers.push_back(layer);
        const LayerConfig& source = layer.is_kv_shared && owner >= 0
                                        ? text.layers[static_cast<size_t>(layer.kv_source)]
                                        : text.layers.back();
        if (source.head_dim != layer.head_dim || source.num_kv_heads != layer.num_kv_heads) {
            section.invalid(
                "ConfigRange", "per_layer_config",
                said("gives %1 other key/value sizes than layer %2, whose keys and values it reads",
                     name, layer.kv_source));
            return;
        }
    }
}

} // namespace

void requireActivation(const JsonSection& section, std::string_view key, std::string_view name) {
    const std::string found = section.text(key, name);
    if (found != name) {
        section.unsupported(key,
                            said("is \"%1\"; only %2 is implemented", found.substr(0, 60), name));
    }
}

TextConfig readTextConfig(const JsonSection& section, TextOf whose) {
    TextConfig text;
    text.num_layers = section.integer("num_hidden_layers", 1, kMaxLayers);
    text.hidden_size = section.integer("hidden_size", 1, kMaxWidth);
    text.vocab_size = section.integer("vocab_size", 1, kMaxVocab, 262144);
    text.num_heads = section.integer("num_attention_heads", 1, kMaxHeads);
    text.sliding_window = section.integer("sliding_window", 1, kMaxPositions, 512);
    text.max_positions = section.integer("max_position_embeddings", 1, kMaxPositions, 131072);
    // The class of the 12B's text has no per-layer inputs, and its files need not say so.
    const bool is_unified = section.text("model_type", "") == "gemma4_unified_text";
    text.ple_size = section.integer("hidden_size_per_layer_input", 0, is_unified ? 0 : kMaxWidth,
                                    is_unified ? 0 : 256);
    text.num_kv_shared_layers =
        section.integer("num_kv_shared_layers", 0,
                        whose == TextOf::Assistant ? text.num_layers : text.num_layers - 1, 0);
    text.rms_norm_eps = section.number("rms_norm_eps", 1e-30, 1.0, 1e-6);
    text.final_logit_softcap = section.number("final_logit_softcapping", 1e-3, 1e6, 0.0);
    text.pad_token_id = section.integer("pad_token_id", 0, text.vocab_size - 1, 0);
    text.bos_token_id =
        section.integer("bos_token_id", 0, text.vocab_size - 1, text.vocab_size > 2 ? 2 : 0);
    if (text.ple_size > 0) {
        text.ple_vocab_size =
            section.integer("vocab_size_per_layer_input", 1, kMaxVocab, text.vocab_size);
        if (text.ple_vocab_size < text.vocab_size) {
            section.invalid("ConfigRange", "vocab_size_per_layer_input",
                            said("is %1, vocab_size is %2; every token needs a row",
                                 text.ple_vocab_size, text.vocab_size));
        }
        if (text.ple_size * text.num_layers > kMaxPleWidth) {
            section.invalid("ConfigRange", "hidden_size_per_layer_input",
                            said("is %1, too much for %2 layers", text.ple_size, text.num_layers));
        }
    }

    requireActivation(section, "hidden_activation", "gelu_pytorch_tanh");
    if (section.boolean("attention_bias", false)) {
        section.unsupported("attention_bias",
                            said("is true; attention biases are not implemented"));
    }
    if (const Json* value = section.find("use_bidirectional_attention")) {
        text.is_vision_bidirectional = value->isString("vision");
        const bool is_false = value->is(Json::Kind::Bool) && !value->boolean;
        if (!text.is_vision_bidirectional && !is_false) {
            section.unsupported(
                "use_bidirectional_attention",
                said("is %1; only null and \"vision\" are implemented", shownJson(*value)));
        }
    }
    readExperts(section, text);
    readRopes(section, text);
    if (!section.problems().error) {
        readLayers(section, text, whose);
    }
    text.recipe = decoderRecipe(text);
    text.embedding_scale = std::sqrt(static_cast<double>(text.hidden_size));
    return text;
}

int TextConfig::lastKvOwner() const {
    return static_cast<int>(num_layers - num_kv_shared_layers) - 1;
}

} // namespace engine
