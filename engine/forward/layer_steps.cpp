// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/layer_steps.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace engine {

using kernels::MatF32;
using kernels::MutF32;
using kernels::ProjectArgs;
using kernels::Status;

bool LayerSteps::isPossibleOn(const Model& model, const DeviceScratch& home, const KvCache& kv) {
    const kernels::OpTable& ops = home.ops();
    return !model.config_.text.has_moe && kv.type() == kernels::DType::BF16 &&
           ops.project != nullptr && ops.attend_step != nullptr;
}

bool LayerSteps::isHere(const PlanIndex& plan, const Linear& linear, DeviceId home) {
    if (linear.weight == WeightSource::kAbsent || linear.device != home) {
        return linear.weight == WeightSource::kAbsent;
    }
    const TensorPlacement* row = plan.find(linear.name);
    if (row == nullptr && linear.name == "lm_head.weight") {
        row = plan.find("model.language_model.embed_tokens.weight"); // the table that it shares
    }
    return row == nullptr || row->store == row->compute || row->residency == Residency::Always;
}

bool LayerSteps::isLayerHere(const Model& model, const PlanIndex& plan, int index) {
    const Model::DecoderLayer& layer = model.layers_[static_cast<size_t>(index)];
    bool is_here = layer.attention == layer.home;
    for (const Linear* linear : {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up,
                                 &layer.down, &layer.ple_gate, &layer.ple_projection}) {
        is_here = is_here && isHere(plan, *linear, layer.home->id());
    }
    return is_here;
}

int64_t LayerSteps::ringFloats(const DeviceScratch& home) {
    return (home.size("key_position_sliding") + 3) / 4 * 4;
}

void LayerSteps::fillNumbers(const KvCache& kv, std::byte* host) {
    auto* const numbers = reinterpret_cast<kernels::TokenNumbers*>(host);
    numbers->position = kv.fullSlots().back();
    numbers->sliding_slot = kv.slidingSlots().back();
    numbers->full_slot = kv.fullSlots().back();
    numbers->sliding_count = static_cast<int32_t>(kv.slidingSlotsInUse());
    numbers->full_count = static_cast<int32_t>(kv.size());
    std::memcpy(numbers + 1, kv.slidingPositions().data(),
                kv.slidingPositions().size() * sizeof(int32_t));
}

void LayerSteps::begin(DeviceScratch& home,
                       float* x,
                       float* spare,
                       const float* per_layer,
                       int per_layer_first,
                       const Pending& pending) {
    home_ = &home;
    x_ = x;
    spare_ = spare;
    per_layer_ = per_layer;
    per_layer_first_ = per_layer_first;
    has_composed_updates_ = false;
    pending_ = pending;
    tapped_ = nullptr;
}

const kernels::TokenNumbers* LayerSteps::numbers() const {
    return reinterpret_cast<const kernels::TokenNumbers*>(home_->buffer("step_input"));
}

Result<void> LayerSteps::compose(const Projection& step) {
    // The same step from single functions: source of truth for what ops.project computes.
    const ProjectArgs& a = step.args;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const int64_t in = step.linear[0]->in;
    const std::string& name = step.linear[0]->name;
    const size_t bytes = static_cast<size_t>(in) * sizeof(float);
    MatF32 source{a.x, 1, in, in};
    if (a.input == ProjectArgs::Input::ResidualNorm || a.input == ProjectArgs::Input::Residual) {
        const MutF32 sum{a.x_out, 1, in, in};
        ENGINE_KERNEL(home_->device().copyWithin(sum.data, a.x, bytes), "copy", name);
        ENGINE_KERNEL(ops.rms_norm_add(queue, {a.t, 1, in, in}, a.t_norm, a.eps, 1.0F, sum),
                      "residual norm", name);
        ENGINE_KERNEL(ops.scale(queue, sum, a.scalar), "layer scalar", name);
        source = sum;
    }
    if (a.input == ProjectArgs::Input::Norm || a.input == ProjectArgs::Input::ResidualNorm) {
        const MutF32 normed = home_->matrix("h", 1, in);
        ENGINE_KERNEL(ops.rms_norm(queue, source, a.norm, a.eps, normed), "norm", name);
        source = normed;
    }
    const bool has_updates =
        std::any_of(step.linear, step.linear + a.count,
                    [](const Linear* linear) { return linear->adapter != AdapterHook::kNone; });
    has_composed_updates_ = has_composed_updates_ || has_updates;
    if (has_updates) {
        // The adapter reads the input behind the product. A step that is collected beside the one
        // before may take it from there without anybody writing it to memory: a copy of nothing
        // launches what is there.
        ENGINE_KERNEL(home_->device().copyWithin(a.y[0], a.x, 0), "launch", name);
    }
    MutF32 products[3];
    for (int i = 0; i < a.count; ++i) {
        const int64_t out = step.linear[i]->out;
        // A pair's second product has no place of its own in the step.
        float* to =
            a.output == ProjectArgs::Output::GeluPair && i == 1 ? home_->buffer("up") : a.y[i];
        products[i] = {to, 1, out, out};
        ENGINE_TRY(model_->context_->linear(*step.linear[i], *home_, source, products[i]));
    }
    if (a.output == ProjectArgs::Output::GeluPair) {
        ENGINE_KERNEL(ops.gelu_mul(queue, products[0], products[1], products[0]), "GELU", name);
    } else if (a.output == ProjectArgs::Output::GeluMultiply) {
        const int64_t out = products[0].cols;
        ENGINE_KERNEL(ops.gelu_mul(queue, products[0], {a.multiply, 1, out, out}, products[0]),
                      "GELU", name);
    }
    return {};
}

bool LayerSteps::addUpdates(Projection& step) {
    ProjectArgs& args = step.args;
    std::vector<kernels::ProjectLora> updates;
    for (int i = 0; i < args.count; ++i) {
        const Linear& linear = *step.linear[i];
        if (linear.adapter == AdapterHook::kNone) {
            continue;
        }
        const AdapterHook* adapters = model_->context_->adapters();
        if (adapters == nullptr || !adapters->stepUpdates(linear.adapter, updates) ||
            args.lora_count + static_cast<int>(updates.size()) > ProjectArgs::kMaxLora) {
            return false;
        }
        for (kernels::ProjectLora& update : updates) {
            update.weight = i;
            args.lora[args.lora_count++] = update;
        }
    }
    return true;
}

void LayerSteps::addTaps(Projection& step) {
    ProjectArgs& args = step.args;
    const AdapterHook* adapters = model_->context_->adapters();
    const auto parts = home_->ops().project_parts;
    std::vector<kernels::ProjectLora> updates;
    if (step.next == nullptr || step.next->adapter == AdapterHook::kNone || adapters == nullptr ||
        parts == nullptr || !adapters->stepUpdates(step.next->adapter, updates) ||
        updates.size() > static_cast<size_t>(ProjectArgs::kMaxTaps)) {
        return;
    }
    int64_t ranks = 0;
    for (const kernels::ProjectLora& update : updates) {
        args.tap[args.tap_count++] = update.a;
        ranks += update.a.rows;
    }
    args.tap_parts = args.tap_count > 0 ? parts(home_->queue(), args) : 0;
    args.tap_sums = home_->buffer("step_lora");
    if (args.tap_parts <= 0 || ranks * args.tap_parts > home_->size("step_lora")) {
        args.tap_count = 0;
    }
}

Result<void> LayerSteps::project(Projection& step) {
    ProjectArgs& args = step.args;
    const Linear* tapped = std::exchange(tapped_, nullptr);
    bool is_plain = true;
    for (int i = 0; i < args.count; ++i) {
        const Linear& linear = *step.linear[i];
        is_plain = is_plain && !linear.has_input_clip && !linear.has_output_clip;
    }
    if (!is_plain || !addUpdates(step)) {
        return compose(step);
    }
    WeightSource& weights = model_->context_->weights();
    for (int i = 0; i < args.count; ++i) {
        ENGINE_ASSIGN(args.w[i], weights.acquire(step.linear[i]->weight));
        weights.release(step.linear[i]->weight); // resident: the view stays valid
    }
    if (tapped == step.linear[0] && args.lora_count > 0) {
        args.lora_sums = home_->buffer("step_lora");
        args.lora_parts = tap_parts_;
    }
    addTaps(step);
    const Status status = home_->ops().project(home_->queue(), args);
    if (status == Status::Unsupported) {
        return compose(step);
    }
    if (args.tap_count > 0) {
        tapped_ = step.next;
        tap_parts_ = args.tap_parts;
    }
    return checkStatus(status, "projection", step.linear[0]->name);
}

Result<void> LayerSteps::enqueueLayer(int index, bool are_keys_stored, const KvCache& kv) {
    Model& m = *model_;
    const TextConfig& text = m.config_.text;
    const LayerConfig& shape = text.layers[static_cast<size_t>(index)];
    Model::DecoderLayer& layer = m.layers_[static_cast<size_t>(index)];
    const auto eps = static_cast<float>(text.rms_norm_eps);
    const bool is_full = shape.type == LayerType::Full;
    const bool has_keys = !shape.is_kv_shared && !are_keys_stored;
    float* t = home_->buffer("t");

    // 1. What the layer before left to add, input norm, q (and k, v of owners).
    Projection qkv;
    qkv.args.eps = eps;
    qkv.args.x = x_;
    qkv.args.norm = layer.input_norm;
    qkv.args.input = ProjectArgs::Input::Norm;
    if (pending_.t != nullptr) {
        qkv.args.input = ProjectArgs::Input::ResidualNorm;
        qkv.args.t = pending_.t;
        qkv.args.t_norm = pending_.norm;
        qkv.args.scalar = pending_.scalar;
        qkv.args.x_out = spare_;
    }
    qkv.args.y[0] = home_->buffer("q");
    qkv.linear[0] = &layer.q;
    qkv.args.count = 1;
    if (has_keys) {
        qkv.args.y[1] = home_->buffer("k");
        qkv.linear[1] = &layer.k;
        qkv.args.count = 2;
        if (!shape.k_is_v) {
            qkv.args.y[2] = home_->buffer("v");
            qkv.linear[2] = &layer.v;
            qkv.args.count = 3;
        }
    }
    ENGINE_TRY(project(qkv));
    if (pending_.t != nullptr) {
        std::swap(x_, spare_);
    }

    // 2. Attention.
    const KvCache::LayerKv& cache = kv.owner(layer.kv_layer);
    kernels::AttendStepArgs attend;
    attend.q = home_->buffer("q");
    if (has_keys) {
        attend.k = home_->buffer("k");
        attend.v = shape.k_is_v ? attend.k : home_->buffer("v");
    }
    attend.q_norm = layer.q_norm;
    attend.k_norm = layer.k_norm;
    attend.inv_freq = home_->buffer(is_full ? "inv_freq_full" : "inv_freq_sliding");
    attend.position = &numbers()->position;
    attend.slot = is_full ? &numbers()->full_slot : &numbers()->sliding_slot;
    attend.key_count = is_full ? &numbers()->full_count : &numbers()->sliding_count;
    attend.key_position = is_full
                              ? reinterpret_cast<const int32_t*>(home_->buffer("key_position_full"))
                              : reinterpret_cast<const int32_t*>(numbers() + 1);
    const KvCache::Buffer& buffer = kv.bufferOn(layer.kv_layer, home_->id());
    attend.cache_k = buffer.k;
    attend.cache_v = buffer.v;
    attend.kv_type = kv.type();
    attend.capacity = cache.capacity;
    attend.num_heads = text.num_heads;
    attend.num_kv_heads = shape.num_kv_heads;
    attend.head_dim = shape.head_dim;
    attend.window = is_full ? 0 : text.sliding_window;
    attend.is_ring = true; // KvCache::append()
    attend.eps = eps;
    attend.out = home_->buffer("o");
    ENGINE_KERNEL(home_->ops().attend_step(home_->queue(), attend), "attention", layer.q.name);

    // 3. Output projection.
    Projection output;
    output.args.x = attend.out;
    output.args.y[0] = t;
    output.args.count = 1;
    output.linear[0] = &layer.o;
    ENGINE_TRY(project(output));

    // 4. Post-attention norm and residual, pre-MLP norm, gate and up, GELU product.
    Projection gate_up;
    gate_up.args.input = ProjectArgs::Input::ResidualNorm;
    gate_up.args.output = ProjectArgs::Output::GeluPair;
    gate_up.args.x = x_;
    gate_up.args.t = t;
    gate_up.args.t_norm = layer.post_attention_norm;
    gate_up.args.norm = layer.pre_mlp_norm;
    gate_up.args.eps = eps;
    gate_up.args.x_out = spare_;
    gate_up.args.y[0] = home_->buffer("gate");
    gate_up.args.count = 2;
    gate_up.linear[0] = &layer.gate;
    gate_up.linear[1] = &layer.up;
    gate_up.next = &layer.down;
    ENGINE_TRY(project(gate_up));
    std::swap(x_, spare_);

    // 5. Down projection.
    Projection down;
    down.args.x = home_->buffer("gate");
    down.args.y[0] = t;
    down.args.count = 1;
    down.linear[0] = &layer.down;
    ENGINE_TRY(project(down));
    pending_ = {t, layer.post_mlp_norm, layer.layer_scalar};
    if (text.ple_size <= 0) {
        return {};
    }

    // 6. and 7. The per-layer input block.
    Projection gate;
    gate.args.input = ProjectArgs::Input::Residual;
    gate.args.output = ProjectArgs::Output::GeluMultiply;
    gate.args.x = x_;
    gate.args.t = t;
    gate.args.t_norm = layer.post_mlp_norm;
    gate.args.eps = eps;
    gate.args.x_out = spare_;
    gate.args.y[0] = home_->buffer("ple_gate");
    gate.args.multiply = per_layer_ + (index - per_layer_first_) * text.ple_size;
    gate.args.count = 1;
    gate.linear[0] = &layer.ple_gate;
    ENGINE_TRY(project(gate));
    std::swap(x_, spare_);
    Projection back;
    back.args.x = home_->buffer("ple_gate");
    back.args.y[0] = t;
    back.args.count = 1;
    back.linear[0] = &layer.ple_projection;
    ENGINE_TRY(project(back));
    pending_ = {t, layer.ple_norm, layer.layer_scalar};
    return {};
}

Result<void> LayerSteps::enqueueHead() {
    Model& m = *model_;
    const TextConfig& text = m.config_.text;
    Projection head;
    head.args.input = ProjectArgs::Input::Norm;
    head.args.x = x_;
    head.args.norm = m.final_norm_;
    head.args.eps = static_cast<float>(text.rms_norm_eps);
    if (pending_.t != nullptr) {
        head.args.input = ProjectArgs::Input::ResidualNorm;
        head.args.t = pending_.t;
        head.args.t_norm = pending_.norm;
        head.args.scalar = pending_.scalar;
        head.args.x_out = spare_;
    }
    head.args.y[0] = home_->buffer("logits");
    head.args.count = 1;
    head.linear[0] = &m.lm_head_;
    return project(head);
}

Result<void> LayerSteps::enqueueResidual() {
    if (pending_.t == nullptr) {
        return {};
    }
    const TextConfig& text = model_->config_.text;
    const MutF32 row{x_, 1, text.hidden_size, text.hidden_size};
    const auto& ops = home_->ops();
    ENGINE_KERNEL(ops.rms_norm_add(home_->queue(),
                                   {pending_.t, 1, text.hidden_size, text.hidden_size},
                                   pending_.norm, static_cast<float>(text.rms_norm_eps), 1.0F, row),
                  "residual norm", "decoder layers");
    ENGINE_KERNEL(ops.scale(home_->queue(), row, pending_.scalar), "layer scalar",
                  "decoder layers");
    pending_ = {};
    return {};
}

} // namespace engine
