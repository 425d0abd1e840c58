// SPDX-License-Identifier: Apache-2.0
// For tests of the loader: golden models as sources, plans written by hand (independent of the
// planner's resolution rules), and what every tensor must contain.
#pragma once

#include "engine/base/float_types.h"
#include "engine/families/config.h"
#include "engine/families/tensor_list.h"
#include "engine/files/safetensors.h"
#include "engine/load/loader.h"
#include "engine/plan/planner.h"
#include "engine/quant/quant_state.h"
#include "tests/engine/quant/memory_source.h"
#include "tests/support/golden.h"
#include "tests/support/results.h"

#include <QTest>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace support {

using engine::DeviceId;
using engine::Format;
using engine::Residency;

struct Place {
    DeviceId store = DeviceId::cpu();
    DeviceId compute = DeviceId::cpu();
    Residency residency = Residency::Always;
    Format format = Format::AsStored; ///< For linear weights; others stay as stored.
};
using PlaceRule = std::function<Place(const engine::ExpectedTensor&)>;

inline PlaceRule everywhere(const Place& place) {
    return [place](const engine::ExpectedTensor&) { return place; };
}

/// A golden model folder, its tensors in memory.
struct GoldenModel {
    engine::ModelConfig config;
    std::map<std::string, GoldenTensor> tensors;
    std::filesystem::path folder;

    explicit GoldenModel(const std::string& name) : folder(goldenDir() / name) {
        config = must(engine::readModelConfig(folder), "config");
        tensors = readSafetensors(folder / "model.safetensors");
    }
    /// Not by reference: g++ 13 takes a reference returned for a temporary to be dangling.
    static const GoldenModel& get(std::string_view name) {
        static std::map<std::string, std::unique_ptr<GoldenModel>> cache;
        auto& model = cache[std::string(name)];
        if (model == nullptr) {
            model = std::make_unique<GoldenModel>(std::string(name));
        }
        return *model;
    }
};

/// Rows for all tensors that the source holds, in the order of the list. Formats are applied to
/// what isQuantizable() allows.
inline engine::PlacementPlan planFor(const engine::ModelConfig& config,
                                     const engine::TensorSource& source,
                                     const PlaceRule& rule) {
    engine::PlacementPlan plan;
    plan.fits = true;
    plan.context = 64;
    for (const engine::ExpectedTensor& tensor : engine::listTensors(config)) {
        if (tensor.is_unused || source.find(tensor.name) == nullptr) {
            continue;
        }
        const Place place = rule(tensor);
        engine::TensorPlacement row;
        row.tensor = tensor.name;
        row.part = tensor.part;
        row.store = place.store;
        row.compute = place.compute;
        row.residency = place.residency;
        const auto stored = engine::describeStored(source, tensor.name, tensor.numElements());
        const bool may_change = tensor.kind == engine::TensorKind::Linear ||
                                tensor.kind == engine::TensorKind::Embedding;
        row.format = may_change && place.format != Format::AsStored ? place.format : stored.format;
        const int64_t cols = tensor.shape.empty() ? 1 : tensor.shape.back();
        const auto block = row.format == stored.format ? stored.block_size : engine::kBlockSize;
        row.bytes =
            engine::formatBytes(row.format, stored.type, tensor.numElements() / cols, cols, block);
        plan.tensors.push_back(row);
    }
    return plan;
}

/// Values a tensor must have in a format, worked out from the source's dense values.
inline std::vector<float>
expectedValues(const GoldenTensor& tensor, Format format, const std::string& name) {
    std::vector<float> values = tensor.floats();
    const int64_t cols = tensor.shape.empty() ? 1 : tensor.shape.back();
    const auto rows = static_cast<int64_t>(values.size()) / cols;
    const auto type = typeByName(tensor.dtype);
    const auto bytes = std::as_bytes(std::span(tensor.bytes));
    if (engine::isQuantized(format) && format != Format::Q8) {
        const auto quantized = engine::quantizeTensor(name, format, 64, type, bytes, rows, cols);
        engine::expandRange(quantized->view(), 0, rows * cols, values.data());
    } else if (format == Format::Q8) {
        std::vector<uint8_t> q(values.size());
        std::vector<float> scale(static_cast<size_t>(rows));
        if (!engine::quantizeValues(name, engine::weightFormat(format), cols, type, bytes, q.data(),
                                    scale.data())) {
            qFatal("cannot quantize %s", name.c_str());
        }
        for (size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<float>(static_cast<int8_t>(q[i])) *
                        scale[i / static_cast<size_t>(cols)];
        }
    } else if (format == Format::F16) {
        for (float& value : values) {
            value = engine::f16ToFloat(engine::floatToF16(value));
        }
    }
    return values;
}

/// Expected contents are worked out once per (model, tensor, format).
class Expected {
public:
    explicit Expected(const GoldenModel& model) : model_(&model) {}
    static Expected& of(const GoldenModel& model) {
        static std::map<const GoldenModel*, Expected> all;
        return all.try_emplace(&model, model).first->second;
    }
    const std::vector<float>& operator()(const std::string& name, Format format) {
        auto& values = cache_[{name, format}];
        if (values.empty()) {
            values = expectedValues(model_->tensors.at(name), format, name);
        }
        return values;
    }

private:
    const GoldenModel* model_;
    std::map<std::pair<std::string, Format>, std::vector<float>> cache_;
};

/// Name of the first tensor whose contents are wrong in some way of reading it; empty = all right.
inline std::string
firstWrong(engine::TensorStore& store, Expected& expected, bool with_acquire = true) {
    for (int handle = 0; handle < store.size(); ++handle) {
        const std::string& name = store.name(handle);
        if (name.empty()) {
            continue;
        }
        const std::string source =
            name == "lm_head.weight" ? "model.language_model.embed_tokens.weight" : name;
        const auto& wanted = expected(source, store.format(handle));
        const auto values = store.values(handle);
        if (!values || *values != wanted) {
            return name + (values ? " (values)" : ": " + values.error().message);
        }
        const auto* row = store.plan().find(name);
        const bool is_gathered = row != nullptr && row->residency == Residency::Stream &&
                                 row->store != row->compute &&
                                 engine::isGatherOnly(store.plan(), row->part);
        if (!with_acquire || is_gathered) {
            continue;
        }
        const auto view = store.acquire(handle);
        if (!view) {
            return name + ": " + view.error().message;
        }
        std::vector<float> seen(wanted.size());
        engine::expandRange(*view, 0, static_cast<int64_t>(seen.size()), seen.data());
        store.release(handle);
        if (seen != wanted) {
            return name + " (acquired)";
        }
    }
    return {};
}

/// Devices with equal roles in all tests: cpu, sim:0, sim:1.
struct TestDevices {
    engine::OwnedDevices owned;
    explicit TestDevices(uint64_t cpu = 0,
                         uint64_t sim0 = uint64_t{1} << 30,
                         uint64_t sim1 = uint64_t{1} << 30) {
        engine::HostDeviceOptions options;
        options.threads = 2;
        options.cpu_capacity = cpu;
        options.sim_capacities = {sim0, sim1};
        owned = engine::makeHostDevices(options);
        for (auto& [id, device] : owned.set) {
            host(id).setPoison(true);
        }
    }
    kernels::cpu::HostDevice& host(DeviceId id) {
        return *static_cast<kernels::cpu::HostDevice*>(owned.set.at(id));
    }
    [[nodiscard]] size_t live() {
        size_t count = 0;
        for (auto& [id, device] : owned.set) {
            count += host(id).liveAllocations();
        }
        return count;
    }
    /// Device and bytes of the first device whose weights differ from the plan; empty = none.
    std::string firstDifference(const engine::PlacementPlan& plan) {
        const auto predicted = engine::weightBytes(plan);
        for (auto& [id, device] : owned.set) {
            const auto found = predicted.find(id);
            const uint64_t wanted = found == predicted.end() ? 0 : found->second;
            const uint64_t used = device->usedBytes(static_cast<int>(engine::MemoryPart::Weights));
            if (used != wanted || device->memory().used != used) {
                return id.toString() + ": predicted " + std::to_string(wanted) + ", measured " +
                       std::to_string(used) + ", all " + std::to_string(device->memory().used);
            }
        }
        return {};
    }
};

inline engine::LoadOptions optionsFor(TestDevices& devices) {
    engine::LoadOptions options;
    options.parallel = engine::poolParallelFor(devices.owned.pool.get());
    return options;
}

/// A golden model in memory, what its tensors must contain, and devices to load it on.
struct Loading {
    const GoldenModel& golden;
    Expected& expected;
    MemorySource source;
    TestDevices devices;

    explicit Loading(const std::string& name = "e2b/model")
        : golden(GoldenModel::get(name)), expected(Expected::of(golden)), source(golden.tensors) {}
    [[nodiscard]] engine::PlacementPlan planOf(const PlaceRule& rule) const {
        return planFor(golden.config, source, rule);
    }
    engine::Result<std::unique_ptr<engine::TensorStore>> load(const engine::PlacementPlan& plan) {
        return engine::load(source, golden.config, plan, devices.owned.set, optionsFor(devices));
    }
    engine::Result<void> move(engine::TensorStore& store, const engine::PlacementPlan& plan) {
        return engine::applyPlan(store, plan, optionsFor(devices));
    }
};

} // namespace support
