// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/token/step_inputs.h"

#include <cassert>
#include <cmath>

namespace engine {

using kernels::MutF32;

bool StepInputs::hasPerLayer() const {
    return model_->config.text.ple_size > 0;
}

DeviceTable findTable(const BoundModel& model,
                      const DeviceScratch& home,
                      WeightSource::Handle table,
                      AdapterHook::Handle adapter) {
    const int64_t rows = model.config.text.vocab_size;
    WeightSource& weights = model.context->weights();
    DeviceTable found;
    if (adapter != AdapterHook::kNone) {
        return found; // its rows are changed on the host
    }
    found.there = weights.residentOn(table, home.id());
    if (!found.there) {
        found.is_locking = weights.lockFor(table, home.id());
        if (found.is_locking) {
            found.there = weights.lockedFor(table, home.id());
            found.is_remote = found.there.has_value();
            found.is_locking = !found.is_remote;
        }
    }
    if (found.there && found.there->rows < rows) {
        found = {};
    }
    return found;
}

void StepInputs::prepare(DeviceScratch& home) {
    const TextConfig& text = model_->config.text;
    const DecoderWeights& weights = model_->text;
    home_ = &home;
    row_ = LayerSteps::kNumberFloats + LayerSteps::ringFloats(home);
    floats_ = row_ + text.hidden_size + (hasPerLayer() ? text.num_layers * text.ple_size : 0);
    assert(floats_ <= home.size(Buffer::StepInput));
    embedding_ = findTable(*model_, home, weights.embedding, weights.embedding_adapter);
    if (hasPerLayer()) {
        per_layer_ = findTable(*model_, home, weights.per_layer_table, weights.per_layer_adapter);
    }
}

bool StepInputs::hasNewTable() const {
    const WeightSource& weights = model_->context->weights();
    return (embedding_.is_locking && weights.lockedFor(model_->text.embedding, home_->id())) ||
           (per_layer_.is_locking && weights.lockedFor(model_->text.per_layer_table, home_->id()));
}

bool StepInputs::areTablesThere() const {
    return embedding_.there && (!hasPerLayer() || per_layer_.there);
}

size_t StepInputs::sentBytes() const {
    if (areTablesThere()) {
        return static_cast<size_t>(row_) * sizeof(float);
    }
    const bool is_row_last = !hasPerLayer() || per_layer_.there;
    return is_row_last ? static_cast<size_t>(row_ + model_->config.text.hidden_size) * sizeof(float)
                       : blockBytes();
}

Result<void> StepInputs::fill(int32_t id, const KvCache& kv, std::byte* host) {
    const BoundModel& m = *model_;
    const TextConfig& text = m.config.text;
    LayerSteps::fillNumbers(kv, host);
    float* const row = reinterpret_cast<float*>(host) + row_;
    if (model_->isPlaceholder(id)) {
        id = static_cast<int32_t>(text.pad_token_id);
    }
    reinterpret_cast<kernels::TokenNumbers*>(host)->token = id;
    const std::span<const int32_t> ids(&id, 1);
    const auto gather = [&](const DeviceTable& table, WeightSource::Handle handle,
                            AdapterHook::Handle adapter, float scale, MutF32 to) {
        return table.there ? Result<void>()
                           : m.context->gatherRows(handle, adapter, ids, scale, to);
    };
    ENGINE_TRY(gather(embedding_, m.text.embedding, m.text.embedding_adapter,
                      m.text.embedding_scale, {row, 1, text.hidden_size, text.hidden_size}));
    if (!hasPerLayer()) {
        return {};
    }
    const int64_t width = text.num_layers * text.ple_size;
    return gather(per_layer_, m.text.per_layer_table, m.text.per_layer_adapter,
                  std::sqrt(static_cast<float>(text.ple_size)),
                  {row + text.hidden_size, 1, width, width});
}

Result<bool> StepInputs::enqueueFused(const Place& place) {
    BoundModel& m = *model_;
    const TextConfig& text = m.config.text;
    const Linear& projection = m.text.per_layer_projection;
    const auto& ops = home_->ops();
    if (ops.token_inputs == nullptr || !hasPerLayer() || !projection.isPlain()) {
        return false;
    }
    kernels::TokenInputArgs args;
    // Every block of the launch reads the whole embedding row: not over the bus.
    if (embedding_.there && !embedding_.is_remote) {
        args.embedding = *embedding_.there;
    }
    args.embedding_scale = m.text.embedding_scale;
    args.x = place.x;
    args.t = place.t;
    args.y = place.per_layer;
    ENGINE_ASSIGN(args.projection, m.context->resident(projection));
    args.norm = m.text.per_layer_norm;
    args.eps = static_cast<float>(text.rms_norm_eps);
    args.before = 1.0F / std::sqrt(static_cast<float>(text.hidden_size));
    args.after = 1.0F / std::sqrt(2.0F);
    // Sent, not read where it lies: every block of the launch would fetch it over the bus.
    args.token = place.token;
    if (per_layer_.there) {
        args.table = *per_layer_.there;
        args.table_scale = std::sqrt(static_cast<float>(text.ple_size));
    } else {
        args.token_part = place.t;
    }
    if (ops.takes_inputs != nullptr && !ops.takes_inputs(home_->queue(), args)) {
        return false;
    }
    ENGINE_KERNEL(ops.token_inputs(home_->queue(), args), "inputs", projection.name);
    return true;
}

Result<void> StepInputs::enqueue(LayerSteps& steps) {
    float* per_layer = hasPerLayer() ? home_->buffer(Buffer::Ple) : nullptr;
    return enqueueAt({&steps.numbers()->token, steps.x(),
                      steps.x() + model_->config.text.hidden_size, per_layer},
                     steps);
}

Result<void> StepInputs::enqueueAt(const Place& place, LayerSteps& steps) {
    BoundModel& m = *model_;
    const TextConfig& text = m.config.text;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const auto gather = [&](const kernels::WeightView& table, float scale, float* to, int64_t width,
                            const char* name) {
        return checkStatus(
            ops.gather_rows(queue, table, place.token, 1, 0, scale, {to, 1, width, width}),
            "gather rows", name);
    };
    if (embedding_.is_remote) {
        ENGINE_TRY(gather(*embedding_.there, m.text.embedding_scale, place.x, text.hidden_size,
                          "embedding"));
    }
    ENGINE_ASSIGN(const bool is_fused, enqueueFused(place));
    if (is_fused) {
        return {};
    }
    if (embedding_.there && !embedding_.is_remote) {
        ENGINE_TRY(gather(*embedding_.there, m.text.embedding_scale, place.x, text.hidden_size,
                          "embedding"));
    }
    if (per_layer_.there) {
        ENGINE_TRY(gather(*per_layer_.there, std::sqrt(static_cast<float>(text.ple_size)), place.t,
                          text.num_layers * text.ple_size, "per-layer table"));
    }
    return hasPerLayer() ? enqueuePerLayer(place, steps) : Result<void>();
}

Result<void> StepInputs::enqueuePerLayer(const Place& place, LayerSteps& steps) {
    // As DecoderInputs::perLayer, for one row whose token part lies in the input block.
    BoundModel& m = *model_;
    const TextConfig& text = m.config.text;
    const int64_t width = text.num_layers * text.ple_size;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const std::string& name = m.text.per_layer_projection.name;
    const MutF32 ple{place.per_layer, 1, width, width};
    LayerSteps::Projection step;
    step.args.x = place.x;
    step.add(m.text.per_layer_projection, ple.data);
    ENGINE_TRY(steps.project(step));
    ENGINE_KERNEL(ops.scale(queue, ple, 1.0F / std::sqrt(static_cast<float>(text.hidden_size))),
                  "scale", name);
    const MutF32 slices{ple.data, text.num_layers, text.ple_size, text.ple_size};
    ENGINE_KERNEL(ops.rms_norm(queue, slices, m.text.per_layer_norm,
                               static_cast<float>(text.rms_norm_eps), slices),
                  "norm", name);
    ENGINE_KERNEL(ops.add_scaled(queue, {place.t, 1, width, width}, 1.0F, ple), "add", name);
    return checkStatus(ops.scale(queue, ple, 1.0F / std::sqrt(2.0F)), "scale", name);
}

} // namespace engine
