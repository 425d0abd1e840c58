// SPDX-License-Identifier: Apache-2.0
// A model bound to loaded weights and devices, as plain data with shapes: what ModelBinder
// (bind.cpp) makes and every executor of this folder reads. Weights are [out, in] behind a handle
// of the store; nothing here owns one. Who may change what: bind.cpp all of it, nobody else
// anything, but for the workspaces behind `context`.
#pragma once

#include "engine/api/placement.h"
#include "engine/forward/memory/compute_context.h"
#include "engine/forward/memory/expert_counts.h"
#include "engine/forward/token/decode_options.h"
#include "engine/model/layer_recipe.h"
#include "engine/model/model_config.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// A branch of a layer's recipe with its norms, both [hidden]; no data where it has none.
struct BoundBranch {
    BranchBody body = BranchBody::Attention;
    kernels::MatView pre, post;
    float weight = 1.0F;
    bool is_clipped = false;
};

struct AttentionWeights {
    Linear q;                        ///< [heads * head_dim, hidden]; with gates twice as many rows
    Linear k, v;                     ///< [kv_heads * head_dim, hidden]; absent in KV-shared layers
    Linear o;                        ///< [hidden, heads * head_dim]
    kernels::MatView q_norm, k_norm; ///< [head_dim]
};

struct MlpWeights {
    Linear gate, up; ///< [intermediate, hidden]
    Linear down;     ///< [hidden, intermediate]
};

struct PerLayerWeights {
    Linear gate; ///< [ple_size, hidden]
    Linear back; ///< [hidden, ple_size]
};

struct ExpertWeights {
    Linear router;                       ///< [experts, hidden]
    Vector router_scale;                 ///< [hidden]
    std::vector<float> per_expert_scale; ///< [experts]
    Vector expert_scale;                 ///< The same, for steps that do not ask the host.
    Linear gate_up;                      ///< [experts * 2 * moe_intermediate, hidden]
    Linear down;                         ///< [experts * hidden, moe_intermediate]
    kernels::MatView dense_norm;         ///< [hidden], behind the MLP beside the experts,
    kernels::MatView pre_norm;           ///< in front of the experts
    kernels::MatView post_norm;          ///< and behind them.
};

struct DecoderLayer {
    DeviceScratch* home = nullptr;      ///< Where norms and linears run.
    DeviceScratch* attention = nullptr; ///< Where its KV is.
    int kv_layer = -1;                  ///< Owner of the KV it reads (itself for owners).
    std::vector<BoundBranch> branches;  ///< The recipe's.
    AttentionWeights attend;
    MlpWeights mlp;
    PerLayerWeights per_layer;
    ExpertWeights experts;
    float scalar = 1.0F;
    /// More than a few rows go through it in fused steps (fused_rows.h); else by single functions.
    bool takes_rows = false;

    /// Norm in front of its first branch.
    [[nodiscard]] kernels::MatView inputNorm() const { return branches.front().pre; }
};

struct DecoderWeights {
    WeightSource::Handle embedding = WeightSource::kAbsent; ///< [vocab, hidden]
    AdapterHook::Handle embedding_adapter = AdapterHook::kNone;
    float embedding_scale = 1.0F;

    WeightSource::Handle per_layer_table = WeightSource::kAbsent; ///< [vocab, layers * ple_size]
    AdapterHook::Handle per_layer_adapter = AdapterHook::kNone;
    Linear per_layer_projection;             ///< [layers * ple_size, hidden]
    kernels::MatView per_layer_norm;         ///< [ple_size]
    DeviceScratch* per_layer_home = nullptr; ///< Where the projection runs; Buffer::Ple is there.

    std::vector<DecoderLayer> layers;
    kernels::MatView final_norm; ///< [hidden]
    Linear head;                 ///< [vocab, hidden]
    DeviceScratch* head_home = nullptr;
};

struct VisionLayer {
    std::vector<BoundBranch> branches;
    AttentionWeights attend; ///< All [hidden, hidden]
    MlpWeights mlp;
};

/// A layer norm that the host computes: [width] both.
struct LayerNormWeights {
    std::vector<float> weight, bias;
};

struct VisionWeights {
    std::string name; ///< The module's name, for errors.
    DeviceScratch* home = nullptr;
    Linear patches;                                         ///< [hidden, 3 * patch^2]
    WeightSource::Handle positions = WeightSource::kAbsent; ///< [2, positions, hidden]
    /// What an adapter puts in its place, or empty.
    std::span<const float> replaced_positions;
    std::vector<VisionLayer> layers;
    Vector std_bias, std_scale; ///< [hidden]; the large tower's
    Linear projector;           ///< [text hidden, hidden]
    bool takes_rows = false;    ///< Its layers run in fused steps of many rows.
    // An embedder has these instead of layers, and its positions are [positions, 2, hidden].
    std::vector<float> patch_bias; ///< [hidden]
    /// In front of the patches' product, behind it, behind the positions.
    std::array<LayerNormWeights, 3> patch_norms;
};

struct AudioFeedForward {
    Linear in;  ///< [4 * hidden, hidden]
    Linear out; ///< [hidden, 4 * hidden]
};

struct AudioLayer {
    std::vector<BoundBranch> branches;
    std::array<AudioFeedForward, 2> feed_forward; ///< In the order of their branches.
    Linear q, k, v, post;                         ///< [hidden, hidden]
    Linear relative;                              ///< [hidden, hidden], of relative positions
    Vector q_scale;             ///< [head_dim]: softplus(per_dim_scale) * head_dim^-1/2 / ln 2.
    Linear conv_start;          ///< [2 * hidden, hidden]
    Linear conv_end;            ///< [hidden, hidden]
    Vector depthwise;           ///< [hidden, taps]
    kernels::MatView conv_norm; ///< [hidden], behind the convolution
    kernels::MatView out_norm;  ///< [hidden], behind the last branch
};

struct AudioWeights {
    std::string name; ///< The module's name, for errors.
    DeviceScratch* home = nullptr;
    Vector conv_weight[2]; ///< [channels, channels before, 3, 3]
    Vector conv_norm[2];   ///< [channels]
    Linear input;          ///< [hidden, mel / 4 * channels]
    std::vector<AudioLayer> layers;
    Linear output;      ///< [output size, hidden]
    Vector output_bias; ///< [output size]
    Linear projector;   ///< [text hidden, output size]
};

struct AssistantWeights {
    DeviceScratch* home = nullptr;    ///< nullptr: there is no assistant.
    Linear in;                        ///< [hidden, 2 * model hidden], embedding first
    std::vector<DecoderLayer> layers; ///< Without keys and values: they read the model's.
    kernels::MatView norm;            ///< [hidden]
    Linear out;                       ///< [model hidden, hidden]
    Linear centroids;                 ///< [groups, hidden]; of a head in groups
    Linear table;                     ///< [vocab, hidden]
};

/// Decoder layers that follow each other: the model's own, or the assistant's, which are walked by
/// the same executors but have one row at a time, in buffers of their own. Valid until the model is
/// bound again.
struct LayerStack {
    const TextConfig* text = nullptr;
    std::span<const DecoderLayer> layers;
    // Where the rows of one layer lie.
    Buffer h = Buffer::H, t = Buffer::T, q = Buffer::Q, o = Buffer::O;
    Buffer gate = Buffer::Gate, up = Buffer::Up;
    /// Positions that queries are turned by; from `seen_from` on those that decide what they see.
    Buffer position = Buffer::QueryPosition;
    int64_t seen_from = 0;
    Buffer numbers = Buffer::StepInput; ///< Begins with kernels::TokenNumbers; fused steps only.

    [[nodiscard]] const LayerConfig& shape(int index) const {
        return text->layers[static_cast<size_t>(index)];
    }
    [[nodiscard]] const DecoderLayer& layer(int index) const {
        return layers[static_cast<size_t>(index)];
    }
    [[nodiscard]] float eps() const { return static_cast<float>(text->rms_norm_eps); }
};

class HotExperts;

struct BoundModel {
    ModelConfig config;
    PlacementPlan plan;
    DeviceMapping devices;
    bool is_reference = false; ///< fp32 throughout.
    int64_t max_rows = 0;      ///< Rows that one call may have,
    int64_t ring_rows = 0;     ///< and one that asks for more logits than its last row's.
    DecodeOptions decode;
    std::function<void()> step_hook; ///< Called between layers; may be empty.
    std::unique_ptr<ComputeContext> context;

    DecoderWeights text;
    VisionWeights vision;
    AudioWeights audio;
    AssistantWeights assistant;
    /// Experts of the host's: what tokens asked for, and copies on cards, by the layers' home.
    std::shared_ptr<ExpertCounts> expert_counts;
    std::map<const DeviceScratch*, std::shared_ptr<HotExperts>> hot_experts;

    /// Copies that serve this layer; nullptr: none.
    [[nodiscard]] const HotExperts* hotExpertsOf(const DecoderLayer& layer) const;
    [[nodiscard]] int indexOf(const DecoderLayer& layer) const {
        return static_cast<int>(&layer - text.layers.data());
    }
    [[nodiscard]] LayerStack decoderStack() const { return {&config.text, text.layers}; }
    /// Only with an assistant.
    [[nodiscard]] LayerStack assistantStack() const {
        return {.text = &config.assistant->text,
                .layers = assistant.layers,
                .h = Buffer::DraftH,
                .t = Buffer::DraftT,
                .q = Buffer::DraftQ,
                .o = Buffer::DraftO,
                .gate = Buffer::DraftGate,
                .up = Buffer::DraftUp,
                .position = Buffer::DraftPosition,
                .seen_from = kDraftSeenFrom,
                .numbers = Buffer::DraftNumbers};
    }
    /// What happens between two layers: the hook, and the look at the stop token. False: stop.
    [[nodiscard]] bool mayGoOn(const std::stop_token& stop) const {
        if (step_hook) {
            step_hook();
        }
        return !stop.stop_requested();
    }
    /// Image, sound and video placeholders: their rows are features, or stand for pad's.
    [[nodiscard]] bool isPlaceholder(int32_t id) const {
        return id == config.image_token_id || id == config.audio_token_id ||
               id == config.video_token_id;
    }
    /// A layer's slice begins there in a row of the per-layer inputs.
    [[nodiscard]] int64_t perLayerWidth() const {
        return config.text.num_layers * config.text.ple_size;
    }
};

} // namespace engine
