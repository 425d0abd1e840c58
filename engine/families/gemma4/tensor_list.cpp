// SPDX-License-Identifier: Apache-2.0
// The list of tensors of a Gemma 4 model, in the order of the forward pass: embeddings, decoder
// layers, head norm, vision tower, audio tower. See ARCHITECTURE.md, section 2.
#include "engine/families/gemma4/tensor_list.h"

#include "engine/families/gemma4/names.h"
#include "engine/families/gemma4/wrapped_names.h"

#include <array>
#include <initializer_list>
#include <utility>

namespace engine {

namespace {

/// Appends tensors of one module.
class Lister {
public:
    explicit Lister(std::vector<ExpectedTensor>& out) : out_(out) {}

    void enter(Part part) {
        part_ = part;
        module_ = partName(part);
        prefix_ = module_;
        tower_ = isVision(part) ? Tower::Vision : isAudio(part) ? Tower::Audio : Tower::Language;
        layer_ = part.layer;
    }
    /// Names that follow begin with `prefix` while the module stays.
    void setPrefix(std::string prefix) { prefix_ = std::move(prefix); }
    void setLayer(int layer) { layer_ = layer; }

    ExpectedTensor& add(std::string_view name, TensorKind kind, std::vector<int64_t> shape) {
        ExpectedTensor tensor;
        tensor.name = prefix_ + "." + std::string(name);
        tensor.module = module_;
        tensor.shape = std::move(shape);
        tensor.kind = kind;
        tensor.tower = tower_;
        tensor.part = part_;
        tensor.use = tensorUseOfName(tensor.name);
        tensor.layer = layer_;
        out_.push_back(std::move(tensor));
        return out_.back();
    }

    void norm(std::string_view name, int64_t size) {
        add(std::string(name) + ".weight", TensorKind::Vector, {size});
    }

    ExpectedTensor& linear(std::string_view name, int64_t out, int64_t in) {
        return add(std::string(name) + ".weight", TensorKind::Linear, {out, in});
    }

    /// A linear inside the wrapper that clamps its input and output.
    void wrappedLinear(std::string_view name, int64_t out, int64_t in, bool is_clipped) {
        linear(std::string(name) + ".linear", out, in);
        if (!is_clipped) {
            return;
        }
        for (const char* end : {".input_min", ".input_max", ".output_min", ".output_max"}) {
            add(std::string(name) + end, TensorKind::ClipScalar, {}).is_required = false;
        }
    }

private:
    std::vector<ExpectedTensor>& out_;
    Part part_;
    std::string module_, prefix_;
    Tower tower_ = Tower::Language;
    int layer_ = -1;
};

void listDecoderLayer(Lister& list, const TextConfig& text, int index) {
    const LayerConfig& layer = text.layers[static_cast<size_t>(index)];
    const int64_t hidden = text.hidden_size;
    const int64_t query_width = text.num_heads * layer.head_dim;
    const int64_t kv_width = layer.num_kv_heads * layer.head_dim;
    list.enter(layerPart(index));
    list.norm("input_layernorm", hidden);
    list.linear("self_attn.q_proj", query_width, hidden);
    list.linear("self_attn.k_proj", kv_width, hidden).is_unused = layer.is_kv_shared;
    if (!layer.k_is_v) {
        list.linear("self_attn.v_proj", kv_width, hidden).is_unused = layer.is_kv_shared;
    }
    list.linear("self_attn.o_proj", hidden, query_width);
    list.norm("self_attn.q_norm", layer.head_dim);
    list.add("self_attn.k_norm.weight", TensorKind::Vector, {layer.head_dim}).is_unused =
        layer.is_kv_shared;
    list.norm("post_attention_layernorm", hidden);
    list.norm("pre_feedforward_layernorm", hidden);
    list.linear("mlp.gate_proj", layer.intermediate_size, hidden);
    list.linear("mlp.up_proj", layer.intermediate_size, hidden);
    list.linear("mlp.down_proj", hidden, layer.intermediate_size);
    if (text.has_moe) {
        const int64_t width = text.moe_intermediate_size;
        list.norm("post_feedforward_layernorm_1", hidden);
        list.norm("pre_feedforward_layernorm_2", hidden);
        list.linear("router.proj", text.num_experts, hidden);
        list.add("router.scale", TensorKind::Vector, {hidden});
        list.add("router.per_expert_scale", TensorKind::Vector, {text.num_experts});
        list.add("experts.gate_up_proj", TensorKind::Experts,
                 {text.num_experts, 2 * width, hidden});
        list.add("experts.down_proj", TensorKind::Experts, {text.num_experts, hidden, width});
        list.norm("post_feedforward_layernorm_2", hidden);
    }
    list.norm("post_feedforward_layernorm", hidden);
    if (text.ple_size > 0) {
        list.linear("per_layer_input_gate", text.ple_size, hidden);
        list.linear("per_layer_projection", hidden, text.ple_size);
        list.norm("post_per_layer_input_norm", hidden);
    }
    list.add("layer_scalar", TensorKind::Vector, {1});
}

void listLanguage(Lister& list, const TextConfig& text) {
    list.enter({PartRole::Embedding});
    list.add("weight", TensorKind::Embedding, {text.vocab_size, text.hidden_size});
    if (text.ple_size > 0) {
        const int64_t width = text.num_layers * text.ple_size;
        list.enter({PartRole::PerLayerTable});
        list.add("weight", TensorKind::Embedding, {text.ple_vocab_size, width});
        list.enter({PartRole::PerLayerProjection});
        list.add("weight", TensorKind::Linear, {width, text.hidden_size});
        list.enter({PartRole::PerLayerNorm});
        list.add("weight", TensorKind::Vector, {text.ple_size});
    }
    for (int i = 0; i < static_cast<int>(text.layers.size()); ++i) {
        listDecoderLayer(list, text, i);
    }
    list.enter({PartRole::FinalNorm});
    list.add("weight", TensorKind::Vector, {text.hidden_size});
}

void listVision(Lister& list, const VisionConfig& vision, int64_t text_width) {
    const int64_t hidden = vision.hidden_size;
    const bool is_clipped = vision.has_clipped_linears;
    const Part tower = {PartRole::VisionTower};
    list.enter(tower);
    list.linear("patch_embedder.input_proj", hidden, 3 * vision.patch_size * vision.patch_size);
    list.add("patch_embedder.position_embedding_table", TensorKind::Vector,
             {2, vision.position_table_size, hidden});
    for (int i = 0; i < static_cast<int>(vision.num_layers); ++i) {
        list.setPrefix(partName(tower) + ".encoder.layers." + std::to_string(i));
        list.setLayer(i);
        list.norm("input_layernorm", hidden);
        for (const char* name : {"q", "k", "v", "o"}) {
            list.wrappedLinear(std::string("self_attn.") + name + "_proj", hidden, hidden,
                               is_clipped);
        }
        list.norm("self_attn.q_norm", vision.head_dim);
        list.norm("self_attn.k_norm", vision.head_dim);
        list.norm("post_attention_layernorm", hidden);
        list.norm("pre_feedforward_layernorm", hidden);
        list.wrappedLinear("mlp.gate_proj", vision.intermediate_size, hidden, is_clipped);
        list.wrappedLinear("mlp.up_proj", vision.intermediate_size, hidden, is_clipped);
        list.wrappedLinear("mlp.down_proj", hidden, vision.intermediate_size, is_clipped);
        list.norm("post_feedforward_layernorm", hidden);
    }
    if (vision.standardize) {
        list.enter(tower);
        list.add("std_bias", TensorKind::Vector, {hidden});
        list.add("std_scale", TensorKind::Vector, {hidden});
    }
    list.enter({PartRole::VisionProjector});
    list.linear("embedding_projection", text_width, hidden);
}

void listAudioLayer(Lister& list, const AudioConfig& audio) {
    const int64_t hidden = audio.hidden_size;
    const bool is_clipped = audio.has_clipped_linears;
    const auto feed_forward = [&](const std::string& name) {
        list.norm(name + ".pre_layer_norm", hidden);
        list.wrappedLinear(name + ".ffw_layer_1", 4 * hidden, hidden, is_clipped);
        list.wrappedLinear(name + ".ffw_layer_2", hidden, 4 * hidden, is_clipped);
        list.norm(name + ".post_layer_norm", hidden);
    };
    feed_forward("feed_forward1");
    list.norm("norm_pre_attn", hidden);
    for (const char* name : {"q_proj", "k_proj", "v_proj", "post"}) {
        list.wrappedLinear(std::string("self_attn.") + name, hidden, hidden, is_clipped);
    }
    list.linear("self_attn.relative_k_proj", hidden, hidden);
    list.add("self_attn.per_dim_scale", TensorKind::Vector, {hidden / audio.num_heads});
    list.norm("norm_post_attn", hidden);
    list.norm("lconv1d.pre_layer_norm", hidden);
    list.wrappedLinear("lconv1d.linear_start", 2 * hidden, hidden, is_clipped);
    list.add("lconv1d.depthwise_conv1d.weight", TensorKind::Vector, {hidden, 1, audio.conv_kernel});
    list.norm("lconv1d.conv_norm", hidden);
    list.wrappedLinear("lconv1d.linear_end", hidden, hidden, is_clipped);
    feed_forward("feed_forward2");
    list.norm("norm_out", hidden);
}

void listAudio(Lister& list, const AudioConfig& audio, int64_t text_width) {
    const Part tower = {PartRole::AudioTower};
    const std::string convolutions = "subsample_conv_projection.";
    list.enter(tower);
    int64_t channels_in = 1;
    int64_t bins = audio.mel_bins; // halved, rounded up, by each convolution
    for (int i = 0; i < 2; ++i) {
        const int64_t channels = audio.conv_channels[i];
        const std::string name = convolutions + "layer" + std::to_string(i);
        list.add(name + ".conv.weight", TensorKind::Vector, {channels, channels_in, 3, 3});
        list.norm(name + ".norm", channels);
        channels_in = channels;
        bins = (bins + 1) / 2;
    }
    list.linear(convolutions + "input_proj_linear", audio.hidden_size, channels_in * bins);
    for (int i = 0; i < static_cast<int>(audio.num_layers); ++i) {
        list.setPrefix(partName(tower) + ".layers." + std::to_string(i));
        list.setLayer(i);
        listAudioLayer(list, audio);
    }
    list.enter(tower);
    list.linear("output_proj", audio.output_size, audio.hidden_size);
    list.add("output_proj.bias", TensorKind::Vector, {audio.output_size});
    list.enter({PartRole::AudioProjector});
    list.linear("embedding_projection", text_width, audio.output_size);
}

} // namespace

std::vector<ExpectedTensor> listTensors(const ModelConfig& config) {
    std::vector<ExpectedTensor> tensors;
    Lister list(tensors);
    listLanguage(list, config.text);
    if (config.vision) {
        listVision(list, *config.vision, config.text.hidden_size);
    }
    if (config.audio) {
        listAudio(list, *config.audio, config.text.hidden_size);
    }
    return tensors;
}

ExpectedTensor headTensor(const ModelConfig& config) {
    ExpectedTensor head;
    head.name = kHeadName;
    head.part = {PartRole::Head};
    head.module = partName(head.part);
    head.shape = {config.text.vocab_size, config.text.hidden_size};
    head.kind = TensorKind::Embedding; // --quant leaves it alone, as it does a tied one
    return head;
}

bool isQuantizable(const ExpectedTensor& tensor) {
    return tensor.kind == TensorKind::Linear && !tensor.is_unused;
}

std::string canonicalTensorName(std::string_view stored_name, bool is_text_only) {
    const std::string name = withoutWrappers(stored_name);
    const auto starts_with_any = [](std::string_view text,
                                    std::initializer_list<std::string_view> heads) {
        for (const std::string_view head : heads) {
            if (text.starts_with(head)) {
                return true;
            }
        }
        return false;
    };
    constexpr std::string_view kModel = "model.";
    constexpr std::string_view kLanguage = "language_model.";
    constexpr std::string_view kHead = "lm_head.";
    // What follows the language model's own prefix, in every spelling.
    const auto is_language_part = [&](std::string_view text) {
        return starts_with_any(text, {"layers.", "embed_tokens.", "embed_tokens_per_layer.",
                                      "per_layer_model_projection.", "per_layer_projection_norm.",
                                      "norm."});
    };
    const auto is_other_part = [&](std::string_view text) {
        return starts_with_any(text,
                               {"vision_tower.", "audio_tower.", "embed_vision.", "embed_audio."});
    };

    std::string_view rest = name;
    if (rest.starts_with(kModel)) {
        rest.remove_prefix(kModel.size());
    }
    if (rest.starts_with(kHead) || is_other_part(rest)) {
        return rest.starts_with(kHead) ? std::string(rest) : "model." + std::string(rest);
    }
    if (rest.starts_with(kLanguage)) {
        rest.remove_prefix(kLanguage.size());
        if (rest.starts_with(kModel)) { // layout before transformers 5
            rest.remove_prefix(kModel.size());
        }
        if (rest.starts_with(kHead)) {
            return std::string(rest);
        }
        return is_language_part(rest) ? "model.language_model." + std::string(rest)
                                      : std::string(stored_name);
    }
    if (is_language_part(rest) && (is_text_only || name.starts_with(kModel))) {
        return "model.language_model." + std::string(rest);
    }
    return std::string(stored_name);
}

std::map<std::string_view, const ExpectedTensor*>
tensorsByName(const std::vector<ExpectedTensor>& tensors) {
    std::map<std::string_view, const ExpectedTensor*> map;
    for (const ExpectedTensor& tensor : tensors) {
        map.emplace(tensor.name, &tensor);
    }
    return map;
}

bool isTableVector(const std::string& tensor) {
    const auto ends = [&tensor](const char* suffix) { return tensor.ends_with(suffix); };
    return ends(".conv.weight") || ends("layer0.norm.weight") || ends("layer1.norm.weight") ||
           ends(".depthwise_conv1d.weight") || ends(".per_dim_scale") ||
           ends(".output_proj.bias") || ends(".std_bias") || ends(".std_scale") ||
           ends(".router.scale");
}

bool isHostVector(const std::string& tensor) {
    const auto ends = [&tensor](const char* suffix) { return tensor.ends_with(suffix); };
    return ends(".layer_scalar") || ends(".per_expert_scale") || ends(".position_embedding_table");
}

} // namespace engine
