// SPDX-License-Identifier: Apache-2.0
// A model bound to loaded weights and devices: the forward pass of the decoder and both towers. It
// owns scratch, not weights and not the KV cache. The main path: bind.cpp fills bound_model.h;
// decoder.h runs the rows of a prompt, token_runner.h one token, vision_tower.h and audio_tower.h
// what is attached. Belongs to the engine thread.
#pragma once

#include "engine/forward/decoder.h"
#include "engine/forward/drafts/drafter.h"
#include "engine/forward/token/token_runner.h"
#include "engine/forward/towers/audio_tower.h"
#include "engine/forward/towers/vision_tower.h"
#include "engine/model/media_encoder.h"
#include "engine/model/media_kind.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// Drafts and their check, one behind the other (Model::draftAndCheck).
struct DraftRound {
    int32_t token = 0;                  ///< Said, not in the cache.
    int64_t count = 0;                  ///< Drafts, at least one.
    std::span<const float> hidden;      ///< As of Drafter::begin().
    std::vector<int32_t> ids;           ///< Filled: the token and the drafts.
    std::function<void()> when_drafted; ///< Called when the drafts are there; may be empty.
};

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

    [[nodiscard]] const ModelConfig& config() const { return bound_.config; }

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
    void adapterStrengthsChanged() { tokens_.strengthsChanged(); }

    /// Runs rows at positions [kv.size(), kv.size() + ids.size()) and appends them to the cache.
    /// logits: [logits_rows, vocab], soft-capped. On error or cancel the cache is as before, or
    /// empty when the call was so long that the window before it is gone.
    /// Errors: InvalidRequest (context full, ids outside the vocabulary), Cancelled, device errors.
    Result<void> forward(const ForwardInput& input,
                         KvCache& kv,
                         std::vector<float>& logits,
                         const std::stop_token& stop,
                         const HiddenObserver* observer = nullptr);
    /// The same for one token that is no placeholder's feature, with its logits, or with the choice
    /// behind it (may be nullptr) where the device makes that: logits are then as they were.
    Result<void> step(int32_t id,
                      KvCache& kv,
                      TokenChoice* choice,
                      std::vector<float>& logits,
                      const std::stop_token& stop);
    /// step() of a few tokens that follow each other, with weights read once for four of them.
    /// False: not of this model, cache or number (see CheckStep); nothing was done, forward() does
    /// it.
    Result<bool> check(std::span<const int32_t> ids, KvCache& kv, RowChoices& choices);
    /// Drafts and the check() of them where one card takes both, which does not wait for the host
    /// between them. False: not here; nothing was done.
    Result<bool> draftAndCheck(DraftRound& round, KvCache& kv, RowChoices& choices);
    /// Waits for what a token that was given up has left under way. Call it before anything else
    /// touches the cache or the weights.
    void settle() { tokens_.settle(); }

    /// Makes drafts of tokens; nullptr where no assistant is loaded.
    [[nodiscard]] Drafter* drafter() {
        return bound_.config.assistant.has_value() ? &drafter_ : nullptr;
    }

    /// The towers, of models that have them. Errors otherwise: InvalidRequest.
    [[nodiscard]] VisionTower& vision() { return vision_; }
    [[nodiscard]] AudioTower& audio() { return audio_; }
    /// What takes pictures and sounds, a tower or what a model has instead; nullptr for what the
    /// model does not take.
    [[nodiscard]] MediaEncoder* encoder(MediaKind kind) const { return encoders_[kind].get(); }

    /// Called before every layer of the decoder and of the towers, not within a token of fused
    /// steps: long work lets others look at the memory meanwhile.
    void setStepHook(std::function<void()> hook) { bound_.step_hook = std::move(hook); }

    /// Before the first token.
    void setDecodeOptions(const DecodeOptions& options) { bound_.decode = options; }
    [[nodiscard]] const DecodeOptions& decodeOptions() const { return bound_.decode; }

    /// Routed experts that lie in main memory: how often tokens asked for each; nullptr where the
    /// model has none.
    [[nodiscard]] ExpertCounts* expertCounts() const { return bound_.expert_counts.get(); }
    /// What their copies on a card are worth.
    [[nodiscard]] ExpertCacheState expertCache(DeviceId card) const;
    /// Copies those that were asked for most to the cards that have room, at most `most_bytes` on
    /// each, until a stop is requested. Errors: DeviceLost; the copies are given up then.
    Result<void> followExperts(size_t most_bytes, const std::stop_token& stop);
    /// Gives up the copies and their room; false: there are none.
    bool dropExperts();

    /// Rows that one forward() may have, and rows when logits of that many are wanted.
    [[nodiscard]] int64_t maxRowsPerCall(int64_t logits_rows = 1) const {
        return logits_rows > bound_.ring_rows ? bound_.ring_rows : bound_.max_rows;
    }
    [[nodiscard]] const TransferCounters& transfers() const { return bound_.context->transfers(); }

private:
    Model()
        : decoder_(bound_), tokens_(bound_, decoder_), drafter_(bound_), vision_(bound_),
          audio_(bound_) {}
    void makeEncoders();
    /// That many more tokens fit the cache and are in the vocabulary.
    [[nodiscard]] Result<void> checkRoom(std::span<const int32_t> ids, const KvCache& kv) const;

    BoundModel bound_;
    Decoder decoder_;
    TokenRunner tokens_;
    Drafter drafter_;
    VisionTower vision_;
    AudioTower audio_;
    FormatKeys format_keys_;
    PerMedia<std::unique_ptr<MediaEncoder>> encoders_;
};

} // namespace engine
