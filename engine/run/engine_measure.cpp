// SPDX-License-Identifier: Apache-2.0
// Measurements on the loaded model: media encoding, an adapter's effect, ceilings of the machine.
#include "engine/devices/card_measure.h"
#include "engine/run/engine_state.h"
#include "kernels/cpu/machine_probe.h"
#include "kernels/cpu/tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>

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

Result<double> Engine::measureImage(int64_t grid_w, int64_t grid_h) {
    ENGINE_ASSIGN(Loaded * target, impl_->current());
    if (!target->opened.config.vision) {
        return Error{ErrorCode::InvalidRequest, said("this model has no vision tower")};
    }
    const VisionConfig& vision = *target->opened.config.vision;
    std::vector<float> patches(
        static_cast<size_t>(grid_w * grid_h * 3 * vision.patch_size * vision.patch_size));
    std::minstd_rand random(1);
    for (float& value : patches) {
        value = static_cast<float>(random() % 256U) / 255.0F;
    }
    ImageInput input;
    input.patches = patches;
    input.grid_w = grid_w;
    input.grid_h = grid_h;
    const auto started = Clock::now();
    ENGINE_TRY(target->model->vision().encode(input, {}));
    return secondsSince(started);
}

Result<double> Engine::measureAudio(int64_t frames) {
    ENGINE_ASSIGN(Loaded * target, impl_->current());
    if (!target->opened.config.audio) {
        return Error{ErrorCode::InvalidRequest, said("this model has no audio tower")};
    }
    std::vector<float> mel(static_cast<size_t>(frames * target->opened.config.audio->mel_bins));
    std::minstd_rand random(1);
    for (float& value : mel) {
        value = static_cast<float>(random() % 1000U) / 200.0F - 4.0F;
    }
    const auto started = Clock::now();
    ENGINE_TRY(target->model->audio().encode({mel, frames}, {}));
    return secondsSince(started);
}

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
    const std::vector<float> pixels =
        config.vision
            ? values(side * side * 3 * config.vision->patch_size * config.vision->patch_size)
            : std::vector<float>();
    const std::vector<float> frames =
        config.audio ? values(kFrames * config.audio->mel_bins) : std::vector<float>();
    const auto probe = [&]() -> Result<ProbeValues> {
        ProbeValues out;
        ENGINE_ASSIGN(LogitsResult logits, this->logits(request, 4, stop));
        out.logits = std::move(logits.logits);
        if (config.vision) {
            ImageInput input;
            input.patches = pixels;
            input.grid_w = side;
            input.grid_h = side;
            ENGINE_ASSIGN(out.vision, impl_->loaded->model->vision().encode(input, stop));
        }
        if (config.audio) {
            ENGINE_ASSIGN(out.audio, impl_->loaded->model->audio().encode({frames, kFrames}, stop));
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

double Engine::measureWeightRead(double seconds) {
    if (impl_->loaded == nullptr) {
        return 0.0;
    }
    Loaded& target = *impl_->loaded;
    double best = 0.0;
    const auto started = Clock::now();
    do {
        double bytes = 0.0;
        const auto pass = Clock::now();
        for (const TensorPlacement& row : target.plan->tensors) {
            const bool is_on_host =
                row.compute == DeviceId::cpu() || row.compute.kind == DeviceId::Kind::Sim;
            const WeightSource::Handle handle = target.store->handleOf(row.tensor);
            if (!is_on_host || row.residency != Residency::Always ||
                handle == WeightSource::kAbsent || row.part.role != PartRole::Layer) {
                continue;
            }
            const Result<kernels::WeightView> view = target.store->acquire(handle);
            if (!view.has_value()) {
                continue;
            }
            const int64_t bits = view->format == kernels::WeightFormat::F32       ? 32
                                 : view->format == kernels::WeightFormat::Nf4     ? 4
                                 : view->format == kernels::WeightFormat::Fp4     ? 4
                                 : view->format == kernels::WeightFormat::Int8Row ? 8
                                                                                  : 16;
            const int64_t size = view->rows * view->cols * bits / 8;
            kernels::cpu::readMemory(target.devices.pool.get(), view->data, size);
            target.store->release(handle);
            bytes += static_cast<double>(size);
        }
        best = std::max(best, bytes / secondsSince(pass) / 1e9);
    } while (secondsSince(started) < seconds);
    return best;
}

double Engine::measureDecodeArithmetic() {
    if (impl_->loaded == nullptr) {
        return 0.0;
    }
    Loaded& target = *impl_->loaded;
    const auto& rows = target.plan->tensors;
    // Format, nested or not, rows, columns: one measurement each.
    std::map<std::tuple<kernels::WeightFormat, bool, int64_t, int64_t>, double> known;
    double seconds = 0.0;
    double bytes = 0.0;
    for (const TensorPlacement& row : rows) {
        const bool is_multiplied = !isMedia(row.part) && !isGatherOnly(*target.plan, row.part);
        const WeightSource::Handle handle = target.store->handleOf(row.tensor);
        if (!is_multiplied || handle == WeightSource::kAbsent) {
            continue;
        }
        if (row.compute != DeviceId::cpu() && row.compute.kind != DeviceId::Kind::Sim) {
            return 0.0;
        }
        const Result<kernels::WeightView> view = target.store->acquire(handle);
        if (!view.has_value()) {
            return 0.0;
        }
        if (view->rows <= 1 || view->cols <= 1) { // norms
            target.store->release(handle);
            continue;
        }
        const auto key =
            std::tuple(view->format, view->absmax_q != nullptr, view->rows, view->cols);
        auto found = known.find(key);
        if (found == known.end()) {
            found = known
                        .emplace(key, kernels::cpu::productSecondsFromCache(
                                          *target.devices.pool, kernels::bestCpuOps(), *view))
                        .first;
        }
        target.store->release(handle);
        seconds += found->second;
        bytes += static_cast<double>(row.bytes);
    }
    return seconds > 0.0 ? bytes / seconds / 1e9 : 0.0;
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
