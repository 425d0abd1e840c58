// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/token/decode_step.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace engine {

using kernels::MutF32;
using kernels::Status;

void DecodeStep::reset() {
    graph_.reset();
    suppressed_.forget();
    state_ = State::Unknown;
}

void DecodeStep::strengthsChanged() {
    if (steps_.hasComposedUpdates()) {
        reset();
    }
}

bool DecodeStep::isPossible(const KvCache& kv) {
    if (state_ != State::Unknown) {
        return state_ == State::Possible;
    }
    state_ = State::Impossible;
    const BoundModel& m = *model_;
    const TextConfig& text = m.config.text;
    if (m.text.layers.empty()) {
        return false;
    }
    DeviceScratch* home = m.text.layers.front().home;
    if (!LayerSteps::isPossibleOn(m.decoderStack(), *home, kv) || home->ops().argmax == nullptr ||
        m.text.head_home != home || (text.ple_size > 0 && m.text.per_layer_home != home)) {
        return false;
    }
    bool is_ok =
        LayerSteps::isHere(m.text.head, home->id()) &&
        (text.ple_size == 0 || LayerSteps::isHere(m.text.per_layer_projection, home->id()));
    for (size_t i = 0; is_ok && i < m.text.layers.size(); ++i) {
        is_ok = m.text.layers[i].home == home && LayerSteps::isLayerHere(m.text.layers[i]);
    }
    // Mirrors on other devices would have to be updated between the steps.
    for (size_t i = 0; is_ok && i < m.text.layers.size(); ++i) {
        is_ok = kv.owner(static_cast<int>(i)).mirrors.empty();
    }
    if (is_ok) {
        if (std::exchange(home_, home) != home) {
            host_.reset();
        }
        is_ok = steps_.takesLayers(*home, 0, static_cast<int>(text.num_layers), kv) &&
                prepare().has_value();
    }
    state_ = is_ok ? State::Possible : State::Impossible;
    return is_ok;
}

kernels::TopLogits& DecodeStep::top() const {
    return *reinterpret_cast<kernels::TopLogits*>(result());
}

Result<void> DecodeStep::enqueue(const KvCache& kv) {
    const TextConfig& text = model_->config.text;
    steps_.begin(*home_, home_->buffer(Buffer::StepInput) + inputs_.rowAt(),
                 home_->buffer(Buffer::StepX),
                 text.ple_size > 0 ? home_->buffer(Buffer::Ple) : nullptr, 0, {});
    ENGINE_TRY(sendInput());
    ENGINE_TRY(inputs_.enqueue(steps_));
    CollectedSteps collected(home_->device(), home_->ops().begin_steps);
    ENGINE_TRY(steps_.enqueueLayers(0, static_cast<int>(text.num_layers), false, kv));
    ENGINE_TRY(steps_.enqueueHead());
    ENGINE_KERNEL(collected.end(), "decoder layers", "decode step");
    return enqueueChoice();
}

Result<void> DecodeStep::enqueueLastRow(
    int first_layer, const float* x, int64_t row, const KvCache& kv, CollectedSteps& collected) {
    const TextConfig& text = model_->config.text;
    kernels::Device& device = home_->device();
    // What was sent before has arrived: the host waits for every token and every prompt.
    LayerSteps::fillNumbers(kv, host_.get());
    ENGINE_KERNEL(device.copyIn(home_->buffer(Buffer::StepInput), host_.get(),
                                static_cast<size_t>(inputs_.rowAt()) * sizeof(float)),
                  "copy in", "last row");
    float* const last = home_->buffer(Buffer::StepInput) + inputs_.rowAt();
    ENGINE_KERNEL(device.copyWithin(last, x, static_cast<size_t>(text.hidden_size) * sizeof(float)),
                  "copy", "last row");
    LayerSteps steps(*model_); // those of the recording stay as they are
    steps.begin(*home_, last, home_->buffer(Buffer::StepX),
                text.ple_size > 0 ? home_->buffer(Buffer::Ple) + row * model_->perLayerWidth()
                                  : nullptr,
                0, {});
    ENGINE_TRY(steps.enqueueLayers(first_layer, static_cast<int>(text.num_layers), true, kv));
    ENGINE_TRY(steps.enqueueHead());
    return checkStatus(collected.end(), "decoder layers", "last row");
}

Result<bool> DecodeStep::finish(
    int first_layer, const float* x, int64_t row, const KvCache& kv, std::vector<float>& logits) {
    const TextConfig& text = model_->config.text;
    const auto& ops = home_->ops();
    const std::string& name = model_->text.head.name;
    // Beside a recorded token there is room for so many layers, and a token may have so many.
    constexpr int64_t kMostLayers = 22;
    constexpr int64_t kMostTokenLayers = 46;
    const bool has_room =
        text.num_layers <= kMostTokenLayers && text.num_layers - first_layer <= kMostLayers;
    CollectedSteps collected(home_->device(), has_room ? ops.begin_once_steps : nullptr);
    if (!collected.isOpen()) {
        return false;
    }
    ENGINE_TRY(enqueueLastRow(first_layer, x, row, kv, collected));
    const MutF32 out = home_->matrix(Buffer::Logits, 1, text.vocab_size);
    if (text.final_logit_softcap > 0) {
        ENGINE_KERNEL(
            ops.soft_cap(home_->queue(), out, static_cast<float>(text.final_logit_softcap)),
            "soft cap", name);
    }
    logits.resize(static_cast<size_t>(text.vocab_size));
    ENGINE_KERNEL(home_->device().copyOut(logits.data(), out.data, logits.size() * sizeof(float)),
                  "copy out", name);
    ENGINE_KERNEL(home_->device().synchronize(), "synchronize", "last row");
    return true;
}

Result<void> DecodeStep::run(int32_t id, KvCache& kv, std::vector<float>* logits, int32_t* greedy) {
    return advance(id, kv, {logits, greedy, 0});
}

Result<std::span<const kernels::TokenLogit>>
DecodeStep::runForTop(int32_t id, KvCache& kv, int32_t wanted, std::vector<float>& logits) {
    ENGINE_TRY(advance(id, kv, {&logits, nullptr, wanted}));
    return std::span<const kernels::TokenLogit>(top().entry,
                                                static_cast<size_t>(std::max(0, top().count)));
}

Result<void> DecodeStep::copyLogitsOut(std::vector<float>& logits) {
    kernels::Device& device = home_->device();
    logits.resize(static_cast<size_t>(model_->config.text.vocab_size));
    ENGINE_KERNEL(
        device.copyOut(logits.data(), home_->buffer(Buffer::Logits), logits.size() * sizeof(float)),
        "copy out", "logits");
    return checkStatus(device.synchronize(), "synchronize", "logits");
}

Result<void> DecodeStep::advance(int32_t id, KvCache& kv, const Wanted& wanted) {
    kernels::Device& device = home_->device();
    // Who wants the row alone takes any recording.
    const int32_t top_wanted = wanted.top > 0 || wanted.greedy != nullptr ? wanted.top : top_;
    if (inputs_.hasNewTable()) {
        graph_.reset();
        ENGINE_TRY(prepare());
    }
    if (std::exchange(top_, top_wanted) != top_wanted) {
        graph_.reset();
    }
    const int32_t no_block = -1;
    kv.append(std::span(&no_block, 1));
    const auto begin = [&]() -> Result<void> {
        ENGINE_TRY(inputs_.fill(id, kv, host_.get()));
        if (std::exchange(recorded_kv_, kv.owner(0).primary.k) != kv.owner(0).primary.k) {
            graph_.reset();
        }
        if (graph_ == nullptr) {
            ENGINE_TRY(record(device, graph_, [&] { return enqueue(kv); }));
        }
        std::memset(result(), 0, kKeyBytes);
        if (top_ > 0) {
            top().count = kernels::TopLogits::kSeeRow;
        }
        return graph_ == nullptr
                   ? enqueue(kv)
                   : checkStatus(device.replay(graph_.get()), "replay", "decode step");
    };
    const auto attempt = [&]() -> Result<void> {
        ENGINE_TRY(begin());
        ENGINE_KERNEL(device.synchronize(), "synchronize", "decode step");
        const bool do_candidates_tell = wanted.top > 0 && top().count > 0;
        if (wanted.logits != nullptr && !do_candidates_tell) {
            ENGINE_TRY(copyLogitsOut(*wanted.logits));
        }
        if (wanted.greedy != nullptr) {
            uint64_t best = 0;
            std::memcpy(&best, result(), sizeof(best));
            ENGINE_ASSIGN(*wanted.greedy, tokenOfKey(best));
        }
        return {};
    };
    Result<void> outcome = attempt();
    if (!outcome.has_value()) {
        [[maybe_unused]] const bool is_rolled_back = kv.takeBack();
        assert(is_rolled_back);
    }
    return outcome;
}

} // namespace engine
