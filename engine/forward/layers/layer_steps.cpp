// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/layers/layer_steps.h"

#include "engine/forward/layers/row_steps.h"
#include "engine/forward/layers/single_layers.h"
#include "engine/forward/memory/hot_experts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace engine {

using kernels::MatF32;
using kernels::MutF32;
using kernels::ProjectArgs;

bool LayerSteps::isPossibleOn(const LayerStack& stack,
                              const DeviceScratch& home,
                              const KvCache& kv) {
    const kernels::OpTable& ops = home.ops();
    return isFusible(stack.text->recipe, ops.experts_step != nullptr) &&
           kv.type() != kernels::KvType::F32 && ops.project != nullptr &&
           ops.attend_step != nullptr;
}

bool LayerSteps::isHere(const Linear& linear, DeviceId home) {
    return linear.weight == WeightSource::kAbsent || (linear.device == home && linear.is_resident);
}

bool LayerSteps::isLayerHere(const DecoderLayer& layer, bool but_experts) {
    const AttentionWeights& a = layer.attend;
    bool is_here = layer.attention == layer.home;
    for (const Linear* linear : {&a.q, &a.k, &a.v, &a.o, &layer.mlp.gate, &layer.mlp.up,
                                 &layer.mlp.down, &layer.per_layer.gate, &layer.per_layer.back}) {
        is_here = is_here && isHere(*linear, layer.home->id());
    }
    const ExpertWeights& experts = layer.experts;
    for (const Linear* linear : {&experts.router, &experts.gate_up, &experts.down}) {
        if (but_experts && linear != &experts.router) {
            break;
        }
        // Updates of experts are for single functions.
        is_here =
            is_here && isHere(*linear, layer.home->id()) && linear->adapter == AdapterHook::kNone;
    }
    return is_here;
}

int64_t LayerSteps::ringFloats(const DeviceScratch& home) {
    return (home.size(Buffer::KeyPositionSliding) + 3) / 4 * 4;
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
    may_compose_ = true;
    is_asking_ = false;
    is_taken_ = true;
    pending_ = pending;
    tapped_ = nullptr;
    stack_ = model_->decoderStack();
    ring_ = reinterpret_cast<const int32_t*>(numbers() + 1);
    turn_ = 0;
}

void LayerSteps::beginRows(DeviceScratch& home, float* x, float* spare, const float* per_layer) {
    begin(home, x, spare, per_layer, 0, {});
    may_compose_ = false;
}

void LayerSteps::beginDraft(float* x, float* spare, int32_t turn) {
    begin(*model_->assistant.home, x, spare, nullptr, 0, {});
    may_compose_ = false;
    stack_ = model_->assistantStack();
    ring_ = home_->ints(Buffer::KeyPositionSliding);
    turn_ = turn;
}

const kernels::TokenNumbers* LayerSteps::numbers() const {
    return reinterpret_cast<const kernels::TokenNumbers*>(home_->buffer(stack_.numbers));
}

Result<void> LayerSteps::addResidual(const Pending& pending, MutF32 row, const std::string& name) {
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const MatF32 t{pending.t, 1, row.cols, row.cols};
    if (pending.norm.data != nullptr) {
        ENGINE_KERNEL(ops.rms_norm_add(queue, t, pending.norm, stack_.eps(), 1.0F, row),
                      "residual norm", name);
    } else {
        ENGINE_KERNEL(ops.add_scaled(queue, t, 1.0F, row), "residual", name);
    }
    return checkStatus(ops.scale(queue, row, pending.scalar), "layer scalar", name);
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
        ENGINE_TRY(addResidual({a.t, a.t_norm, a.scalar}, sum, name));
        source = sum;
    }
    if (a.input == ProjectArgs::Input::Norm || a.input == ProjectArgs::Input::ResidualNorm) {
        const MutF32 normed = home_->matrix(stack_.h, 1, in);
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
        float* to = a.y[i] != nullptr ? a.y[i] : home_->buffer(stack_.up);
        products[i] = {to, 1, out, out};
        ENGINE_TRY(model_->context->linear(*step.linear[i], *home_, source, products[i]));
    }
    if (a.output != ProjectArgs::Output::Store) {
        const int64_t out = products[0].cols;
        const MatF32 other = a.output == ProjectArgs::Output::GatedPair
                                 ? MatF32(products[1])
                                 : MatF32{a.multiply, 1, out, out};
        ENGINE_KERNEL(ops.gated_mul(queue, a.activation, products[0], other, products[0]),
                      "activation", name);
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
        const AdapterHook* adapters = model_->context->adapters();
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
    const AdapterHook* adapters = model_->context->adapters();
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
    args.tap_sums = home_->buffer(Buffer::StepLora);
    if (args.tap_parts <= 0 || ranks * args.tap_parts > home_->size(Buffer::StepLora)) {
        args.tap_count = 0;
    }
}

Result<void> LayerSteps::project(Projection& step) {
    ProjectArgs& args = step.args;
    const Linear* tapped = std::exchange(tapped_, nullptr);
    bool is_taken = std::none_of(step.linear, step.linear + args.count,
                                 [](const Linear* linear) { return linear->hasClips(); }) &&
                    addUpdates(step);
    for (int i = 0; i < args.count; ++i) {
        ENGINE_ASSIGN(args.w[i], model_->context->resident(*step.linear[i]));
    }
    const kernels::OpTable& ops = home_->ops();
    is_taken =
        is_taken && (ops.takes_projection == nullptr || ops.takes_projection(home_->queue(), args));
    if (is_asking_) {
        is_taken_ = is_taken_ && (is_taken || may_compose_);
        return {};
    }
    if (!is_taken && may_compose_) {
        return compose(step);
    }
    if (tapped == step.linear[0] && args.lora_count > 0) {
        args.lora_sums = home_->buffer(Buffer::StepLora);
        args.lora_parts = tap_parts_;
    }
    if (may_compose_) {
        addTaps(step);
    }
    ENGINE_KERNEL(ops.project(home_->queue(), args), "projection", step.linear[0]->name);
    if (args.tap_count > 0) {
        tapped_ = step.next;
        tap_parts_ = args.tap_parts;
    }
    return {};
}

Result<void> LayerSteps::projectRow(Projection& step, kernels::MatView norm) {
    ProjectArgs& args = step.args;
    const bool has_norm = norm.data != nullptr;
    args.eps = stack_.eps();
    args.x = x_;
    args.norm = norm;
    args.input = has_norm ? ProjectArgs::Input::Norm : ProjectArgs::Input::Plain;
    if (pending_.t != nullptr) {
        args.input = has_norm ? ProjectArgs::Input::ResidualNorm : ProjectArgs::Input::Residual;
        args.t = pending_.t;
        args.t_norm = pending_.norm;
        args.scalar = pending_.scalar;
        args.x_out = spare_;
    }
    ENGINE_TRY(project(step));
    if (pending_.t != nullptr) {
        std::swap(x_, spare_);
        pending_ = {};
    }
    return {};
}

Result<void> LayerSteps::projectBack(const Linear& linear, const float* x) {
    Projection back;
    back.args.x = x;
    back.add(linear, home_->buffer(stack_.t));
    return project(back);
}

Result<void> LayerSteps::enqueueAttention(const DecoderLayer& layer,
                                          int index,
                                          kernels::MatView norm,
                                          bool are_keys_stored,
                                          const KvCache& kv) {
    const TextConfig& text = *stack_.text;
    const LayerConfig& shape = stack_.shape(index);
    const bool is_full = shape.type == LayerType::Full;
    const bool has_keys = !shape.is_kv_shared && !are_keys_stored;

    // q, and k and v of owners.
    Projection qkv;
    qkv.add(layer.attend.q, home_->buffer(stack_.q));
    if (has_keys) {
        qkv.add(layer.attend.k, home_->buffer(Buffer::K));
        if (!shape.k_is_v) {
            qkv.add(layer.attend.v, home_->buffer(Buffer::V));
        }
    }
    ENGINE_TRY(projectRow(qkv, norm));

    // With gates the step is composed: queries and output are rows of their own.
    const bool has_gates = text.recipe.has_query_gate && !is_asking_;
    const int64_t q_width = text.num_heads * shape.head_dim;
    const MutF32 made{home_->buffer(stack_.q), 1, q_width * text.recipe.queryParts(),
                      q_width * text.recipe.queryParts()};
    const MutF32 out{home_->buffer(stack_.o), text.num_heads, shape.head_dim, shape.head_dim};
    MutF32 queries = made;
    if (has_gates) {
        queries = {out.data + q_width, text.num_heads, shape.head_dim, shape.head_dim};
        ENGINE_TRY(takeQueries(*home_, made, queries, layer.attend.q.name));
    }

    const KvCache::LayerKv& cache = kv.owner(layer.kv_layer);
    kernels::AttendStepArgs attend;
    attend.q = queries.data;
    if (has_keys) {
        attend.k = home_->buffer(Buffer::K);
        attend.v = shape.k_is_v ? attend.k : home_->buffer(Buffer::V);
    }
    attend.q_norm = layer.attend.q_norm;
    attend.k_norm = layer.attend.k_norm;
    attend.norms_values = text.recipe.has_value_norm;
    attend.inv_freq = home_->buffer(is_full ? Buffer::InvFreqFull : Buffer::InvFreqSliding);
    attend.position = &numbers()->position;
    attend.slot = is_full ? &numbers()->full_slot : &numbers()->sliding_slot;
    attend.key_count = is_full ? &numbers()->full_count : &numbers()->sliding_count;
    attend.key_position = is_full ? home_->ints(Buffer::KeyPositionFull) : ring_;
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
    attend.turn = turn_;
    attend.scale = text.recipe.attentionScale(shape.head_dim);
    attend.eps = stack_.eps();
    attend.out = out.data;
    const kernels::OpTable& ops = home_->ops();
    if (is_asking_) {
        is_taken_ = is_taken_ &&
                    (ops.takes_attention == nullptr || ops.takes_attention(home_->queue(), attend));
    } else {
        ENGINE_KERNEL(ops.attend_step(home_->queue(), attend), "attention", layer.attend.q.name);
    }
    if (has_gates) {
        ENGINE_TRY(gateOutput(*home_, out, made, layer.attend.q.name));
    }
    return projectBack(layer.attend.o, attend.out);
}

Result<void> LayerSteps::enqueueMlp(const DecoderLayer& layer, kernels::MatView norm) {
    float* const gated = home_->buffer(stack_.gate);
    Projection gate_up;
    gate_up.args.output = ProjectArgs::Output::GatedPair;
    gate_up.args.activation = stack_.text->recipe.activation;
    gate_up.add(layer.mlp.gate, gated);
    gate_up.add(layer.mlp.up, nullptr);
    gate_up.next = &layer.mlp.down;
    ENGINE_TRY(projectRow(gate_up, norm));
    return projectBack(layer.mlp.down, gated);
}

Result<void> LayerSteps::enqueueExperts(const DecoderLayer& layer) {
    const TextConfig& text = *stack_.text;
    const ExpertWeights& experts = layer.experts;
    const std::string& name = experts.router.name;
    const ComputeContext& context = *model_->context;
    kernels::ExpertsStepArgs args;
    args.x = x_; // complete: gate and up have added what was pending
    args.t = home_->buffer(stack_.t);
    ENGINE_ASSIGN(args.router, context.resident(experts.router));
    args.router_scale = experts.router_scale.data;
    args.expert_scale = experts.expert_scale.data;
    args.input_scale = 1.0F / std::sqrt(static_cast<float>(text.hidden_size));
    args.t_norm = experts.dense_norm;
    args.norm = experts.pre_norm;
    args.out_norm = experts.post_norm;
    args.experts = text.num_experts;
    args.top_k = text.top_k_experts;
    args.activation = text.recipe.activation;
    args.eps = stack_.eps();
    args.scores = home_->buffer(Buffer::MoeProbs);
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const bool is_of_host = experts.gate_up.device != home_->id();
    if (is_of_host && !is_asking_) {
        kernels::ExpertsStepArgs placed = args;
        host_experts_->put(args);
        ENGINE_KERNEL(ops.route_experts(queue, args), "experts", name);
        if (const HotExperts* const hot = model_->hotExpertsOf(layer)) {
            hot->put(model_->indexOf(layer), placed);
            placed.chosen = args.chosen;
            placed.act = home_->buffer(Buffer::MoeAct);
            placed.sum = home_->buffer(Buffer::MoeSum);
            ENGINE_KERNEL(ops.placed_experts(queue, placed), "experts", name);
            args.own_sum = placed.sum;
        }
        ENGINE_TRY(host_turn_(layer));
        return checkStatus(ops.merge_experts(home_->queue(), args), "experts", name);
    }
    if (!is_of_host) {
        ENGINE_ASSIGN(args.gate_up, context.resident(experts.gate_up));
        ENGINE_ASSIGN(args.down, context.resident(experts.down));
    }
    args.chosen = home_->buffer(Buffer::MoeRouterLow);
    args.act = home_->buffer(Buffer::MoeAct);
    args.sum = home_->buffer(Buffer::MoeSum);
    if (is_asking_) {
        is_taken_ = is_taken_ && may_compose_ &&
                    (ops.takes_experts == nullptr || ops.takes_experts(queue, args));
        return {};
    }
    return checkStatus(ops.experts_step(queue, args), "experts", name);
}

Result<void> LayerSteps::enqueuePerLayerInput(const DecoderLayer& layer, int index) {
    float* const gated = home_->buffer(Buffer::PleGate);
    Projection gate;
    gate.args.output = ProjectArgs::Output::GatedMultiply;
    gate.args.activation = stack_.text->recipe.activation;
    gate.args.multiply = per_layer_ + (index - per_layer_first_) * stack_.text->ple_size;
    gate.args.multiply_stride = model_->perLayerWidth();
    gate.add(layer.per_layer.gate, gated);
    ENGINE_TRY(projectRow(gate, {}));
    return projectBack(layer.per_layer.back, gated);
}

Result<void> LayerSteps::enqueueLayer(int index, bool are_keys_stored, const KvCache& kv) {
    const DecoderLayer& layer = stack_.layer(index);
    for (size_t i = 0; i < layer.branches.size(); ++i) {
        const BoundBranch& branch = layer.branches[i];
        if (branch.body == BranchBody::Attention) {
            ENGINE_TRY(enqueueAttention(layer, index, branch.pre, are_keys_stored, kv));
        } else if (branch.body == BranchBody::Mlp) {
            ENGINE_TRY(enqueueMlp(layer, branch.pre));
        } else if (branch.body == BranchBody::MlpWithExperts) {
            ENGINE_TRY(enqueueMlp(layer, branch.pre));
            ENGINE_TRY(enqueueExperts(layer));
        } else {
            ENGINE_TRY(enqueuePerLayerInput(layer, index));
        }
        // The next step adds the branch's result, as that reads the row anyway.
        const bool is_last = i + 1 == layer.branches.size();
        pending_ = {home_->buffer(stack_.t), branch.post,
                    is_last && stack_.text->recipe.has_scalar ? layer.scalar : 1.0F};
    }
    return {};
}

Result<void>
LayerSteps::enqueueLayers(int first, int end, bool are_keys_stored, const KvCache& kv) {
    for (int i = first; i < end; ++i) {
        ENGINE_TRY(enqueueLayer(i, are_keys_stored && i == first, kv));
    }
    return {};
}

bool LayerSteps::takesLayers(DeviceScratch& home, int first, int end, const KvCache& kv) {
    const Buffer slices = model_->text.per_layer_home == &home ? Buffer::Ple : Buffer::PleSlice;
    begin(home, home.buffer(Buffer::X), home.buffer(Buffer::StepX), home.buffer(slices), first, {});
    ask();
    return enqueueLayers(first, end, false, kv).has_value() && is_taken_;
}

Result<void> LayerSteps::enqueueHead() {
    Projection head;
    head.add(model_->text.head, home_->buffer(Buffer::Logits));
    return projectRow(head, model_->text.final_norm);
}

Result<void> LayerSteps::enqueueResidual() {
    if (pending_.t == nullptr) {
        return {};
    }
    const int64_t width = stack_.text->hidden_size;
    return addResidual(std::exchange(pending_, {}), {x_, 1, width, width}, "decoder layers");
}

} // namespace engine
