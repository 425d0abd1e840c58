// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_advice.h"

#include "engine/plan/plan_speed.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace engine {

namespace {

constexpr size_t kShownContributors = 5;
constexpr size_t kShownSteps = 6;

/// "about 12 ms", "less than 1 ms".
std::string aboutSeconds(double value) {
    char text[32];
    if (value < 0.001) {
        return "less than 1 ms";
    }
    if (value < 1) {
        std::snprintf(text, sizeof text, "about %.0f ms", value * 1000);
    } else {
        std::snprintf(text, sizeof text, "about %.1f s", value);
    }
    return text;
}

/// Finds steps that free memory on one device, in the order of their cost.
class Advisor {
public:
    Advisor(const PlacementPlan& plan,
            const DevicePlan& device,
            const PlanParts& parts,
            QuantOption quant,
            HeadOption head)
        : plan_(plan), device_(device), parts_(parts), quant_(quant), head_(head),
          excess_(device.parts.total() - device.limit) {}

    std::vector<std::string> steps() {
        moveTables();
        moveTowers();
        if (device_.id.isGpu()) {
            smallerHead();
        }
        quantize();
        shorterContext();
        if (device_.id.isGpu()) {
            moveLayers();
        }
        if (steps_.size() > kShownSteps) {
            steps_.resize(kShownSteps);
        }
        return std::move(steps_);
    }

private:
    [[nodiscard]] const TextConfig& text() const { return parts_.request->config.text; }

    [[nodiscard]] DeviceRates rates(DeviceId id) const {
        for (const DeviceInfo& info : parts_.request->devices) {
            if (info.id == id) {
                return ratesOf(&info, id);
            }
        }
        return ratesOf(nullptr, id);
    }

    void add(const std::string& what, uint64_t frees, const std::string& cost) {
        if (frees == 0) {
            return;
        }
        steps_.push_back(what + ": frees " + formatByteCount(frees) + ", costs " + cost +
                         (frees >= excess_ ? " (enough by itself)" : ""));
    }

    /// Bytes that the rows of these modules hold on the device.
    template <typename Is>
    uint64_t held(Is is) const {
        uint64_t bytes = 0;
        for (size_t i = 0; i < plan_.tensors.size(); ++i) {
            const ExpectedTensor* tensor = tensorOfRow(parts_, i);
            const TensorPlacement& row = plan_.tensors[i];
            const bool is_here = row.store == device_.id ||
                                 (row.compute == device_.id && row.residency == Residency::Always);
            if (tensor != nullptr && is_here && is(*tensor)) {
                bytes += row.bytes;
            }
        }
        return bytes;
    }

    [[nodiscard]] DeviceId away() const {
        return device_.id.isGpu() ? DeviceId::cpu() : DeviceId::disk();
    }

    void moveTables() {
        const std::string name = "model.language_model.embed_tokens_per_layer";
        const uint64_t bytes = held([&](const ExpectedTensor& t) { return t.module == name; });
        const int64_t row = text().num_layers * text().ple_size * 2;
        add("move " + name + " to " + away().toString(), bytes,
            device_.id.isGpu()
                ? "nothing measurable (one row of " + std::to_string(row) + " bytes per token)"
                : "one read of " + std::to_string(row) + " bytes per token");
    }

    void moveTowers() {
        const PlanRequest& request = *parts_.request;
        const DeviceRates cpu = rates(DeviceId::cpu());
        const double rate = towerShare(DeviceId::cpu()) * cpu.flops;
        for (const Tower tower : {Tower::Audio, Tower::Vision}) {
            const bool is_audio = tower == Tower::Audio;
            const uint64_t bytes = held([&](const ExpectedTensor& t) { return t.tower == tower; });
            std::string cost;
            if (!device_.id.isGpu()) {
                cost = "one read of the files per " + std::string(is_audio ? "clip" : "image");
            } else if (is_audio) {
                cost = aboutSeconds(10 * audioFlopsPerSecond(request.config) / rate) +
                       " per 10 s of audio";
            } else {
                cost = aboutSeconds(imageFlops(request.config, plan_.image_tokens) / rate) +
                       " per image";
            }
            add(std::string("move ") +
                    (is_audio ? "model.audio_tower and model.embed_audio"
                              : "model.vision_tower and model.embed_vision") +
                    " to " + away().toString(),
                bytes, cost);
        }
    }

    void smallerHead() {
        const std::string name = "model.language_model.embed_tokens";
        if (head_ != HeadOption::Bf16 || parts_.resolution->has_own_head) {
            const uint64_t bytes =
                parts_.resolution->has_own_head
                    ? held([&](const ExpectedTensor& t) { return t.module == name; })
                    : 0;
            add("move " + name + " to cpu (the head has its own copy)", bytes,
                "nothing measurable (one row per token)");
            return;
        }
        for (const ExpectedTensor& tensor : *parts_.tensors) {
            if (tensor.module != name) {
                continue;
            }
            const uint64_t bytes = held([&](const ExpectedTensor& t) { return t.module == name; });
            const uint64_t small =
                formatBytes(Format::Q8, TensorType::BF16, tensor.shape[0], tensor.shape[1]);
            add("use --head int8 and move " + name + " to cpu", bytes > small ? bytes - small : 0,
                "some accuracy of the last layer; it is faster");
        }
    }

    void quantize() {
        const auto fourBit = [this](Format format) {
            uint64_t freed = 0;
            for (size_t i = 0; i < plan_.tensors.size(); ++i) {
                const ExpectedTensor* tensor = tensorOfRow(parts_, i);
                const TensorPlacement& row = plan_.tensors[i];
                const bool is_packed =
                    tensor != nullptr && parts_.request->stored.contains(tensor->name) &&
                    parts_.request->stored.at(tensor->name).packed != Format::AsStored;
                const int set_by =
                    parts_.resolution->tensors[i].set_by[static_cast<size_t>(MapField::Format) - 1];
                if (tensor == nullptr || is_packed || row.store != device_.id ||
                    !isQuantizable(*tensor) || set_by >= kSetByDefault) {
                    continue;
                }
                const uint64_t bytes =
                    formatBytes(format, TensorType::BF16, tensor->shape[0], tensor->shape[1]);
                freed += row.bytes > bytes ? row.bytes - bytes : 0;
            }
            return freed;
        };
        if (quant_ == QuantOption::None) {
            add("use --quant nf4", fourBit(Format::Nf4), "some accuracy; it is faster");
            add("use --quant nf4-dq", fourBit(Format::Nf4Dq), "a little more accuracy");
        } else if (quant_ == QuantOption::Nf4) {
            add("use --quant nf4-dq", fourBit(Format::Nf4Dq), "hardly any accuracy");
        } else if (quant_ == QuantOption::Fp4) {
            add("use --quant fp4-dq", fourBit(Format::Fp4Dq), "hardly any accuracy");
        }
    }

    void shorterContext() {
        const PlanRequest& request = *parts_.request;
        const uint64_t now = device_.parts[MemoryPart::Kv];
        if (now == 0 || plan_.context < 2048) {
            return;
        }
        PlacementPlan shorter;
        shorter.context = plan_.context / 2;
        shorter.prefill_chunk = plan_.prefill_chunk;
        shorter.image_tokens = plan_.image_tokens;
        shorter.is_reference_precision = plan_.is_reference_precision;
        uint64_t then = 0;
        for (size_t i = 0; i < text().layers.size(); ++i) {
            if (!text().layers[i].is_kv_shared && plan_.kv_device[i] == device_.id) {
                then += layerKvBytes(request, shorter, static_cast<int>(i));
            }
        }
        for (const KvMirror& mirror : kvMirrors(request.config, plan_)) {
            if (mirror.device == device_.id) {
                then += layerKvBytes(request, shorter, mirror.owner);
            }
        }
        add("use a context of " + std::to_string(shorter.context) + " tokens",
            now > then ? now - then : 0, "memory of the conversation");
    }

    void moveLayers() {
        const auto count = static_cast<int>(text().layers.size());
        std::map<int, uint64_t> layer_bytes;
        for (size_t i = 0; i < plan_.tensors.size(); ++i) {
            const ExpectedTensor* tensor = tensorOfRow(parts_, i);
            if (tensor != nullptr && tensor->tower == Tower::Language && tensor->layer >= 0 &&
                plan_.tensors[i].store == device_.id) {
                layer_bytes[tensor->layer] += plan_.tensors[i].bytes;
            }
        }
        uint64_t freed = 0;
        int first = count;
        for (auto it = layer_bytes.rbegin(); it != layer_bytes.rend() && freed < excess_; ++it) {
            freed += it->second;
            first = it->first;
        }
        if (freed == 0) {
            return;
        }
        const int last = layer_bytes.rbegin()->first;
        const DeviceRates cpu = rates(DeviceId::cpu());
        const DeviceRates gpu = rates(device_.id);
        const double slower = static_cast<double>(freed) *
                                  (1 / (bandwidthShare(DeviceId::cpu()) * cpu.read_bytes_per_s) -
                                   1 / (bandwidthShare(device_.id) * gpu.read_bytes_per_s)) +
                              cpu.hop_s + gpu.hop_s;
        add("move layers " + std::to_string(first) + "-" + std::to_string(last) + " to cpu", freed,
            aboutSeconds(std::max(0.0, slower)) + " per token");
    }

    const PlacementPlan& plan_;
    const DevicePlan& device_;
    const PlanParts& parts_;
    QuantOption quant_;
    HeadOption head_;
    uint64_t excess_;
    std::vector<std::string> steps_;
};

} // namespace

std::vector<Contributor>
contributors(const PlacementPlan& plan, const DevicePlan& device, const PlanParts& parts) {
    std::map<std::string, uint64_t> by_module;
    int first_layer = -1;
    int last_layer = -1;
    uint64_t layers = 0;
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        const TensorPlacement& row = plan.tensors[i];
        const bool is_here = row.store == device.id ||
                             (row.compute == device.id && row.residency == Residency::Always);
        if (!is_here) {
            continue;
        }
        const ExpectedTensor* tensor = tensorOfRow(parts, i);
        if (tensor == nullptr) {
            by_module["lm_head"] += row.bytes;
        } else if (tensor->tower == Tower::Language && tensor->layer >= 0) {
            first_layer = first_layer < 0 ? tensor->layer : std::min(first_layer, tensor->layer);
            last_layer = std::max(last_layer, tensor->layer);
            layers += row.bytes;
        } else {
            by_module[tensor->module] += row.bytes;
        }
    }
    std::vector<Contributor> all;
    all.reserve(by_module.size() + 8);
    for (const auto& [name, bytes] : by_module) {
        all.push_back({name, bytes});
    }
    if (layers > 0) {
        all.push_back(
            {"decoder layers " + std::to_string(first_layer) + "-" + std::to_string(last_layer),
             layers});
    }
    const auto staging = stagingBytes(plan);
    if (const auto it = staging.find(device.id); it != staging.end()) {
        all.push_back({"room for visiting weights", it->second.total()});
    }
    all.push_back(
        {"KV cache of " + std::to_string(plan.context) + " tokens", device.parts[MemoryPart::Kv]});
    all.push_back({"adapters", device.parts[MemoryPart::Adapter]});
    all.push_back({"workspace", device.parts[MemoryPart::Workspace]});
    all.push_back({"context of the driver", device.parts[MemoryPart::Context]});
    std::erase_if(all, [](const Contributor& c) { return c.bytes == 0; });
    std::stable_sort(all.begin(), all.end(),
                     [](const Contributor& a, const Contributor& b) { return a.bytes > b.bytes; });
    return all;
}

PlanIssue overLimit(const PlacementPlan& plan,
                    const DevicePlan& device,
                    const PlanParts& parts,
                    QuantOption quant,
                    HeadOption head) {
    PlanIssue issue;
    issue.code = "DM09";
    issue.key = device.id.toString();
    const uint64_t need = device.parts.total();
    issue.message = device.id.toString() + " needs " + formatByteCount(need) + " (" +
                    std::to_string(need) + " bytes) but may use " + formatByteCount(device.limit) +
                    " (" + std::to_string(device.limit) + " bytes), " +
                    formatByteCount(need - device.limit) + " too much. The largest parts:";
    const std::vector<Contributor> all = contributors(plan, device, parts);
    for (size_t i = 0; i < std::min(all.size(), kShownContributors); ++i) {
        issue.message += (i == 0 ? " " : ", ") + all[i].name + " " + formatByteCount(all[i].bytes);
    }
    for (const ModulePlacement& module : plan.modules) {
        if (module.store == device.id || module.compute == device.id) {
            issue.modules.push_back(module.name);
        }
    }
    issue.suggestions = Advisor(plan, device, parts, quant, head).steps();
    if (issue.suggestions.empty()) {
        issue.suggestions.emplace_back("use a device with more memory, or raise its limit");
    }
    return issue;
}

} // namespace engine
