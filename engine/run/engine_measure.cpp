// SPDX-License-Identifier: Apache-2.0
// Measurements on the loaded model: an adapter's effect, ceilings of the machine.
#include "engine/devices/card_measure.h"
#include "engine/run/engine_state.h"
#include "kernels/cpu/machine_probe.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace engine {

namespace {

/// Values that a model computes from fixed inputs.
struct ProbeValues {
    std::vector<float> logits, vision, audio;
};

/// max |a - b| / max |a|; -1 without values.
double changeOf(const std::vector<float>& base, const std::vector<float>& other) {
    if (base.empty() || base.size() != other.size()) {
        return -1.0;
    }
    double largest = 0.0;
    double difference = 0.0;
    for (size_t i = 0; i < base.size(); ++i) {
        const auto a = static_cast<double>(base[i]);
        largest = std::max(largest, std::abs(a));
        difference = std::max(difference, std::abs(a - static_cast<double>(other[i])));
    }
    return largest > 0.0 ? difference / largest : difference;
}

} // namespace

Result<AdapterSummary::Effect> Engine::adapterEffect(const std::string& folder,
                                                     const std::stop_token& stop) {
    ENGINE_TRY(putBack());
    ENGINE_ASSIGN(Loaded * target, impl_->current());
    const ModelConfig config = target->opened.config; // outlives the model, should it be reloaded
    std::minstd_rand random(7);
    const auto values = [&](int64_t count) {
        std::vector<float> out(static_cast<size_t>(count));
        for (float& value : out) {
            value = static_cast<float>(random() % 256U) / 255.0F;
        }
        return out;
    };
    GenerateRequest request;
    for (int i = 0; i < 16; ++i) {
        request.raw_ids.push_back(
            static_cast<int32_t>(random() % static_cast<uint64_t>(config.text.vocab_size)));
    }
    constexpr int64_t kFrames = 40;
    const int64_t side = config.vision ? 2 * config.vision->pooling_kernel : 0;
    const int64_t patch = config.vision ? config.vision->patch_size : 0;
    const PreparedMedia picture = {values(side * side * 3 * patch * patch), side, side, {}};
    const int64_t frame = !config.audio             ? 0
                          : config.audio->has_tower ? config.audio->mel_bins
                                                    : config.audio->output_size;
    const PreparedMedia sound = {values(kFrames * frame), kFrames, 1, {}};
    const auto probe = [&]() -> Result<ProbeValues> {
        ProbeValues out;
        ENGINE_ASSIGN(LogitsResult logits, this->logits(request, 4, stop));
        out.logits = std::move(logits.logits);
        const Model& model = *impl_->loaded->model;
        if (MediaEncoder* const encoder = model.encoder(MediaKind::Image)) {
            ENGINE_ASSIGN(out.vision, encoder->encode(picture, stop));
        }
        if (MediaEncoder* const encoder = model.encoder(MediaKind::Audio)) {
            ENGINE_ASSIGN(out.audio, encoder->encode(sound, stop));
        }
        return out;
    };
    std::vector<AdapterChoice> former;
    for (const auto& active : target->active) {
        former.push_back(active.choice);
    }
    const auto measure = [&]() -> Result<AdapterSummary::Effect> {
        ENGINE_TRY(setAdapters({}, stop));
        ENGINE_ASSIGN(const ProbeValues base, probe());
        ENGINE_TRY(setAdapters({{folder, 1.0, true}}, stop));
        ENGINE_ASSIGN(const ProbeValues adapted, probe());
        return AdapterSummary::Effect{changeOf(base.logits, adapted.logits),
                                      changeOf(base.vision, adapted.vision),
                                      changeOf(base.audio, adapted.audio)};
    };
    Result<AdapterSummary::Effect> effect = measure();
    ENGINE_TRY(setAdapters(former, {}));
    return effect;
}

std::vector<CardCeiling> Engine::measureCards() {
    return impl_->loaded == nullptr ? std::vector<CardCeiling>()
                                    : engine::measureCards(impl_->loaded->devices.set);
}

double Engine::measureRead(double seconds) {
    if (impl_->loaded != nullptr) {
        return kernels::cpu::measureRead(*impl_->loaded->devices.pool, seconds);
    }
    kernels::cpu::ThreadPool pool(kernels::cpu::ThreadPool::availableProcessors());
    return kernels::cpu::measureRead(pool, seconds);
}

MachineRates Engine::measureMachine(double seconds) {
    const auto measured = [&](kernels::cpu::ThreadPool& pool) {
        const kernels::cpu::MachineRates rates = kernels::cpu::measureCpu(pool, seconds);
        return MachineRates{rates.threads, processorKernels(), rates.read_gb_per_s,
                            rates.fp32_gflops, rates.bf16_gflops};
    };
    if (impl_->loaded != nullptr) {
        return measured(*impl_->loaded->devices.pool);
    }
    kernels::cpu::ThreadPool pool(kernels::cpu::ThreadPool::availableProcessors());
    return measured(pool);
}

} // namespace engine
