// SPDX-License-Identifier: Apache-2.0
// A plan as options of llama.cpp's programs. What they cannot say is listed, never dropped in
// silence.
#include "engine/plan/export_english.h"
#include "engine/plan/map_write.h"
#include "engine/plan/plan_english.h"
#include "engine/plan/plan_transfers.h"
#include "engine/plan/planner.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace engine {

namespace {

/// "0|1|5" for a regular expression.
std::string alternatives(const std::vector<int>& layers) {
    std::string out;
    for (const int layer : layers) {
        out += (out.empty() ? "" : "|") + std::to_string(layer);
    }
    return out;
}

/// llama.cpp's name of a buffer on a device.
std::string bufferName(DeviceId device) {
    return device.isGpu() ? "CUDA" + std::to_string(device.index) : "CPU";
}

/// Does the weight come to the GPU only while it is used? There is no such thing there.
bool isVisitor(const TensorPlacement& row) {
    return row.store != row.compute && row.compute.isGpu() && row.residency != Residency::Always;
}

/// Where the weight lies and computes there: a visitor stays in main memory (or in the mapped
/// file), so that a card holds no more than the map wants.
DeviceId placeThere(const TensorPlacement& row) {
    return isVisitor(row) ? DeviceId::cpu() : row.compute;
}

/// The placement of the decoder in llama.cpp's terms. There a layer (weights and KV cache) belongs
/// to a device: the first ones to the CPU (-ngl counts the rest, and the output as one more), the
/// others to the GPUs in order, in the proportions of -ts. -ot moves tensors by name, found with a
/// regular expression anywhere in it (so ours are anchored), but not the cache.
class LlamaCppPlacement {
public:
    LlamaCppPlacement(const PlacementPlan& plan, const std::vector<ExpectedTensor>& tensors)
        : plan_(plan), by_name_(tensorsByName(tensors)) {
        for (const TensorPlacement& row : plan.tensors) {
            const auto it = by_name_.find(row.tensor);
            if (it == by_name_.end() || it->second->tower != Tower::Language ||
                it->second->layer < 0 ||
                (it->second->kind != TensorKind::Linear &&
                 it->second->kind != TensorKind::Experts)) {
                continue;
            }
            const auto layer = static_cast<size_t>(it->second->layer);
            layers_.resize(std::max(layers_.size(), layer + 1), row.compute);
            weights_.resize(layers_.size(), placeThere(row));
            if (layer >= seen_.size()) {
                seen_.resize(layer + 1, false);
            }
            if (seen_[layer] &&
                (layers_[layer] != row.compute || weights_[layer] != placeThere(row)) &&
                (split_.empty() || split_.back() != it->second->layer)) {
                split_.push_back(it->second->layer);
            }
            if (!seen_[layer]) {
                layers_[layer] = row.compute;
                weights_[layer] = placeThere(row);
                seen_[layer] = true;
            }
        }
        const TensorPlacement* head = plan.find(Part{PartRole::Head});
        if (head == nullptr) {
            head = plan.find(Part{PartRole::Embedding});
        }
        head_ = head != nullptr ? placeThere(*head) : DeviceId::cpu();
    }

    /// Options with a space before each; `losses` gets what they leave out.
    std::string flags(std::vector<ExportLoss>& losses) {
        belong();
        std::string out = devices();
        out += overrides(losses);
        out += cache(losses);
        if (!split_.empty()) {
            losses.emplace_back(loss::SplitLayers{split_});
        }
        return out;
    }

    /// What computes the vision and audio encoders there when they are offloaded.
    [[nodiscard]] std::optional<DeviceId> mainGpu() const {
        return used_.empty() ? std::nullopt : std::optional<DeviceId>(used_.front());
    }

    /// How many weights of the decoder visit a GPU here and stay in main memory there.
    [[nodiscard]] size_t numVisitorsThatStay() const {
        size_t count = 0;
        for (const TensorPlacement& row : plan_.tensors) {
            const auto it = by_name_.find(row.tensor);
            const ExpectedTensor* tensor = it == by_name_.end() ? nullptr : it->second;
            const bool is_of_tower = tensor != nullptr && tensor->tower != Tower::Language;
            const bool are_rows =
                row.residency == Residency::Stream && isGatherOnly(plan_, row.part);
            if (!isVisitor(row) || is_of_tower || are_rows) {
                continue;
            }
            // A layer goes as a whole.
            const bool is_of_layer = tensor != nullptr && tensor->layer >= 0 &&
                                     static_cast<size_t>(tensor->layer) < weights_.size();
            count +=
                !is_of_layer || !weights_[static_cast<size_t>(tensor->layer)].isGpu() ? 1U : 0U;
        }
        return count;
    }

private:
    /// Gives each layer, and the output, the device it belongs to there.
    void belong() {
        std::set<DeviceId> used;
        for (const DeviceId& device : layers_) {
            if (device.isGpu()) {
                used.insert(device);
            }
        }
        if (head_.isGpu()) {
            used.insert(head_);
        }
        for (const auto& [role, theirs] : kSmall) {
            const TensorPlacement* row = plan_.find(Part{role});
            if (row != nullptr && placeThere(*row).isGpu()) {
                used.insert(placeThere(*row));
            }
        }
        used_.assign(used.begin(), used.end());
        if (used_.empty()) {
            output_ = DeviceId::cpu();
            owner_.assign(layers_.size(), DeviceId::cpu());
            return;
        }
        const auto isGpu = [](const DeviceId& device) { return device.isGpu(); };
        on_cpu_first_ = static_cast<size_t>(std::find_if(layers_.begin(), layers_.end(), isGpu) -
                                            layers_.begin());
        counts_.assign(used_.size(), 0);
        // Layers on the CPU between and behind those of a GPU count with that GPU.
        std::vector<size_t> nearest;
        size_t now = 0;
        for (size_t i = on_cpu_first_; i < layers_.size(); ++i) {
            if (layers_[i].isGpu()) {
                now = static_cast<size_t>(std::find(used_.begin(), used_.end(), layers_[i]) -
                                          used_.begin());
            }
            nearest.push_back(now);
            ++counts_[now];
        }
        size_t last = 0;
        for (size_t g = 0; g < counts_.size(); ++g) {
            last = counts_[g] > 0 ? g : last;
        }
        if (head_.isGpu()) {
            last = std::max(last, static_cast<size_t>(std::find(used_.begin(), used_.end(), head_) -
                                                      used_.begin()));
        }
        ++counts_[last];
        output_ = used_[last];
        owner_.assign(on_cpu_first_, DeviceId::cpu());
        for (size_t g = 0; g < used_.size(); ++g) {
            for (int i = 0; i < counts_[g] && owner_.size() < layers_.size(); ++i) {
                owner_.push_back(used_[g]);
            }
        }
    }

    [[nodiscard]] std::string devices() const {
        if (used_.empty()) {
            return " -ngl 0";
        }
        std::string out =
            " -ngl " + (on_cpu_first_ == 0 ? std::string("99")
                                           : std::to_string(layers_.size() - on_cpu_first_ + 1));
        if (used_.size() == 1) {
            out += " -sm none";
            return used_[0].index == 0 ? out : out + " -mg " + std::to_string(used_[0].index);
        }
        std::vector<int> shares(static_cast<size_t>(used_.back().index) + 1, 0);
        for (size_t g = 0; g < used_.size(); ++g) {
            shares.resize(std::max(shares.size(), static_cast<size_t>(used_[g].index) + 1), 0);
            shares[static_cast<size_t>(used_[g].index)] += counts_[g];
        }
        std::string list;
        for (const int share : shares) {
            list += (list.empty() ? "" : ",") + std::to_string(share);
        }
        return out + " -sm layer -ts " + list;
    }

    std::string overrides(std::vector<ExportLoss>& losses) {
        std::string out;
        std::map<DeviceId, std::vector<int>> moved;
        for (size_t i = 0; i < layers_.size(); ++i) {
            if (weights_[i] != owner_[i]) {
                moved[weights_[i]].push_back(static_cast<int>(i));
            }
        }
        const auto add = [&out](const std::string& pattern, DeviceId device) {
            out += " -ot \"^" + pattern + "$=" + bufferName(device) + "\"";
        };
        for (const auto& [device, list] : moved) {
            add("blk\\.(" + alternatives(list) + ")\\..*", device);
        }
        if (used_.empty()) {
            return out;
        }
        if (!head_.isGpu()) {
            // A tied head has no tensor of its own: it is a second use of the table.
            add("(token_embd|output)\\.weight", head_);
        } else if (head_ != output_) {
            losses.emplace_back(loss::HeadElsewhere{bufferName(output_), bufferName(head_)});
        }
        for (const auto& [role, theirs] : kSmall) {
            const TensorPlacement* row = plan_.find(Part{role});
            if (row != nullptr && placeThere(*row) != output_) {
                add(theirs, placeThere(*row));
            }
        }
        return out;
    }

    std::string cache(std::vector<ExportLoss>& losses) const {
        const bool has_gpu_layers = std::any_of(
            owner_.begin(), owner_.end(), [](const DeviceId& device) { return device.isGpu(); });
        if (!has_gpu_layers || plan_.kv_device.size() < owner_.size()) {
            return {};
        }
        if (std::none_of(plan_.kv_device.begin(), plan_.kv_device.end(),
                         [](const DeviceId& device) { return device.isGpu(); })) {
            return " -nkvo";
        }
        std::vector<int> elsewhere;
        for (size_t i = 0; i < owner_.size(); ++i) {
            if (plan_.kv_device[i] != owner_[i]) {
                elsewhere.push_back(static_cast<int>(i));
            }
        }
        if (!elsewhere.empty()) {
            losses.emplace_back(loss::CacheElsewhere{std::move(elsewhere)});
        }
        return {};
    }

    /// Small tensors that belong to the output's device there.
    static constexpr std::array<std::pair<PartRole, const char*>, 3> kSmall = {
        {{PartRole::FinalNorm, "output_norm\\.weight"},
         {PartRole::PerLayerProjection, "per_layer_model_proj\\.weight"},
         {PartRole::PerLayerNorm, "per_layer_proj_norm\\.weight"}}};

    const PlacementPlan& plan_;
    std::map<std::string_view, const ExpectedTensor*> by_name_;
    // By the first weight of the layer, its queries:
    std::vector<DeviceId> layers_;  ///< Computes it here, and has its cache.
    std::vector<DeviceId> weights_; ///< Has its weights there.
    std::vector<bool> seen_;
    std::vector<int> split_;
    DeviceId head_;
    // There:
    std::vector<DeviceId> used_; ///< GPUs, in order.
    std::vector<int> counts_;    ///< Layers on each, the output as one.
    size_t on_cpu_first_ = 0;    ///< Layers before the first on a GPU.
    std::vector<DeviceId> owner_;
    DeviceId output_;
};

} // namespace

ExportedText exportLlamaCpp(const PlacementPlan& plan, const std::vector<ExpectedTensor>& tensors) {
    ExportedText out;
    out.losses = shortages(plan);
    const auto by_name = tensorsByName(tensors);
    std::map<DeviceId, uint64_t> towers; ///< Bytes by place there.
    size_t tower_visitors = 0;
    bool has_disk = false;
    bool has_sim = false;
    std::set<Format> formats;
    for (const TensorPlacement& row : plan.tensors) {
        has_disk = has_disk || row.store == DeviceId::disk();
        has_sim = has_sim || row.compute.kind == DeviceId::Kind::Sim;
        const auto it = by_name.find(row.tensor);
        if (it == by_name.end()) {
            continue;
        }
        const ExpectedTensor& tensor = *it->second;
        if (tensor.tower != Tower::Language) {
            towers[placeThere(row)] += row.bytes;
            tower_visitors += isVisitor(row) ? 1U : 0U;
        } else if (tensor.layer >= 0 && tensor.kind == TensorKind::Linear) {
            formats.insert(row.format);
        }
    }
    LlamaCppPlacement placement(plan, tensors);
    std::string flags = placement.flags(out.losses);
    size_t visitors = placement.numVisitorsThatStay();
    if (!towers.empty()) {
        flags += " --mmproj MMPROJ.gguf";
        const DeviceId gpu = placement.mainGpu().value_or(towers.rbegin()->first);
        uint64_t bytes = 0;
        for (const auto& [device, there] : towers) {
            bytes += there;
        }
        // They go where most of them is.
        const auto on_cpu = towers.find(DeviceId::cpu());
        const bool is_on_cpu = on_cpu != towers.end() && on_cpu->second > bytes / 2;
        if (is_on_cpu) {
            flags += " --no-mmproj-offload";
            visitors += tower_visitors;
        }
        if (towers.size() > 1 || (!is_on_cpu && !towers.contains(gpu))) {
            out.losses.emplace_back(loss::TowersTogether{is_on_cpu, bufferName(gpu)});
        }
    }
    flags += " -c " + std::to_string(plan.context);

    const TensorPlacement* rows = plan.find(Part{PartRole::PerLayerTable});
    if (rows != nullptr && rows->store.isGpu()) {
        out.losses.emplace_back(loss::PerLayerTableOnCpu{});
    }
    const TensorPlacement* table = plan.find(Part{PartRole::Embedding});
    if (table != nullptr && table->store.isGpu()) {
        out.losses.emplace_back(loss::TokenTableOnCpu{});
    }
    if (has_sim) {
        out.losses.emplace_back(loss::SimulatedAsCards{});
    }
    if (visitors > 0) {
        out.losses.emplace_back(loss::VisitorsOnCpu{visitors});
    }
    if (has_disk) {
        out.losses.emplace_back(loss::WholeFileMapped{});
    }
    std::vector<std::string> format_names;
    format_names.reserve(formats.size());
    for (const Format format : formats) {
        format_names.emplace_back(formatName(format));
    }
    out.losses.emplace_back(loss::FormatsOfFile{std::move(format_names)});
    out.text = "llama-cli -m MODEL.gguf" + flags + "\n";
    for (const std::string& loss : inEnglish(out.losses)) {
        out.text += "# " + loss + "\n";
    }
    return out;
}

} // namespace engine
