// SPDX-License-Identifier: Apache-2.0
// One decoded token as a fixed sequence of fused steps on one device, recorded once and replayed.
// Serves models whose decoder, KV cache and head are all on one device whose table has the fused
// steps; decoders that several devices share take parts of it (split_steps.h), everything else runs
// layer by layer (token_runner.h), which gives the same answer.
//
// What changes from token to token (position, cache rows, embedding and per-layer rows) travels in
// one block of page-locked memory that the recording's first node copies in; the chosen token comes
// back in the last. Where the host draws the token, the last node tells it the candidates instead
// of the row of logits (DecodeOptions::has_candidates).
#pragma once

#include "engine/forward/token/step_inputs.h"
#include "engine/forward/token/step_recording.h"
#include "engine/forward/token/token_choice.h"

#include <span>
#include <vector>

namespace engine {

class DecodeStep {
public:
    explicit DecodeStep(BoundModel& model) : model_(&model), inputs_(model), steps_(model) {}

    /// The plan, the formats and the device allow fused steps. Cheap after the first call.
    [[nodiscard]] bool isPossible(const KvCache& kv);

    /// Appends token `id` to the cache. logits (may be nullptr) receives [vocab], soft-capped;
    /// greedy (may be nullptr) the token with the largest logit, suppressed ones left out.
    /// On error the cache is as before.
    Result<void> run(int32_t id, KvCache& kv, std::vector<float>* logits, int32_t* greedy);

    /// The device can tell the candidates for a token that the host draws: runForTop() is of use.
    [[nodiscard]] bool hasTopLogits() const;
    /// As run(), for a choice among the `wanted` largest logits (1 to TopLogits::kMostWanted),
    /// suppressed ones left out: what TopLogits holds, valid until the next call. Empty where that
    /// does not tell; then `logits` has received [vocab], soft-capped.
    Result<std::span<const kernels::TokenLogit>>
    runForTop(int32_t id, KvCache& kv, int32_t wanted, std::vector<float>& logits);

    /// Somebody else writes the device's list of suppressed tokens.
    void forgetSuppressed() { suppressed_.forget(); }

    /// The rest of a prompt for its last row alone: layers from `first_layer` on, whose keys and
    /// values are all in the cache, and the head. x: the row in front of that layer, left as it is;
    /// row: of the per-layer inputs. logits: as of run(). False: this device does not take them so,
    /// nothing was done.
    Result<bool> finish(int first_layer,
                        const float* x,
                        int64_t row,
                        const KvCache& kv,
                        std::vector<float>& logits);

    /// Tokens that every choice leaves out. Sent where they are others than before.
    Result<void> setSuppressed(std::span<const int32_t> ids) {
        return suppressed_.send(*home_, ids, model_->config.text.vocab_size);
    }

    /// Drops the recording: bindings, adapters or buffers changed.
    void reset();
    /// Drops it only where a strength is part of it: updates that the fused steps do not take.
    void strengthsChanged();

private:
    static constexpr size_t kKeyBytes = sizeof(uint64_t); ///< Key of a chosen token.

    /// What a caller wants to know of the token behind the one that it appends.
    struct Wanted {
        std::vector<float>* logits = nullptr;
        int32_t* greedy = nullptr;
        int32_t top = 0; ///< Candidates; 0: none. The row only where they do not tell.
    };
    Result<void> advance(int32_t id, KvCache& kv, const Wanted& wanted);
    Result<void> copyLogitsOut(std::vector<float>& logits);

    Result<void> prepare();
    Result<void> enqueueLastRow(
        int first_layer, const float* x, int64_t row, const KvCache& kv, CollectedSteps& collected);
    Result<void> enqueue(const KvCache& kv);
    Result<void> sendInput();
    /// Behind the head: the soft cap, and the greedy choice or the candidates to the end of host_.
    Result<void> enqueueChoice();
    Result<void> enqueueTop();
    /// On the host: the key of the chosen token.
    [[nodiscard]] std::byte* result() const { return host_.get() + result_at_; }
    /// On the host, in the same place: the candidates.
    [[nodiscard]] kernels::TopLogits& top() const;

    BoundModel* model_;
    SuppressedTokens suppressed_;
    StepInputs inputs_;
    LayerSteps steps_; ///< Steps of the recording.
    DeviceScratch* home_ = nullptr;
    enum class State : uint8_t { Unknown = 1, Possible, Impossible };
    State state_ = State::Unknown;
    std::shared_ptr<std::byte> host_; ///< Page-locked: input block, then the result.
    Recording graph_;
    const void* recorded_kv_ = nullptr; ///< K of the first owner when the graph was recorded.
    size_t result_at_ = 0;              ///< In host_, behind the input block: result() and top().
    int32_t top_ = 0; ///< Candidates that the recording finds; 0: it chooses itself.
};

} // namespace engine
