// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/workspace.h"

#include "engine/families/gemma4/tensor_list.h"
#include "kernels/card_scratch.h"
#include "kernels/ops.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>

namespace engine {

namespace {

/// Partial products of the next step's adapters in a fused step: 128 parts of 256 ranks.
constexpr int64_t kStepLoraFloats = int64_t{128} * 256;

const std::string kLayerPrefix = "model.language_model.layers.";
// Where a component computes is where this tensor of it does.
constexpr const char* kHeadTable = "model.language_model.embed_tokens.weight";
constexpr const char* kVisionInput = "model.vision_tower.patch_embedder.input_proj.weight";
constexpr const char* kAudioInput =
    "model.audio_tower.subsample_conv_projection.input_proj_linear.weight";
constexpr const char* kPleProjection = "model.language_model.per_layer_model_projection.weight";

/// "a.b.c" starts with "a.b." or equals "a.b".
bool isBelow(std::string_view name, std::string_view module) {
    return name.size() >= module.size() && name.compare(0, module.size(), module) == 0 &&
           (name.size() == module.size() || name[module.size()] == '.');
}

int64_t widestQ(const ModelConfig& config) {
    int64_t widest = 0;
    for (const LayerConfig& layer : config.text.layers) {
        widest = std::max(widest, config.text.num_heads * layer.head_dim);
    }
    return widest;
}

int64_t widestKv(const ModelConfig& config) {
    int64_t widest = 0;
    for (const LayerConfig& layer : config.text.layers) {
        widest = std::max(widest, layer.num_kv_heads * layer.head_dim);
    }
    return widest;
}

int64_t widestMlp(const ModelConfig& config) {
    int64_t widest = 0;
    for (const LayerConfig& layer : config.text.layers) {
        widest = std::max(widest, layer.intermediate_size);
    }
    return widest;
}

int64_t visionBlockRows(const DeviceRole& role, int64_t patches) {
    return std::min(role.is_cuda ? kVisionCardRows : kVisionBlockRows, patches);
}

/// Rows of a linear that computes here for another device.
int64_t foreignRows(const DeviceRole& role, int64_t rows, int64_t patches, int64_t frames) {
    const int64_t image = role.has_foreign_vision ? kVisionCardRows : kVisionBlockRows;
    return std::max({rows, image, frames, patches / 9});
}

/// The largest input of a matrix product on this device, in elements, decides what its kernels
/// need.
int64_t
kernelScratchFloats(const ModelConfig& config, const RunShape& shape, const DeviceRole& role) {
    const TextConfig& text = config.text;
    const int64_t rows = maxRows(config, shape);
    const int64_t patches = config.vision ? shape.image_tokens * config.vision->pooling_kernel *
                                                config.vision->pooling_kernel
                                          : 0;
    const int64_t frames = config.audio ? config.processor.max_audio_tokens : 0;
    int64_t largest = rows * std::max({text.hidden_size, widestQ(config), widestMlp(config)});
    if (role.has_vision || role.has_vision_embedder) {
        const VisionConfig& vision = *config.vision;
        const int64_t widest = std::max({vision.hidden_size, vision.intermediate_size,
                                         vision.num_heads * vision.head_dim,
                                         3 * vision.patch_size * vision.patch_size});
        largest = std::max({largest, visionBlockRows(role, patches) * widest,
                            shape.image_tokens * vision.hidden_size});
    }
    if (role.has_audio || role.has_audio_embedder) {
        largest = std::max(
            {largest, frames * 4 * config.audio->hidden_size, frames * config.audio->output_size});
    }
    if (role.foreign_in > 0) {
        largest = std::max(largest, foreignRows(role, rows, patches, frames) * role.foreign_in);
    }
    return static_cast<int64_t>((kernels::cardScratchBytes(1, largest) + 3U) / 4U);
}

/// Buffers of the vision tower in fused steps, in the place of those of single ones: bf16 (two
/// values in a float) where a product or the attention reads them.
void addFusedVision(WorkspaceLayout& layout,
                    const VisionConfig& vision,
                    int64_t patches,
                    int64_t tokens) {
    const int64_t heads = vision.num_heads * vision.head_dim;
    const int64_t values = 3 * vision.patch_size * vision.patch_size;
    const int64_t block = std::min(kVisionFusedRows, patches);
    const auto halves = [](int64_t count) { return (count + 1) / 2; };
    layout.shareFrom("patch_slots");
    layout.add("vf_q16", halves(patches * heads));
    layout.add("vf_k16", halves(patches * heads));
    layout.add("vf_v16", halves(patches * heads));
    layout.add("vf_pool", tokens * vision.hidden_size);
    layout.add("vf_h", halves(block * vision.hidden_size));
    layout.add("vf_t", block * vision.hidden_size);
    layout.add("vf_o", halves(block * heads));
    layout.beginAlternatives();
    layout.add("vf_q", block * heads);
    layout.add("vf_k", block * heads);
    layout.add("vf_v", block * heads);
    layout.nextAlternative();
    layout.add("vf_act", halves(block * vision.intermediate_size));
    layout.nextAlternative();
    layout.add("vf_pixels", block * values);
    layout.add("vf_patch", halves(block * values));
    layout.endAlternatives();
}

} // namespace

int64_t maxRows(const ModelConfig& config, const RunShape& shape) {
    int64_t rows = std::max<int64_t>(1, shape.prefill_chunk);
    if (config.text.is_vision_bidirectional && config.vision.has_value()) {
        rows = std::max(rows, shape.image_tokens);
    }
    return std::min(rows, std::max<int64_t>(1, shape.context));
}

int64_t kvCapacity(const ModelConfig& config, const RunShape& shape, LayerType type) {
    if (type == LayerType::Full) {
        return shape.context;
    }
    return std::min(shape.context, config.text.sliding_window - 1 + ringRows(config, shape));
}

int64_t ringRows(const ModelConfig& config, const RunShape& shape) {
    int64_t rows = kMostRingRows;
    if (config.text.is_vision_bidirectional && config.vision.has_value()) {
        rows = std::max(rows, shape.image_tokens);
    }
    return std::min(rows, maxRows(config, shape));
}

int64_t stageRows(const ModelConfig& config, const RunShape& shape) {
    const int64_t ring = kvCapacity(config, shape, LayerType::Sliding);
    // A ring as long as the context holds every call.
    return ring == shape.context || ringRows(config, shape) == maxRows(config, shape)
               ? 0
               : ring + maxRows(config, shape);
}

uint64_t kvBytes(const ModelConfig& config, const RunShape& shape, int layer) {
    const LayerConfig& l = config.text.layers[static_cast<size_t>(layer)];
    if (l.is_kv_shared) {
        return 0;
    }
    const auto element = static_cast<uint64_t>(shape.is_reference ? 4 : 2);
    return 2U * element *
           static_cast<uint64_t>(kvCapacity(config, shape, l.type) * l.num_kv_heads * l.head_dim);
}

void WorkspaceLayout::add(const std::string& name, int64_t floats) {
    const int64_t rounded = (floats + 15) / 16 * 16;
    entries_[name] = Entry{cursor_, floats};
    cursor_ += rounded;
    end_ = std::max(end_, cursor_);
    if (!in_phase_) {
        base_ = cursor_;
    }
}

void WorkspaceLayout::beginPhase() {
    in_phase_ = true;
    cursor_ = base_;
}

void WorkspaceLayout::nextAlternative() {
    alternatives_end_ = std::max(alternatives_end_, cursor_);
    cursor_ = alternatives_;
}

void WorkspaceLayout::endAlternatives() {
    cursor_ = std::max(alternatives_end_, cursor_);
}

int64_t WorkspaceLayout::offset(const std::string& name) const {
    const auto it = entries_.find(name);
    return it == entries_.end() ? -1 : it->second.offset;
}

int64_t WorkspaceLayout::size(const std::string& name) const {
    const auto it = entries_.find(name);
    return it == entries_.end() ? 0 : it->second.floats;
}

WorkspaceLayout
layoutWorkspace(const ModelConfig& config, const RunShape& shape, const DeviceRole& role) {
    const TextConfig& text = config.text;
    const int64_t rows = maxRows(config, shape);
    const int64_t patches = config.vision ? shape.image_tokens * config.vision->pooling_kernel *
                                                config.vision->pooling_kernel
                                          : 0;
    const int64_t frames = config.audio ? config.processor.max_audio_tokens : 0;
    WorkspaceLayout layout;
    if (role.is_cuda) {
        layout.add("kernel_scratch", kernelScratchFloats(config, shape, role));
    }

    // Kept for the life of the model: small tables that every layer needs on its own device.
    int64_t longest_head = 0;
    for (const LayerConfig& layer : text.layers) {
        longest_head = std::max(longest_head, layer.head_dim);
    }
    if (role.has_layers || role.has_ple_projection) {
        layout.add("ids", rows);
    }
    if (role.has_layers) {
        layout.add("inv_freq_sliding", longest_head / 2);
        layout.add("inv_freq_full", longest_head / 2);
        layout.add("query_position", rows);
        layout.add("query_block", rows);
        layout.add("slots_sliding", rows);
        layout.add("slots_full", rows);
        layout.add("key_position_sliding", kvCapacity(config, shape, LayerType::Sliding));
        layout.add("key_block_sliding", kvCapacity(config, shape, LayerType::Sliding));
        layout.add("key_position_full", kvCapacity(config, shape, LayerType::Full));
        if (const int64_t stage = stageRows(config, shape); stage > 0) {
            layout.add("slots_stage", rows);
            layout.add("key_position_stage", stage);
            layout.add("key_block_stage", stage);
        }
        // The fused decode steps (decode_step.cpp, split_steps.cpp): their input block, residual
        // stream and result.
        layout.add("step_input", 16 + (kvCapacity(config, shape, LayerType::Sliding) + 3) / 4 * 4 +
                                     text.hidden_size +
                                     text.num_layers * std::max<int64_t>(0, text.ple_size));
        layout.add("step_x", text.hidden_size);
        layout.add("step_norm", text.hidden_size); // of a row that another card has begun
        layout.add("step_best", sizeof(kernels::TopLogits) / sizeof(float));
        layout.add("step_lora", kStepLoraFloats);
        layout.add("step_suppressed", (text.vocab_size + 31) / 32);
    }
    if (role.has_vision) {
        layout.add("inv_freq_vision", config.vision->head_dim);
        layout.add("patch_x", patches);
        layout.add("patch_y", patches);
        layout.add("patch_ids", patches);
    }
    if (role.has_audio) {
        const AudioConfig& audio = *config.audio;
        layout.add("rel_positions", audio.context_left * audio.hidden_size);
        layout.add("rel_keys", audio.context_left * audio.hidden_size);
    }
    layout.add("tables", role.table_floats);
    if (role.foreign_in > 0) {
        const int64_t foreign_rows = foreignRows(role, rows, patches, frames);
        layout.add("foreign_in", foreign_rows * role.foreign_in);
        layout.add("foreign_out", foreign_rows * role.foreign_out);
    }

    layout.beginPhase();
    if (role.has_layers || role.has_ple_projection || role.has_head) {
        layout.add("x", rows * text.hidden_size);
        layout.add("h", rows * text.hidden_size);
    }
    if (role.has_layers) {
        layout.add("t", rows * text.hidden_size);
        if (text.ple_size > 0) {
            layout.add("ple_slice", rows * text.ple_size);
            layout.add("ple_gate", rows * text.ple_size);
        }
        if (text.has_moe) {
            layout.add("moe_probs", rows * text.num_experts);
            layout.add("moe_router_low", rows * text.num_experts);
            layout.add("moe_in", rows * text.hidden_size);
            layout.add("moe_rows", rows * text.hidden_size);
            layout.add("moe_gate_up", rows * 2 * text.moe_intermediate_size);
            layout.add("moe_act", rows * text.moe_intermediate_size);
            layout.add("moe_down", rows * text.hidden_size);
            layout.add("moe_sum", rows * text.hidden_size);
        }
    }
    if (role.has_ple_projection) {
        layout.add("ple", rows * text.num_layers * text.ple_size);
    }
    // Of these only one set holds anything at a time: rows of the per-layer table before the
    // layers, attention's and then the MLP's within a layer, logits behind the layers.
    layout.beginAlternatives();
    if (role.has_layers) {
        layout.add("q", rows * widestQ(config));
        layout.add("o", rows * widestQ(config));
        layout.add("k", rows * widestKv(config));
        layout.add("v", rows * widestKv(config));
        if (const int64_t stage = stageRows(config, shape); stage > 0) {
            const int64_t halves = shape.is_reference ? 2 : 1; // bf16: two values in a float
            layout.add("stage_k", stage * widestKv(config) * halves / 2);
            layout.add("stage_v", stage * widestKv(config) * halves / 2);
        }
        layout.nextAlternative();
        layout.add("gate", rows * widestMlp(config));
        layout.add("up", rows * widestMlp(config));
    }
    if (role.has_ple_projection) {
        layout.nextAlternative();
        layout.add("ple_tok", std::min(rows, role.is_cuda ? kPleCardRows : kPleRows) *
                                  text.num_layers * text.ple_size);
    }
    if (role.has_head) {
        layout.nextAlternative();
        layout.add("logits", std::min(rows, kHeadRows) * text.vocab_size);
    }
    layout.endAlternatives();

    if (role.has_vision) {
        const VisionConfig& vision = *config.vision;
        const int64_t heads = vision.num_heads * vision.head_dim;
        const int64_t block = visionBlockRows(role, patches);
        layout.beginPhase();
        layout.add("vx", patches * vision.hidden_size);
        if (role.is_cuda && !shape.is_reference) {
            // Keys and values of a layer as its attention kernel takes them.
            layout.add("patch_slots", patches);
            layout.add("vk_bf16", (patches * heads + 1) / 2);
            layout.add("vv_bf16", (patches * heads + 1) / 2);
        } else {
            layout.add("vk", patches * heads);
            layout.add("vv", patches * heads);
        }
        layout.add("vh", block * vision.hidden_size);
        layout.add("vt", block * vision.hidden_size);
        layout.beginAlternatives();
        layout.add("vpatch", block * 3 * vision.patch_size * vision.patch_size);
        layout.nextAlternative();
        layout.add("vk_block", block * heads);
        layout.add("vv_block", block * heads);
        layout.nextAlternative();
        layout.add("vq", block * heads);
        layout.add("vo", block * heads);
        layout.nextAlternative();
        layout.add("vgate", block * vision.intermediate_size);
        layout.add("vup", block * vision.intermediate_size);
        layout.endAlternatives();
        layout.add("vclamp",
                   block * std::max({vision.hidden_size, vision.intermediate_size, heads}));
        if (role.is_cuda && !shape.is_reference) {
            addFusedVision(layout, vision, patches, shape.image_tokens);
        }
    }
    if (role.has_vision_embedder) {
        layout.beginPhase();
        layout.add("ev_in", shape.image_tokens * config.vision->hidden_size);
        layout.add("ev_out", shape.image_tokens * text.hidden_size);
    }
    if (role.has_audio) {
        const AudioConfig& audio = *config.audio;
        const int64_t hidden = audio.hidden_size;
        const int64_t mel2 = (audio.mel_bins + 1) / 2;
        const int64_t mel4 = (mel2 + 1) / 2;
        const int64_t block = std::min(kAudioBlockFrames, frames);
        layout.beginPhase();
        layout.add("mel", frames * 4 * audio.mel_bins);
        layout.add("conv1", (2 * block + 4) * mel2 * audio.conv_channels[0]);
        layout.add("conv2", (block + 2) * mel4 * audio.conv_channels[1]);
        layout.add("ax", frames * hidden);
        layout.add("ah", frames * hidden);
        layout.add("at", frames * hidden);
        layout.add("aq", frames * hidden);
        layout.add("ak", frames * hidden);
        layout.add("av", frames * hidden);
        layout.add("ao", frames * hidden);
        layout.add("abig", frames * 4 * hidden);
        layout.add("aclamp", frames * 4 * hidden);
        layout.add("aout", frames * audio.output_size);
    }
    if (role.has_audio_embedder) {
        layout.beginPhase();
        layout.add("ea_in", frames * config.audio->output_size);
        layout.add("ea_out", frames * text.hidden_size);
    }
    return layout;
}

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

DeviceId layerDevice(const PlanIndex& plan, int layer) {
    const std::string name = kLayerPrefix + std::to_string(layer) + ".self_attn.q_proj.weight";
    const TensorPlacement* row = plan.find(name);
    return row == nullptr ? DeviceId::cpu() : row->compute;
}

DeviceId ComponentDevices::consumerOf(const ExpectedTensor& tensor) const {
    if (tensor.tower == Tower::Vision && isBelow(tensor.name, "model.vision_tower")) {
        return vision;
    }
    if (tensor.tower == Tower::Audio && isBelow(tensor.name, "model.audio_tower")) {
        return audio;
    }
    if (tensor.layer >= 0 && static_cast<size_t>(tensor.layer) < layers.size() &&
        tensor.tower == Tower::Language) {
        return layers[static_cast<size_t>(tensor.layer)];
    }
    if (tensor.name.find("per_layer_projection_norm") != std::string::npos) {
        return ple_projection;
    }
    return head;
}

ComponentDevices componentDevices(const ModelConfig& config, const PlanIndex& plan) {
    ComponentDevices devices;
    for (int i = 0; i < static_cast<int>(config.text.layers.size()); ++i) {
        devices.layers.push_back(layerDevice(plan, i));
    }
    const auto computeOf = [&plan](const char* tensor, DeviceId fallback) {
        const TensorPlacement* row = plan.find(tensor);
        return row == nullptr ? fallback : row->compute;
    };
    const DeviceId embed = computeOf(kHeadTable, DeviceId::cpu());
    devices.head = computeOf("lm_head.weight", embed);
    devices.vision = computeOf(kVisionInput, DeviceId::cpu());
    devices.audio = computeOf(kAudioInput, DeviceId::cpu());
    devices.ple_projection = computeOf(kPleProjection, DeviceId::cpu());
    return devices;
}

namespace {

/// The plan's row of every tensor, nullptr where it has none. Rows come in the order of the list,
/// but for tensors that a plan lacks: names are compared, and looked up only where that fails.
std::vector<const TensorPlacement*> rowsOf(const PlacementPlan& plan,
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
    for (size_t i = 0; i < tensors.size(); ++i) {
        const ExpectedTensor& tensor = tensors[i];
        if (rows[i] == nullptr) {
            continue;
        }
        const DeviceId device = rows[i]->compute;
        if (tensor.layer >= 0) {
            if (tensor.tower == Tower::Language &&
                static_cast<size_t>(tensor.layer) < devices.layers.size() &&
                tensor.name.ends_with(".self_attn.q_proj.weight")) {
                devices.layers[static_cast<size_t>(tensor.layer)] = device;
            }
        } else if (tensor.name == kHeadTable) {
            devices.head = device;
        } else if (tensor.name == kVisionInput) {
            devices.vision = device;
        } else if (tensor.name == kAudioInput) {
            devices.audio = device;
        } else if (tensor.name == kPleProjection) {
            devices.ple_projection = device;
        }
    }
    if (!plan.tensors.empty() && plan.tensors.back().tensor == "lm_head.weight") {
        devices.head = plan.tensors.back().compute; // a head of its own is the last row
    }
    return devices;
}

} // namespace

bool needsMirror(const TensorPlacement& row, const DeviceId& consumer) {
    return row.compute != consumer ||
           (row.store != row.compute && row.residency != Residency::Always);
}

std::map<DeviceId, DeviceRole> deviceRoles(const ModelConfig& config, const PlacementPlan& plan) {
    return deviceRoles(config, plan, listTensors(config));
}

std::map<DeviceId, DeviceRole> deviceRoles(const ModelConfig& config,
                                           const PlacementPlan& plan,
                                           const std::vector<ExpectedTensor>& tensors) {
    std::map<DeviceId, DeviceRole> roles;
    const std::vector<const TensorPlacement*> rows = rowsOf(plan, tensors);
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
    if (config.audio) {
        roles[devices.audio].has_audio = true;
    }

    const int64_t text_widest =
        std::max({config.text.hidden_size, widestQ(config), widestMlp(config),
                  2 * config.text.moe_intermediate_size, config.text.num_experts});
    for (size_t i = 0; i < tensors.size(); ++i) {
        const ExpectedTensor& tensor = tensors[i];
        const TensorPlacement* row = rows[i];
        if (tensor.is_unused || row == nullptr) {
            continue;
        }
        if (tensor.name == "model.embed_vision.embedding_projection.weight") {
            roles[row->compute].has_vision_embedder = true;
            continue;
        }
        if (tensor.name == "model.embed_audio.embedding_projection.weight") {
            roles[row->compute].has_audio_embedder = true;
            continue;
        }
        const DeviceId consumer = devices.consumerOf(tensor);
        if (tensor.kind == TensorKind::Vector) {
            if (!isHostVector(tensor.name) &&
                (isTableVector(tensor.name) || needsMirror(*row, consumer))) {
                roles[consumer].table_floats += (tensor.numElements() + 15) / 16 * 16;
            }
            continue;
        }
        if ((tensor.kind != TensorKind::Linear && tensor.kind != TensorKind::Experts) ||
            row->compute == consumer || tensor.name == kPleProjection) {
            continue;
        }
        // A linear away from its component: its input and output travel.
        int64_t widest = text_widest;
        if (tensor.tower == Tower::Vision) {
            widest = std::max({config.vision->hidden_size, config.vision->intermediate_size,
                               config.vision->num_heads * config.vision->head_dim});
        } else if (tensor.tower == Tower::Audio) {
            widest = std::max(4 * config.audio->hidden_size, config.audio->output_size);
        }
        DeviceRole& role = roles[row->compute];
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
        if (tensor.kind != TensorKind::Vector || tensor.is_unused || isHostVector(tensor.name)) {
            continue;
        }
        const int64_t floats = (tensor.numElements() + 15) / 16 * 16;
        const int64_t kept = isTableVector(tensor.name) ? floats : 0;
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
    role.has_head = duties.has_head;
    role.has_ple_projection = duties.has_ple_projection && config_.text.ple_size > 0;
    role.has_vision = role.has_vision_embedder =
        duties.vision != Duty::None && config_.vision.has_value();
    role.has_audio = role.has_audio_embedder =
        duties.audio != Duty::None && config_.audio.has_value();
    role.is_cuda = kind == DeviceId::Kind::Cuda;
    role.table_floats = duties.layers * layer_floats_;
    if (role.has_vision) {
        role.table_floats +=
            duties.vision == Duty::Visiting ? vision_visit_floats_ : vision_floats_;
    }
    if (role.has_audio) {
        role.table_floats += duties.audio == Duty::Visiting ? audio_visit_floats_ : audio_floats_;
    }
    return role.has_layers || role.has_head || role.has_ple_projection || role.has_vision ||
                   role.has_audio
               ? layoutWorkspace(config_, shape, role).totalBytes()
               : 0;
}

std::vector<KvHome> kvHomes(const ModelConfig& config, const PlacementPlan& plan) {
    const auto count = static_cast<int>(config.text.layers.size());
    const PlanIndex index(plan);
    std::vector<KvHome> homes(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        const LayerConfig& layer = config.text.layers[static_cast<size_t>(i)];
        if (layer.is_kv_shared) {
            continue;
        }
        KvHome& home = homes[static_cast<size_t>(i)];
        home.device = plan.kv_device.size() == static_cast<size_t>(count)
                          ? plan.kv_device[static_cast<size_t>(i)]
                          : layerDevice(index, i);
    }
    for (int i = 0; i < count; ++i) {
        const LayerConfig& layer = config.text.layers[static_cast<size_t>(i)];
        if (!layer.is_kv_shared) {
            continue;
        }
        // Where a reader's attention runs: its own device when the cache follows the layers, the
        // cache's device when kv.place names one (then kv_device of the reader says so).
        const DeviceId reader = plan.kv_device.size() == static_cast<size_t>(count)
                                    ? plan.kv_device[static_cast<size_t>(i)]
                                    : layerDevice(index, i);
        KvHome& home = homes[static_cast<size_t>(layer.kv_source)];
        if (reader != home.device &&
            std::find(home.mirrors.begin(), home.mirrors.end(), reader) == home.mirrors.end()) {
            home.mirrors.push_back(reader);
        }
        homes[static_cast<size_t>(i)].device = reader;
    }
    return homes;
}

RunShape runShape(const ModelConfig& config, const PlacementPlan& plan) {
    RunShape shape;
    shape.context = plan.context > 0 ? plan.context : config.text.max_positions;
    shape.prefill_chunk = plan.prefill_chunk > 0 ? plan.prefill_chunk : 512;
    shape.image_tokens = plan.image_tokens;
    shape.is_reference = plan.is_reference_precision;
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
