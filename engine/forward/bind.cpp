// SPDX-License-Identifier: Apache-2.0
// Binding: every module of the model looks its tensors up once, by the slots of the family's list,
// and keeps handles, devices and clip bounds. After this no name is resolved while tokens run. Also
// fills the small per-device tables (RoPE frequencies, fp32 vectors, relative keys of the audio
// tower), and chooses who runs the layers.
#include "engine/forward/bind.h"

#include "engine/base/float_types.h"
#include "engine/families/gemma4/names.h"
#include "engine/families/tensor_list.h"
#include "engine/forward/layers/fused_rows.h"
#include "engine/forward/layers/rope_frequencies.h"
#include "engine/forward/memory/device_roles.h"
#include "engine/forward/towers/vision_rows.h"
#include "engine/model/clip_bound.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace engine {

namespace {

/// Where the list has a tensor: part, layer of the decoder or of a tower, slot and its index.
struct Place {
    PartRole role = PartRole::Other;
    int layer = -1;
    TensorSlot slot = TensorSlot::None;
    int index = 0;
    ClipEnd clip = ClipEnd::None;
    friend bool operator<(const Place& a, const Place& b) {
        return std::tie(a.role, a.layer, a.slot, a.index, a.clip) <
               std::tie(b.role, b.layer, b.slot, b.index, b.clip);
    }
};

/// Binds one model; a class so that the many look-ups share their context.
class ModelBinder {
public:
    ModelBinder(BoundModel& model, const PlacementPlan& plan)
        : model_(&model), index_(plan), tensors_(listTensors(model.config)),
          devices_(componentDevices(model.config, plan, tensors_)) {
        tensors_.push_back(headTensor(model.config)); // also of a tied one: by its own name
        for (const ExpectedTensor& tensor : tensors_) {
            places_.emplace(
                Place{tensor.part.role, tensor.layer, tensor.slot, tensor.slot_index, tensor.clip},
                &tensor);
        }
    }

    Result<void> bindAll(const PlacementPlan& plan) {
        const ModelConfig& config = model_->config;
        ENGINE_TRY(fillTables(plan));
        ENGINE_TRY(bindText(plan));
        chooseFusedRows(*model_);
        if (config.vision) {
            ENGINE_TRY(config.vision->has_tower ? bindVision() : bindPatchEmbedder());
        }
        if (config.audio) {
            ENGINE_TRY(config.audio->has_tower ? bindAudio() : bindAudioProjector());
        }
        if (config.assistant) {
            ENGINE_TRY(bindAssistant());
        }
        return {};
    }

private:
    ComputeContext& context() { return *model_->context; }
    WeightSource& weights() { return model_->context->weights(); }

    [[nodiscard]] const ExpectedTensor* find(const Place& place) const {
        const auto found = places_.find(place);
        return found == places_.end() ? nullptr : found->second;
    }
    Result<const ExpectedTensor*> tensorOf(const Place& place) const {
        const ExpectedTensor* tensor = find(place);
        if (tensor == nullptr) {
            return Error{ErrorCode::Internal, partName({place.role, place.layer}) +
                                                  ": the list of tensors has none in slot " +
                                                  std::to_string(static_cast<int>(place.slot))};
        }
        return tensor;
    }

    static Error missing(const ExpectedTensor& tensor) {
        std::string shape;
        for (const int64_t size : tensor.shape) {
            shape += (shape.empty() ? "" : ", ") + std::to_string(size);
        }
        return Error{ErrorCode::InvalidFile,
                     said("%1: the checkpoint does not hold this tensor; expected shape [%2]",
                          tensor.name, shape),
                     {{"tensor", tensor.name}}};
    }

    /// The handle of a table that is gathered.
    Result<WeightSource::Handle> table(const Place& place) {
        ENGINE_ASSIGN(const ExpectedTensor* tensor, tensorOf(place));
        const WeightSource::Handle handle = weights().handleOf(tensor->name);
        return handle == WeightSource::kAbsent ? Result<WeightSource::Handle>(missing(*tensor))
                                               : handle;
    }
    AdapterHook::Handle adapterOf(const Place& place) {
        const ExpectedTensor* tensor = find(place);
        return context().adapters() == nullptr || tensor == nullptr
                   ? AdapterHook::kNone
                   : context().adapters()->find(tensor->name);
    }

    /// A linear layer with its bounds, if it has any: absent ones are none.
    Result<Linear> linear(const Place& place) {
        ENGINE_ASSIGN(const ExpectedTensor* tensor, tensorOf(place));
        Linear result;
        result.name = tensor->name;
        result.weight = weights().handleOf(result.name);
        if (result.weight == WeightSource::kAbsent) {
            return missing(*tensor);
        }
        result.device = weights().computeDevice(result.weight);
        const size_t last = tensor->shape.size() - 1;
        result.in = tensor->shape[last];
        result.out = tensor->shape[last - 1];
        const TensorPlacement* row = index_.find(result.name);
        if (row == nullptr && place.role == PartRole::Head) {
            row = index_.find(partTensorName({PartRole::Embedding})); // the table that it shares
        }
        result.is_resident =
            row == nullptr || row->store == row->compute || row->residency == Residency::Always;
        result.adapter = adapterOf(place);
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        ENGINE_ASSIGN(result.input_min, bound(place, ClipEnd::InputMin, -kInfinity));
        ENGINE_ASSIGN(result.input_max, bound(place, ClipEnd::InputMax, kInfinity));
        ENGINE_ASSIGN(result.output_min, bound(place, ClipEnd::OutputMin, -kInfinity));
        ENGINE_ASSIGN(result.output_max, bound(place, ClipEnd::OutputMax, kInfinity));
        result.has_input_clip = !(std::isinf(result.input_min) && std::isinf(result.input_max));
        result.has_output_clip = !(std::isinf(result.output_min) && std::isinf(result.output_max));
        return result;
    }

    Result<float> bound(Place place, ClipEnd end, float fallback) {
        place.clip = end;
        const ExpectedTensor* tensor = find(place);
        if (tensor == nullptr || weights().handleOf(tensor->name) == WeightSource::kAbsent) {
            return fallback;
        }
        ENGINE_ASSIGN(const std::vector<float> values, hostValues(*tensor));
        return values[0];
    }

    /// Values of a small tensor on the host, as fp32, with an adapter's replacement if there is
    /// one.
    Result<std::vector<float>> hostValues(const ExpectedTensor& tensor) {
        const std::string& name = tensor.name;
        const int64_t count = tensor.numElements();
        if (AdapterHook* adapters = context().adapters(); adapters != nullptr) {
            const std::span<const float> replaced = adapters->replacement(name);
            if (!replaced.empty()) {
                return std::vector<float>(replaced.begin(), replaced.end());
            }
        }
        const WeightSource::Handle handle = weights().handleOf(name);
        if (handle == WeightSource::kAbsent) {
            return missing(tensor);
        }
        ENGINE_ASSIGN(const kernels::WeightView view, weights().acquire(handle));
        DeviceScratch* scratch = context().scratch(weights().computeDevice(handle));
        std::vector<float> values(static_cast<size_t>(count));
        Result<void> outcome;
        if (view.rows * view.cols != count) {
            outcome =
                Error{ErrorCode::InvalidFile, said("%1: holds %2 values, the config implies %3",
                                                   name, view.rows * view.cols, count)};
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

    Result<std::vector<float>> hostVector(const Place& place) {
        ENGINE_ASSIGN(const ExpectedTensor* tensor, tensorOf(place));
        return hostValues(*tensor);
    }

    /// These few values are on the host anyway; what only kernels read is looked at once results
    /// are bad (engine/run/nonfinite_cause.h).
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
        return Error{
            ErrorCode::InvalidFile,
            values.size() == 1
                ? said("%1 is %2; expected a finite number. The file is damaged or its training "
                       "had diverged: download it again, or take another checkpoint",
                       name, value)
                : said("%1: element %2 is %3; expected a finite number. The file is damaged or its "
                       "training had diverged: download it again, or take another checkpoint",
                       name, element, value),
            {{"tensor", name}, {"rule", "finite"}, {"element", element}}};
    }

    Result<void> download(DeviceScratch* scratch,
                          WeightSource::Handle handle,
                          void* to,
                          const void* from,
                          size_t bytes) {
        if (scratch == nullptr) { // a device that only holds vectors has no scratch of its own
            const auto device = model_->devices.find(weights().computeDevice(handle));
            if (device == model_->devices.end()) {
                return Error{ErrorCode::Internal, "a tensor's compute device is not open"};
            }
            return checkStatus(device->second->copyOut(to, from, bytes), "read vector", "bind");
        }
        return checkStatus(scratch->device().copyOut(to, from, bytes), "read vector", "bind");
    }

    /// Room for `count` fp32 values in the consumer's table area.
    float* tableArea(DeviceScratch& home, int64_t count) {
        int64_t& used = table_used_[home.id()];
        float* address = home.buffer(Buffer::Tables) + used;
        used += (count + 15) / 16 * 16;
        assert(used <= home.size(Buffer::Tables));
        return address;
    }

    /// fp32 values on the consumer's device, from the host.
    Result<const float*> upload(DeviceScratch& home, std::span<const float> values) {
        float* address = tableArea(home, static_cast<int64_t>(values.size()));
        ENGINE_KERNEL(home.device().copyIn(address, values.data(), values.size_bytes()), "copy in",
                      "bind");
        return static_cast<const float*>(address);
    }

    /// A vector that kernels read as fp32.
    Result<Vector> tableVector(DeviceScratch& home, const Place& place) {
        ENGINE_ASSIGN(const ExpectedTensor* tensor, tensorOf(place));
        ENGINE_ASSIGN(const std::vector<float> values, hostValues(*tensor));
        Vector vector;
        ENGINE_ASSIGN(vector.data, upload(home, values));
        vector.size = tensor->numElements();
        return vector;
    }

    /// A norm weight, read in its stored type where it already is on the consumer's device.
    Result<kernels::MatView> norm(DeviceScratch& home, const Place& place) {
        ENGINE_ASSIGN(const ExpectedTensor* tensor, tensorOf(place));
        const std::string& name = tensor->name;
        const int64_t count = tensor->numElements();
        const TensorPlacement* row = index_.find(name);
        const bool is_replaced =
            context().adapters() != nullptr && !context().adapters()->replacement(name).empty();
        const WeightSource::Handle handle = weights().handleOf(name);
        const bool has_mirror = row != nullptr && needsMirror(*row, home.id());
        if (is_replaced && !has_mirror) {
            // The plan has no room for replaced norms in the tables; the adapter set keeps them
            // beside the base tensor.
            const float* data = context().adapters()->replacementOn(name, home.device());
            if (data == nullptr) {
                return Error{ErrorCode::Internal,
                             name + ": the replaced values are not on " + home.id().toString()};
            }
            return kernels::MatView{data, kernels::DType::F32, 1, count};
        }
        if (handle == WeightSource::kAbsent || row == nullptr || has_mirror) {
            ENGINE_ASSIGN(const std::vector<float> values, hostValues(*tensor));
            ENGINE_ASSIGN(const float* data, upload(home, values));
            return kernels::MatView{data, kernels::DType::F32, 1, count};
        }
        ENGINE_ASSIGN(const kernels::WeightView view, weights().acquire(handle));
        weights().release(handle); // resident for good: the address stays valid
        if (view.rows * view.cols != count) {
            return Error{ErrorCode::InvalidFile, said("%1: holds %2 values, the config implies %3",
                                                      name, view.rows * view.cols, count)};
        }
        switch (view.format) {
        case kernels::WeightFormat::F32:
            return kernels::MatView{view.data, kernels::DType::F32, 1, count};
        case kernels::WeightFormat::F16:
            return kernels::MatView{view.data, kernels::DType::F16, 1, count};
        case kernels::WeightFormat::BF16:
            return kernels::MatView{view.data, kernels::DType::BF16, 1, count};
        default:
            break;
        }
        return Error{ErrorCode::InvalidFile, said("%1: a norm weight cannot be quantized", name)};
    }

    Result<DeviceScratch*> home(DeviceId device, const std::string& what) {
        DeviceScratch* scratch = context().scratch(device);
        if (scratch == nullptr) {
            return Error{ErrorCode::Internal,
                         what + ": device " + device.toString() + " has no workspace"};
        }
        return scratch;
    }

    Result<void> fillTables(const PlacementPlan& plan) {
        const ModelConfig& config = model_->config;
        for (const auto& [device, role] : deviceRoles(config, plan)) {
            DeviceScratch* scratch = context().scratch(device);
            if (role.has_layers || role.has_assistant) {
                ENGINE_TRY(fillLayerTables(*scratch));
            }
            if (role.has_vision && config.vision->has_tower) {
                const std::vector<float> freq = visionFrequencies(*config.vision);
                ENGINE_KERNEL(scratch->device().copyIn(scratch->buffer(Buffer::VisionInvFreq),
                                                       freq.data(), freq.size() * 4),
                              "copy in", "vision RoPE");
            }
        }
        return {};
    }

    Result<void> fillLayerTables(DeviceScratch& scratch) {
        const TextConfig& text = model_->config.text;
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
            ENGINE_KERNEL(scratch.device().copyIn(scratch.buffer(is_full ? Buffer::InvFreqFull
                                                                         : Buffer::InvFreqSliding),
                                                  freq.data(), freq.size() * 4),
                          "copy in", "RoPE");
        }
        // Slot i of a full layer's cache always holds position i.
        std::vector<int32_t> positions(static_cast<size_t>(scratch.size(Buffer::KeyPositionFull)));
        for (size_t i = 0; i < positions.size(); ++i) {
            positions[i] = static_cast<int32_t>(i);
        }
        return checkStatus(scratch.device().copyIn(scratch.buffer(Buffer::KeyPositionFull),
                                                   positions.data(), positions.size() * 4),
                           "copy in", "positions");
    }

    /// A recipe's branches with the norms of layer `layer` of a part.
    Result<std::vector<BoundBranch>>
    branches(DeviceScratch& home, const LayerRecipe& recipe, PartRole role, int layer) {
        std::vector<BoundBranch> bound;
        for (size_t i = 0; i < recipe.branches.size(); ++i) {
            const Branch& branch = recipe.branches[i];
            const auto index = static_cast<int>(i);
            BoundBranch& out = bound.emplace_back();
            out.body = branch.body;
            out.weight = static_cast<float>(branch.weight);
            out.is_clipped = branch.is_clipped;
            if (branch.has_pre_norm) {
                ENGINE_ASSIGN(out.pre, norm(home, {role, layer, TensorSlot::PreNorm, index}));
            }
            if (branch.has_post_norm) {
                ENGINE_ASSIGN(out.post, norm(home, {role, layer, TensorSlot::PostNorm, index}));
            }
        }
        return bound;
    }

    Result<void> bindText(const PlacementPlan& plan) {
        using enum TensorSlot;
        const TextConfig& text = model_->config.text;
        DecoderWeights& out = model_->text;
        const Place embedding{PartRole::Embedding, -1, Weight};
        const Place head{PartRole::Head, -1, Weight};
        const float scale = static_cast<float>(text.embedding_scale);
        // The reference multiplies embeddings in the weights' type; in fp32 exactly.
        out.embedding_scale = model_->is_reference ? scale : roundToBf16(scale);
        ENGINE_ASSIGN(out.embedding, table(embedding));
        out.embedding_adapter = adapterOf(embedding);
        ENGINE_ASSIGN(out.head_home, homeOf(devices_.head, head));
        ENGINE_ASSIGN(out.head, linear(head));
        ENGINE_ASSIGN(out.final_norm, norm(*out.head_home, {PartRole::FinalNorm, -1, Weight}));
        if (text.ple_size > 0) {
            const Place rows{PartRole::PerLayerTable, -1, Weight};
            const Place projection{PartRole::PerLayerProjection, -1, Weight};
            ENGINE_ASSIGN(out.per_layer_table, table(rows));
            out.per_layer_adapter = adapterOf(rows);
            ENGINE_ASSIGN(out.per_layer_home, homeOf(devices_.ple_projection, projection));
            ENGINE_ASSIGN(out.per_layer_projection, linear(projection));
            ENGINE_ASSIGN(out.per_layer_norm,
                          norm(*out.per_layer_home, {PartRole::PerLayerNorm, -1, Weight}));
        }
        const std::vector<KvHome> homes = kvHomes(model_->config, plan);
        out.layers.assign(text.layers.size(), {});
        for (int i = 0; i < static_cast<int>(text.layers.size()); ++i) {
            const auto index = static_cast<size_t>(i);
            const Place query{PartRole::Layer, i, Query};
            ENGINE_ASSIGN(out.layers[index].home, homeOf(devices_.layers[index], query));
            ENGINE_ASSIGN(out.layers[index].attention, homeOf(homes[index].device, query));
            ENGINE_TRY(bindLayer(PartRole::Layer, text, i, out.layers[index]));
        }
        return {};
    }

    /// A layer of the decoder or the assistant, which knows where it is.
    Result<void> bindLayer(PartRole role, const TextConfig& text, int i, DecoderLayer& out) {
        using enum TensorSlot;
        const LayerConfig& layer = text.layers[static_cast<size_t>(i)];
        const auto at = [role, i](TensorSlot slot) { return Place{role, i, slot}; };
        out.kv_layer = layer.kv_source;
        ENGINE_ASSIGN(out.branches, branches(*out.home, text.recipe, role, i));
        ENGINE_ASSIGN(out.attend.q, linear(at(Query)));
        ENGINE_ASSIGN(out.attend.o, linear(at(Output)));
        if (text.recipe.has_head_norms) {
            ENGINE_ASSIGN(out.attend.q_norm, norm(*out.home, at(QueryNorm)));
        }
        if (!layer.is_kv_shared) {
            ENGINE_ASSIGN(out.attend.k, linear(at(Key)));
            if (!layer.k_is_v) {
                ENGINE_ASSIGN(out.attend.v, linear(at(Value)));
            }
            if (text.recipe.has_head_norms) {
                ENGINE_ASSIGN(out.attend.k_norm, norm(*out.home, at(KeyNorm)));
            }
        }
        ENGINE_ASSIGN(out.mlp.gate, linear(at(MlpGate)));
        ENGINE_ASSIGN(out.mlp.up, linear(at(MlpUp)));
        ENGINE_ASSIGN(out.mlp.down, linear(at(MlpDown)));
        if (text.recipe.has_scalar) {
            ENGINE_ASSIGN(const ExpectedTensor* scalar, tensorOf(at(LayerScalar)));
            ENGINE_ASSIGN(const std::vector<float> values, hostValues(*scalar));
            out.scalar = values[0];
        }
        if (text.recipe.has(BranchBody::PerLayerInput)) {
            ENGINE_ASSIGN(out.per_layer.gate, linear(at(PerLayerGate)));
            ENGINE_ASSIGN(out.per_layer.back, linear(at(PerLayerBack)));
        }
        return text.recipe.has(BranchBody::MlpWithExperts) ? bindExperts(i, out) : Result<void>();
    }

    Result<void> bindExperts(int i, DecoderLayer& layer) {
        using enum TensorSlot;
        const auto at = [i](TensorSlot slot) { return Place{PartRole::Layer, i, slot}; };
        ExpertWeights& out = layer.experts;
        ENGINE_ASSIGN(out.router, linear(at(Router)));
        ENGINE_ASSIGN(out.router_scale, tableVector(*layer.home, at(RouterScale)));
        ENGINE_ASSIGN(const ExpectedTensor* scale, tensorOf(at(ExpertScale)));
        ENGINE_ASSIGN(out.per_expert_scale, hostValues(*scale));
        ENGINE_ASSIGN(out.expert_scale.data, upload(*layer.home, out.per_expert_scale));
        out.expert_scale.size = scale->numElements();
        ENGINE_ASSIGN(out.gate_up, linear(at(ExpertGateUp)));
        ENGINE_ASSIGN(out.down, linear(at(ExpertDown)));
        ENGINE_ASSIGN(out.dense_norm, norm(*layer.home, at(DenseNorm)));
        ENGINE_ASSIGN(out.pre_norm, norm(*layer.home, at(ExpertPreNorm)));
        ENGINE_ASSIGN(out.post_norm, norm(*layer.home, at(ExpertPostNorm)));
        return {};
    }

    Result<void> bindVision() {
        using enum TensorSlot;
        const VisionConfig& vision = *model_->config.vision;
        VisionWeights& out = model_->vision;
        const auto at = [](TensorSlot slot, int layer = -1) {
            return Place{PartRole::VisionTower, layer, slot};
        };
        ENGINE_TRY(bindPatches(PartRole::VisionTower));
        DeviceScratch& home = *out.home;
        out.layers.assign(static_cast<size_t>(vision.num_layers), {});
        for (int i = 0; i < static_cast<int>(vision.num_layers); ++i) {
            VisionLayer& layer = out.layers[static_cast<size_t>(i)];
            ENGINE_ASSIGN(layer.branches, branches(home, vision.recipe, PartRole::VisionTower, i));
            ENGINE_ASSIGN(layer.attend.q, linear(at(Query, i)));
            ENGINE_ASSIGN(layer.attend.k, linear(at(Key, i)));
            ENGINE_ASSIGN(layer.attend.v, linear(at(Value, i)));
            ENGINE_ASSIGN(layer.attend.o, linear(at(Output, i)));
            ENGINE_ASSIGN(layer.attend.q_norm, norm(home, at(QueryNorm, i)));
            ENGINE_ASSIGN(layer.attend.k_norm, norm(home, at(KeyNorm, i)));
            ENGINE_ASSIGN(layer.mlp.gate, linear(at(MlpGate, i)));
            ENGINE_ASSIGN(layer.mlp.up, linear(at(MlpUp, i)));
            ENGINE_ASSIGN(layer.mlp.down, linear(at(MlpDown, i)));
        }
        if (vision.standardize) {
            ENGINE_ASSIGN(out.std_bias, tableVector(home, at(StdBias)));
            ENGINE_ASSIGN(out.std_scale, tableVector(home, at(StdScale)));
        }
        ENGINE_ASSIGN(out.projector, linear({PartRole::VisionProjector, -1, Weight}));
        chooseVisionRows(*model_);
        return {};
    }

    /// What a tower and an embedder have in common; role: the part that has it.
    Result<void> bindPatches(PartRole role) {
        VisionWeights& out = model_->vision;
        const Place patches{role, -1, TensorSlot::Patches};
        const Place positions{role, -1, TensorSlot::PositionTable};
        out.name = partName({role});
        ENGINE_ASSIGN(out.home, homeOf(devices_.vision, patches));
        ENGINE_ASSIGN(out.patches, linear(patches));
        ENGINE_ASSIGN(out.positions, table(positions));
        ENGINE_ASSIGN(const ExpectedTensor* tensor, tensorOf(positions));
        out.replaced_positions = context().adapters() == nullptr
                                     ? std::span<const float>()
                                     : context().adapters()->replacement(tensor->name);
        return {};
    }

    Result<void> bindPatchEmbedder() {
        using enum TensorSlot;
        constexpr PartRole kRole = PartRole::VisionProjector;
        VisionWeights& out = model_->vision;
        ENGINE_TRY(bindPatches(kRole));
        ENGINE_ASSIGN(out.patch_bias, hostVector({kRole, -1, PatchBias}));
        for (int i = 0; i < static_cast<int>(out.patch_norms.size()); ++i) {
            LayerNormWeights& norm = out.patch_norms[static_cast<size_t>(i)];
            ENGINE_ASSIGN(norm.weight, hostVector({kRole, -1, PatchNorm, i}));
            ENGINE_ASSIGN(norm.bias, hostVector({kRole, -1, PatchNormBias, i}));
        }
        ENGINE_ASSIGN(out.projector, linear({kRole, -1, Weight}));
        return {};
    }

    Result<void> bindAudioProjector() {
        ENGINE_ASSIGN(model_->audio.projector,
                      linear({PartRole::AudioProjector, -1, TensorSlot::Weight}));
        return {};
    }

    Result<void> bindAudioLayer(int i, AudioLayer& out) {
        using enum TensorSlot;
        const AudioConfig& audio = *model_->config.audio;
        DeviceScratch& home = *model_->audio.home;
        const auto at = [i](TensorSlot slot, int index = 0) {
            return Place{PartRole::AudioTower, i, slot, index};
        };
        ENGINE_ASSIGN(out.branches, branches(home, audio.recipe, PartRole::AudioTower, i));
        AudioFeedForward* next = out.feed_forward.data();
        for (size_t branch = 0; branch < out.branches.size(); ++branch) {
            if (out.branches[branch].body == BranchBody::FeedForward) {
                ENGINE_ASSIGN(next->in, linear(at(FeedForwardIn, static_cast<int>(branch))));
                ENGINE_ASSIGN(next->out, linear(at(FeedForwardOut, static_cast<int>(branch))));
                ++next;
            }
        }
        ENGINE_ASSIGN(out.q, linear(at(Query)));
        ENGINE_ASSIGN(out.k, linear(at(Key)));
        ENGINE_ASSIGN(out.v, linear(at(Value)));
        ENGINE_ASSIGN(out.post, linear(at(Output)));
        ENGINE_ASSIGN(out.relative, linear(at(RelativeKey)));
        ENGINE_ASSIGN(out.conv_start, linear(at(ConvStart)));
        ENGINE_ASSIGN(out.conv_end, linear(at(ConvEnd)));
        ENGINE_ASSIGN(out.depthwise, tableVector(home, at(Depthwise)));
        ENGINE_ASSIGN(out.conv_norm, norm(home, at(ConvInnerNorm)));
        ENGINE_ASSIGN(out.out_norm, norm(home, at(OutNorm)));
        // q is scaled by head_dim^-1/2 / ln 2 * softplus(per_dim_scale), the same for all heads.
        ENGINE_ASSIGN(const ExpectedTensor* per_dim, tensorOf(at(PerDimScale)));
        ENGINE_ASSIGN(std::vector<float> scale, hostValues(*per_dim));
        const double factor = 1.0 / std::sqrt(static_cast<double>(scale.size())) / std::log(2.0);
        for (float& s : scale) {
            const auto raw = static_cast<double>(s);
            s = static_cast<float>(factor * (model_->config.audio->has_softplus_scale
                                                 ? raw
                                                 : std::log1p(std::exp(raw))));
        }
        ENGINE_ASSIGN(out.q_scale.data, upload(home, scale));
        out.q_scale.size = static_cast<int64_t>(scale.size());
        return {};
    }

    Result<void> bindAudio() {
        using enum TensorSlot;
        const AudioConfig& audio = *model_->config.audio;
        AudioWeights& out = model_->audio;
        const auto at = [](TensorSlot slot, int index = 0) {
            return Place{PartRole::AudioTower, -1, slot, index};
        };
        out.name = partName({PartRole::AudioTower});
        ENGINE_ASSIGN(out.home, homeOf(devices_.audio, at(TowerInput)));
        DeviceScratch& home = *out.home;
        for (int i = 0; i < 2; ++i) {
            ENGINE_ASSIGN(out.conv_weight[i], tableVector(home, at(ConvWeight, i)));
            ENGINE_ASSIGN(out.conv_norm[i], tableVector(home, at(ConvNorm, i)));
        }
        ENGINE_ASSIGN(out.input, linear(at(TowerInput)));
        ENGINE_ASSIGN(out.output, linear(at(TowerOutput)));
        ENGINE_ASSIGN(out.output_bias, tableVector(home, at(TowerOutputBias)));
        ENGINE_ASSIGN(out.projector, linear({PartRole::AudioProjector, -1, Weight}));
        out.layers.assign(static_cast<size_t>(audio.num_layers), {});
        for (int i = 0; i < static_cast<int>(audio.num_layers); ++i) {
            ENGINE_TRY(bindAudioLayer(i, out.layers[static_cast<size_t>(i)]));
        }
        const std::vector<float> rel = relativePositionSines(audio.hidden_size, audio.context_left);
        return checkStatus(home.device().copyIn(home.buffer(Buffer::AudioRelPositions), rel.data(),
                                                rel.size() * 4),
                           "copy in", "relative positions");
    }

    Result<void> bindAssistant() {
        using enum TensorSlot;
        constexpr PartRole kRole = PartRole::Assistant;
        const AssistantConfig& assistant = *model_->config.assistant;
        AssistantWeights& out = model_->assistant;
        const auto whole = [](TensorSlot slot) { return Place{kRole, -1, slot}; };
        ENGINE_ASSIGN(out.home, homeOf(devices_.assistant, whole(DraftIn)));
        DeviceScratch& home = *out.home;
        ENGINE_ASSIGN(out.in, linear(whole(DraftIn)));
        ENGINE_ASSIGN(out.out, linear(whole(DraftOut)));
        ENGINE_ASSIGN(out.norm, norm(home, whole(DraftNorm)));
        ENGINE_ASSIGN(out.table, linear(whole(DraftTable)));
        if (assistant.num_centroids > 0) {
            ENGINE_ASSIGN(out.centroids, linear(whole(Centroids)));
        }
        out.layers.assign(assistant.text.layers.size(), {});
        for (int i = 0; i < static_cast<int>(out.layers.size()); ++i) {
            DecoderLayer& layer = out.layers[static_cast<size_t>(i)];
            layer.home = layer.attention = &home;
            ENGINE_TRY(bindLayer(kRole, assistant.text, i, layer));
        }
        return {};
    }

    /// The workspace of `device`; place: what computes there, for the message.
    Result<DeviceScratch*> homeOf(DeviceId device, const Place& place) {
        ENGINE_ASSIGN(const ExpectedTensor* tensor, tensorOf(place));
        return home(device, tensor->module);
    }

    BoundModel* model_;
    PlanIndex index_;
    std::vector<ExpectedTensor> tensors_;
    ComponentDevices devices_;
    std::map<Place, const ExpectedTensor*> places_; ///< Into tensors_.
    std::map<DeviceId, int64_t> table_used_;
};

} // namespace

Result<void> bindModel(BoundModel& model) {
    // A binding that fails half-way, or runs out of memory, leaves the former one: layers without
    // branches would be worse than adapters that are not those asked for.
    struct Former {
        explicit Former(BoundModel& bound)
            : model(&bound), text(bound.text), vision(bound.vision), audio(bound.audio),
              assistant(bound.assistant) {}
        ~Former() {
            if (!is_replaced) {
                std::swap(model->text, text);
                std::swap(model->vision, vision);
                std::swap(model->audio, audio);
                std::swap(model->assistant, assistant);
            }
        }
        Former(const Former&) = delete;
        Former& operator=(const Former&) = delete;
        BoundModel* model;
        DecoderWeights text;
        VisionWeights vision;
        AudioWeights audio;
        AssistantWeights assistant;
        bool is_replaced = false;
    };
    Former former(model);
    ModelBinder binder(model, model.plan);
    Result<void> outcome = binder.bindAll(model.plan);
    former.is_replaced = outcome.has_value();
    return outcome;
}

} // namespace engine
