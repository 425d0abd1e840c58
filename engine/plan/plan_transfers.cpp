// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_transfers.h"

#include "engine/base/sentence_list.h"
#include "engine/families/gemma4/names.h"
#include "engine/forward/memory/device_roles.h"
#include "engine/plan/plan_english.h"
#include "engine/quant/quantize.h"

#include <algorithm>
#include <set>
#include <utility>

namespace engine {

namespace {

/// `places`: the device with the attention first. `bytes` travel per token.
Sentence
splitLayers(const std::vector<int>& layers, const std::vector<DeviceId>& places, uint64_t bytes) {
    std::vector<Sentence> others;
    for (size_t i = 0; i + 1 < places.size(); ++i) {
        others.push_back(said("%1", places[i]));
    }
    Sentence where = said("%1 and %2", joined(std::move(others)), places.back());
    return layers.size() == 1
               ? said("layer %1 computes on %2: %3 bytes travel per token inside it; keeping a "
                      "layer's weights together avoids that",
                      layerList(layers), std::move(where), bytes)
               : said("layers %1 compute on %2: %3 bytes travel per token inside them; keeping a "
                      "layer's weights together avoids that",
                      layerList(layers), std::move(where), bytes);
}

constexpr uint64_t kActivation = 4; ///< Bytes per value: activations are fp32.

uint64_t valueBytes(int64_t values, uint64_t size = kActivation) {
    return static_cast<uint64_t>(values) * size;
}

/// A device that is not there is an error of its own (DM04): nothing travels to it.
void warn(PlacementPlan& plan,
          const PlanParts& parts,
          const std::set<DeviceId>& between,
          PlanIssue warning) {
    const std::vector<DeviceInfo>& all = parts.request->devices;
    const bool are_there = std::all_of(between.begin(), between.end(), [&all](DeviceId id) {
        return !id.isGpu() || std::any_of(all.begin(), all.end(),
                                          [id](const DeviceInfo& info) { return info.id == id; });
    });
    if (are_there) {
        plan.warnings.push_back(std::move(warning));
    }
}

void addSplitLayers(PlacementPlan& plan, const PlanParts& parts) {
    struct SplitPair {
        std::set<DeviceId> devices;
        uint64_t bytes = 0;
    };
    std::map<int, SplitPair> splits;
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        const ExpectedTensor* tensor = tensorOfRow(parts, i);
        if (tensor == nullptr || tensor->part.role != PartRole::Layer) {
            continue;
        }
        const DeviceId home = parts.layer_device[static_cast<size_t>(tensor->layer)];
        const DeviceId device = plan.tensors[i].compute;
        if (tensor->kind == TensorKind::Experts) {
            // A row goes to its experts, and their sum comes back.
            const bool is_first = tensor->slot == TensorSlot::ExpertGateUp;
            const uint64_t row = valueBytes(parts.request->config.text.hidden_size);
            addTransfer(plan, is_first ? home : device, is_first ? device : home, row,
                        is_first ? Travel::SplitInput : Travel::SplitOutput);
            continue;
        }
        if (tensor->kind != TensorKind::Linear || device == home) {
            continue;
        }
        const uint64_t in = valueBytes(tensor->shape[1]);
        const uint64_t out = valueBytes(tensor->shape[0]);
        addTransfer(plan, home, device, in, Travel::SplitInput);
        addTransfer(plan, device, home, out, Travel::SplitOutput);
        SplitPair& split = splits[tensor->layer];
        split.devices.insert(device);
        split.bytes += in + out;
    }
    // One warning per run of layers that are split in the same way.
    for (auto it = splits.begin(); it != splits.end();) {
        const DeviceId home = parts.layer_device[static_cast<size_t>(it->first)];
        std::vector<int> layers;
        uint64_t bytes = 0;
        const std::set<DeviceId> devices = it->second.devices;
        PlanIssue warning;
        warning.code = "DM21";
        for (; it != splits.end() && it->second.devices == devices &&
               parts.layer_device[static_cast<size_t>(it->first)] == home &&
               (layers.empty() || it->first == layers.back() + 1);
             ++it) {
            layers.push_back(it->first);
            warning.modules.push_back(partName(layerPart(it->first)));
            bytes += it->second.bytes;
        }
        warning.key = warning.modules.front();
        std::vector<DeviceId> places = {home};
        places.insert(places.end(), devices.begin(), devices.end());
        warning.words = splitLayers(layers, places, bytes);
        std::set<DeviceId> between = devices;
        between.insert(home);
        warn(plan, parts, between, std::move(warning));
    }
}

void addMirrors(PlacementPlan& plan, const PlanParts& parts) {
    const ModelConfig& config = parts.request->config;
    const bool is_kv_placed = parts.map->kv_place.has_value();
    for (const KvMirror& mirror : kvMirrors(config, plan)) {
        const DeviceId owner_device = plan.kv_device[static_cast<size_t>(mirror.owner)];
        const uint64_t bytes = kvTokenBytes(config, plan, mirror.owner);
        addTransfer(plan, owner_device, mirror.device, bytes, Travel::KvMirror);
        if (mirror.readers.empty()) {
            continue; // the assistant alone reads it: a matter of drafts, not of the model's layers
        }
        PlanIssue warning;
        warning.code = "DM20";
        warning.key = partName(layerPart(mirror.owner));
        warning.modules.push_back(partName(layerPart(mirror.owner)));
        for (const int reader : mirror.readers) {
            warning.modules.push_back(partName(layerPart(reader)));
        }
        warning.words =
            mirror.readers.size() == 1
                ? said("layer %1 on %2 reads the keys and values of layer %3 on %4: %5 bytes per "
                       "token go to a mirror there",
                       layerList(mirror.readers), mirror.device, mirror.owner, owner_device, bytes)
                : said("layers %1 on %2 read the keys and values of layer %3 on %4: %5 bytes per "
                       "token go to a mirror there",
                       layerList(mirror.readers), mirror.device, mirror.owner, owner_device, bytes);
        warn(plan, parts, {owner_device, mirror.device}, std::move(warning));
    }
    if (!is_kv_placed) {
        return;
    }
    // A cache placed by itself: queries (and new keys and values) go there, results come back.
    std::map<DeviceId, std::pair<std::vector<int>, uint64_t>> away;
    for (size_t i = 0; i < config.text.layers.size(); ++i) {
        const DeviceId home = parts.layer_device[i];
        const DeviceId cache = plan.kv_device[i];
        if (home == cache) {
            continue;
        }
        const LayerConfig& layer = config.text.layers[i];
        const uint64_t query = valueBytes(config.text.num_heads * layer.head_dim);
        const uint64_t fresh =
            layer.is_kv_shared ? 0 : 2 * valueBytes(layer.num_kv_heads * layer.head_dim);
        addTransfer(plan, home, cache, query + fresh, Travel::QueriesKeysValues);
        addTransfer(plan, cache, home, query, Travel::AttentionResult);
        if (layer.is_kv_shared) {
            away[home].first.push_back(static_cast<int>(i));
            away[home].second += 2 * query;
        }
    }
    for (const auto& [home, readers] : away) {
        PlanIssue warning;
        warning.code = "DM20";
        warning.key = "kv.place";
        for (const int reader : readers.first) {
            warning.modules.push_back(partName(layerPart(reader)));
        }
        warning.words =
            readers.first.size() == 1
                ? said("layer %1 on %2 reads keys and values kept on %3: %4 bytes per token travel "
                       "for it",
                       layerList(readers.first), home, *parts.map->kv_place, readers.second)
                : said("layers %1 on %2 read keys and values kept on %3: %4 bytes per token travel "
                       "for it",
                       layerList(readers.first), home, *parts.map->kv_place, readers.second);
        warn(plan, parts, {home, *parts.map->kv_place}, std::move(warning));
    }
}

void addPerLayerRows(PlacementPlan& plan, const PlanParts& parts) {
    const TextConfig& text = parts.request->config.text;
    if (text.ple_size == 0) {
        return;
    }
    const TensorPlacement* table = nullptr;
    const TensorPlacement* projection = nullptr;
    uint64_t element = 2;
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        const ExpectedTensor* tensor = tensorOfRow(parts, i);
        if (tensor == nullptr || tensor->layer >= 0 || tensor->tower != Tower::Language) {
            continue;
        }
        if (tensor->part.role == PartRole::PerLayerTable) {
            table = &plan.tensors[i];
            element = std::max<uint64_t>(1, table->bytes / static_cast<uint64_t>(std::max<int64_t>(
                                                               1, tensor->numElements())));
        } else if (tensor->part.role == PartRole::PerLayerProjection) {
            projection = &plan.tensors[i];
        }
    }
    if (table == nullptr || projection == nullptr) {
        return;
    }
    const bool is_resident = table->residency == Residency::Always;
    const DeviceId from = is_resident ? table->compute : table->store;
    addTransfer(plan, from, projection->compute,
                valueBytes(text.num_layers * text.ple_size, element), Travel::PerLayerRow);
    for (const DeviceId& device : parts.layer_device) {
        addTransfer(plan, projection->compute, device, valueBytes(text.ple_size),
                    Travel::PerLayerSlice);
    }
}

} // namespace

void addTransfer(PlacementPlan& plan, DeviceId from, DeviceId to, uint64_t bytes, Travel what) {
    if (from == to || bytes == 0) {
        return;
    }
    for (TransferPerToken& row : plan.transfers_per_token) {
        if (row.from == from && row.to == to && row.what == what) {
            row.bytes += bytes;
            return;
        }
    }
    plan.transfers_per_token.push_back({from, to, bytes, what});
}

const ExpectedTensor* tensorOfRow(const PlanParts& parts, size_t i) {
    const int index = parts.resolution->tensors[i].index;
    return index < 0 ? nullptr : &(*parts.tensors)[static_cast<size_t>(index)];
}

std::vector<KvMirror> kvMirrors(const ModelConfig& config, const PlacementPlan& plan) {
    std::vector<KvMirror> mirrors;
    for (size_t i = 0; i < config.text.layers.size(); ++i) {
        const LayerConfig& layer = config.text.layers[i];
        if (!layer.is_kv_shared || i >= plan.kv_device.size()) {
            continue;
        }
        const DeviceId device = plan.kv_device[i];
        if (device == plan.kv_device[static_cast<size_t>(layer.kv_source)]) {
            continue;
        }
        auto it = std::find_if(mirrors.begin(), mirrors.end(), [&](const KvMirror& mirror) {
            return mirror.owner == layer.kv_source && mirror.device == device;
        });
        if (it == mirrors.end()) {
            mirrors.push_back({layer.kv_source, device, {}});
            it = mirrors.end() - 1;
        }
        it->readers.push_back(static_cast<int>(i));
    }
    if (const TensorPlacement* row =
            config.assistant ? plan.find(Part{PartRole::Assistant}) : nullptr) {
        for (const LayerConfig& layer : config.assistant->text.layers) {
            const bool is_there =
                std::any_of(mirrors.begin(), mirrors.end(), [&](const KvMirror& mirror) {
                    return mirror.owner == layer.kv_source && mirror.device == row->compute;
                });
            if (static_cast<size_t>(layer.kv_source) < plan.kv_device.size() && !is_there &&
                plan.kv_device[static_cast<size_t>(layer.kv_source)] != row->compute) {
                mirrors.push_back({layer.kv_source, row->compute, {}});
            }
        }
    }
    return mirrors;
}

void addTransfers(PlacementPlan& plan, const PlanParts& parts) {
    const TextConfig& text = parts.request->config.text;
    const std::vector<DeviceId>& layers = parts.layer_device;
    const TensorPlacement* table = nullptr;
    const TensorPlacement* head = nullptr;
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        const ExpectedTensor* tensor = tensorOfRow(parts, i);
        if (tensor == nullptr) {
            head = &plan.tensors[i];
        } else if (tensor->part.role == PartRole::Embedding) {
            table = &plan.tensors[i];
        }
    }
    const uint64_t hidden = valueBytes(text.hidden_size);
    if (table != nullptr && !layers.empty()) {
        addTransfer(plan, table->compute, layers.front(), hidden, Travel::HiddenState);
        for (size_t i = 1; i < layers.size(); ++i) {
            addTransfer(plan, layers[i - 1], layers[i], hidden, Travel::HiddenState);
        }
        addTransfer(plan, layers.back(), head == nullptr ? table->compute : head->compute, hidden,
                    Travel::HiddenState);
    }
    addPerLayerRows(plan, parts);
    addMirrors(plan, parts);
    addSplitLayers(plan, parts);
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
        const TensorPlacement& row = plan.tensors[i];
        const ExpectedTensor* tensor = tensorOfRow(parts, i);
        const bool is_language = tensor == nullptr || tensor->tower == Tower::Language;
        const bool is_rows_only = tensor != nullptr && tensor->kind == TensorKind::Embedding &&
                                  (tensor->part.role != PartRole::Embedding || head != nullptr);
        const bool is_draft = tensor != nullptr && tensor->part.role == PartRole::Assistant;
        if (is_language && !is_rows_only && !is_draft && row.residency == Residency::Stream) {
            addTransfer(plan, row.store, row.compute, row.readBytes(), Travel::StreamedWeights);
        }
    }
}

} // namespace engine
