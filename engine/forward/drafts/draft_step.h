// SPDX-License-Identifier: Apache-2.0
// One draft as a recording of fused steps on one card: the token's embedding, the assistant's
// layers as one launch where the card takes them so, the choice. It leaves what the next draft
// begins with on the card, so that a round of drafts is as many replays and one wait. Serves
// assistants that are whole on the card whose caches they read, with the model's token table where
// the card reads it; drafter.h's single functions do everything else, and are the reference.
#pragma once

#include "engine/forward/bound_model.h"
#include "engine/forward/layers/layer_steps.h"
#include "engine/forward/memory/kv_cache.h"
#include "engine/forward/token/step_recording.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace engine {

class DraftStep {
public:
    explicit DraftStep(BoundModel& model) : model_(&model), steps_(model) {}

    /// The plan, the formats and the card allow it. Cheap after the first call.
    [[nodiscard]] bool isPossible(const KvCache& kv);
    /// What a round begins with: `token` behind those in `kv`, hidden [model hidden].
    struct Start {
        int32_t token = 0;
        std::span<const float> hidden;
        /// Queries are turned as at position kv.size() - 1 + turn (DraftPosition).
        int32_t turn = 1;
    };
    /// Enqueues `count` drafts in a row.
    Result<void> begin(const Start& start, int64_t count, const KvCache& kv);
    /// Waits for them, not for what was enqueued behind them.
    Result<void> end(int64_t count, std::vector<int32_t>& drafts);
    /// In the card's memory: those of the round that has begun, for what is enqueued behind it.
    [[nodiscard]] const int32_t* draftsThere() const { return numbers()->draft; }
    [[nodiscard]] const DeviceScratch* home() const { return home_; }

    /// Drops the recording: bindings, adapters or buffers changed.
    void reset();

private:
    /// What is sent for a round, and where the card tells the drafts.
    struct Sent {
        kernels::DraftNumbers numbers;
        int32_t told[kernels::DraftNumbers::kMost + 1];
    };

    [[nodiscard]] bool isHere(const KvCache& kv) const;
    /// The card takes these steps.
    bool areStepsTaken(const KvCache& kv);
    Result<void> prepare();
    Result<void> send(const Start& start, const KvCache& kv);
    Result<void> enqueue(const KvCache& kv);
    Result<void> enqueueInput();
    /// From the model's embedding and hidden state to the assistant's row.
    Result<void> projectInput();
    Result<void> enqueueEnd();
    Result<void> enqueueChoice();
    Result<kernels::DraftChoiceArgs> choiceArgs() const;
    [[nodiscard]] Sent& sent() const { return *reinterpret_cast<Sent*>(host_.get()); }
    [[nodiscard]] kernels::DraftNumbers* numbers() const;

    BoundModel* model_;
    LayerSteps steps_;
    DeviceScratch* home_ = nullptr;
    enum class State : uint8_t { Unknown = 1, Possible, Impossible };
    State state_ = State::Unknown;
    std::optional<kernels::WeightView> embedding_;
    std::shared_ptr<std::byte> host_; ///< Page-locked: Sent, ring positions, hidden row.
    Recording graph_;
    std::vector<const void*> recorded_kv_; ///< K of each layer's cache when it was recorded.
    int32_t turn_ = 1;                     ///< Value in the recording.
};

} // namespace engine
