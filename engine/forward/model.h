// SPDX-License-Identifier: Apache-2.0
// A Gemma 4 model bound to loaded weights and devices: the forward pass of the decoder and both
// towers. It owns scratch, not weights and not the KV cache. Formulas: ARCHITECTURE.md,
// sections 3 to 5; file per part: decoder.cpp, vision_tower.cpp, audio_tower.cpp, bind.cpp.
// Belongs to the engine thread.
#pragma once

#include "engine/api/placement.h"
#include "engine/forward/compute_context.h"
#include "engine/forward/decode_options.h"
#include "engine/forward/kv_cache.h"
#include "engine/forward/token_choice.h"
#include "engine/forward/upload_rows.h"
#include "engine/model/media_encoder.h"
#include "engine/model/model_config.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// Rows of the input that are not token embeddings: one run of soft tokens of one image or clip.
struct FeatureSpan {
    int64_t first_row = 0; ///< Within this call's rows.
    int64_t count = 0;
    const float* features = nullptr; ///< [count, hidden], host memory, not scaled.
};

struct ForwardInput {
    std::span<const int32_t> ids;   ///< Rows of this call; placeholders as they are.
    std::span<const int32_t> block; ///< Image block per row or -1; empty = none.
    std::vector<FeatureSpan> features;
    int64_t logits_rows = 1; ///< Logits for the last n rows; the others stop after the
                             ///< last layer that owns KV. 0 = fill the cache only.
    /// For a single row: where this is told, forward() leaves the logits as they were.
    TokenChoice* choice = nullptr;
};

/// Sees the residual stream, for tests: (index, values [rows, hidden]); index 0 after embedding,
/// i after decoder layer i - 1, num_layers after the final norm.
using HiddenObserver = std::function<void(int index, std::span<const float> values, int64_t rows)>;

/// Pixels of one image, ready for the tower.
struct ImageInput {
    std::span<const float> patches; ///< [grid_h * grid_w, patch^2 * 3], pixel / 255.
    int64_t grid_w = 0, grid_h = 0; ///< In patches; multiples of the pooling kernel.
};

class DecodeStep;
class SplitSteps;

class Model {
public:
    /// Binds every module to its weights. `weights` and `devices` must outlive the model.
    /// Errors: InvalidFile (missing tensor), OutOfMemory (workspace).
    static Result<std::unique_ptr<Model>> create(ModelConfig config,
                                                 const PlacementPlan& plan,
                                                 WeightSource& weights,
                                                 const DeviceMapping& devices,
                                                 AdapterHook* adapters);

    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    [[nodiscard]] const ModelConfig& config() const { return config_; }

    /// What of the plan decides the values of cached rows, as numbers to compare: the formats of
    /// the decoder's weights (not the head's), of the vision and the audio tower with their
    /// projectors. Places are not in them: wherever weights lie, rows are the same.
    struct FormatKeys {
        uint64_t text = 0, vision = 0, audio = 0;
    };
    [[nodiscard]] const FormatKeys& formatKeys() const { return format_keys_; }

    /// Binds adapter handles again; call after any change of the adapter set's members.
    Result<void> setAdapters(AdapterHook* adapters);
    /// Instead of it where only strengths of low-rank updates changed, none from or to 0: a
    /// recorded decode step follows their factors and stays.
    void adapterStrengthsChanged();

    /// Runs rows at positions [kv.size(), kv.size() + ids.size()) and appends them to the cache.
    /// logits: [logits_rows, vocab], soft-capped. On error or cancel the cache is as before, or
    /// empty when the call was so long that the window before it is gone.
    /// Errors: InvalidRequest (context full, ids outside the vocabulary), Cancelled, device errors.
    Result<void> forward(const ForwardInput& input,
                         KvCache& kv,
                         std::vector<float>& logits,
                         const std::stop_token& stop,
                         const HiddenObserver* observer = nullptr);

    /// Vision tower and projector: features [soft tokens, hidden] in host memory.
    /// `tower_output` (tests) receives the pooled tower output [soft tokens, vision hidden].
    Result<std::vector<float>> encodeImage(const ImageInput& image,
                                           const std::stop_token& stop,
                                           std::vector<float>* tower_output = nullptr);
    /// Audio tower and projector for log-mel frames [frames, mel_bins]: features
    /// [ceil(ceil(frames/2)/2), hidden].
    Result<std::vector<float>> encodeAudio(std::span<const float> log_mel,
                                           int64_t frames,
                                           const std::stop_token& stop,
                                           std::vector<float>* tower_output = nullptr);

    /// The same in two halves: the towers use nothing but the devices that they compute on, so that
    /// they may run on a thread of their own beside a decoder that computes elsewhere; what the
    /// projector takes, [soft tokens, tower width], passes through the host. The projectors belong
    /// to the thread of everything else.
    Result<std::vector<float>> runVisionTower(const ImageInput& image, const std::stop_token& stop);
    Result<std::vector<float>>
    runAudioTower(std::span<const float> log_mel, int64_t frames, const std::stop_token& stop);
    Result<std::vector<float>> projectImage(std::span<const float> tower);
    Result<std::vector<float>> projectAudio(std::span<const float> tower);

    /// The towers as encoders of pictures and sounds; nullptr for what the model does not take.
    [[nodiscard]] MediaEncoder* pictures() const { return pictures_.get(); }
    [[nodiscard]] MediaEncoder* sounds() const { return sounds_.get(); }

    /// The fused decode step, or nullptr where this plan cannot use it: then use forward().
    [[nodiscard]] DecodeStep* decodeStep(const KvCache& kv);

    /// Called before every layer of the decoder (prompts, not single tokens) and of the towers:
    /// long work lets others look at the memory meanwhile.
    void setStepHook(std::function<void()> hook) { step_hook_ = std::move(hook); }

    /// Before the first token.
    void setDecodeOptions(const DecodeOptions& options) { decode_options_ = options; }
    [[nodiscard]] const DecodeOptions& decodeOptions() const { return decode_options_; }

    /// Rows that one forward() may have, and rows when logits of that many are wanted.
    [[nodiscard]] int64_t maxRowsPerCall(int64_t logits_rows = 1) const {
        return logits_rows > ring_rows_ ? ring_rows_ : max_rows_;
    }
    [[nodiscard]] const TransferCounters& transfers() const { return context_->transfers(); }

private:
    friend class ModelBinder;
    friend class DecodeStep;
    friend class LayerSteps;
    friend class SplitSteps;
    friend class StepInputs;

    struct DecoderLayer {
        DeviceScratch* home = nullptr;      ///< Where norms and linears run.
        DeviceScratch* attention = nullptr; ///< Where its KV is.
        int kv_layer = -1;                  ///< Owner of the KV it reads (itself for owners).
        Linear q, k, v, o, gate, up, down, ple_gate, ple_projection;
        kernels::MatView q_norm, k_norm, input_norm, post_attention_norm, pre_mlp_norm,
            post_mlp_norm, ple_norm;
        float layer_scalar = 1.0F;
        // Experts (26B-A4B)
        Linear router, experts_gate_up, experts_down;
        Vector router_scale;
        std::vector<float> per_expert_scale;
        kernels::MatView post_mlp_norm_1, post_mlp_norm_2, pre_mlp_norm_2;
    };
    struct VisionLayer {
        Linear q, k, v, o, gate, up, down;
        kernels::MatView q_norm, k_norm, input_norm, post_attention_norm, pre_mlp_norm,
            post_mlp_norm;
    };
    struct AudioFeedForward {
        Linear in, out;
        kernels::MatView pre_norm, post_norm;
    };
    struct AudioLayer {
        AudioFeedForward ff1, ff2;
        Linear q, k, v, post, rel_k, conv_start, conv_end;
        kernels::MatView norm_pre_attn, norm_post_attn, norm_out, conv_pre_norm, conv_norm;
        Vector q_scale;   ///< [head_dim]: softplus(per_dim_scale) * head_dim^-1/2 / ln 2.
        Vector depthwise; ///< [hidden, taps]
    };

    Model();

    /// The vision tower's output on its device, pooled, before the projector's norm.
    struct TowerRows {
        kernels::MutF32 rows;
        bool is_fused = false; ///< In memory that the projector's input never shares.
    };
    Result<TowerRows> visionTower(const ImageInput& image,
                                  const std::stop_token& stop,
                                  std::vector<float>* tower_output);
    /// The audio tower's output with the projector's norm, in host memory.
    Result<std::vector<float>> audioTower(std::span<const float> log_mel,
                                          int64_t frames,
                                          const std::stop_token& stop,
                                          std::vector<float>* tower_output);
    /// The norm in front of a projector, in place, and its result in host memory.
    static Result<std::vector<float>>
    normedOnHost(DeviceScratch& home, kernels::MutF32 rows, float eps, const std::string& name);
    /// A projector wherever its weight computes; features in host memory.
    Result<std::vector<float>> projected(const Linear& projector,
                                         DeviceScratch& where,
                                         kernels::MutF32 in,
                                         const char* out_name);
    Result<std::vector<float>> projectedFromHost(const Linear& projector,
                                                 std::span<const float> tower,
                                                 int64_t width,
                                                 const char* in_name,
                                                 const char* out_name);

    /// The table where it lies in `where`'s own memory, so that its kernels gather the rows of this
    /// call: no byte of the table passes through the host. Nothing when it lies elsewhere, an
    /// adapter changes rows of it or an id of this call is outside it: gather on the host then.
    [[nodiscard]] std::optional<kernels::WeightView> tableThere(WeightSource::Handle table,
                                                                AdapterHook::Handle adapter,
                                                                const DeviceScratch& where) const;
    /// Fused steps for the parts of a token, or nullptr where no layer of this plan has them.
    [[nodiscard]] SplitSteps* splitSteps(const KvCache& kv);
    /// Token ids of this call to `where`.
    Result<const int32_t*> uploadIds(DeviceScratch& where);
    Result<void> embed(const ForwardInput& input, DeviceScratch& home, kernels::MutF32 x);
    /// full_rows: the last rows, which go through all layers; the others stop at the cut.
    Result<void> perLayerInputs(DeviceScratch& home, kernels::MutF32 x, int64_t full_rows);
    /// The first ple.cols columns for rows that begin at `first_row` of this call. table: as
    /// `where` reads it, or nullptr; the ids are then in its buffer.
    Result<void> perLayerRows(DeviceScratch& where,
                              kernels::MutF32 merged,
                              int64_t first_row,
                              kernels::MutF32 ple,
                              const kernels::WeightView* table);
    /// Before the cache takes the rows of a call: what the stage will hold, or that none is needed.
    Result<void> openStage(const KvCache& kv, const ForwardInput& input);
    Result<void> uploadPositions(DeviceScratch& where,
                                 const KvCache& kv,
                                 const ForwardInput& input,
                                 int64_t start);
    Result<void> attend(DecoderLayer& layer,
                        int index,
                        KvCache& kv,
                        kernels::MatF32 normed,
                        int64_t first_row,
                        bool has_blocks);
    /// Keys, values and mask of a layer's attention; q and out are the caller's.
    kernels::AttentionArgs attentionOf(const DecoderLayer& layer,
                                       int index,
                                       const KvCache& kv,
                                       int64_t rows,
                                       int64_t first_row,
                                       bool has_blocks);
    Result<void> storeKv(DecoderLayer& layer, int index, KvCache& kv, kernels::MatF32 normed);
    /// The rows of the last append() that layer `owner` has stored to the mirrors of its cache, in
    /// runs of consecutive slots.
    Result<void> updateMirrors(int owner, const KvCache& kv);
    /// One layer's part of the per-layer inputs to another device.
    Result<void> moveSlice(kernels::MatF32 from, DeviceScratch& home, kernels::MutF32 to);
    /// `h` holds the input norm of x on entry and is overwritten.
    Result<void> runLayer(int index,
                          KvCache& kv,
                          kernels::MutF32 x,
                          kernels::MutF32 h,
                          int64_t first_row,
                          bool has_blocks);
    // decoder_rows.cpp: the same in fused steps of many rows.
    /// Rows of a call that go through a layer: the first of them, and whose normed input (of which
    /// layer; -1: nobody's) begins where in "h".
    struct RowPlace {
        int64_t first = 0, normed = 0;
        int normed_layer = -1;
    };
    enum class HeadsWanted : uint8_t { All = 1, Queries, Keys };
    /// Whether `rows` rows may go through layer `index` so.
    [[nodiscard]] bool canFuseRows(int index, const KvCache& kv, int64_t rows) const;
    /// h = the layer's input norm of x in bf16.
    Result<void> normInput(int index, DeviceScratch& home, kernels::MutF32 x);
    /// Queries to "o", keys and values to the cache, all in bf16. Errors: Unsupported (nothing was
    /// changed but "h").
    Result<void>
    projectHeads(int index, KvCache& kv, int64_t rows, const RowPlace& place, HeadsWanted wanted);
    /// "h" holds the layer's normed input on entry, as `place` says, and on return the next
    /// layer's, if that runs here so. Errors: Unsupported (of the first layer on a device, whose
    /// first product or norm refuses what all would: x is as it was).
    Result<void> runLayerFused(int index,
                               KvCache& kv,
                               kernels::MutF32 x,
                               RowPlace& place,
                               HeadsWanted wanted,
                               bool has_blocks);
    Result<void> routerScores(DecoderLayer& layer,
                              DeviceScratch& home,
                              kernels::MutF32 z,
                              kernels::MutF32 scores);
    Result<void> runExperts(DecoderLayer& layer, kernels::MutF32 x, kernels::MutF32 dense);
    Result<void> head(DeviceScratch& home,
                      kernels::MutF32 x,
                      std::vector<float>& logits,
                      const HiddenObserver* observer);
    Result<void> visionLayer(const VisionLayer& layer,
                             DeviceScratch& home,
                             int64_t patches,
                             const std::string& name);
    /// The states of the patches averaged over what a soft token stands for, times `factor`.
    Result<std::vector<float>>
    poolOnHost(const ImageInput& image, DeviceScratch& home, float factor);
    /// Whether the layers of the tower may run in fused steps (vision_rows.cpp).
    [[nodiscard]] bool canFuseVision(const DeviceScratch& home) const;
    /// vx = the embedded patches. rows_of_table: of every patch's row, in the position table.
    Result<void> embedPatches(const ImageInput& image,
                              DeviceScratch& home,
                              const kernels::WeightView& table,
                              const std::vector<int32_t>& rows_of_table);
    /// is_first: its input norm has not been made by the layer before. Errors: Unsupported (of the
    /// first layer, vx is as it was).
    Result<void> visionLayerFused(const VisionLayer& layer,
                                  const VisionLayer* next,
                                  DeviceScratch& home,
                                  int64_t patches,
                                  bool is_first);
    Result<void> audioFeedForward(const AudioFeedForward& ff, DeviceScratch& home, int64_t frames);
    Result<void> audioLayer(const AudioLayer& layer, DeviceScratch& home, int64_t frames);
    Result<void> audioSubsample(DeviceScratch& home, int64_t mel_frames, kernels::MutF32 out);

    /// What happens between two layers: the hook, and the look at the stop token.
    [[nodiscard]] bool step(const std::stop_token& stop) const {
        if (step_hook_) {
            step_hook_();
        }
        return !stop.stop_requested();
    }

    std::function<void()> step_hook_;
    DecodeOptions decode_options_;
    ModelConfig config_;
    PlacementPlan plan_;
    FormatKeys format_keys_;
    DeviceMapping devices_;
    std::unique_ptr<ComputeContext> context_;
    int64_t max_rows_ = 0, ring_rows_ = 0;
    /// Of a call with more rows than the sliding ring has room for: where its keys and values lie
    /// while it attends to them (workspace.h, stageRows).
    struct Stage {
        bool is_used = false;
        int64_t held = 0; ///< Slots copied from the ring.
        std::vector<int32_t> slots, positions, blocks;
    };
    Stage stage_;
    bool is_reference_ = false;
    float embed_scale_ = 1.0F;

    // Text
    WeightSource::Handle embed_tokens_ = WeightSource::kAbsent;
    WeightSource::Handle ple_table_ = WeightSource::kAbsent;
    AdapterHook::Handle embed_adapter_ = AdapterHook::kNone;
    AdapterHook::Handle ple_adapter_ = AdapterHook::kNone;
    Linear lm_head_, ple_model_projection_;
    kernels::MatView final_norm_, ple_projection_norm_;
    std::vector<DecoderLayer> layers_;
    DeviceScratch* ple_home_ = nullptr;
    DeviceScratch* head_home_ = nullptr;
    std::vector<int32_t> ids_host_, position_host_, block_host_;
    std::vector<float> rows_host_;
    UploadRows embed_upload_, ple_upload_;
    std::unique_ptr<DecodeStep> decode_step_;
    std::unique_ptr<SplitSteps> split_steps_;
    std::unique_ptr<MediaEncoder> pictures_, sounds_;

    // Vision
    DeviceScratch* vision_home_ = nullptr;
    Linear patch_projection_, embed_vision_;
    WeightSource::Handle position_table_ = WeightSource::kAbsent;
    /// The table that an adapter puts in its place, [2, positions, hidden], or empty.
    std::span<const float> replaced_positions_;
    std::vector<VisionLayer> vision_layers_;
    bool is_vision_fused_ = true; ///< Until the table refuses.
    Vector std_bias_, std_scale_;

    // Audio
    DeviceScratch* audio_home_ = nullptr;
    Vector conv_weight_[2], conv_norm_[2], audio_output_bias_;
    Linear audio_input_, audio_output_, embed_audio_;
    std::vector<AudioLayer> audio_layers_;
};

} // namespace engine
