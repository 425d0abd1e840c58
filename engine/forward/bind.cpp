// SPDX-License-Identifier: Apache-2.0
// Binding: every module of the model looks its tensors up once, by name, and keeps handles,
// devices and clip bounds. After this no name is resolved while tokens run. Also fills the small
// per-device tables (RoPE frequencies, fp32 vectors, relative keys of the audio tower).
#include "engine/base/float_types.h"
#include "engine/families/gemma4/tensor_list.h"
#include "engine/forward/decode_step.h"
#include "engine/forward/media_encoders.h"
#include "engine/forward/model.h"
#include "engine/forward/rope_frequencies.h"
#include "engine/forward/split_steps.h"
#include "engine/model/clip_bound.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <string_view>

namespace engine {

namespace {

constexpr const char* kLanguage = "model.language_model.";

std::string layerName(const char* tower, int layer) {
    return std::string(tower) + "layers." + std::to_string(layer) + ".";
}

} // namespace

/// Binds one model; a class so that the many look-ups share their context.
class ModelBinder {
public:
    ModelBinder(Model& model, const PlacementPlan& plan)
        : model_(&model), index_(plan), devices_(componentDevices(model.config_, index_)) {}

    Result<void> bindAll(const PlacementPlan& plan) {
        const ModelConfig& config = model_->config_;
        ENGINE_TRY(fillTables(plan));
        ENGINE_TRY(bindText(plan));
        if (config.vision) {
            ENGINE_TRY(bindVision());
        }
        if (config.audio) {
            ENGINE_TRY(bindAudio());
        }
        return {};
    }

private:
    ComputeContext& context() { return *model_->context_; }
    WeightSource& weights() { return model_->context_->weights(); }

    /// A linear layer; its clip scalars, if any, stand beside the wrapper around `.linear`.
    Result<Linear> linear(const std::string& module, int64_t in, int64_t out) {
        Linear result;
        result.name = module + ".weight";
        result.weight = weights().handleOf(result.name);
        if (result.weight == WeightSource::kAbsent) {
            return Error{ErrorCode::InvalidFile,
                         result.name +
                             ": the checkpoint does not hold this tensor; expected shape [" +
                             std::to_string(out) + ", " + std::to_string(in) + "]",
                         {{"tensor", result.name}}};
        }
        result.device = weights().computeDevice(result.weight);
        result.in = in;
        result.out = out;
        if (AdapterHook* adapters = context().adapters(); adapters != nullptr) {
            result.adapter = adapters->find(result.name);
        }
        return result;
    }

    /// A clipped linear: the weight is at `<module>.linear`, four optional scalars beside it.
    Result<Linear>
    clippedLinear(const std::string& module, int64_t in, int64_t out, bool is_clipped) {
        ENGINE_ASSIGN(Linear result, linear(module + ".linear", in, out));
        if (is_clipped) {
            constexpr float kInfinity = std::numeric_limits<float>::infinity();
            ENGINE_ASSIGN(result.input_min, scalar(module + ".input_min", -kInfinity));
            ENGINE_ASSIGN(result.input_max, scalar(module + ".input_max", kInfinity));
            ENGINE_ASSIGN(result.output_min, scalar(module + ".output_min", -kInfinity));
            ENGINE_ASSIGN(result.output_max, scalar(module + ".output_max", kInfinity));
            result.has_input_clip = !(std::isinf(result.input_min) && std::isinf(result.input_max));
            result.has_output_clip =
                !(std::isinf(result.output_min) && std::isinf(result.output_max));
        }
        return result;
    }

    /// Values of a small tensor on the host, as fp32, with an adapter's replacement if there is
    /// one.
    Result<std::vector<float>> hostValues(const std::string& name, int64_t count) {
        if (AdapterHook* adapters = context().adapters(); adapters != nullptr) {
            const std::span<const float> replaced = adapters->replacement(name);
            if (!replaced.empty()) {
                return std::vector<float>(replaced.begin(), replaced.end());
            }
        }
        const WeightSource::Handle handle = weights().handleOf(name);
        if (handle == WeightSource::kAbsent) {
            return Error{ErrorCode::InvalidFile,
                         name + ": the checkpoint does not hold this tensor (" +
                             std::to_string(count) + " values expected)",
                         {{"tensor", name}}};
        }
        ENGINE_ASSIGN(const kernels::WeightView view, weights().acquire(handle));
        DeviceScratch* scratch = context().scratch(weights().computeDevice(handle));
        std::vector<float> values(static_cast<size_t>(count));
        Result<void> outcome;
        if (view.rows * view.cols != count) {
            outcome = Error{ErrorCode::InvalidFile,
                            name + ": holds " + std::to_string(view.rows * view.cols) +
                                " values, the config implies " + std::to_string(count)};
        } else if (view.format == kernels::WeightFormat::F32) {
            outcome = download(scratch, handle, values.data(), view.data, values.size() * 4);
        } else {
            std::vector<uint16_t> bits(values.size());
            outcome = download(scratch, handle, bits.data(), view.data, bits.size() * 2);
            for (size_t i = 0; i < bits.size(); ++i) {
                values[i] = view.format == kernels::WeightFormat::F16 ? f16ToFloat(bits[i])
                                                                      : bf16ToFloat(bits[i]);
            }
        }
        weights().release(handle);
        if (!outcome.has_value()) {
            return std::move(outcome).error();
        }
        ENGINE_TRY(checkFinite(name, values));
        return values;
    }

    /// These few values are on the host anyway; what only kernels read is looked at once results
    /// are bad (engine/run/not_finite.h).
    static Result<void> checkFinite(const std::string& name, const std::vector<float>& values) {
        // A bound that lets everything through is none; one that lets nothing through is a fault.
        const float open = name.ends_with("put_min") ? -std::numeric_limits<float>::infinity()
                                                     : std::numeric_limits<float>::infinity();
        const auto is_bad = [&](float value) {
            return !std::isfinite(value) && !(isClipBound(name) && value == open);
        };
        const auto bad = std::find_if(values.begin(), values.end(), is_bad);
        if (bad == values.end()) {
            return {};
        }
        const std::string element = std::to_string(bad - values.begin());
        const std::string value = std::isnan(*bad) ? "NaN" : *bad < 0 ? "-infinity" : "infinity";
        return Error{ErrorCode::InvalidFile,
                     name + (values.size() == 1 ? " is " : ": element " + element + " is ") +
                         value +
                         "; expected a finite number. The file is damaged or its training had "
                         "diverged: download it again, or take another checkpoint",
                     {{"tensor", name}, {"rule", "finite"}, {"element", element}}};
    }

    Result<void> download(DeviceScratch* scratch,
                          WeightSource::Handle handle,
                          void* to,
                          const void* from,
                          size_t bytes) {
        if (scratch == nullptr) { // a device that only holds vectors has no scratch of its own
            const auto device = model_->devices_.find(weights().computeDevice(handle));
            if (device == model_->devices_.end()) {
                return Error{ErrorCode::Internal, "a tensor's compute device is not open"};
            }
            return checkStatus(device->second->copyOut(to, from, bytes), "read vector", "bind");
        }
        return checkStatus(scratch->device().copyOut(to, from, bytes), "read vector", "bind");
    }

    Result<float> scalar(const std::string& name, float fallback) {
        if (weights().handleOf(name) == WeightSource::kAbsent) {
            return fallback;
        }
        ENGINE_ASSIGN(const std::vector<float> values, hostValues(name, 1));
        return values[0];
    }

    /// Room for `count` fp32 values in the consumer's table area.
    float* table(DeviceScratch& home, int64_t count) {
        int64_t& used = table_used_[home.id()];
        float* address = home.buffer("tables") + used;
        used += (count + 15) / 16 * 16;
        assert(used <= home.size("tables"));
        return address;
    }

    /// fp32 values on the consumer's device, from the host.
    Result<const float*> upload(DeviceScratch& home, std::span<const float> values) {
        float* address = table(home, static_cast<int64_t>(values.size()));
        ENGINE_KERNEL(home.device().copyIn(address, values.data(), values.size_bytes()), "copy in",
                      "bind");
        return static_cast<const float*>(address);
    }

    /// A vector that kernels read as fp32.
    Result<Vector> tableVector(DeviceScratch& home, const std::string& name, int64_t count) {
        ENGINE_ASSIGN(const std::vector<float> values, hostValues(name, count));
        Vector vector;
        ENGINE_ASSIGN(vector.data, upload(home, values));
        vector.size = count;
        return vector;
    }

    /// A norm weight, read in its stored type where it already is on the consumer's device.
    Result<kernels::MatView> norm(DeviceScratch& home, const std::string& name, int64_t count) {
        const TensorPlacement* row = index_.find(name);
        const bool is_replaced =
            context().adapters() != nullptr && !context().adapters()->replacement(name).empty();
        const WeightSource::Handle handle = weights().handleOf(name);
        if (handle == WeightSource::kAbsent || row == nullptr || is_replaced ||
            needsMirror(*row, home.id())) {
            if (is_replaced && !(row != nullptr && needsMirror(*row, home.id()))) {
                // The plan has no room for replaced norms in the tables; the adapter set keeps
                // them beside the base tensor.
                const float* data = context().adapters()->replacementOn(name, home.device());
                if (data == nullptr) {
                    return Error{ErrorCode::Internal,
                                 name + ": the replaced values are not on " + home.id().toString()};
                }
                return kernels::MatView{data, kernels::DType::F32, 1, count};
            }
            ENGINE_ASSIGN(const std::vector<float> values, hostValues(name, count));
            ENGINE_ASSIGN(const float* data, upload(home, values));
            return kernels::MatView{data, kernels::DType::F32, 1, count};
        }
        ENGINE_ASSIGN(const kernels::WeightView view, weights().acquire(handle));
        weights().release(handle); // resident for good: the address stays valid
        if (view.rows * view.cols != count) {
            return Error{ErrorCode::InvalidFile,
                         name + ": holds " + std::to_string(view.rows * view.cols) +
                             " values, the config implies " + std::to_string(count)};
        }
        kernels::DType type = kernels::DType::F32;
        switch (view.format) {
        case kernels::WeightFormat::F32:
            type = kernels::DType::F32;
            break;
        case kernels::WeightFormat::F16:
            type = kernels::DType::F16;
            break;
        case kernels::WeightFormat::BF16:
            type = kernels::DType::BF16;
            break;
        case kernels::WeightFormat::Nf4:
        case kernels::WeightFormat::Fp4:
        case kernels::WeightFormat::Int8Row:
            return Error{ErrorCode::InvalidFile, name + ": a norm weight cannot be quantized"};
        }
        return kernels::MatView{view.data, type, 1, count};
    }

    Result<DeviceScratch*> home(DeviceId device, const char* what) {
        DeviceScratch* scratch = context().scratch(device);
        if (scratch == nullptr) {
            return Error{ErrorCode::Internal,
                         std::string(what) + ": device " + device.toString() + " has no workspace"};
        }
        return scratch;
    }

    Result<void> fillTables(const PlacementPlan& plan) {
        const ModelConfig& config = model_->config_;
        for (const auto& [device, role] : deviceRoles(config, plan)) {
            DeviceScratch* scratch = context().scratch(device);
            if (role.has_layers) {
                ENGINE_TRY(fillLayerTables(*scratch));
            }
            if (role.has_vision) {
                const std::vector<float> freq = visionFrequencies(*config.vision);
                ENGINE_KERNEL(scratch->device().copyIn(scratch->buffer("inv_freq_vision"),
                                                       freq.data(), freq.size() * 4),
                              "copy in", "vision RoPE");
            }
        }
        return {};
    }

    Result<void> fillLayerTables(DeviceScratch& scratch) {
        const TextConfig& text = model_->config_.text;
        for (const LayerType type : {LayerType::Sliding, LayerType::Full}) {
            const bool is_full = type == LayerType::Full;
            int64_t head_dim = 0;
            for (const LayerConfig& layer : text.layers) {
                if (layer.type == type) {
                    head_dim = layer.head_dim;
                }
            }
            if (head_dim == 0) {
                continue;
            }
            const std::vector<float> freq =
                textFrequencies(is_full ? text.full_rope : text.sliding_rope, head_dim);
            ENGINE_KERNEL(scratch.device().copyIn(
                              scratch.buffer(is_full ? "inv_freq_full" : "inv_freq_sliding"),
                              freq.data(), freq.size() * 4),
                          "copy in", "RoPE");
        }
        // Slot i of a full layer's cache always holds position i.
        std::vector<int32_t> positions(static_cast<size_t>(scratch.size("key_position_full")));
        for (size_t i = 0; i < positions.size(); ++i) {
            positions[i] = static_cast<int32_t>(i);
        }
        return checkStatus(scratch.device().copyIn(scratch.buffer("key_position_full"),
                                                   positions.data(), positions.size() * 4),
                           "copy in", "positions");
    }

    Result<void> bindText(const PlacementPlan& plan) {
        Model& m = *model_;
        const TextConfig& text = m.config_.text;
        m.embed_tokens_ = weights().handleOf("model.language_model.embed_tokens.weight");
        if (m.embed_tokens_ == WeightSource::kAbsent) {
            return Error{ErrorCode::InvalidFile, "model.language_model.embed_tokens.weight: the "
                                                 "checkpoint does not hold this tensor"};
        }
        ENGINE_ASSIGN(m.head_home_, home(devices_.head, "lm_head"));
        ENGINE_ASSIGN(m.lm_head_, linear("lm_head", text.hidden_size, text.vocab_size));
        ENGINE_ASSIGN(m.final_norm_,
                      norm(*m.head_home_, "model.language_model.norm.weight", text.hidden_size));
        if (text.ple_size > 0) {
            m.ple_table_ = weights().handleOf("model.language_model.embed_tokens_per_layer.weight");
            if (m.ple_table_ == WeightSource::kAbsent) {
                return Error{ErrorCode::InvalidFile,
                             "model.language_model.embed_tokens_per_layer.weight: the checkpoint "
                             "does not hold this tensor"};
            }
            ENGINE_ASSIGN(m.ple_home_, home(devices_.ple_projection, "per_layer_model_projection"));
            ENGINE_ASSIGN(m.ple_model_projection_,
                          linear("model.language_model.per_layer_model_projection",
                                 text.hidden_size, text.num_layers * text.ple_size));
            ENGINE_ASSIGN(m.ple_projection_norm_,
                          norm(*m.ple_home_,
                               "model.language_model.per_layer_projection_norm.weight",
                               text.ple_size));
        }
        if (AdapterHook* adapters = context().adapters(); adapters != nullptr) {
            m.embed_adapter_ = adapters->find("model.language_model.embed_tokens.weight");
            m.ple_adapter_ = adapters->find("model.language_model.embed_tokens_per_layer.weight");
        }
        const std::vector<KvHome> homes = kvHomes(m.config_, plan);
        m.layers_.resize(text.layers.size());
        for (int i = 0; i < static_cast<int>(text.layers.size()); ++i) {
            ENGINE_TRY(bindLayer(i, homes[static_cast<size_t>(i)].device));
        }
        return {};
    }

    Result<void> bindLayer(int i, DeviceId attention_device) {
        const TextConfig& text = model_->config_.text;
        const LayerConfig& layer = text.layers[static_cast<size_t>(i)];
        Model::DecoderLayer& out = model_->layers_[static_cast<size_t>(i)];
        const std::string p = layerName(kLanguage, i);
        const int64_t hidden = text.hidden_size;
        const int64_t q_size = text.num_heads * layer.head_dim;
        const int64_t kv_size = layer.num_kv_heads * layer.head_dim;
        ENGINE_ASSIGN(out.home, home(devices_.layers[static_cast<size_t>(i)], p.c_str()));
        ENGINE_ASSIGN(out.attention, home(attention_device, p.c_str()));
        out.kv_layer = layer.kv_source;
        ENGINE_ASSIGN(out.q, linear(p + "self_attn.q_proj", hidden, q_size));
        ENGINE_ASSIGN(out.o, linear(p + "self_attn.o_proj", q_size, hidden));
        ENGINE_ASSIGN(out.q_norm, norm(*out.home, p + "self_attn.q_norm.weight", layer.head_dim));
        if (!layer.is_kv_shared) {
            ENGINE_ASSIGN(out.k, linear(p + "self_attn.k_proj", hidden, kv_size));
            if (!layer.k_is_v) {
                ENGINE_ASSIGN(out.v, linear(p + "self_attn.v_proj", hidden, kv_size));
            }
            ENGINE_ASSIGN(out.k_norm,
                          norm(*out.home, p + "self_attn.k_norm.weight", layer.head_dim));
        }
        ENGINE_ASSIGN(out.gate, linear(p + "mlp.gate_proj", hidden, layer.intermediate_size));
        ENGINE_ASSIGN(out.up, linear(p + "mlp.up_proj", hidden, layer.intermediate_size));
        ENGINE_ASSIGN(out.down, linear(p + "mlp.down_proj", layer.intermediate_size, hidden));
        ENGINE_ASSIGN(out.input_norm, norm(*out.home, p + "input_layernorm.weight", hidden));
        ENGINE_ASSIGN(out.post_attention_norm,
                      norm(*out.home, p + "post_attention_layernorm.weight", hidden));
        ENGINE_ASSIGN(out.pre_mlp_norm,
                      norm(*out.home, p + "pre_feedforward_layernorm.weight", hidden));
        ENGINE_ASSIGN(out.post_mlp_norm,
                      norm(*out.home, p + "post_feedforward_layernorm.weight", hidden));
        ENGINE_ASSIGN(const std::vector<float> layer_scalar, hostValues(p + "layer_scalar", 1));
        out.layer_scalar = layer_scalar[0];
        if (text.ple_size > 0) {
            ENGINE_ASSIGN(out.ple_gate, linear(p + "per_layer_input_gate", hidden, text.ple_size));
            ENGINE_ASSIGN(out.ple_projection,
                          linear(p + "per_layer_projection", text.ple_size, hidden));
            ENGINE_ASSIGN(out.ple_norm,
                          norm(*out.home, p + "post_per_layer_input_norm.weight", hidden));
        }
        if (text.has_moe) {
            const int64_t inner = text.moe_intermediate_size;
            ENGINE_ASSIGN(out.router, linear(p + "router.proj", hidden, text.num_experts));
            ENGINE_ASSIGN(out.router_scale, tableVector(*out.home, p + "router.scale", hidden));
            ENGINE_ASSIGN(out.per_expert_scale,
                          hostValues(p + "router.per_expert_scale", text.num_experts));
            ENGINE_ASSIGN(out.experts_gate_up,
                          expertTensor(p + "experts.gate_up_proj", hidden, 2 * inner));
            ENGINE_ASSIGN(out.experts_down, expertTensor(p + "experts.down_proj", inner, hidden));
            ENGINE_ASSIGN(out.post_mlp_norm_1,
                          norm(*out.home, p + "post_feedforward_layernorm_1.weight", hidden));
            ENGINE_ASSIGN(out.post_mlp_norm_2,
                          norm(*out.home, p + "post_feedforward_layernorm_2.weight", hidden));
            ENGINE_ASSIGN(out.pre_mlp_norm_2,
                          norm(*out.home, p + "pre_feedforward_layernorm_2.weight", hidden));
        }
        return {};
    }

    /// A 3-D expert tensor, seen as [experts * out, in].
    Result<Linear> expertTensor(const std::string& name, int64_t in, int64_t out) {
        Linear result;
        result.name = name;
        result.weight = weights().handleOf(name);
        if (result.weight == WeightSource::kAbsent) {
            return Error{ErrorCode::InvalidFile,
                         name + ": the checkpoint does not hold this tensor"};
        }
        result.device = weights().computeDevice(result.weight);
        result.in = in;
        result.out = out;
        if (AdapterHook* adapters = context().adapters(); adapters != nullptr) {
            result.adapter = adapters->find(result.name);
        }
        return result;
    }

    Result<void> bindVision() {
        Model& m = *model_;
        const VisionConfig& vision = *m.config_.vision;
        const std::string tower = "model.vision_tower.";
        const int64_t hidden = vision.hidden_size;
        const int64_t heads = vision.num_heads * vision.head_dim;
        ENGINE_ASSIGN(m.vision_home_, home(devices_.vision, "vision tower"));
        ENGINE_ASSIGN(m.patch_projection_,
                      linear(tower + "patch_embedder.input_proj",
                             3 * vision.patch_size * vision.patch_size, hidden));
        m.position_table_ = weights().handleOf(tower + "patch_embedder.position_embedding_table");
        if (m.position_table_ == WeightSource::kAbsent) {
            return Error{ErrorCode::InvalidFile,
                         tower + "patch_embedder.position_embedding_table: the checkpoint does not "
                                 "hold this tensor"};
        }
        m.replaced_positions_ = context().adapters() == nullptr
                                    ? std::span<const float>()
                                    : context().adapters()->replacement(
                                          tower + "patch_embedder.position_embedding_table");
        m.vision_layers_.resize(static_cast<size_t>(vision.num_layers));
        const bool clip = vision.has_clipped_linears;
        for (int i = 0; i < static_cast<int>(vision.num_layers); ++i) {
            Model::VisionLayer& out = m.vision_layers_[static_cast<size_t>(i)];
            const std::string p = layerName("model.vision_tower.encoder.", i);
            ENGINE_ASSIGN(out.q, clippedLinear(p + "self_attn.q_proj", hidden, heads, clip));
            ENGINE_ASSIGN(out.k, clippedLinear(p + "self_attn.k_proj", hidden, heads, clip));
            ENGINE_ASSIGN(out.v, clippedLinear(p + "self_attn.v_proj", hidden, heads, clip));
            ENGINE_ASSIGN(out.o, clippedLinear(p + "self_attn.o_proj", heads, hidden, clip));
            ENGINE_ASSIGN(out.gate, clippedLinear(p + "mlp.gate_proj", hidden,
                                                  vision.intermediate_size, clip));
            ENGINE_ASSIGN(out.up,
                          clippedLinear(p + "mlp.up_proj", hidden, vision.intermediate_size, clip));
            ENGINE_ASSIGN(out.down, clippedLinear(p + "mlp.down_proj", vision.intermediate_size,
                                                  hidden, clip));
            DeviceScratch& h = *m.vision_home_;
            ENGINE_ASSIGN(out.q_norm, norm(h, p + "self_attn.q_norm.weight", vision.head_dim));
            ENGINE_ASSIGN(out.k_norm, norm(h, p + "self_attn.k_norm.weight", vision.head_dim));
            ENGINE_ASSIGN(out.input_norm, norm(h, p + "input_layernorm.weight", hidden));
            ENGINE_ASSIGN(out.post_attention_norm,
                          norm(h, p + "post_attention_layernorm.weight", hidden));
            ENGINE_ASSIGN(out.pre_mlp_norm,
                          norm(h, p + "pre_feedforward_layernorm.weight", hidden));
            ENGINE_ASSIGN(out.post_mlp_norm,
                          norm(h, p + "post_feedforward_layernorm.weight", hidden));
        }
        if (vision.standardize) {
            ENGINE_ASSIGN(m.std_bias_, tableVector(*m.vision_home_, tower + "std_bias", hidden));
            ENGINE_ASSIGN(m.std_scale_, tableVector(*m.vision_home_, tower + "std_scale", hidden));
        }
        ENGINE_ASSIGN(m.embed_vision_, linear("model.embed_vision.embedding_projection", hidden,
                                              m.config_.text.hidden_size));
        return {};
    }

    Result<Model::AudioFeedForward> feedForward(const std::string& p) {
        const AudioConfig& audio = *model_->config_.audio;
        const int64_t hidden = audio.hidden_size;
        Model::AudioFeedForward out;
        ENGINE_ASSIGN(out.in, clippedLinear(p + "ffw_layer_1", hidden, 4 * hidden,
                                            audio.has_clipped_linears));
        ENGINE_ASSIGN(out.out, clippedLinear(p + "ffw_layer_2", 4 * hidden, hidden,
                                             audio.has_clipped_linears));
        DeviceScratch& h = *model_->audio_home_;
        ENGINE_ASSIGN(out.pre_norm, norm(h, p + "pre_layer_norm.weight", hidden));
        ENGINE_ASSIGN(out.post_norm, norm(h, p + "post_layer_norm.weight", hidden));
        return out;
    }

    Result<void> bindAudio() {
        Model& m = *model_;
        const AudioConfig& audio = *m.config_.audio;
        const std::string tower = "model.audio_tower.";
        const int64_t hidden = audio.hidden_size;
        ENGINE_ASSIGN(m.audio_home_, home(devices_.audio, "audio tower"));
        DeviceScratch& h = *m.audio_home_;
        int64_t channels = 1;
        int64_t mel = audio.mel_bins;
        for (int i = 0; i < 2; ++i) {
            const std::string p =
                tower + "subsample_conv_projection.layer" + std::to_string(i) + ".";
            ENGINE_ASSIGN(m.conv_weight_[i],
                          tableVector(h, p + "conv.weight", audio.conv_channels[i] * channels * 9));
            ENGINE_ASSIGN(m.conv_norm_[i],
                          tableVector(h, p + "norm.weight", audio.conv_channels[i]));
            channels = audio.conv_channels[i];
            mel = (mel + 1) / 2;
        }
        ENGINE_ASSIGN(m.audio_input_, linear(tower + "subsample_conv_projection.input_proj_linear",
                                             mel * channels, hidden));
        ENGINE_ASSIGN(m.audio_output_, linear(tower + "output_proj", hidden, audio.output_size));
        ENGINE_ASSIGN(m.audio_output_bias_,
                      tableVector(h, tower + "output_proj.bias", audio.output_size));
        ENGINE_ASSIGN(m.embed_audio_, linear("model.embed_audio.embedding_projection",
                                             audio.output_size, m.config_.text.hidden_size));
        const bool clip = audio.has_clipped_linears;
        const int64_t head_dim = hidden / audio.num_heads;
        m.audio_layers_.resize(static_cast<size_t>(audio.num_layers));
        for (int i = 0; i < static_cast<int>(audio.num_layers); ++i) {
            Model::AudioLayer& out = m.audio_layers_[static_cast<size_t>(i)];
            const std::string p = layerName("model.audio_tower.", i);
            ENGINE_ASSIGN(out.ff1, feedForward(p + "feed_forward1."));
            ENGINE_ASSIGN(out.ff2, feedForward(p + "feed_forward2."));
            ENGINE_ASSIGN(out.q, clippedLinear(p + "self_attn.q_proj", hidden, hidden, clip));
            ENGINE_ASSIGN(out.k, clippedLinear(p + "self_attn.k_proj", hidden, hidden, clip));
            ENGINE_ASSIGN(out.v, clippedLinear(p + "self_attn.v_proj", hidden, hidden, clip));
            ENGINE_ASSIGN(out.post, clippedLinear(p + "self_attn.post", hidden, hidden, clip));
            ENGINE_ASSIGN(out.rel_k, linear(p + "self_attn.relative_k_proj", hidden, hidden));
            ENGINE_ASSIGN(out.conv_start,
                          clippedLinear(p + "lconv1d.linear_start", hidden, 2 * hidden, clip));
            ENGINE_ASSIGN(out.conv_end,
                          clippedLinear(p + "lconv1d.linear_end", hidden, hidden, clip));
            ENGINE_ASSIGN(out.depthwise, tableVector(h, p + "lconv1d.depthwise_conv1d.weight",
                                                     hidden * audio.conv_kernel));
            ENGINE_ASSIGN(out.norm_pre_attn, norm(h, p + "norm_pre_attn.weight", hidden));
            ENGINE_ASSIGN(out.norm_post_attn, norm(h, p + "norm_post_attn.weight", hidden));
            ENGINE_ASSIGN(out.norm_out, norm(h, p + "norm_out.weight", hidden));
            ENGINE_ASSIGN(out.conv_pre_norm, norm(h, p + "lconv1d.pre_layer_norm.weight", hidden));
            ENGINE_ASSIGN(out.conv_norm, norm(h, p + "lconv1d.conv_norm.weight", hidden));
            // q is scaled by head_dim^-1/2 / ln 2 * softplus(per_dim_scale), the same for all
            // heads.
            ENGINE_ASSIGN(std::vector<float> scale,
                          hostValues(p + "self_attn.per_dim_scale", head_dim));
            const double factor = 1.0 / std::sqrt(static_cast<double>(head_dim)) / std::log(2.0);
            for (float& s : scale) {
                s = static_cast<float>(factor * std::log1p(std::exp(static_cast<double>(s))));
            }
            ENGINE_ASSIGN(out.q_scale.data, upload(h, scale));
            out.q_scale.size = head_dim;
        }
        const std::vector<float> rel = relativePositionSines(audio.hidden_size, audio.context_left);
        return checkStatus(h.device().copyIn(h.buffer("rel_positions"), rel.data(), rel.size() * 4),
                           "copy in", "relative positions");
    }

    Model* model_;
    PlanIndex index_;
    ComponentDevices devices_;
    std::map<DeviceId, int64_t> table_used_;
};

namespace {

Model::FormatKeys formatKeysOf(const PlacementPlan& plan) {
    // FNV-1a; compared within one run of the program only.
    const auto mix = [](uint64_t& key, std::string_view bytes) {
        for (const char c : bytes) {
            key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
        }
    };
    Model::FormatKeys keys;
    for (const TensorPlacement& row : plan.tensors) {
        const std::string_view name = row.tensor;
        if (name.starts_with("lm_head")) {
            continue;
        }
        const auto isOf = [name](std::string_view tower, std::string_view projector) {
            return name.starts_with(tower) || name.starts_with(projector);
        };
        uint64_t& key = isOf("model.vision_tower.", "model.embed_vision.") ? keys.vision
                        : isOf("model.audio_tower.", "model.embed_audio.") ? keys.audio
                                                                           : keys.text;
        mix(key, name);
        mix(key, std::to_string(static_cast<int>(row.format)) + "/" +
                     std::to_string(row.block_size) + ";");
    }
    return keys;
}

} // namespace

Result<std::unique_ptr<Model>> Model::create(ModelConfig config,
                                             const PlacementPlan& plan,
                                             WeightSource& weights,
                                             const DeviceMapping& devices,
                                             AdapterHook* adapters) {
    std::unique_ptr<Model> model(new Model());
    model->config_ = std::move(config);
    model->devices_ = devices;
    model->plan_ = plan;
    model->format_keys_ = formatKeysOf(plan);
    model->context_ = std::make_unique<ComputeContext>(weights, adapters);
    model->is_reference_ = plan.is_reference_precision;
    const RunShape shape = runShape(model->config_, plan);
    model->max_rows_ = maxRows(model->config_, shape);
    model->ring_rows_ = ringRows(model->config_, shape);
    // The reference multiplies embeddings by sqrt(hidden) in the weights' type; in fp32 exactly.
    const float exact = std::sqrt(static_cast<float>(model->config_.text.hidden_size));
    model->embed_scale_ = model->is_reference_ ? exact : roundToBf16(exact);
    for (const auto& [device, role] : deviceRoles(model->config_, plan)) {
        const auto it = devices.find(device);
        if (it == devices.end()) {
            return Error{ErrorCode::InvalidRequest,
                         "the plan computes on " + device.toString() + ", which is not open"};
        }
        ENGINE_TRY(model->context_->addDevice(device, *it->second,
                                              layoutWorkspace(model->config_, shape, role)));
    }
    ModelBinder binder(*model, plan);
    ENGINE_TRY(binder.bindAll(plan));
    if (model->config_.vision) {
        model->pictures_ = std::make_unique<PictureEncoder>(*model);
    }
    if (model->config_.audio) {
        model->sounds_ = std::make_unique<SoundEncoder>(*model);
    }
    return model;
}

Model::Model() = default;
Model::~Model() = default;

Result<void> Model::setAdapters(AdapterHook* adapters) {
    context_->setAdapters(adapters);
    if (decode_step_ != nullptr) {
        decode_step_->reset();
    }
    if (split_steps_ != nullptr) {
        split_steps_->reset();
    }
    ModelBinder binder(*this, plan_);
    return binder.bindAll(plan_);
}

void Model::adapterStrengthsChanged() {
    if (decode_step_ != nullptr) {
        decode_step_->strengthsChanged();
    }
    if (split_steps_ != nullptr) {
        split_steps_->strengthsChanged();
    }
}

} // namespace engine
