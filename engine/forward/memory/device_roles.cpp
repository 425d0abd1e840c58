// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/memory/device_roles.h"

#include "engine/families/tensor_list.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

namespace engine {

PlanIndex::PlanIndex(const PlacementPlan& plan)
    : slots_(std::bit_ceil(2 * plan.tensors.size() + 2), nullptr) {
    for (const TensorPlacement& row : plan.tensors) {
        size_t at = std::hash<std::string_view>()(row.tensor) & (slots_.size() - 1);
        while (slots_[at] != nullptr) {
            at = (at + 1) & (slots_.size() - 1);
        }
        slots_[at] = &row;
    }
}

const TensorPlacement* PlanIndex::find(std::string_view tensor) const {
    size_t at = std::hash<std::string_view>()(tensor) & (slots_.size() - 1);
    while (slots_[at] != nullptr && slots_[at]->tensor != tensor) {
        at = (at + 1) & (slots_.size() - 1);
    }
    return slots_[at];
}

DeviceId ComponentDevices::consumerOf(const ExpectedTensor& tensor) const {
    switch (tensor.part.role) {
    case PartRole::VisionTower:
        return vision;
    case PartRole::AudioTower:
        return audio;
    case PartRole::Layer:
        return static_cast<size_t>(tensor.layer) < layers.size()
                   ? layers[static_cast<size_t>(tensor.layer)]
                   : head;
    case PartRole::PerLayerNorm:
        return ple_projection;
    case PartRole::Assistant:
        return assistant;
    default:
        return head;
    }
}

namespace {

/// The plan's row of every tensor, nullptr where it has none. Rows come in the order of the list,
/// but for tensors that a plan lacks: names are compared, and looked up only where that fails.
std::vector<const TensorPlacement*> placementsOf(const PlacementPlan& plan,
                                                 const std::vector<ExpectedTensor>& tensors) {
    std::vector<const TensorPlacement*> rows(tensors.size(), nullptr);
    std::optional<PlanIndex> index;
    size_t next = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
        if (next < plan.tensors.size() && plan.tensors[next].tensor == tensors[i].name) {
            rows[i] = &plan.tensors[next++];
        } else if (!tensors[i].is_unused) {
            if (!index.has_value()) {
                index.emplace(plan);
            }
            rows[i] = index->find(tensors[i].name);
        }
    }
    return rows;
}

/// componentDevices() by the rows of all tensors.
ComponentDevices componentDevices(const ModelConfig& config,
                                  const PlacementPlan& plan,
                                  const std::vector<ExpectedTensor>& tensors,
                                  const std::vector<const TensorPlacement*>& rows) {
    ComponentDevices devices;
    devices.layers.assign(config.text.layers.size(), DeviceId::cpu());
    devices.head = devices.vision = devices.audio = devices.ple_projection = DeviceId::cpu();
    devices.assistant = DeviceId::cpu();
    for (size_t i = 0; i < tensors.size(); ++i) {
        const ExpectedTensor& tensor = tensors[i];
        if (rows[i] == nullptr || tensor.clip != ClipEnd::None) {
            continue;
        }
        const DeviceId device = rows[i]->compute;
        const PartRole role = tensor.part.role;
        if (tensor.slot == TensorSlot::Query && role == PartRole::Layer) {
            if (static_cast<size_t>(tensor.layer) < devices.layers.size()) {
                devices.layers[static_cast<size_t>(tensor.layer)] = device;
            }
        } else if (role == PartRole::Embedding) {
            devices.head = device; // of a tied head; its own row stands behind all others
        } else if (tensor.slot == TensorSlot::DraftIn) {
            devices.assistant = device;
        } else if (tensor.slot == TensorSlot::Patches) {
            devices.vision = device;
        } else if (tensor.slot == TensorSlot::TowerInput ||
                   (role == PartRole::AudioProjector && !config.hasAudioTower())) {
            devices.audio = device;
        } else if (role == PartRole::PerLayerProjection) {
            devices.ple_projection = device;
        }
    }
    if (!plan.tensors.empty() && plan.tensors.back().tensor == kHeadName) {
        devices.head = plan.tensors.back().compute; // a head of its own is the last row
    }
    return devices;
}

} // namespace

ComponentDevices componentDevices(const ModelConfig& config, const PlacementPlan& plan) {
    return componentDevices(config, plan, listTensors(config));
}

ComponentDevices componentDevices(const ModelConfig& config,
                                  const PlacementPlan& plan,
                                  const std::vector<ExpectedTensor>& tensors) {
    return componentDevices(config, plan, tensors, placementsOf(plan, tensors));
}

bool needsMirror(const TensorPlacement& row, const DeviceId& consumer) {
    return row.compute != consumer ||
           (row.store != row.compute && row.residency != Residency::Always);
}

namespace {

/// Weights of experts are for the host that routes rows as well as for steps that do not ask it.
bool isKeptAsFloats(const ExpectedTensor& tensor) {
    return isTableVector(tensor) || tensor.slot == TensorSlot::ExpertScale;
}

int64_t tableFloats(const ExpectedTensor& tensor) {
    return (tensor.numElements() + 15) / 16 * 16;
}

/// Values of the widest input or output of an assistant's linears.
int64_t widestOf(const AssistantConfig& assistant) {
    int64_t widest = std::max({2 * assistant.backbone_size, assistant.text.hidden_size,
                               assistant.num_centroids, assistant.widestQuery()});
    for (const LayerConfig& layer : assistant.text.layers) {
        widest = std::max(widest, layer.intermediate_size);
    }
    return assistant.num_centroids > 0 ? widest : std::max(widest, assistant.text.vocab_size);
}

/// Values of the widest input or output of a tower's linears, or the decoder's.
int64_t widestOf(const ModelConfig& config, Tower tower) {
    if (tower == Tower::Vision) {
        return std::max({config.vision->hidden_size, config.vision->intermediate_size,
                         config.vision->num_heads * config.vision->head_dim});
    }
    if (tower == Tower::Audio) {
        return std::max(4 * config.audio->hidden_size, config.audio->output_size);
    }
    return std::max({config.text.hidden_size, widestQ(config), widestMlp(config),
                     2 * config.text.moe_intermediate_size, config.text.num_experts});
}

} // namespace

std::map<DeviceId, DeviceRole> deviceRoles(const ModelConfig& config, const PlacementPlan& plan) {
    return deviceRoles(config, plan, listTensors(config));
}

std::map<DeviceId, DeviceRole> deviceRoles(const ModelConfig& config,
                                           const PlacementPlan& plan,
                                           const std::vector<ExpectedTensor>& tensors) {
    std::map<DeviceId, DeviceRole> roles;
    const std::vector<const TensorPlacement*> rows = placementsOf(plan, tensors);
    const ComponentDevices devices = componentDevices(config, plan, tensors, rows);
    for (const DeviceId& device : devices.layers) {
        roles[device].has_layers = true;
    }
    for (const DeviceId& device : plan.kv_device) {
        roles[device].has_layers = true;
    }
    roles[devices.head].has_head = true;
    if (config.text.ple_size > 0) {
        roles[devices.ple_projection].has_ple_projection = true;
    }
    if (config.vision) {
        roles[devices.vision].has_vision = true;
    }
    if (config.hasAudioTower()) {
        roles[devices.audio].has_audio = true;
    }
    if (config.assistant) {
        roles[devices.assistant].has_assistant = true;
    }

    for (size_t i = 0; i < tensors.size(); ++i) {
        const ExpectedTensor& tensor = tensors[i];
        const TensorPlacement* row = rows[i];
        if (tensor.is_unused || row == nullptr) {
            continue;
        }
        if (tensor.part.role == PartRole::VisionProjector) {
            roles[row->compute].has_vision_embedder = true;
            continue;
        }
        if (tensor.part.role == PartRole::AudioProjector) {
            roles[row->compute].has_audio_embedder = true;
            continue;
        }
        const DeviceId consumer = devices.consumerOf(tensor);
        if (tensor.kind == TensorKind::Vector) {
            if (isKeptAsFloats(tensor) || (!isHostVector(tensor) && needsMirror(*row, consumer))) {
                roles[consumer].table_floats += tableFloats(tensor);
            }
            continue;
        }
        if ((tensor.kind != TensorKind::Linear && tensor.kind != TensorKind::Experts) ||
            row->compute == consumer || tensor.part.role == PartRole::PerLayerProjection) {
            continue;
        }
        // A linear away from its component: its input and output travel.
        DeviceRole& role = roles[row->compute];
        if (tensor.part.role == PartRole::Assistant) {
            role.foreign_row = std::max(role.foreign_row, widestOf(*config.assistant));
            continue;
        }
        const int64_t widest = widestOf(config, tensor.tower);
        role.has_foreign_vision = role.has_foreign_vision || tensor.tower == Tower::Vision;
        role.foreign_in = std::max(role.foreign_in, widest);
        role.foreign_out = std::max(role.foreign_out, widest);
    }
    for (auto& [device, role] : roles) {
        role.is_cuda = device.kind == DeviceId::Kind::Cuda;
    }
    return roles;
}

DutyScratch::DutyScratch(const ModelConfig& config, const std::vector<ExpectedTensor>& tensors)
    : config_(config) {
    std::vector<int64_t> of_layer(config.text.layers.size(), 0);
    for (const ExpectedTensor& tensor : tensors) {
        if (tensor.kind != TensorKind::Vector || tensor.is_unused ||
            (isHostVector(tensor) && !isKeptAsFloats(tensor)) ||
            tensor.part.role == PartRole::Assistant) {
            continue;
        }
        const int64_t floats = tableFloats(tensor);
        const int64_t kept = isKeptAsFloats(tensor) ? floats : 0;
        if (tensor.tower == Tower::Vision) {
            vision_floats_ += kept;
            vision_visit_floats_ += floats;
        } else if (tensor.tower == Tower::Audio) {
            audio_floats_ += kept;
            audio_visit_floats_ += floats;
        } else if (tensor.layer >= 0 && static_cast<size_t>(tensor.layer) < of_layer.size()) {
            of_layer[static_cast<size_t>(tensor.layer)] += kept;
        }
    }
    for (const int64_t floats : of_layer) {
        layer_floats_ = std::max(layer_floats_, floats);
    }
}

uint64_t
DutyScratch::bytes(const RunShape& shape, DeviceId::Kind kind, const DeviceDuties& duties) const {
    using Duty = DeviceDuties::Tower;
    DeviceRole role;
    role.has_layers = duties.layers > 0;
    role.has_assistant = role.has_layers && config_.assistant.has_value();
    role.has_head = duties.has_head;
    role.has_ple_projection = duties.has_ple_projection && config_.text.ple_size > 0;
    role.has_vision = role.has_vision_embedder =
        duties.vision != Duty::None && config_.vision.has_value();
    role.has_audio_embedder = duties.audio != Duty::None && config_.audio.has_value();
    role.has_audio = role.has_audio_embedder && config_.hasAudioTower();
    role.is_cuda = kind == DeviceId::Kind::Cuda;
    if (duties.has_experts) {
        role.foreign_in = role.foreign_out = widestOf(config_, Tower::Language);
    }
    role.table_floats = duties.layers * layer_floats_;
    if (role.has_vision) {
        role.table_floats +=
            duties.vision == Duty::Visiting ? vision_visit_floats_ : vision_floats_;
    }
    if (role.has_audio_embedder) {
        role.table_floats += duties.audio == Duty::Visiting ? audio_visit_floats_ : audio_floats_;
    }
    return role.has_layers || role.has_head || role.has_ple_projection || role.has_vision ||
                   role.has_audio_embedder || duties.has_experts
               ? layoutWorkspace(config_, shape, role).totalBytes()
               : 0;
}

std::vector<KvHome> kvHomes(const ModelConfig& config, const PlacementPlan& plan) {
    const size_t count = config.text.layers.size();
    // Where a layer's attention runs: its own device when the cache follows the layers, the cache's
    // device when kv.place names one (then kv_device says so, of readers too).
    const std::vector<DeviceId> attends =
        plan.kv_device.size() == count ? plan.kv_device : componentDevices(config, plan).layers;
    std::vector<KvHome> homes(count);
    for (size_t i = 0; i < count; ++i) {
        homes[i].device = attends[i];
    }
    for (size_t i = 0; i < count; ++i) {
        const LayerConfig& layer = config.text.layers[i];
        if (!layer.is_kv_shared) {
            continue;
        }
        KvHome& owner = homes[static_cast<size_t>(layer.kv_source)];
        if (attends[i] != owner.device && std::find(owner.mirrors.begin(), owner.mirrors.end(),
                                                    attends[i]) == owner.mirrors.end()) {
            owner.mirrors.push_back(attends[i]);
        }
    }
    if (const TensorPlacement* row = assistantRow(config, plan)) {
        for (const LayerConfig& layer : config.assistant->text.layers) {
            KvHome& owner = homes[static_cast<size_t>(layer.kv_source)];
            if (row->compute != owner.device &&
                std::find(owner.mirrors.begin(), owner.mirrors.end(), row->compute) ==
                    owner.mirrors.end()) {
                owner.mirrors.push_back(row->compute);
            }
        }
    }
    return homes;
}

const TensorPlacement* assistantRow(const ModelConfig& config, const PlacementPlan& plan) {
    // The assistant's first row is that of what takes its input.
    return config.assistant ? plan.find(Part{PartRole::Assistant}) : nullptr;
}

uint64_t kvTokenBytes(const ModelConfig& config, const PlacementPlan& plan, int layer) {
    return 2U * static_cast<uint64_t>(kvRowBytes(config, runShape(config, plan).kv_type, layer));
}

RunShape runShape(const ModelConfig& config, const PlacementPlan& plan) {
    RunShape shape;
    shape.context = plan.context > 0 ? plan.context : config.text.max_positions;
    shape.prefill_chunk = plan.prefill_chunk > 0 ? plan.prefill_chunk : 512;
    shape.image_tokens = plan.image_tokens;
    shape.is_reference = plan.is_reference_precision;
    shape.kv_type = plan.kv_format == Format::Q8 ? kernels::KvType::Q8
                    : shape.is_reference         ? kernels::KvType::F32
                                                 : kernels::KvType::BF16;
    return shape;
}

std::map<DeviceId, uint64_t> workspaceBytes(const ModelConfig& config, const PlacementPlan& plan) {
    return workspaceBytes(config, plan, listTensors(config));
}

std::map<DeviceId, uint64_t> workspaceBytes(const ModelConfig& config,
                                            const PlacementPlan& plan,
                                            const std::vector<ExpectedTensor>& tensors) {
    std::map<DeviceId, uint64_t> bytes;
    const RunShape shape = runShape(config, plan);
    for (const auto& [device, role] : deviceRoles(config, plan, tensors)) {
        bytes[device] = layoutWorkspace(config, shape, role).totalBytes();
    }
    return bytes;
}

std::map<DeviceId, uint64_t> kvBytesPerDevice(const ModelConfig& config,
                                              const PlacementPlan& plan) {
    std::map<DeviceId, uint64_t> bytes;
    const RunShape shape = runShape(config, plan);
    const std::vector<KvHome> homes = kvHomes(config, plan);
    for (size_t i = 0; i < homes.size(); ++i) {
        const uint64_t size = kvBytes(config, shape, static_cast<int>(i));
        if (size == 0) {
            continue;
        }
        bytes[homes[i].device] += size;
        for (const DeviceId& mirror : homes[i].mirrors) {
            bytes[mirror] += size;
        }
    }
    return bytes;
}

} // namespace engine
