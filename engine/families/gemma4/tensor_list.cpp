// SPDX-License-Identifier: Apache-2.0
// The list of tensors of a Gemma 4 model, in the order of the forward pass: embeddings, decoder
// layers, head norm, vision tower, audio tower. See ARCHITECTURE.md, section 2.
#include "engine/families/gemma4/family.h"
#include "engine/families/gemma4/list_parts.h"
#include "engine/families/gemma4/names.h"

#include <string>
#include <utility>

namespace engine {

namespace {

// Branches of a decoder layer's recipe and of a vision layer's, in order (recipes.cpp).
constexpr int kAttention = 0;
constexpr int kMlp = 1;
constexpr int kPerLayerInput = 2;

void listExperts(Lister& list, const TextConfig& text) {
    using enum TensorSlot;
    const int64_t hidden = text.hidden_size;
    const int64_t width = text.moe_intermediate_size;
    list.norm("post_feedforward_layernorm_1", hidden, DenseNorm);
    list.norm("pre_feedforward_layernorm_2", hidden, ExpertPreNorm);
    list.linear("router.proj", text.num_experts, hidden, Router);
    list.add("router.scale", TensorKind::Vector, {hidden}, RouterScale);
    list.add("router.per_expert_scale", TensorKind::Vector, {text.num_experts}, ExpertScale);
    list.add("experts.gate_up_proj", TensorKind::Experts, {text.num_experts, 2 * width, hidden},
             ExpertGateUp);
    list.add("experts.down_proj", TensorKind::Experts, {text.num_experts, hidden, width},
             ExpertDown);
    list.norm("post_feedforward_layernorm_2", hidden, ExpertPostNorm);
}

void listDecoderLayer(Lister& list, const TextConfig& text, int index) {
    using enum TensorSlot;
    const LayerConfig& layer = text.layers[static_cast<size_t>(index)];
    const int64_t hidden = text.hidden_size;
    const int64_t query_width = text.num_heads * layer.head_dim;
    const int64_t kv_width = layer.num_kv_heads * layer.head_dim;
    list.enter(layerPart(index));
    list.norm("input_layernorm", hidden, PreNorm, kAttention);
    list.linear("self_attn.q_proj", query_width, hidden, Query);
    list.linear("self_attn.k_proj", kv_width, hidden, Key).is_unused = layer.is_kv_shared;
    if (!layer.k_is_v) {
        list.linear("self_attn.v_proj", kv_width, hidden, Value).is_unused = layer.is_kv_shared;
    }
    list.linear("self_attn.o_proj", hidden, query_width, Output);
    list.norm("self_attn.q_norm", layer.head_dim, QueryNorm);
    list.norm("self_attn.k_norm", layer.head_dim, KeyNorm).is_unused = layer.is_kv_shared;
    list.norm("post_attention_layernorm", hidden, PostNorm, kAttention);
    list.norm("pre_feedforward_layernorm", hidden, PreNorm, kMlp);
    list.linear("mlp.gate_proj", layer.intermediate_size, hidden, MlpGate);
    list.linear("mlp.up_proj", layer.intermediate_size, hidden, MlpUp);
    list.linear("mlp.down_proj", hidden, layer.intermediate_size, MlpDown);
    if (text.has_moe) {
        listExperts(list, text);
    }
    list.norm("post_feedforward_layernorm", hidden, PostNorm, kMlp);
    if (text.ple_size > 0) {
        list.linear("per_layer_input_gate", text.ple_size, hidden, PerLayerGate);
        list.linear("per_layer_projection", hidden, text.ple_size, PerLayerBack);
        list.norm("post_per_layer_input_norm", hidden, PostNorm, kPerLayerInput);
    }
    list.add("layer_scalar", TensorKind::Vector, {1}, LayerScalar);
}

} // namespace

void listGemma4Language(Lister& list, const TextConfig& text) {
    const auto whole = [&list](PartRole role, TensorKind kind, std::vector<int64_t> shape) {
        list.enter({role});
        list.add("weight", kind, std::move(shape), TensorSlot::Weight);
    };
    whole(PartRole::Embedding, TensorKind::Embedding, {text.vocab_size, text.hidden_size});
    if (text.ple_size > 0) {
        const int64_t width = text.num_layers * text.ple_size;
        whole(PartRole::PerLayerTable, TensorKind::Embedding, {text.ple_vocab_size, width});
        whole(PartRole::PerLayerProjection, TensorKind::Linear, {width, text.hidden_size});
        whole(PartRole::PerLayerNorm, TensorKind::Vector, {text.ple_size});
    }
    for (int i = 0; i < static_cast<int>(text.layers.size()); ++i) {
        listDecoderLayer(list, text, i);
    }
    whole(PartRole::FinalNorm, TensorKind::Vector, {text.hidden_size});
}

namespace {

void listVisionLayer(Lister& list, const VisionConfig& vision) {
    using enum TensorSlot;
    const int64_t hidden = vision.hidden_size;
    const int64_t wide = vision.intermediate_size;
    const bool is_clipped = vision.has_clipped_linears;
    list.norm("input_layernorm", hidden, PreNorm, kAttention);
    list.wrappedLinear("self_attn.q_proj", hidden, hidden, is_clipped, Query);
    list.wrappedLinear("self_attn.k_proj", hidden, hidden, is_clipped, Key);
    list.wrappedLinear("self_attn.v_proj", hidden, hidden, is_clipped, Value);
    list.wrappedLinear("self_attn.o_proj", hidden, hidden, is_clipped, Output);
    list.norm("self_attn.q_norm", vision.head_dim, QueryNorm);
    list.norm("self_attn.k_norm", vision.head_dim, KeyNorm);
    list.norm("post_attention_layernorm", hidden, PostNorm, kAttention);
    list.norm("pre_feedforward_layernorm", hidden, PreNorm, kMlp);
    list.wrappedLinear("mlp.gate_proj", wide, hidden, is_clipped, MlpGate);
    list.wrappedLinear("mlp.up_proj", wide, hidden, is_clipped, MlpUp);
    list.wrappedLinear("mlp.down_proj", hidden, wide, is_clipped, MlpDown);
    list.norm("post_feedforward_layernorm", hidden, PostNorm, kMlp);
}

void listVision(Lister& list, const VisionConfig& vision, int64_t text_width) {
    using enum TensorSlot;
    const int64_t hidden = vision.hidden_size;
    const Part tower = {PartRole::VisionTower};
    list.enter(tower);
    list.linear("patch_embedder.input_proj", hidden, 3 * vision.patch_size * vision.patch_size,
                Patches);
    list.add("patch_embedder.position_embedding_table", TensorKind::Vector,
             {2, vision.position_table_size, hidden}, PositionTable);
    for (int i = 0; i < static_cast<int>(vision.num_layers); ++i) {
        list.setPrefix(partName(tower) + ".encoder.layers." + std::to_string(i));
        list.setLayer(i);
        listVisionLayer(list, vision);
    }
    if (vision.standardize) {
        list.enter(tower);
        list.add("std_bias", TensorKind::Vector, {hidden}, StdBias);
        list.add("std_scale", TensorKind::Vector, {hidden}, StdScale);
    }
    list.enter({PartRole::VisionProjector});
    list.linear("embedding_projection", text_width, hidden, Weight);
}

void listAudioLayer(Lister& list, const AudioConfig& audio) {
    using enum TensorSlot;
    // Branches of the recipe.
    constexpr int kFirst = 0;
    constexpr int kRelative = 1;
    constexpr int kConvolution = 2;
    constexpr int kLast = 3;
    const int64_t hidden = audio.hidden_size;
    const bool is_clipped = audio.has_clipped_linears;
    const auto feed_forward = [&](const std::string& name, int branch) {
        list.norm(name + ".pre_layer_norm", hidden, PreNorm, branch);
        list.wrappedLinear(name + ".ffw_layer_1", 4 * hidden, hidden, is_clipped, FeedForwardIn,
                           branch);
        list.wrappedLinear(name + ".ffw_layer_2", hidden, 4 * hidden, is_clipped, FeedForwardOut,
                           branch);
        list.norm(name + ".post_layer_norm", hidden, PostNorm, branch);
    };
    feed_forward("feed_forward1", kFirst);
    list.norm("norm_pre_attn", hidden, PreNorm, kRelative);
    list.wrappedLinear("self_attn.q_proj", hidden, hidden, is_clipped, Query);
    list.wrappedLinear("self_attn.k_proj", hidden, hidden, is_clipped, Key);
    list.wrappedLinear("self_attn.v_proj", hidden, hidden, is_clipped, Value);
    list.wrappedLinear("self_attn.post", hidden, hidden, is_clipped, Output);
    list.linear("self_attn.relative_k_proj", hidden, hidden, RelativeKey);
    list.add("self_attn.per_dim_scale", TensorKind::Vector, {hidden / audio.num_heads},
             PerDimScale);
    list.norm("norm_post_attn", hidden, PostNorm, kRelative);
    list.norm("lconv1d.pre_layer_norm", hidden, PreNorm, kConvolution);
    list.wrappedLinear("lconv1d.linear_start", 2 * hidden, hidden, is_clipped, ConvStart);
    list.add("lconv1d.depthwise_conv1d.weight", TensorKind::Vector, {hidden, 1, audio.conv_kernel},
             Depthwise);
    list.norm("lconv1d.conv_norm", hidden, ConvInnerNorm);
    list.wrappedLinear("lconv1d.linear_end", hidden, hidden, is_clipped, ConvEnd);
    feed_forward("feed_forward2", kLast);
    list.norm("norm_out", hidden, OutNorm);
}

void listAudio(Lister& list, const AudioConfig& audio, int64_t text_width) {
    using enum TensorSlot;
    const Part tower = {PartRole::AudioTower};
    const std::string convolutions = "subsample_conv_projection.";
    list.enter(tower);
    int64_t channels_in = 1;
    int64_t bins = audio.mel_bins; // halved, rounded up, by each convolution
    for (int i = 0; i < 2; ++i) {
        const int64_t channels = audio.conv_channels[i];
        const std::string name = convolutions + "layer" + std::to_string(i);
        list.add(name + ".conv.weight", TensorKind::Vector, {channels, channels_in, 3, 3},
                 ConvWeight, i);
        list.norm(name + ".norm", channels, ConvNorm, i);
        channels_in = channels;
        bins = (bins + 1) / 2;
    }
    list.linear(convolutions + "input_proj_linear", audio.hidden_size, channels_in * bins,
                TowerInput);
    for (int i = 0; i < static_cast<int>(audio.num_layers); ++i) {
        list.setPrefix(partName(tower) + ".layers." + std::to_string(i));
        list.setLayer(i);
        listAudioLayer(list, audio);
    }
    list.enter(tower);
    list.linear("output_proj", audio.output_size, audio.hidden_size, TowerOutput);
    list.add("output_proj.bias", TensorKind::Vector, {audio.output_size}, TowerOutputBias);
    list.enter({PartRole::AudioProjector});
    list.linear("embedding_projection", text_width, audio.output_size, Weight);
}

} // namespace

void listGemma4Assistant(Lister& list, const AssistantConfig& assistant) {
    using enum TensorSlot;
    const Part part = {PartRole::Assistant};
    const TextConfig& text = assistant.text;
    const int64_t hidden = text.hidden_size;
    list.enter(part);
    list.linear("pre_projection", hidden, 2 * assistant.backbone_size, DraftIn);
    for (int i = 0; i < static_cast<int>(text.layers.size()); ++i) {
        const LayerConfig& layer = text.layers[static_cast<size_t>(i)];
        const int64_t width = text.num_heads * layer.head_dim;
        list.setPrefix(partName(part) + ".layers." + std::to_string(i));
        list.setLayer(i);
        list.norm("input_layernorm", hidden, PreNorm, kAttention);
        list.linear("self_attn.q_proj", width, hidden, Query);
        list.linear("self_attn.o_proj", hidden, width, Output);
        list.norm("self_attn.q_norm", layer.head_dim, QueryNorm);
        list.norm("post_attention_layernorm", hidden, PostNorm, kAttention);
        list.norm("pre_feedforward_layernorm", hidden, PreNorm, kMlp);
        list.linear("mlp.gate_proj", layer.intermediate_size, hidden, MlpGate);
        list.linear("mlp.up_proj", layer.intermediate_size, hidden, MlpUp);
        list.linear("mlp.down_proj", hidden, layer.intermediate_size, MlpDown);
        list.norm("post_feedforward_layernorm", hidden, PostNorm, kMlp);
        list.add("layer_scalar", TensorKind::Vector, {1}, LayerScalar);
    }
    list.enter(part);
    list.norm("norm", hidden, DraftNorm);
    list.linear("post_projection", assistant.backbone_size, hidden, DraftOut);
    const bool is_grouped = assistant.num_centroids > 0;
    if (is_grouped) {
        list.linear("masked_embedding.centroids", assistant.num_centroids, hidden, Centroids);
    }
    // In groups only some rows of the table are read; else the whole of it, for every draft.
    list.add("embed_tokens.weight", is_grouped ? TensorKind::Embedding : TensorKind::Linear,
             {text.vocab_size, hidden}, DraftTable);
}

std::vector<ExpectedTensor> listGemma4Tensors(const ModelConfig& config) {
    std::vector<ExpectedTensor> tensors;
    Lister list(tensors);
    listGemma4Language(list, config.text);
    if (config.vision) {
        listVision(list, *config.vision, config.text.hidden_size);
    }
    if (config.audio) {
        listAudio(list, *config.audio, config.text.hidden_size);
    }
    if (config.assistant) {
        listGemma4Assistant(list, *config.assistant);
    }
    return tensors;
}

} // namespace engine
