// SPDX-License-Identifier: Apache-2.0
#include "engine/gemma4/decode_step.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <utility>

namespace engine {

using kernels::MatF32;
using kernels::MutF32;
using kernels::ProjectArgs;
using kernels::Status;

namespace {

/// The mark behind a token's step: at most the next one's is made before it has been waited for.
/// The last numbers; the loader takes the first.
int markOf(int64_t position) {
    return kernels::Device::kMarks - 2 + static_cast<int>(position % 2);
}

} // namespace

DecodeStep::~DecodeStep() {
    reset();
    if (home_ != nullptr && host_ != nullptr) {
        home_->device().freeHost(host_);
    }
}

void DecodeStep::settle() {
    if (ahead_.kv != nullptr) {
        ahead_ = {};
        // Of a lost device too: then whoever comes next is told.
        (void)home_->device().synchronize();
    }
}

void DecodeStep::reset() {
    settle();
    if (graph_ != nullptr) {
        home_->device().freeGraph(graph_);
        graph_ = nullptr;
    }
    state_ = State::Unknown;
}

void DecodeStep::strengthsChanged() {
    if (has_composed_updates_) {
        reset();
    }
}

bool DecodeStep::isPossible(const KvCache& kv) {
    if (state_ != State::Unknown) {
        return state_ == State::Possible;
    }
    state_ = State::Impossible;
    const Model& m = *model_;
    const TextConfig& text = m.config_.text;
    if (m.layers_.empty() || text.has_moe || kv.type() != kernels::DType::BF16) {
        return false;
    }
    DeviceScratch* home = m.layers_.front().home;
    const kernels::OpTable& ops = home->ops();
    if (ops.project == nullptr || ops.attend_step == nullptr || ops.argmax == nullptr ||
        m.head_home_ != home || (text.ple_size > 0 && m.ple_home_ != home)) {
        return false;
    }
    const PlanIndex plan(m.plan_);
    const auto is_here = [&](const Linear& linear) {
        if (linear.weight == WeightSource::kAbsent || linear.device != home->id()) {
            return linear.weight == WeightSource::kAbsent;
        }
        const TensorPlacement* row = plan.find(linear.name);
        return row == nullptr || row->store == row->compute || row->residency == Residency::Always;
    };
    bool is_ok = is_here(m.lm_head_) && (text.ple_size == 0 || is_here(m.ple_model_projection_));
    for (const Model::DecoderLayer& layer : m.layers_) {
        is_ok = is_ok && layer.home == home && layer.attention == home;
        for (const Linear* linear : {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up,
                                     &layer.down, &layer.ple_gate, &layer.ple_projection}) {
            is_ok = is_ok && is_here(*linear);
        }
    }
    // Mirrors on other devices would have to be updated between the steps.
    for (size_t i = 0; is_ok && i < m.layers_.size(); ++i) {
        is_ok = kv.owner(static_cast<int>(i)).mirrors.empty();
    }
    if (is_ok) {
        if (home_ != nullptr && home_ != home && host_ != nullptr) {
            home_->device().freeHost(host_);
            host_ = nullptr;
        }
        home_ = home;
        is_ok = prepare().has_value();
    }
    state_ = is_ok ? State::Possible : State::Impossible;
    return is_ok;
}

const kernels::TokenNumbers* DecodeStep::numbers() const {
    return reinterpret_cast<const kernels::TokenNumbers*>(home_->buffer("step_input"));
}

std::byte* DecodeStep::resultOf(int64_t position) const {
    return host_ + result_at_ + (is_chained_ ? static_cast<size_t>(position % 2) * kKeyBytes : 0);
}

kernels::TopLogits& DecodeStep::top() const {
    return *reinterpret_cast<kernels::TopLogits*>(host_ + result_at_);
}

Result<void> DecodeStep::compose(const Projection& step) {
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
    MutF32 products[3];
    for (int i = 0; i < a.count; ++i) {
        const int64_t out = step.linear[i]->out;
        // A pair's second product has no place of its own in the step.
        float* to =
            a.output == ProjectArgs::Output::GeluPair && i == 1 ? home_->buffer("up") : a.y[i];
        products[i] = {to, 1, out, out};
        has_composed_updates_ =
            has_composed_updates_ || step.linear[i]->adapter != AdapterHook::kNone;
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

bool DecodeStep::addUpdates(Projection& step) {
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

void DecodeStep::addTaps(Projection& step) {
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

Result<void> DecodeStep::project(Projection& step) {
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

Result<void> DecodeStep::enqueueLayer(int index, bool are_keys_stored, const KvCache& kv) {
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
    attend.cache_k = cache.primary.k;
    attend.cache_v = cache.primary.v;
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
    gate.args.multiply = ple_ + index * text.ple_size;
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

Result<void> DecodeStep::enqueue(const KvCache& kv) {
    Model& m = *model_;
    const TextConfig& text = m.config_.text;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    x_ = home_->buffer("step_input") + kRing + ring_;
    spare_ = home_->buffer("step_x");
    has_composed_updates_ = false;
    pending_ = {};
    tapped_ = nullptr;
    ENGINE_ASSIGN(const bool has_inputs, enqueueFusedInputs());
    if (!has_inputs) {
        ENGINE_TRY(enqueueInputs());
    }
    ple_ = text.ple_size > 0 ? home_->buffer("ple") : nullptr;
    is_collecting_ =
        may_collect_ && ops.begin_steps != nullptr && ops.begin_steps(queue) == Status::Ok;
    const Result<void> layers = enqueueLayersAndHead(0, false, kv);
    if (is_collecting_) {
        // Also after a failure: nothing may be left behind for whoever comes next.
        const Status ended = ops.end_steps(queue);
        ENGINE_TRY(layers);
        ENGINE_KERNEL(ended, "decoder layers", "decode step");
    }
    ENGINE_TRY(layers);
    return enqueueChoice(kv);
}

Result<void> DecodeStep::record(const KvCache& kv) {
    kernels::Device& device = home_->device();
    is_chained_ = false;
    if (!device.canCapture() || device.beginCapture() != Status::Ok) {
        return {};
    }
    is_chained_ = may_chain_ && top_ == 0;
    Result<void> outcome = enqueue(kv);
    const Status ended = device.endCapture(&graph_);
    if (graph_ != nullptr && (!outcome.has_value() || ended != Status::Ok)) {
        device.freeGraph(graph_);
        graph_ = nullptr;
    }
    is_chained_ = is_chained_ && graph_ != nullptr;
    recorded_kv_ = kv.owner(0).primary.k;
    return outcome;
}

Result<void> DecodeStep::enqueueAhead(KvCache& kv) {
    kernels::Device& device = home_->device();
    const int64_t position = kv.size();
    std::memset(resultOf(position), 0, kKeyBytes);
    const Status status = device.replay(graph_);
    if (status == Status::Ok) {
        ahead_ = {&kv, position, -1};
        kv.noteAhead();
        if (device.mark(markOf(position)) == Status::Ok) {
            return {};
        }
    }
    // Not enqueued, or nobody could wait for it: then without.
    settle();
    return device.isLost() ? checkStatus(Status::DeviceLost, "replay", "decode step")
                           : Result<void>();
}

Result<void>
DecodeStep::enqueueLayersAndHead(int first_layer, bool are_keys_stored, const KvCache& kv) {
    Model& m = *model_;
    const TextConfig& text = m.config_.text;
    for (int i = first_layer; i < static_cast<int>(text.num_layers); ++i) {
        ENGINE_TRY(enqueueLayer(i, are_keys_stored && i == first_layer, kv));
    }
    Projection head;
    head.args.input = ProjectArgs::Input::ResidualNorm;
    head.args.x = x_;
    head.args.t = pending_.t;
    head.args.t_norm = pending_.norm;
    head.args.scalar = pending_.scalar;
    head.args.norm = m.final_norm_;
    head.args.eps = static_cast<float>(text.rms_norm_eps);
    head.args.x_out = spare_;
    head.args.y[0] = home_->buffer("logits");
    head.args.count = 1;
    head.linear[0] = &m.lm_head_;
    return project(head);
}

Result<void> DecodeStep::finish(
    int first_layer, const float* x, int64_t row, const KvCache& kv, std::vector<float>& logits) {
    const Model& m = *model_;
    const TextConfig& text = m.config_.text;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    // Beside a recorded token there is room for so many layers, and a token may have so many.
    constexpr int64_t kMostLayers = 22;
    constexpr int64_t kMostTokenLayers = 46;
    settle();
    if (ops.begin_once_steps == nullptr || !may_collect_ || text.num_layers > kMostTokenLayers ||
        text.num_layers - first_layer > kMostLayers || ops.begin_once_steps(queue) != Status::Ok) {
        return Error{ErrorCode::Unsupported, "the last row goes through single steps"};
    }
    const auto enqueueAll = [&]() -> Result<void> {
        // What was sent before has arrived: the host waits for every token and every prompt.
        fillNumbers(kv);
        ENGINE_KERNEL(home_->device().copyIn(home_->buffer("step_input"), host_,
                                             static_cast<size_t>(kRing + ring_) * sizeof(float)),
                      "copy in", "last row");
        x_ = home_->buffer("step_input") + kRing + ring_;
        ENGINE_KERNEL(home_->device().copyWithin(
                          x_, x, static_cast<size_t>(text.hidden_size) * sizeof(float)),
                      "copy", "last row");
        spare_ = home_->buffer("step_x");
        ple_ = text.ple_size > 0 ? home_->buffer("ple") + row * text.num_layers * text.ple_size
                                 : nullptr;
        pending_ = {};
        tapped_ = nullptr;
        return enqueueLayersAndHead(first_layer, true, kv);
    };
    const Result<void> layers = enqueueAll();
    // Also after a failure: nothing may be left behind for whoever comes next.
    const Status ended = ops.end_steps(queue);
    ENGINE_TRY(layers);
    ENGINE_KERNEL(ended, "decoder layers", "last row");
    const MutF32 out = home_->matrix("logits", 1, text.vocab_size);
    if (text.final_logit_softcap > 0) {
        ENGINE_KERNEL(ops.soft_cap(queue, out, static_cast<float>(text.final_logit_softcap)),
                      "soft cap", m.lm_head_.name);
    }
    logits.resize(static_cast<size_t>(text.vocab_size));
    ENGINE_KERNEL(home_->device().copyOut(logits.data(), out.data, logits.size() * sizeof(float)),
                  "copy out", m.lm_head_.name);
    return checkStatus(home_->device().synchronize(), "synchronize", "last row");
}

Result<void> DecodeStep::run(
    int32_t id, KvCache& kv, std::vector<float>* logits, int32_t* greedy, bool wants_next) {
    return advance(id, kv, {logits, greedy, wants_next, 0});
}

Result<std::span<const kernels::TokenLogit>>
DecodeStep::runForTop(int32_t id, KvCache& kv, int32_t wanted, std::vector<float>& logits) {
    ENGINE_TRY(advance(id, kv, {&logits, nullptr, false, wanted}));
    return std::span<const kernels::TokenLogit>(top().entry,
                                                static_cast<size_t>(std::max(0, top().count)));
}

Result<void> DecodeStep::copyLogitsOut(std::vector<float>& logits) {
    kernels::Device& device = home_->device();
    logits.resize(static_cast<size_t>(model_->config_.text.vocab_size));
    ENGINE_KERNEL(
        device.copyOut(logits.data(), home_->buffer("logits"), logits.size() * sizeof(float)),
        "copy out", "logits");
    return checkStatus(device.synchronize(), "synchronize", "logits");
}

Result<void> DecodeStep::advance(int32_t id, KvCache& kv, const Wanted& wanted) {
    kernels::Device& device = home_->device();
    const int64_t start = kv.size();
    // Who wants the row alone takes any recording.
    const int32_t top_wanted = wanted.top > 0 || wanted.greedy != nullptr ? wanted.top : top_;
    bool is_under_way = ahead_.kv == &kv && ahead_.position == start && ahead_.id == id &&
                        recorded_kv_ == kv.owner(0).primary.k && top_wanted == top_;
    if (is_under_way) {
        ahead_ = {};
    }
    settle();
    if (takeLockedTable()) {
        if (graph_ != nullptr) {
            device.freeGraph(std::exchange(graph_, nullptr));
        }
        ENGINE_TRY(prepare());
    }
    if (std::exchange(top_, top_wanted) != top_wanted && graph_ != nullptr) {
        device.freeGraph(std::exchange(graph_, nullptr));
    }
    const int32_t no_block = -1;
    kv.append(std::span(&no_block, 1));
    const auto begin = [&]() -> Result<void> {
        ENGINE_TRY(fillInput(id, kv));
        if (graph_ != nullptr && recorded_kv_ != kv.owner(0).primary.k) {
            device.freeGraph(graph_);
            graph_ = nullptr;
        }
        if (graph_ == nullptr) {
            ENGINE_TRY(record(kv));
        }
        std::memset(resultOf(start), 0, kKeyBytes);
        if (top_ > 0) {
            top().count = kernels::TopLogits::kSeeRow;
        }
        if (graph_ == nullptr) {
            return enqueue(kv);
        }
        if (is_chained_) {
            ENGINE_TRY(sendInput());
        }
        ENGINE_KERNEL(device.replay(graph_), "replay", "decode step");
        if (is_chained_ && device.mark(markOf(start)) != Status::Ok) {
            // Nobody could wait for it alone: at once, then.
            return checkStatus(device.synchronize(), "synchronize", "decode step");
        }
        return {};
    };
    const auto attempt = [&]() -> Result<void> {
        if (!std::exchange(is_under_way, false)) {
            ENGINE_TRY(begin());
        }
        if (is_chained_ && wanted.has_next && wanted.greedy != nullptr &&
            wanted.logits == nullptr && kv.hasRoomAhead()) {
            ENGINE_TRY(enqueueAhead(kv));
        }
        ENGINE_KERNEL(is_chained_ ? device.waitForMark(markOf(start)) : device.synchronize(),
                      "synchronize", "decode step");
        const bool do_candidates_tell = wanted.top > 0 && top().count > 0;
        if (wanted.logits != nullptr && !do_candidates_tell) {
            ENGINE_TRY(copyLogitsOut(*wanted.logits));
        }
        if (wanted.greedy != nullptr) {
            uint64_t best = 0;
            std::memcpy(&best, resultOf(start), sizeof(best));
            // Finite logits lie between the keys of -infinity and +infinity; NaN above or below.
            const auto order = static_cast<uint32_t>(best >> 32U);
            if (order <= 0x007fffffU || order >= 0xff800000U) {
                return Error{ErrorCode::Internal,
                             "the logits hold NaN or infinity, or every token is suppressed"};
            }
            *wanted.greedy = static_cast<int32_t>(0xffffffffU - static_cast<uint32_t>(best));
            // The step ahead took the row of the token as it is; the host takes pad's for these.
            ahead_.id = isPlaceholder(*wanted.greedy) ? -1 : *wanted.greedy;
        }
        return {};
    };
    const bool did_chain = may_chain_;
    Result<void> outcome = attempt();
    const auto isRefused = [&] {
        return !outcome.has_value() && outcome.error().code == ErrorCode::Unsupported;
    };
    if (isRefused() && did_chain && !may_chain_) {
        outcome = attempt(); // this device does not choose in one launch
    }
    if (isRefused() && is_collecting_) {
        may_collect_ = false; // this card does not take all steps as one launch
        outcome = attempt();
    }
    if (!outcome.has_value()) {
        settle();
        if (outcome.error().code == ErrorCode::Unsupported) {
            state_ = State::Impossible; // the table has no kernel for these operands
        }
        [[maybe_unused]] const bool is_rolled_back = kv.truncate(start);
        assert(is_rolled_back);
    }
    return outcome;
}

} // namespace engine
