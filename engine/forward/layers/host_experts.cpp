// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/layers/host_experts.h"

#include "engine/forward/memory/hot_experts.h"
#include "engine/forward/token/step_recording.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <vector>

namespace engine {

namespace {

constexpr size_t kAlignment = 64;

/// A card answers within some hundred microseconds; then the driver is asked, which also sends off
/// what it may have kept back.
constexpr auto kSpinTime = std::chrono::milliseconds(2);

size_t aligned(int64_t floats) {
    const auto bytes = static_cast<size_t>(floats) * sizeof(float);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace

bool HostExperts::serves(const BoundModel& model, const DecoderLayer& layer) {
    const Linear& gate_up = layer.experts.gate_up;
    const Linear& down = layer.experts.down;
    if (gate_up.weight == WeightSource::kAbsent || gate_up.device == layer.home->id() ||
        down.device != gate_up.device) {
        return false;
    }
    const DeviceScratch* const host = model.context->scratch(gate_up.device);
    return host != nullptr && host->device().isHostVisible() &&
           host->ops().expert_rows != nullptr && layer.home->ops().route_experts != nullptr &&
           gate_up.isPlain() && down.isPlain() && gate_up.is_resident && down.is_resident;
}

bool HostExperts::open(const BoundModel& model, DeviceScratch& home) {
    const TextConfig& text = model.config.text;
    model_ = &model;
    home_ = &home;
    input_at_ = aligned(kernels::ExpertsStepArgs::chosenFloats(text.top_k_experts));
    sum_at_ = input_at_ + aligned(text.hidden_size);
    memory_ = pageLocked(home.device(), sum_at_ + aligned(text.hidden_size));
    there_ = memory_ == nullptr
                 ? nullptr
                 : static_cast<std::byte*>(home.device().kernelAddress(memory_.get()));
    return there_ != nullptr;
}

void HostExperts::put(kernels::ExpertsStepArgs& args) const {
    args.chosen = reinterpret_cast<float*>(there_);
    args.act = reinterpret_cast<float*>(there_ + input_at_);
    args.sum = reinterpret_cast<float*>(there_ + sum_at_);
}

void HostExperts::expect() {
    std::atomic_ref(*reinterpret_cast<int32_t*>(memory_.get())).store(0, std::memory_order_release);
}

bool HostExperts::isReady() const {
    return std::atomic_ref(*reinterpret_cast<int32_t*>(memory_.get()))
               .load(std::memory_order_acquire) != 0;
}

Result<void> HostExperts::waitForCard(const std::string& name) {
    const auto limit = std::chrono::steady_clock::now() + kSpinTime;
    while (!isReady()) {
        if (std::chrono::steady_clock::now() < limit) {
            continue;
        }
        ENGINE_KERNEL(home_->device().synchronize(), "experts", name);
        if (!isReady()) {
            return Error{ErrorCode::Internal, name + ": the card chose no experts"};
        }
    }
    return {};
}

Result<void> HostExperts::compute(const DecoderLayer& layer) {
    const TextConfig& text = model_->config.text;
    const ExpertWeights& experts = layer.experts;
    const std::string& name = experts.gate_up.name;
    ENGINE_TRY(waitForCard(name));
    struct Pick {
        int32_t expert;
        float weight;
    };
    const auto* const picks = reinterpret_cast<const Pick*>(memory_.get() + 2 * sizeof(int32_t));
    std::vector<int32_t> chosen;
    std::vector<float> weights;
    const HotExperts* const hot = model_->hotExpertsOf(layer);
    const int index = model_->indexOf(layer);
    for (int64_t j = 0; j < text.top_k_experts; ++j) {
        model_->expert_counts->add(index, picks[j].expert);
        if (hot == nullptr || !hot->isHere(index, picks[j].expert)) {
            chosen.push_back(picks[j].expert);
            weights.push_back(picks[j].weight);
        }
    }
    const int64_t hidden = text.hidden_size;
    if (chosen.empty()) {
        std::memset(memory_.get() + sum_at_, 0, static_cast<size_t>(hidden) * sizeof(float));
        return {};
    }
    kernels::ExpertRowsArgs args;
    args.x = {reinterpret_cast<const float*>(memory_.get() + input_at_), 1, hidden, hidden};
    args.sum = {reinterpret_cast<float*>(memory_.get() + sum_at_), 1, hidden, hidden};
    ENGINE_ASSIGN(args.gate_up, model_->context->resident(experts.gate_up));
    ENGINE_ASSIGN(args.down, model_->context->resident(experts.down));
    args.experts = text.num_experts;
    args.top_k = static_cast<int64_t>(chosen.size());
    args.activation = text.recipe.activation;
    args.chosen = chosen.data();
    args.weight = weights.data();
    const DeviceScratch& host = *model_->context->scratch(experts.gate_up.device);
    return checkStatus(host.ops().expert_rows(host.queue(), args), "experts", name);
}

} // namespace engine
