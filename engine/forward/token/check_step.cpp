// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/token/check_step.h"

#include "engine/forward/matrix_views.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace engine {

using kernels::MutF32;
using kernels::Status;

void CheckStep::reset() {
    graph_.reset();
    state_ = State::Unknown;
}

bool CheckStep::isPossible(const KvCache& kv, int64_t tokens) {
    const int64_t most = model_->config.text.hidden_size <= kLongestOfTwo ? kMostTokens : kMostRows;
    if (tokens < 2 || tokens > most || kv.needsStage(tokens)) {
        return false;
    }
    if (state_ == State::Unknown) {
        prepare(kv);
    }
    return state_ == State::Possible;
}

void CheckStep::prepare(const KvCache& kv) {
    state_ = State::Impossible;
    const TextConfig& text = model_->config.text;
    DeviceScratch* const home = model_->text.layers.front().home;
    if (text.has_moe || text.recipe.has_query_gate || home->ops().begin_rows == nullptr ||
        home->ops().argmax == nullptr || home->size(Buffer::X) < kMostRows * text.hidden_size ||
        home->size(Buffer::Logits) < kMostRows * text.vocab_size ||
        home->size(Buffer::StepInput) * static_cast<int64_t>(sizeof(float)) <
            static_cast<int64_t>(sizeof(Numbers))) {
        return;
    }
    if (home_ != home) {
        host_.reset();
    }
    home_ = home;
    inputs_.prepare(*home_);
    if (!inputs_.areTablesThere()) {
        state_ = State::Unknown; // they may be on their way
        return;
    }
    if (host_ == nullptr) {
        host_ = pageLocked(home_->device(),
                           sizeof(Numbers) + sizeof(Results) +
                               static_cast<size_t>(kMostRows * text.hidden_size) * sizeof(float));
    }
    if (host_ != nullptr && takesLayers(kv)) {
        state_ = State::Possible;
    }
}

void CheckStep::beginLayers() {
    steps_.beginRows(*home_, home_->buffer(Buffer::X), home_->buffer(Buffer::H),
                     model_->config.text.ple_size > 0 ? home_->buffer(Buffer::Ple) : nullptr);
}

Result<void> CheckStep::enqueueLayers(const KvCache& kv) {
    const auto* const here = reinterpret_cast<Numbers*>(home_->buffer(Buffer::StepInput));
    ENGINE_KERNEL(home_->ops().begin_rows(home_->queue(), &here->count), "decoder layers",
                  "check step");
    ENGINE_TRY(
        steps_.enqueueLayers(0, static_cast<int>(model_->config.text.num_layers), false, kv));
    return steps_.enqueueHead();
}

bool CheckStep::takesLayers(const KvCache& kv) {
    beginLayers();
    const bool is_taken = enqueueLayers(kv).has_value();
    home_->ops().drop_rows(home_->queue());
    return is_taken;
}

Result<void> CheckStep::enqueueChoices() {
    const TextConfig& text = model_->config.text;
    const auto queue = home_->queue();
    const auto& ops = home_->ops();
    const std::string& name = model_->text.head.name;
    kernels::Device& device = home_->device();
    const auto cap = static_cast<float>(std::max(0.0, text.final_logit_softcap));
    const auto* suppressed =
        reinterpret_cast<const uint32_t*>(home_->buffer(Buffer::StepSuppressed));
    auto* const there = static_cast<Results*>(device.kernelAddress(&results()));
    auto* const best = reinterpret_cast<uint64_t*>(home_->buffer(Buffer::StepBest));
    for (int64_t row = 0; row < kMostRows; ++row) {
        const MutF32 logits{home_->buffer(Buffer::Logits) + row * text.vocab_size, 1,
                            text.vocab_size, text.vocab_size};
        Status status = Status::Ok;
        if (top_ > 0 && there != nullptr) {
            status = ops.top_logits(queue, logits.data, text.vocab_size, cap, suppressed, top_,
                                    &there->top[row]);
        } else if (is_greedy_ && there != nullptr && ops.cap_argmax != nullptr) {
            status = ops.cap_argmax(queue, logits.data, text.vocab_size, cap, suppressed,
                                    &there->key[row]);
        } else {
            if (cap > 0) {
                ENGINE_KERNEL(ops.soft_cap(queue, logits, cap), "soft cap", name);
            }
            if (is_greedy_) {
                status = ops.argmax(queue, logits.data, text.vocab_size, suppressed, best);
                if (status == Status::Ok) {
                    status = device.copyOut(&results().key[row], best, sizeof(*best));
                }
            }
        }
        ENGINE_KERNEL(status, "choice", name);
    }
    return {};
}

Result<void> CheckStep::enqueue(const KvCache& kv) {
    const TextConfig& text = model_->config.text;
    const auto& ops = home_->ops();
    kernels::Device& device = home_->device();
    auto* const here = reinterpret_cast<Numbers*>(home_->buffer(Buffer::StepInput));
    const int64_t width = model_->perLayerWidth();
    float* const x = home_->buffer(Buffer::X);
    beginLayers();
    for (int64_t row = 0; row < kMostRows; ++row) {
        ENGINE_TRY(inputs_.enqueueAt(
            {&here->id[row], x + row * text.hidden_size,
             home_->buffer(Buffer::StepInput) + inputs_.rowAt() + text.hidden_size,
             width > 0 ? home_->buffer(Buffer::Ple) + row * width : nullptr},
            steps_));
    }
    Result<void> layers = enqueueLayers(kv);
    if (!layers.has_value()) {
        ops.drop_rows(home_->queue());
        return layers;
    }
    ENGINE_KERNEL(ops.end_steps(home_->queue()), "decoder layers", "check step");
    const MutF32 rows{steps_.x(), kMostRows, text.hidden_size, text.hidden_size};
    const MutF32 normed = home_->matrix(Buffer::T, kMostRows, text.hidden_size);
    ENGINE_KERNEL(ops.rms_norm(home_->queue(), rows, model_->text.final_norm,
                               static_cast<float>(text.rms_norm_eps), normed),
                  "final norm", "check step");
    ENGINE_KERNEL(device.copyOut(const_cast<float*>(hidden()), normed.data, sizeBytes(normed)),
                  "copy out", "check step");
    return enqueueChoices();
}

Result<void>
CheckStep::send(std::span<const int32_t> ids, size_t at, int64_t position, const Later* later) {
    kernels::Device& device = home_->device();
    const auto part = ids.subspan(at, std::min(ids.size() - at, static_cast<size_t>(kMostRows)));
    Numbers& sent = numbers();
    sent = {};
    sent.first.position = static_cast<int32_t>(position + static_cast<int64_t>(at));
    sent.count = static_cast<int32_t>(part.size());
    for (size_t i = 0; i < part.size(); ++i) {
        sent.id[i] = model_->isPlaceholder(part[i])
                         ? static_cast<int32_t>(model_->config.text.pad_token_id)
                         : part[i];
    }
    results() = {};
    for (kernels::TopLogits& row : results().top) {
        row.count = kernels::TopLogits::kSeeRow;
    }
    auto* const here = reinterpret_cast<Numbers*>(home_->buffer(Buffer::StepInput));
    ENGINE_KERNEL(device.copyInLater(here, host_.get(), sizeof(Numbers), kernels::Device::kNoMark),
                  "copy in", "check step");
    if (later == nullptr) {
        return {};
    }
    const size_t known = at == 0 ? 1 : 0;
    return checkStatus(device.copyWithin(&here->id[known], later->ids + (at + known - 1),
                                         (part.size() - known) * sizeof(int32_t)),
                       "copy", "check step");
}

Result<void> CheckStep::read(size_t at, size_t tokens, RowChoices& choices) {
    const TextConfig& text = model_->config.text;
    const auto vocab = static_cast<size_t>(text.vocab_size);
    std::copy(hidden(), hidden() + static_cast<int64_t>(tokens) * text.hidden_size,
              choices.hidden.begin() + static_cast<int64_t>(at) * text.hidden_size);
    bool is_told = top_ > 0 || is_greedy_;
    for (size_t row = 0; row < tokens; ++row) {
        RowChoices::Row& choice = choices.rows[at + row];
        if (is_greedy_) {
            ENGINE_ASSIGN(choice.token, tokenOfKey(results().key[row]));
        } else if (top_ > 0) {
            kernels::TopLogits& top = tops_[at + row];
            top = results().top[row];
            choice.top = {top.entry, static_cast<size_t>(std::max(0, top.count))};
            is_told = is_told && top.count > 0;
        }
    }
    if (is_told) {
        return {};
    }
    kernels::Device& device = home_->device();
    choices.logits.resize(choices.rows.size() * vocab);
    ENGINE_KERNEL(device.copyOut(choices.logits.data() + at * vocab, home_->buffer(Buffer::Logits),
                                 tokens * vocab * sizeof(float)),
                  "copy out", "logits");
    return checkStatus(device.synchronize(), "synchronize", "check step");
}

Result<void> CheckStep::runLaunches(std::span<const int32_t> ids,
                                    const KvCache& kv,
                                    RowChoices& choices,
                                    const Later* later) {
    kernels::Device& device = home_->device();
    const int64_t position = kv.size() - static_cast<int64_t>(ids.size());
    choices.rows.assign(ids.size(), {});
    choices.hidden.resize(ids.size() * static_cast<size_t>(model_->config.text.hidden_size));
    choices.logits.clear();
    tops_.resize(kMostTokens);
    for (size_t at = 0; at < ids.size(); at += static_cast<size_t>(kMostRows)) {
        ENGINE_TRY(send(ids, at, position, later));
        if (graph_ == nullptr) {
            ENGINE_TRY(enqueue(kv));
        } else {
            ENGINE_KERNEL(device.replay(graph_.get()), "replay", "check step");
        }
        if (later != nullptr && at == 0) {
            ENGINE_TRY(later->when_told());
        }
        ENGINE_KERNEL(device.synchronize(), "synchronize", "check step");
        ENGINE_TRY(read(at, static_cast<size_t>(numbers().count), choices));
    }
    return {};
}

Result<void>
CheckStep::run(std::span<const int32_t> ids, KvCache& kv, RowChoices& choices, const Later* later) {
    const bool has_top = !choices.is_greedy && choices.wanted > 0 &&
                         model_->config.text.vocab_size <= home_->ops().most_top_logits &&
                         model_->decode.has_candidates;
    const int32_t top = has_top ? choices.wanted : 0;
    const bool is_same =
        top == top_ && choices.is_greedy == is_greedy_ && recorded_kv_ == kv.owner(0).primary.k;
    top_ = top;
    is_greedy_ = choices.is_greedy;
    if (graph_ != nullptr && (!is_same || inputs_.hasNewTable())) {
        graph_.reset();
        inputs_.prepare(*home_);
    }
    const std::vector<int32_t> no_blocks(ids.size(), -1);
    kv.append(no_blocks);
    const auto attempt = [&]() -> Result<void> {
        if (graph_ == nullptr) {
            recorded_kv_ = kv.owner(0).primary.k;
            ENGINE_TRY(record(home_->device(), graph_, [&] { return enqueue(kv); }));
        }
        return runLaunches(ids, kv, choices, later);
    };
    Result<void> outcome = attempt();
    if (!outcome.has_value()) {
        [[maybe_unused]] const bool is_rolled_back = kv.takeBack();
        assert(is_rolled_back);
    }
    return outcome;
}

} // namespace engine
