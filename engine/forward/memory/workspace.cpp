// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/memory/workspace.h"

#include "kernels/card_scratch.h"
#include "kernels/ops.h"

#include <algorithm>

namespace engine {

namespace {

/// Partial products of the next step's adapters in a fused step: 128 parts of 256 ranks.
constexpr int64_t kStepLoraFloats = int64_t{128} * 256;

/// Largest row of keys, in floats.
int64_t widestKvRow(const ModelConfig& config, kernels::KvType type) {
    int64_t bytes = 0;
    for (size_t i = 0; i < config.text.layers.size(); ++i) {
        bytes = std::max(bytes, kvRowBytes(config, type, static_cast<int>(i)));
    }
    return (bytes + 3) / 4;
}

int64_t widestKv(const ModelConfig& config) {
    int64_t widest = 0;
    for (const LayerConfig& layer : config.text.layers) {
        widest = std::max(widest, layer.num_kv_heads * layer.head_dim);
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
    layout.shareFrom(Buffer::PatchSlots);
    layout.add(Buffer::VisionRowsQueries, halves(patches * heads));
    layout.add(Buffer::VisionRowsKeys, halves(patches * heads));
    layout.add(Buffer::VisionRowsValues, halves(patches * heads));
    layout.add(Buffer::VisionRowsPool, tokens * vision.hidden_size);
    layout.add(Buffer::VisionRowsH, halves(block * vision.hidden_size));
    layout.add(Buffer::VisionRowsT, block * vision.hidden_size);
    layout.add(Buffer::VisionRowsO, halves(block * heads));
    layout.beginAlternatives();
    layout.add(Buffer::VisionRowsQ, block * heads);
    layout.add(Buffer::VisionRowsK, block * heads);
    layout.add(Buffer::VisionRowsV, block * heads);
    layout.nextAlternative();
    layout.add(Buffer::VisionRowsAct, halves(block * vision.intermediate_size));
    layout.nextAlternative();
    layout.add(Buffer::VisionRowsPixels, block * values);
    layout.add(Buffer::VisionRowsPatch, halves(block * values));
    layout.endAlternatives();
}

} // namespace

int64_t widestQ(const ModelConfig& config) {
    int64_t widest = 0;
    for (const LayerConfig& layer : config.text.layers) {
        widest = std::max(widest, config.text.num_heads * layer.head_dim);
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

int64_t kvRowBytes(const ModelConfig& config, kernels::KvType type, int layer) {
    const LayerConfig& l = config.text.layers[static_cast<size_t>(layer)];
    return kernels::kvRowBytes(type, l.num_kv_heads, l.head_dim);
}

uint64_t kvBytes(const ModelConfig& config, const RunShape& shape, int layer) {
    const LayerConfig& l = config.text.layers[static_cast<size_t>(layer)];
    if (l.is_kv_shared) {
        return 0;
    }
    return 2U * static_cast<uint64_t>(kvCapacity(config, shape, l.type) *
                                      kvRowBytes(config, shape.kv_type, layer));
}

void WorkspaceLayout::add(Buffer buffer, int64_t floats) {
    const int64_t rounded = (floats + 15) / 16 * 16;
    entries_[static_cast<size_t>(buffer)] = Entry{cursor_, floats};
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

namespace {

/// Sizes that the parts of one layout share.
struct Sizes {
    const ModelConfig& config;
    const RunShape& shape;
    const DeviceRole& role;
    int64_t rows = maxRows(config, shape);
    int64_t ring = kvCapacity(config, shape, LayerType::Sliding);
    int64_t stage = stageRows(config, shape);
    int64_t patches = config.vision ? shape.image_tokens * config.vision->pooling_kernel *
                                          config.vision->pooling_kernel
                                    : 0;
    int64_t frames = config.audio ? config.processor.max_audio_tokens : 0;
};

/// Tables that attention to the cache needs on its own device, the assistant's also.
void addKeyTables(WorkspaceLayout& layout, const Sizes& sizes) {
    int64_t longest_head = 0;
    for (const LayerConfig& layer : sizes.config.text.layers) {
        longest_head = std::max(longest_head, layer.head_dim);
    }
    layout.add(Buffer::InvFreqSliding, longest_head / 2);
    layout.add(Buffer::InvFreqFull, longest_head / 2);
    layout.add(Buffer::KeyPositionSliding, sizes.ring);
    layout.add(Buffer::KeyPositionFull, kvCapacity(sizes.config, sizes.shape, LayerType::Full));
}

/// Kept for the life of the model: small tables that every layer needs on its own device, and the
/// memory of the fused steps of a token.
void addLayerTables(WorkspaceLayout& layout, const Sizes& sizes) {
    const TextConfig& text = sizes.config.text;
    layout.add(Buffer::QueryPosition, sizes.rows);
    layout.add(Buffer::QueryBlock, sizes.rows);
    layout.add(Buffer::SlotsSliding, sizes.rows);
    layout.add(Buffer::SlotsFull, sizes.rows);
    layout.add(Buffer::KeyBlockSliding, sizes.ring);
    if (sizes.stage > 0) {
        layout.add(Buffer::SlotsStage, sizes.rows);
        layout.add(Buffer::KeyPositionStage, sizes.stage);
        layout.add(Buffer::KeyBlockStage, sizes.stage);
    }
    layout.add(Buffer::StepInput, 16 + (sizes.ring + 3) / 4 * 4 + text.hidden_size +
                                      text.num_layers * std::max<int64_t>(0, text.ple_size));
    layout.add(Buffer::StepX, text.hidden_size);
    layout.add(Buffer::StepNorm, text.hidden_size);
    layout.add(Buffer::StepBest, sizeof(kernels::TopLogits) / sizeof(float));
    layout.add(Buffer::StepLora, kStepLoraFloats);
    layout.add(Buffer::StepSuppressed, (text.vocab_size + 31) / 32);
}

void addExperts(WorkspaceLayout& layout, const TextConfig& text, int64_t rows, bool is_card) {
    layout.add(Buffer::MoeProbs, rows * text.num_experts);
    // One row's choice is there where the host does not make it.
    layout.add(Buffer::MoeRouterLow,
               std::max(rows * text.num_experts,
                        kernels::ExpertsStepArgs::chosenFloats(text.top_k_experts)));
    layout.add(Buffer::MoeIn, rows * text.hidden_size);
    // Room for all experts of one row where they run at the same time.
    layout.add(Buffer::MoeAct, std::max(rows, text.top_k_experts) * text.moe_intermediate_size);
    layout.add(Buffer::MoeSum, rows * text.hidden_size);
    if (is_card) {
        layout.add(Buffer::MoeOrder, 4 * rows * text.top_k_experts + text.num_experts + 1);
    }
}

/// What experts of rows are multiplied in, once attention and the dense MLP of a layer are done. On
/// cards results of all places, of some columns at a time: the fewer these are, the more launches.
void addExpertRows(WorkspaceLayout& layout, const TextConfig& text, int64_t rows, bool is_card) {
    const int64_t halves = rows * text.top_k_experts * text.moe_intermediate_size;
    layout.add(Buffer::MoeRows, std::max(rows * text.hidden_size, is_card ? (halves + 1) / 2 : 0));
    layout.add(Buffer::MoeDown, rows * text.hidden_size * (is_card ? 4 : 1));
    const int64_t gate_up = rows * 2 * text.moe_intermediate_size;
    layout.add(Buffer::MoeGateUp, gate_up);
    if (is_card) { // lent weights are multiplied without that
        constexpr int64_t kLentFloats = int64_t{4} << 20;
        const int64_t layer =
            text.num_experts * text.moe_intermediate_size * text.hidden_size; // in 16 bits
        layout.shareFrom(Buffer::MoeGateUp);
        layout.add(Buffer::MoeLent, std::max(gate_up, 2 * std::min(kLentFloats, layer)));
    }
}

void addDecoder(WorkspaceLayout& layout, const Sizes& sizes) {
    const ModelConfig& config = sizes.config;
    const TextConfig& text = config.text;
    const DeviceRole& role = sizes.role;
    const int64_t rows = sizes.rows;
    layout.beginPhase();
    if (role.has_layers || role.has_ple_projection || role.has_head) {
        layout.add(Buffer::X, rows * text.hidden_size);
        layout.add(Buffer::H, rows * text.hidden_size);
    }
    if (role.has_layers) {
        layout.add(Buffer::T, rows * text.hidden_size);
        if (text.ple_size > 0) {
            layout.add(Buffer::PleSlice, rows * text.ple_size);
            layout.add(Buffer::PleGate, rows * text.ple_size);
        }
        if (text.has_moe) {
            addExperts(layout, text, rows, role.is_cuda);
        }
    }
    if (role.has_ple_projection) {
        layout.add(Buffer::Ple, rows * text.num_layers * text.ple_size);
    }
    // Only one of these sets holds anything at a time: rows of the per-layer table before the
    // layers, attention's, then the MLP's, then the experts' within a layer, logits behind the
    // layers.
    layout.beginAlternatives();
    if (role.has_layers) {
        // With gates, queries without them lie behind attention's output.
        layout.add(Buffer::Q, rows * widestQ(config) * text.recipe.queryParts());
        layout.add(Buffer::O, rows * widestQ(config) * text.recipe.queryParts());
        layout.add(Buffer::K, rows * widestKv(config));
        layout.add(Buffer::V, rows * widestKv(config));
        if (sizes.stage > 0) {
            const int64_t row = widestKvRow(config, sizes.shape.kv_type);
            layout.add(Buffer::StageK, sizes.stage * row);
            layout.add(Buffer::StageV, sizes.stage * row);
        }
        layout.nextAlternative();
        layout.add(Buffer::Gate, rows * widestMlp(config));
        layout.add(Buffer::Up, rows * widestMlp(config));
        if (text.has_moe) {
            layout.nextAlternative();
            addExpertRows(layout, text, rows, role.is_cuda);
        }
    }
    if (role.has_ple_projection) {
        layout.nextAlternative();
        layout.add(Buffer::PleToken, std::min(rows, role.is_cuda ? kPleCardRows : kPleRows) *
                                         text.num_layers * text.ple_size);
    }
    if (role.has_head) {
        layout.nextAlternative();
        layout.add(Buffer::Logits, std::min(rows, kHeadRows) * text.vocab_size);
    }
    layout.endAlternatives();
    if (role.has_layers && role.is_cuda) {
        layout.addOver(Buffer::Lent);
        if (text.has_moe) {
            layout.extend(Buffer::MoeLent);
        }
    }
}

void addVision(WorkspaceLayout& layout, const Sizes& sizes) {
    const VisionConfig& vision = *sizes.config.vision;
    const int64_t patches = sizes.patches;
    const int64_t heads = vision.num_heads * vision.head_dim;
    const int64_t block = visionBlockRows(sizes.role, patches);
    const bool is_card = sizes.role.is_cuda && !sizes.shape.is_reference;
    layout.beginPhase();
    if (!vision.has_tower) {
        layout.add(Buffer::VisionPatch, block * 3 * vision.patch_size * vision.patch_size);
        layout.add(Buffer::VisionT, block * vision.hidden_size);
        return;
    }
    layout.add(Buffer::VisionX, patches * vision.hidden_size);
    if (is_card) {
        // Keys and values of a layer as its attention kernel takes them.
        layout.add(Buffer::PatchSlots, patches);
        layout.add(Buffer::VisionKeysHalf, (patches * heads + 1) / 2);
        layout.add(Buffer::VisionValuesHalf, (patches * heads + 1) / 2);
    } else {
        layout.add(Buffer::VisionKeys, patches * heads);
        layout.add(Buffer::VisionValues, patches * heads);
    }
    layout.add(Buffer::VisionH, block * vision.hidden_size);
    layout.add(Buffer::VisionT, block * vision.hidden_size);
    layout.beginAlternatives();
    layout.add(Buffer::VisionPatch, block * 3 * vision.patch_size * vision.patch_size);
    layout.nextAlternative();
    layout.add(Buffer::VisionKBlock, block * heads);
    layout.add(Buffer::VisionVBlock, block * heads);
    layout.nextAlternative();
    layout.add(Buffer::VisionQ, block * heads);
    layout.add(Buffer::VisionO, block * heads);
    layout.nextAlternative();
    layout.add(Buffer::VisionGate, block * vision.intermediate_size);
    layout.add(Buffer::VisionUp, block * vision.intermediate_size);
    layout.endAlternatives();
    layout.add(Buffer::VisionClamp,
               block * std::max({vision.hidden_size, vision.intermediate_size, heads}));
    if (is_card) {
        addFusedVision(layout, vision, patches, sizes.shape.image_tokens);
    }
}

void addAudio(WorkspaceLayout& layout, const Sizes& sizes) {
    const AudioConfig& audio = *sizes.config.audio;
    const int64_t frames = sizes.frames;
    const int64_t hidden = audio.hidden_size;
    const int64_t mel2 = (audio.mel_bins + 1) / 2;
    const int64_t mel4 = (mel2 + 1) / 2;
    const int64_t block = std::min(kAudioBlockFrames, frames);
    layout.beginPhase();
    layout.add(Buffer::Mel, frames * 4 * audio.mel_bins);
    layout.add(Buffer::AudioConv1, (2 * block + 4) * mel2 * audio.conv_channels[0]);
    layout.add(Buffer::AudioConv2, (block + 2) * mel4 * audio.conv_channels[1]);
    layout.add(Buffer::AudioX, frames * hidden);
    layout.add(Buffer::AudioH, frames * hidden);
    layout.add(Buffer::AudioT, frames * hidden);
    layout.add(Buffer::AudioQ, frames * hidden);
    layout.add(Buffer::AudioK, frames * hidden);
    layout.add(Buffer::AudioV, frames * hidden);
    layout.add(Buffer::AudioO, frames * hidden);
    layout.add(Buffer::AudioWide, frames * 4 * hidden);
    layout.add(Buffer::AudioClamp, frames * 4 * hidden);
    layout.add(Buffer::AudioOut, frames * audio.output_size);
}

/// Kept for the life of the model, where drafts are chosen without the host.
void addDraftTables(WorkspaceLayout& layout, const AssistantConfig& assistant) {
    const int64_t vocab = assistant.text.vocab_size;
    layout.add(Buffer::DraftNumbers, sizeof(kernels::DraftNumbers) / sizeof(float));
    layout.add(Buffer::DraftSuppressed, (vocab + 31) / 32);
    if (assistant.num_centroids > 0) {
        layout.add(Buffer::DraftOrdering, vocab);
    }
}

void addAssistant(WorkspaceLayout& layout, const AssistantConfig& assistant) {
    const int64_t hidden = assistant.text.hidden_size;
    int64_t widest_mlp = 0;
    for (const LayerConfig& layer : assistant.text.layers) {
        widest_mlp = std::max(widest_mlp, layer.intermediate_size);
    }
    layout.beginPhase();
    layout.add(Buffer::DraftIn, 2 * assistant.backbone_size);
    layout.add(Buffer::DraftPosition, 16);
    layout.add(Buffer::DraftX, hidden);
    layout.add(Buffer::DraftH, hidden);
    layout.add(Buffer::DraftT, hidden);
    layout.add(Buffer::DraftQ, assistant.widestQuery());
    layout.add(Buffer::DraftO, assistant.widestQuery());
    layout.add(Buffer::DraftGate, widest_mlp);
    layout.add(Buffer::DraftUp, widest_mlp);
    if (assistant.num_centroids > 0) {
        layout.add(Buffer::DraftCentroids, assistant.num_centroids);
        layout.add(Buffer::DraftRows, assistant.candidates() * hidden);
    }
    layout.add(Buffer::DraftLogits, assistant.candidates());
}

void addProjectors(WorkspaceLayout& layout, const Sizes& sizes) {
    const int64_t hidden = sizes.config.text.hidden_size;
    if (sizes.role.has_vision_embedder) {
        layout.beginPhase();
        layout.add(Buffer::VisionProjectorIn,
                   sizes.shape.image_tokens * sizes.config.vision->hidden_size);
        layout.add(Buffer::VisionProjectorOut, sizes.shape.image_tokens * hidden);
    }
    if (sizes.role.has_audio_embedder) {
        layout.beginPhase();
        layout.add(Buffer::AudioProjectorIn, sizes.frames * sizes.config.audio->output_size);
        layout.add(Buffer::AudioProjectorOut, sizes.frames * hidden);
    }
}

} // namespace

WorkspaceLayout
layoutWorkspace(const ModelConfig& config, const RunShape& shape, const DeviceRole& role) {
    const Sizes sizes{config, shape, role};
    WorkspaceLayout layout;
    if (role.is_cuda) {
        layout.add(Buffer::KernelScratch, kernelScratchFloats(config, shape, role));
    }
    if (role.has_layers || role.has_ple_projection) {
        layout.add(Buffer::Ids, sizes.rows);
    }
    if (role.has_layers || role.has_assistant) {
        addKeyTables(layout, sizes);
    }
    if (role.has_layers) {
        addLayerTables(layout, sizes);
    }
    if (role.has_assistant && role.is_cuda) {
        addDraftTables(layout, *config.assistant);
    }
    if (role.has_vision && config.vision->has_tower) {
        layout.add(Buffer::VisionInvFreq, config.vision->head_dim);
        layout.add(Buffer::PatchX, sizes.patches);
        layout.add(Buffer::PatchY, sizes.patches);
        layout.add(Buffer::PatchIds, sizes.patches);
    }
    if (role.has_audio) {
        const int64_t reach = config.audio->context_left * config.audio->hidden_size;
        layout.add(Buffer::AudioRelPositions, reach);
        layout.add(Buffer::AudioRelKeys, reach);
    }
    layout.add(Buffer::Tables, role.table_floats);
    if (role.foreign_in > 0 || role.foreign_row > 0) {
        const int64_t rows =
            role.foreign_in > 0 ? foreignRows(role, sizes.rows, sizes.patches, sizes.frames) : 0;
        layout.add(Buffer::ForeignIn, std::max(rows * role.foreign_in, role.foreign_row));
        layout.add(Buffer::ForeignOut, std::max(rows * role.foreign_out, role.foreign_row));
    }

    addDecoder(layout, sizes);
    if (role.has_vision) {
        addVision(layout, sizes);
    }
    if (role.has_audio) {
        addAudio(layout, sizes);
    }
    addProjectors(layout, sizes);
    if (role.has_assistant) {
        addAssistant(layout, *config.assistant);
    }
    return layout;
}

} // namespace engine
