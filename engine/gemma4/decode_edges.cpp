// SPDX-License-Identifier: Apache-2.0
// What stands before and behind the layers of a decoded token: its input block and where the tables
// are read, its embedding and per-layer inputs, the soft cap, and the greedy choice or the
// candidates.
#include "engine/gemma4/decode_step.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace engine {

using kernels::MutF32;
using kernels::Status;

Result<void> DecodeStep::prepare() {
    const TextConfig& text = model_->config_.text;
    ring_ = LayerSteps::ringFloats(*home_);
    const int64_t floats =
        kRing + ring_ + text.hidden_size + text.num_layers * std::max<int64_t>(0, text.ple_size);
    assert(floats <= home_->size("step_input"));
    input_bytes_ = static_cast<size_t>(floats) * sizeof(float);
    result_at_ = (input_bytes_ + 15) / 16 * 16;
    if (host_ == nullptr) {
        static_assert(sizeof(kernels::TopLogits) >= 2 * kKeyBytes);
        host_ = static_cast<std::byte*>(
            home_->device().allocateHost(result_at_ + sizeof(kernels::TopLogits)));
    }
    // Tables in the device's own memory: their rows are taken there, as part of the step.
    const auto tableOf = [&](WeightSource::Handle table, AdapterHook::Handle adapter) {
        const auto view = adapter == AdapterHook::kNone
                              ? model_->context_->weights().residentOn(table, home_->id())
                              : std::nullopt;
        return view && view->rows >= text.vocab_size ? view : std::nullopt;
    };
    embedding_there_ = tableOf(model_->embed_tokens_, model_->embed_adapter_);
    per_layer_there_ = text.ple_size > 0 ? tableOf(model_->ple_table_, model_->ple_adapter_)
                                         : std::optional<kernels::WeightView>();
    // In the host's memory: its rows are sent until the device can read them there. Few bytes, but
    // every block of the inputs' launch reads the whole embedding row: not over the bus.
    is_locking_ = false;
    if (text.ple_size > 0 && !per_layer_there_ && embedding_there_ &&
        model_->ple_adapter_ == AdapterHook::kNone) {
        is_locking_ = model_->context_->weights().lockFor(model_->ple_table_, home_->id());
        takeLockedTable();
    }
    // BELFRY_NO_LOOKAHEAD: the host sends every token's numbers, for comparisons.
    may_chain_ = embedding_there_.has_value() &&
                 (text.ple_size <= 0 || per_layer_there_.has_value()) &&
                 home_->ops().cap_argmax != nullptr && host_ != nullptr &&
                 home_->device().kernelAddress(host_) != nullptr &&
                 std::getenv("BELFRY_NO_LOOKAHEAD") == nullptr;
    if (host_ == nullptr) {
        return Error{ErrorCode::OutOfMemory,
                     home_->id().toString() + ": no page-locked memory for the decode step"};
    }
    return {};
}

bool DecodeStep::takeLockedTable() {
    if (!is_locking_) {
        return false;
    }
    const auto view = model_->context_->weights().lockedFor(model_->ple_table_, home_->id());
    if (!view || view->rows < model_->config_.text.vocab_size) {
        return false;
    }
    per_layer_there_ = view;
    is_locking_ = false;
    return true;
}

Result<void> DecodeStep::setSuppressed(const std::vector<int32_t>& ids) {
    const int64_t vocab = model_->config_.text.vocab_size;
    std::vector<uint32_t> words(static_cast<size_t>((vocab + 31) / 32), 0);
    for (const int32_t id : ids) {
        if (id >= 0 && id < vocab) {
            words[static_cast<size_t>(id) / 32] |= 1U << (static_cast<uint32_t>(id) % 32);
        }
    }
    return checkStatus(home_->device().copyIn(home_->buffer("step_suppressed"), words.data(),
                                              words.size() * sizeof(uint32_t)),
                       "copy in", "suppressed tokens");
}

bool DecodeStep::isPlaceholder(int32_t id) const {
    const ModelConfig& config = model_->config_;
    return id == config.image_token_id || id == config.audio_token_id ||
           id == config.video_token_id;
}

Result<void> DecodeStep::fillInput(int32_t id, const KvCache& kv) {
    Model& m = *model_;
    const TextConfig& text = m.config_.text;
    LayerSteps::fillNumbers(kv, host_);
    float* row = reinterpret_cast<float*>(host_) + kRing + ring_;
    if (isPlaceholder(id)) {
        id = static_cast<int32_t>(text.pad_token_id);
    }
    reinterpret_cast<kernels::TokenNumbers*>(host_)->token = id;
    const std::span<const int32_t> ids(&id, 1);
    const MutF32 embedding{row, 1, text.hidden_size, text.hidden_size};
    if (!embedding_there_) {
        ENGINE_TRY(
            m.context_->weights().gatherRows(m.embed_tokens_, ids, 0, m.embed_scale_, embedding));
    }
    if (m.embed_adapter_ != AdapterHook::kNone) {
        ENGINE_TRY(
            m.context_->adapters()->applyRows(m.embed_adapter_, ids, 0, m.embed_scale_, embedding));
    }
    if (text.ple_size > 0 && !per_layer_there_) {
        const int64_t width = text.num_layers * text.ple_size;
        const MutF32 token{row + text.hidden_size, 1, width, width};
        const float scale = std::sqrt(static_cast<float>(text.ple_size));
        ENGINE_TRY(m.context_->weights().gatherRows(m.ple_table_, ids, 0, scale, token));
        if (m.ple_adapter_ != AdapterHook::kNone) {
            ENGINE_TRY(m.context_->adapters()->applyRows(m.ple_adapter_, ids, 0, scale, token));
        }
    }
    return {};
}

Result<void> DecodeStep::sendInput() {
    // Rows that the device takes itself are not sent.
    size_t sent = input_bytes_;
    if (embedding_there_ && (per_layer_there_ || model_->config_.text.ple_size <= 0)) {
        sent = static_cast<size_t>(kRing + ring_) * sizeof(float);
    }
    return checkStatus(home_->device().copyInLater(home_->buffer("step_input"), host_, sent,
                                                   kernels::Device::kNoMark),
                       "copy in", "decode step");
}

Result<bool> DecodeStep::enqueueFusedInputs() {
    Model& m = *model_;
    const TextConfig& text = m.config_.text;
    const Linear& projection = m.ple_model_projection_;
    const auto& ops = home_->ops();
    if (ops.token_inputs == nullptr || text.ple_size <= 0 || !embedding_there_ ||
        projection.adapter != AdapterHook::kNone || projection.has_input_clip ||
        projection.has_output_clip) {
        return false;
    }
    kernels::TokenInputArgs args;
    args.embedding = *embedding_there_;
    args.embedding_scale = m.embed_scale_;
    args.x = steps_.x();
    args.t = steps_.x() + text.hidden_size;
    args.y = home_->buffer("ple");
    ENGINE_ASSIGN(args.projection, m.context_->weights().acquire(projection.weight));
    m.context_->weights().release(projection.weight); // resident: the view stays valid
    args.norm = m.ple_projection_norm_;
    args.eps = static_cast<float>(text.rms_norm_eps);
    args.before = 1.0F / std::sqrt(static_cast<float>(text.hidden_size));
    args.after = 1.0F / std::sqrt(2.0F);
    // Sent, not read where it lies: every block of the launch would fetch it over the bus.
    args.token = &steps_.numbers()->token;
    if (per_layer_there_) {
        args.table = *per_layer_there_;
        args.table_scale = std::sqrt(static_cast<float>(text.ple_size));
    } else {
        args.token_part = home_->buffer("step_input") + kRing + ring_ + text.hidden_size;
    }
    if (!is_chained_) {
        ENGINE_TRY(sendInput());
    }
    const Status status = ops.token_inputs(home_->queue(), args);
    if (status == Status::Unsupported) {
        return false;
    }
    ENGINE_TRY(checkStatus(status, "inputs", projection.name));
    return true;
}

Result<void> DecodeStep::enqueueInputs() {
    Model& m = *model_;
    const TextConfig& text = m.config_.text;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    if (!is_chained_) {
        ENGINE_TRY(sendInput());
    }
    if (embedding_there_) {
        ENGINE_KERNEL(ops.gather_rows(queue, *embedding_there_, &steps_.numbers()->token, 1, 0,
                                      m.embed_scale_,
                                      {steps_.x(), 1, text.hidden_size, text.hidden_size}),
                      "gather rows", "embedding");
    }
    if (per_layer_there_) {
        const int64_t width = text.num_layers * text.ple_size;
        ENGINE_KERNEL(ops.gather_rows(queue, *per_layer_there_, &steps_.numbers()->token, 1, 0,
                                      std::sqrt(static_cast<float>(text.ple_size)),
                                      {steps_.x() + text.hidden_size, 1, width, width}),
                      "gather rows", "per-layer table");
    }
    return text.ple_size > 0 ? enqueuePerLayerInputs() : Result<void>();
}

Result<void> DecodeStep::enqueuePerLayerInputs() {
    // As Model::perLayerInputs, for one row whose token part lies in the input block.
    Model& m = *model_;
    const TextConfig& text = m.config_.text;
    const int64_t width = text.num_layers * text.ple_size;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const std::string& name = m.ple_model_projection_.name;
    const MutF32 ple = home_->matrix("ple", 1, width);
    LayerSteps::Projection step;
    step.args.x = steps_.x();
    step.args.count = 1;
    step.args.y[0] = ple.data;
    step.linear[0] = &m.ple_model_projection_;
    ENGINE_TRY(steps_.project(step));
    ENGINE_KERNEL(ops.scale(queue, ple, 1.0F / std::sqrt(static_cast<float>(text.hidden_size))),
                  "scale", name);
    const MutF32 slices{ple.data, text.num_layers, text.ple_size, text.ple_size};
    ENGINE_KERNEL(ops.rms_norm(queue, slices, m.ple_projection_norm_,
                               static_cast<float>(text.rms_norm_eps), slices),
                  "norm", name);
    const float* token = home_->buffer("step_input") + kRing + ring_ + text.hidden_size;
    ENGINE_KERNEL(ops.add_scaled(queue, {token, 1, width, width}, 1.0F, ple), "add", name);
    return checkStatus(ops.scale(queue, ple, 1.0F / std::sqrt(2.0F)), "scale", name);
}

bool DecodeStep::hasTopLogits() const {
    return home_ != nullptr && home_->ops().top_logits != nullptr &&
           std::getenv("BELFRY_NO_TOP_LOGITS") == nullptr;
}

Result<void> DecodeStep::enqueueTop() {
    const TextConfig& text = model_->config_.text;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const std::string& name = model_->lm_head_.name;
    const auto cap = static_cast<float>(std::max(0.0, text.final_logit_softcap));
    auto* const here = reinterpret_cast<kernels::TopLogits*>(home_->buffer("step_best"));
    void* const there = home_->device().kernelAddress(&top());
    const Status status =
        ops.top_logits == nullptr
            ? Status::Unsupported
            : ops.top_logits(queue, home_->buffer("logits"), text.vocab_size, cap,
                             reinterpret_cast<const uint32_t*>(home_->buffer("step_suppressed")),
                             top_,
                             there == nullptr ? here : static_cast<kernels::TopLogits*>(there));
    if (status == Status::Unsupported) {
        // Nobody writes candidates: the host goes on seeing that it has to look at the row.
        return cap > 0 ? checkStatus(
                             ops.soft_cap(queue, home_->matrix("logits", 1, text.vocab_size), cap),
                             "soft cap", name)
                       : Result<void>();
    }
    ENGINE_KERNEL(status, "largest logits", name);
    return there != nullptr ? Result<void>()
                            : checkStatus(home_->device().copyOut(&top(), here, sizeof(*here)),
                                          "copy out", "decode step");
}

Result<void> DecodeStep::enqueueChoice(const KvCache& kv) {
    if (top_ > 0) {
        return enqueueTop();
    }
    const TextConfig& text = model_->config_.text;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const std::string& name = model_->lm_head_.name;
    const auto cap = static_cast<float>(std::max(0.0, text.final_logit_softcap));
    float* const logits = home_->buffer("logits");
    const auto* suppressed = reinterpret_cast<const uint32_t*>(home_->buffer("step_suppressed"));
    auto* const best = reinterpret_cast<uint64_t*>(home_->buffer("step_best"));
    Status status = Status::Unsupported;
    if (ops.cap_argmax != nullptr) {
        auto* const there =
            static_cast<uint64_t*>(home_->device().kernelAddress(host_ + result_at_));
        status = ops.cap_argmax(
            queue, logits, text.vocab_size, cap, suppressed, there == nullptr ? best : there,
            is_chained_ ? const_cast<kernels::TokenNumbers*>(steps_.numbers()) : nullptr,
            static_cast<int32_t>(kv.slidingPositions().size()));
        if (status == Status::Ok && there != nullptr) {
            return {};
        }
    }
    if (is_chained_ && status == Status::Unsupported) {
        may_chain_ = false;
        return Error{ErrorCode::Unsupported, "no numbers of the next token from this device"};
    }
    if (status == Status::Unsupported) {
        if (cap > 0) {
            ENGINE_KERNEL(ops.soft_cap(queue, home_->matrix("logits", 1, text.vocab_size), cap),
                          "soft cap", name);
        }
        status = ops.argmax(queue, logits, text.vocab_size, suppressed, best);
    }
    ENGINE_KERNEL(status, "largest logit", name);
    return checkStatus(home_->device().copyOut(host_ + result_at_, best, 8), "copy out",
                       "decode step");
}

} // namespace engine
