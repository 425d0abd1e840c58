// SPDX-License-Identifier: Apache-2.0
// Names and orders of tensors. The tables are those of llama.cpp's gguf-py (tensor_mapping.py) for
// the architectures that Belfry reads; what its converter changes is undone here.
#include "engine/families/gguf/metadata.h"
#include "engine/families/gguf/names.h"
#include "kernels/weight_formats.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace engine::gguf {

namespace {

constexpr const char* kLayers = "model.language_model.layers.";

struct Name {
    std::string_view stored, shown;
};

/// Tensors of a layer of Gemma 4, behind "blk.N." and "model.language_model.layers.N.".
constexpr Name kLayerNames[] = {
    {"attn_norm.weight", "input_layernorm.weight"},
    {"attn_q.weight", "self_attn.q_proj.weight"},
    {"attn_k.weight", "self_attn.k_proj.weight"},
    {"attn_v.weight", "self_attn.v_proj.weight"},
    {"attn_output.weight", "self_attn.o_proj.weight"},
    {"attn_q_norm.weight", "self_attn.q_norm.weight"},
    {"attn_k_norm.weight", "self_attn.k_norm.weight"},
    {"post_attention_norm.weight", "post_attention_layernorm.weight"},
    {"ffn_norm.weight", "pre_feedforward_layernorm.weight"},
    {"ffn_gate.weight", "mlp.gate_proj.weight"},
    {"ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_down.weight", "mlp.down_proj.weight"},
    {"post_ffw_norm.weight", "post_feedforward_layernorm.weight"},
    {"layer_output_scale.weight", "layer_scalar"},
};
/// There where a token has inputs of its own for each layer,
constexpr Name kInputNames[] = {
    {"inp_gate.weight", "per_layer_input_gate.weight"},
    {"proj.weight", "per_layer_projection.weight"},
    {"post_norm.weight", "post_per_layer_input_norm.weight"},
};
/// and where there are experts.
constexpr Name kExpertNames[] = {
    {"ffn_gate_inp.weight", "router.proj.weight"},
    {"ffn_gate_inp.scale", "router.scale"},
    {"ffn_down_exps.scale", "router.per_expert_scale"},
    {"ffn_gate_up_exps.weight", "experts.gate_up_proj"},
    {"ffn_down_exps.weight", "experts.down_proj"},
    {"pre_ffw_norm_2.weight", "pre_feedforward_layernorm_2.weight"},
    {"post_ffw_norm_1.weight", "post_feedforward_layernorm_1.weight"},
    {"post_ffw_norm_2.weight", "post_feedforward_layernorm_2.weight"},
};

/// Tensors of a layer of `llama`.
constexpr Name kLlamaNames[] = {
    {"attn_norm.weight", "input_layernorm.weight"},
    {"attn_q.weight", "self_attn.q_proj.weight"},
    {"attn_k.weight", "self_attn.k_proj.weight"},
    {"attn_v.weight", "self_attn.v_proj.weight"},
    {"attn_output.weight", "self_attn.o_proj.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
    {"ffn_gate.weight", "mlp.gate_proj.weight"},
    {"ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_down.weight", "mlp.down_proj.weight"},
};

constexpr Name kTextNames[] = {
    {"token_embd.weight", "model.language_model.embed_tokens.weight"},
    {"output_norm.weight", "model.language_model.norm.weight"},
    {"output.weight", "lm_head.weight"},
};
constexpr Name kInputTableNames[] = {
    {"per_layer_token_embd.weight", "model.language_model.embed_tokens_per_layer.weight"},
    {"per_layer_model_proj.weight", "model.language_model.per_layer_model_projection.weight"},
    {"per_layer_proj_norm.weight", "model.language_model.per_layer_projection_norm.weight"},
};

constexpr Name kTowerNames[] = {
    {"v.patch_embd.weight", "model.vision_tower.patch_embedder.input_proj.weight"},
    {"v.position_embd.weight", "model.vision_tower.patch_embedder.position_embedding_table"},
    {"v.std_bias", "model.vision_tower.std_bias"},
    {"v.std_scale", "model.vision_tower.std_scale"},
    {"mm.input_projection.weight", "model.embed_vision.embedding_projection.weight"},
    {"a.conv1d.0.weight", "model.audio_tower.subsample_conv_projection.layer0.conv.weight"},
    {"a.conv1d.1.weight", "model.audio_tower.subsample_conv_projection.layer1.conv.weight"},
    {"a.conv1d.0.norm.weight", "model.audio_tower.subsample_conv_projection.layer0.norm.weight"},
    {"a.conv1d.1.norm.weight", "model.audio_tower.subsample_conv_projection.layer1.norm.weight"},
    {"a.input_projection.weight",
     "model.audio_tower.subsample_conv_projection.input_proj_linear.weight"},
    {"a.pre_encode.out.weight", "model.audio_tower.output_proj.weight"},
    {"a.pre_encode.out.bias", "model.audio_tower.output_proj.bias"},
    {"mm.a.input_projection.weight", "model.embed_audio.embedding_projection.weight"},
};

/// The embedders of the 12B in place of towers.
constexpr Name kEmbedderNames[] = {
    {"v.patch_norm.1.weight", "model.vision_embedder.patch_ln1.weight"},
    {"v.patch_norm.1.bias", "model.vision_embedder.patch_ln1.bias"},
    {"v.patch_embd.weight", "model.vision_embedder.patch_dense.weight"},
    {"v.patch_embd.bias", "model.vision_embedder.patch_dense.bias"},
    {"v.patch_norm.2.weight", "model.vision_embedder.patch_ln2.weight"},
    {"v.patch_norm.2.bias", "model.vision_embedder.patch_ln2.bias"},
    {"v.patch_norm.3.weight", "model.vision_embedder.pos_norm.weight"},
    {"v.patch_norm.3.bias", "model.vision_embedder.pos_norm.bias"},
    {"v.position_embd.weight", "model.vision_embedder.pos_embedding"},
    {"mm.input_projection.weight", "model.embed_vision.embedding_projection.weight"},
    {"mm.a.input_projection.weight", "model.embed_audio.embedding_projection.weight"},
};

constexpr Name kAssistantNames[] = {
    {"token_embd.weight", "model.embed_tokens.weight"},
    {"output_norm.weight", "model.norm.weight"},
    {"nextn.pre_projection.weight", "pre_projection.weight"},
    {"nextn.post_projection.weight", "post_projection.weight"},
    {"masked_embd_centroids.weight", "masked_embedding.centroids.weight"},
    {"masked_embd_ordering", "masked_embedding.token_ordering"},
};

/// Norms of a tower's layer, behind "v.blk.N.".
constexpr Name kVisionNorms[] = {
    {"ln1.weight", "input_layernorm.weight"},
    {"ln2.weight", "pre_feedforward_layernorm.weight"},
    {"attn_post_norm.weight", "post_attention_layernorm.weight"},
    {"ffn_post_norm.weight", "post_feedforward_layernorm.weight"},
    {"attn_q_norm.weight", "self_attn.q_norm.weight"},
    {"attn_k_norm.weight", "self_attn.k_norm.weight"},
};
/// Clipped linears there, without ".weight" and the names of their bounds.
constexpr Name kVisionLinears[] = {
    {"attn_q", "self_attn.q_proj"}, {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"}, {"attn_out", "self_attn.o_proj"},
    {"ffn_gate", "mlp.gate_proj"},  {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};
/// The same of audio. The converter crosses the names of the convolution's two norms.
constexpr Name kAudioNorms[] = {
    {"ffn_norm.weight", "feed_forward1.pre_layer_norm.weight"},
    {"ffn_post_norm.weight", "feed_forward1.post_layer_norm.weight"},
    {"ffn_norm_1.weight", "feed_forward2.pre_layer_norm.weight"},
    {"ffn_post_norm_1.weight", "feed_forward2.post_layer_norm.weight"},
    {"attn_pre_norm.weight", "norm_pre_attn.weight"},
    {"attn_post_norm.weight", "norm_post_attn.weight"},
    {"ln2.weight", "norm_out.weight"},
    {"attn_k_rel.weight", "self_attn.relative_k_proj.weight"},
    {"per_dim_scale.weight", "self_attn.per_dim_scale"},
    {"conv_dw.weight", "lconv1d.depthwise_conv1d.weight"},
    {"conv_norm.weight", "lconv1d.pre_layer_norm.weight"},
    {"norm_conv.weight", "lconv1d.conv_norm.weight"},
};
constexpr Name kAudioLinears[] = {
    {"ffn_up", "feed_forward1.ffw_layer_1"},
    {"ffn_down", "feed_forward1.ffw_layer_2"},
    {"ffn_up_1", "feed_forward2.ffw_layer_1"},
    {"ffn_down_1", "feed_forward2.ffw_layer_2"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_out", "self_attn.post"},
    {"conv_pw1", "lconv1d.linear_start"},
    {"conv_pw2", "lconv1d.linear_end"},
};

/// Audio where Ollama's converter names it otherwise; it crosses the same two norms.
constexpr Name kOllamaNames[] = {
    {"a.pre_encode.out.weight",
     "model.audio_tower.subsample_conv_projection.input_proj_linear.weight"},
    {"mm.a.fc.weight", "model.audio_tower.output_proj.weight"},
    {"mm.a.fc.bias", "model.audio_tower.output_proj.bias"},
};
constexpr Name kOllamaNorms[] = {
    {"ln1.weight", "norm_pre_attn.weight"},
    {"ln2.weight", "norm_post_attn.weight"},
    {"layer_pre_norm.weight", "norm_out.weight"},
    {"linear_pos.weight", "self_attn.relative_k_proj.weight"},
};
constexpr std::string_view kBounds[] = {".input_min", ".input_max", ".output_min", ".output_max"};
constexpr std::string_view kVisionLayers = "model.vision_tower.encoder.layers.";

std::optional<std::string> found(std::span<const Name> names, std::string_view stored) {
    const auto at = std::find_if(names.begin(), names.end(),
                                 [&](const Name& name) { return name.stored == stored; });
    return at == names.end() ? std::nullopt : std::optional(std::string(at->shown));
}

/// "blk.12.attn_q.weight" behind `prefix` as 12 and "attn_q.weight".
struct LayerName {
    int64_t layer = -1;
    std::string_view rest;
};
LayerName layerName(std::string_view name, std::string_view prefix) {
    LayerName result;
    if (!name.starts_with(prefix)) {
        return result;
    }
    const std::string_view after = name.substr(prefix.size());
    const auto [end, fault] =
        std::from_chars(after.data(), after.data() + after.size(), result.layer);
    const auto digits = static_cast<size_t>(end - after.data());
    if (fault != std::errc() || result.layer < 0 || digits >= after.size() ||
        after[digits] != '.' || (digits > 1 && after.front() == '0')) {
        return {};
    }
    result.rest = after.substr(digits + 1);
    return result;
}

/// A tensor of a tower's layer, its linears' bounds among them.
std::optional<std::string>
towerLayerName(std::string_view rest, std::span<const Name> norms, std::span<const Name> linears) {
    if (auto name = found(norms, rest)) {
        return name;
    }
    const size_t dot = rest.find('.');
    const auto stem = found(linears, rest.substr(0, dot));
    if (!stem || dot == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view end = rest.substr(dot);
    const bool is_bound =
        std::find(std::begin(kBounds), std::end(kBounds), end) != std::end(kBounds);
    return end == ".weight" ? std::optional(*stem + ".linear.weight")
           : is_bound       ? std::optional(*stem + std::string(end))
                            : std::nullopt;
}

/// A tensor of a layer of Gemma 4.
std::optional<std::string> gemmaName(std::string_view rest, bool has_inputs, bool has_experts) {
    auto name = found(kLayerNames, rest);
    if (!name && has_inputs) {
        name = found(kInputNames, rest);
    }
    return !name && has_experts ? found(kExpertNames, rest) : name;
}

/// What wrote the projector.
enum class TowerNames : uint8_t { Converter, Embedders, Ollama };

/// A tensor of a projector.
std::optional<std::string> towerName(std::string_view stored, TowerNames names) {
    const bool is_ollamas = names == TowerNames::Ollama;
    if (auto name = is_ollamas ? found(kOllamaNames, stored) : std::nullopt) {
        return name;
    }
    if (auto name = names == TowerNames::Embedders ? found(kEmbedderNames, stored)
                                                   : found(kTowerNames, stored)) {
        return name;
    }
    if (const LayerName v = layerName(stored, "v.blk."); v.layer >= 0) {
        const auto name = towerLayerName(v.rest, kVisionNorms, kVisionLinears);
        return name ? std::optional(std::string(kVisionLayers) + std::to_string(v.layer) + "." +
                                    *name)
                    : std::nullopt;
    }
    if (const LayerName a = layerName(stored, "a.blk."); a.layer >= 0) {
        auto name = is_ollamas ? found(kOllamaNorms, a.rest) : std::nullopt;
        if (!name) {
            name = towerLayerName(a.rest, kAudioNorms, kAudioLinears);
        }
        return name ? std::optional("model.audio_tower.layers." + std::to_string(a.layer) + "." +
                                    *name)
                    : std::nullopt;
    }
    return std::nullopt;
}

uint64_t rowCount(const TensorInfo& tensor) {
    uint64_t rows = 1;
    for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) {
        rows *= static_cast<uint64_t>(tensor.shape[i]);
    }
    return rows;
}

/// Adds the tensors of one model, one kind after the other.
class Adder {
public:
    Adder(const GgufModel& model, GgufSource& source, int first_file)
        : model_(&model), source_(&source), first_file_(first_file) {}

    Result<void> text(Architecture architecture) {
        ENGINE_ASSIGN(heads_, headsOf(*model_, architecture));
        architecture_ = architecture;
        const Keys keys(*model_, prefixOf(architecture));
        ENGINE_ASSIGN(const int64_t inputs, keys.count("embedding_length_per_layer_input", 0, 0));
        ENGINE_ASSIGN(const int64_t experts, keys.count("expert_count", 0, 0));
        has_inputs_ = inputs > 0;
        has_experts_ = experts > 0;
        for (const TensorInfo& tensor : model_->tensors) {
            const bool is_others = architecture == Architecture::Gemma4 && isTowers(tensor.name);
            if (!is_others && tensor.name != "rope_freqs.weight") {
                ENGINE_TRY(addText(tensor));
            }
        }
        return {};
    }

    /// `is_beside_text`: the file holds the text model as well, which is passed over.
    Result<void> towers(bool is_beside_text) {
        const TowerNames names = hasOllamasAudio(*model_) ? TowerNames::Ollama
                                 : model_->find("v.patch_norm.1.weight") != nullptr
                                     ? TowerNames::Embedders
                                     : TowerNames::Converter;
        for (const TensorInfo& tensor : model_->tensors) {
            if (is_beside_text && !isTowers(tensor.name)) {
                continue;
            }
            if (tensor.name == "v.clamp_data") {
                ENGINE_TRY(addBounds(tensor));
                continue;
            }
            auto name = towerName(tensor.name, names);
            if (!name) {
                return unknown(tensor);
            }
            ENGINE_TRY(addTower(tensor, std::move(*name), names == TowerNames::Embedders));
        }
        return {};
    }

private:
    [[nodiscard]] Error unknown(const TensorInfo& tensor) const {
        return Error{ErrorCode::Unsupported,
                     said("%1: the tensor %2 is not one that Belfry knows; it may change what the "
                          "model computes, so the file is not opened",
                          model_->header.fileName(), tensor.name),
                     {{"rule", "GgufTensorName"}, {"tensor", tensor.name}}};
    }

    [[nodiscard]] Error wrongShape(const TensorInfo& tensor) const {
        return Error{ErrorCode::InvalidFile,
                     said("%1: the tensor %2 has a shape that its metadata do not allow; the file "
                          "is damaged",
                          model_->header.fileName(), tensor.name),
                     {{"rule", "GgufTensorShape"}, {"tensor", tensor.name}}};
    }

    /// The tensor as it is shown, its file counted among those of the source.
    [[nodiscard]] TensorInfo shown(const TensorInfo& tensor, std::string name) const {
        TensorInfo info = tensor;
        info.name = std::move(name);
        info.file_index += first_file_;
        return info;
    }

    Result<void> addText(const TensorInfo& tensor) {
        const bool is_draft = architecture_ == Architecture::Gemma4Assistant;
        const LayerName of = layerName(tensor.name, "blk.");
        if (of.layer < 0) {
            auto name =
                is_draft ? found(kAssistantNames, tensor.name) : found(kTextNames, tensor.name);
            if (!name && has_inputs_) {
                name = found(kInputTableNames, tensor.name);
            }
            if (!name) {
                return unknown(tensor);
            }
            source_->add(shown(tensor, std::move(*name)));
            return {};
        }
        if (of.layer >= static_cast<int64_t>(heads_.size())) {
            return unknown(tensor);
        }
        const std::string layer =
            (is_draft ? "model.layers." : kLayers) + std::to_string(of.layer) + ".";
        const LayerHeads& heads = heads_[static_cast<size_t>(of.layer)];
        const bool is_llama = architecture_ == Architecture::Llama;
        if (of.rest == "attn_qkv.weight" && !is_llama) {
            return addFusedHeads(tensor, layer, heads);
        }
        if (of.rest == "ffn_gate_exps.weight" && has_experts_) {
            return addGateUp(tensor, layer, of.layer);
        }
        if (of.rest == "ffn_up_exps.weight" && has_experts_) {
            return {}; // beside the one before
        }
        // Left out, what the metadata say that the model does not have would change what is
        // computed.
        const auto name =
            is_llama ? found(kLlamaNames, of.rest) : gemmaName(of.rest, has_inputs_, has_experts_);
        if (!name) {
            return unknown(tensor);
        }
        if (is_llama && (of.rest == "attn_q.weight" || of.rest == "attn_k.weight")) {
            return addPermuted(tensor, layer + *name, heads);
        }
        source_->add(shown(tensor, layer + *name));
        return {};
    }

    /// q, k and v of a layer in one tensor, one's rows after the other's.
    Result<void>
    addFusedHeads(const TensorInfo& tensor, const std::string& layer, const LayerHeads& heads) {
        const std::pair<const char*, int64_t> parts[] = {
            {"q_proj", heads.query_heads}, {"k_proj", heads.kv_heads}, {"v_proj", heads.kv_heads}};
        const int64_t rows = (heads.query_heads + 2 * heads.kv_heads) * heads.head_dim;
        if (tensor.shape.size() != 2 || tensor.shape[0] != rows) {
            return wrongShape(tensor);
        }
        const uint64_t row_bytes = tensor.size_bytes / static_cast<uint64_t>(rows);
        uint64_t at = tensor.file_offset;
        for (const auto& [name, count] : parts) {
            TensorInfo part = shown(tensor, layer + "self_attn." + name + ".weight");
            part.shape[0] = count * heads.head_dim;
            part.size_bytes = row_bytes * static_cast<uint64_t>(part.shape[0]);
            part.file_offset = at;
            at += part.size_bytes;
            source_->add(std::move(part));
        }
        return {};
    }

    /// Gate and up of the experts in two tensors: of each expert the gate's rows come first.
    Result<void> addGateUp(const TensorInfo& gate, const std::string& layer, int64_t number) {
        const TensorInfo* up =
            model_->find("blk." + std::to_string(number) + ".ffn_up_exps.weight");
        if (up == nullptr || up->shape != gate.shape || up->type != gate.type ||
            gate.shape.size() != 3) {
            return wrongShape(gate);
        }
        TensorInfo both = shown(gate, layer + "experts.gate_up_proj");
        const uint64_t each = gate.size_bytes / static_cast<uint64_t>(gate.shape[0]);
        both.shape[1] *= 2;
        both.size_bytes *= 2;
        Rearranged order;
        order.pieces = {{both.file_index, gate.file_offset, each},
                        {up->file_index + first_file_, up->file_offset, each}};
        source_->add(std::move(both), std::move(order));
        return {};
    }

    Result<void> addPermuted(const TensorInfo& tensor, std::string name, const LayerHeads& heads) {
        const auto per_head = static_cast<uint64_t>(heads.head_dim);
        const uint64_t rows = rowCount(tensor);
        if (tensor.shape.size() != 2 || rows % per_head != 0) {
            return wrongShape(tensor);
        }
        TensorInfo info = shown(tensor, std::move(name));
        Rearranged order;
        order.unit_bytes = tensor.size_bytes / rows;
        order.pieces = {{info.file_index, info.file_offset, order.unit_bytes * per_head}};
        order.from = [per_head](uint64_t row) { return pairedRow(row, per_head); };
        source_->add(std::move(info), std::move(order));
        return {};
    }

    Result<void> addTower(const TensorInfo& tensor, std::string name, bool is_embedder) {
        TensorInfo info = shown(tensor, std::move(name));
        if (tensor.name.ends_with("conv_dw.weight") && info.shape.size() == 2) {
            info.shape.insert(info.shape.begin() + 1, 1); // [C, K] as [C, 1, K]
        } else if (tensor.name == "v.patch_embd.weight" ||
                   tensor.name.starts_with("v.patch_norm.1.")) {
            return addChannelFirst(std::move(info), tensor);
        } else if (is_embedder && tensor.name == "v.position_embd.weight") {
            return addSwapped(std::move(info), tensor);
        }
        source_->add(std::move(info));
        return {};
    }

    /// Bounds of all linears of the vision tower in one list, layer after layer, then those of the
    /// projector, which has none: zeros. Files may hold each bound by itself as well.
    Result<void> addBounds(const TensorInfo& tensor) {
        constexpr uint64_t kMostBoundedLayers = 512;
        constexpr uint64_t kPerLayer = std::size(kVisionLinears) * std::size(kBounds);
        const uint64_t count = tensor.size_bytes / sizeof(float);
        if (tensor.type != TensorType::F32 || tensor.shape.size() != 1 ||
            count % kPerLayer != std::size(kBounds) || count / kPerLayer > kMostBoundedLayers) {
            return wrongShape(tensor);
        }
        if (model_->find("v.blk.0.attn_q.input_min") != nullptr) {
            return {};
        }
        uint64_t at = tensor.file_offset;
        for (uint64_t layer = 0; layer < count / kPerLayer; ++layer) {
            for (const Name& linear : kVisionLinears) {
                for (const std::string_view bound : kBounds) {
                    TensorInfo info =
                        shown(tensor, std::string(kVisionLayers) + std::to_string(layer) + "." +
                                          std::string(linear.shown) + std::string(bound));
                    info.shape = {1};
                    info.size_bytes = sizeof(float);
                    info.file_offset = at;
                    at += sizeof(float);
                    source_->add(std::move(info));
                }
            }
        }
        return {};
    }

    /// Columns of a patch: all values of a channel one after the other, where the published order
    /// has the channels of a pixel together.
    Result<void> addChannelFirst(TensorInfo info, const TensorInfo& tensor) {
        const bool is_vector = info.shape.size() <= 1;
        const uint64_t rows = is_vector ? 1 : static_cast<uint64_t>(info.shape.front());
        const uint64_t size = tensorTypeSize(info.type);
        const uint64_t cols = size == 0 ? 0 : info.size_bytes / size / rows;
        const uint64_t pixels = cols / 3;
        const auto side =
            static_cast<uint64_t>(std::lround(std::sqrt(static_cast<double>(pixels))));
        if (size == 0) {
            return Error{ErrorCode::Unsupported,
                         said("%1: the tensor %2 is stored as %3; projectors with F32, F16 or BF16 "
                              "for it are read",
                              model_->header.fileName(), tensor.name, tensorTypeName(tensor.type)),
                         {{"rule", "GgufTensorType"}, {"tensor", tensor.name}}};
        }
        if (info.shape.empty() || side == 0 || side * side * 3 != cols) {
            return wrongShape(tensor);
        }
        if (!is_vector) {
            info.shape = {static_cast<int64_t>(rows), static_cast<int64_t>(cols)};
        }
        Rearranged order;
        order.unit_bytes = size;
        order.pieces = {{info.file_index, info.file_offset, size * cols}};
        order.from = [side](uint64_t at) {
            return at % 3 * side * side + at / 3; // channel, then pixel
        };
        source_->add(std::move(info), std::move(order));
        return {};
    }

    /// [2, N, H] as [N, 2, H].
    Result<void> addSwapped(TensorInfo info, const TensorInfo& tensor) {
        if (info.shape.size() != 3 || info.shape[0] != 2) {
            return wrongShape(tensor);
        }
        const auto count = static_cast<uint64_t>(info.shape[1]);
        Rearranged order;
        order.unit_bytes = info.size_bytes / (2 * count);
        order.pieces = {{info.file_index, info.file_offset, info.size_bytes}};
        order.from = [count](uint64_t row) { return row % 2 * count + row / 2; };
        info.shape = {info.shape[1], 2, info.shape[2]};
        source_->add(std::move(info), std::move(order));
        return {};
    }

    const GgufModel* model_;
    GgufSource* source_;
    int first_file_;
    Architecture architecture_ = Architecture::Gemma4;
    std::vector<LayerHeads> heads_;
    bool has_inputs_ = false, has_experts_ = false;
};

} // namespace

std::optional<std::string> publishedName(std::string_view stored, bool is_llama) {
    if (const LayerName of = layerName(stored, "blk."); of.layer >= 0) {
        const auto name = is_llama ? found(kLlamaNames, of.rest) : gemmaName(of.rest, true, true);
        return name ? std::optional(kLayers + std::to_string(of.layer) + "." + *name)
                    : std::nullopt;
    }
    auto name = found(kTextNames, stored);
    if (!name && !is_llama) {
        name = found(kInputTableNames, stored);
    }
    return name || is_llama || stored == "v.patch_embd.weight"
               ? name
               : towerName(stored, TowerNames::Converter);
}

uint64_t pairedRow(uint64_t row, uint64_t head_dim) {
    const uint64_t half = head_dim / 2;
    return row % half * 2 + row / half;
}

Result<void> addTensors(const Files& files, Architecture architecture, GgufSource& source) {
    const int first = source.addFiles(files.text);
    ENGINE_TRY(Adder(*files.text, source, first).text(architecture));
    if (files.areOne()) {
        ENGINE_TRY(Adder(*files.towers, source, first).towers(true));
    } else if (files.towers != nullptr) {
        ENGINE_TRY(Adder(*files.towers, source, source.addFiles(files.towers)).towers(false));
    }
    source.sort();
    const auto& tensors = source.tensors();
    const auto twin = std::adjacent_find(
        tensors.begin(), tensors.end(),
        [](const TensorInfo& a, const TensorInfo& b) { return a.name == b.name; });
    if (twin != tensors.end()) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: holds the tensor %2 twice, by itself and within another; the file "
                          "is damaged",
                          source.fileNames()[static_cast<size_t>(twin->file_index)], twin->name),
                     {{"rule", "GgufTensorTwice"}, {"tensor", twin->name}}};
    }
    return {};
}

} // namespace engine::gguf
