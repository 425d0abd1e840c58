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
//
// Where the device chooses the token itself and reads both tables (they may be page-locked in the
// host's memory), nothing has to travel: the last
// node makes the numbers of the next token, so that its replay can be enqueued while this one runs
// (looking ahead; DecodeOptions::looks_ahead). The host sends the numbers only
// where it knows better: for a first token, and for one that it has chosen. A step that ran ahead
// for a token that is then not said has written one row of every cache, which the cache knows about
// (KvCache::noteAhead) and nobody reads.
#pragma once

#include "engine/forward/step_inputs.h"
#include "engine/forward/step_recording.h"
#include "engine/forward/token_choice.h"

#include <optional>
#include <span>
#include <vector>

namespace engine {

class DecodeStep {
public:
    explicit DecodeStep(BoundModel& model) : model_(&model), inputs_(model), steps_(model) {}
    ~DecodeStep();
    DecodeStep(const DecodeStep&) = delete;
    DecodeStep& operator=(const DecodeStep&) = delete;

    /// The plan, the formats and the device allow fused steps. Cheap after the first call.
    [[nodiscard]] bool isPossible(const KvCache& kv);

    /// Appends token `id` to the cache. logits (may be nullptr) receives [vocab], soft-capped;
    /// greedy (may be nullptr) the token with the largest logit, suppressed ones left out.
    /// On error the cache is as before. Unsupported: nothing was done; it is not possible any more.
    /// wants_next: unless the text ends with it, the next call will be run() of *greedy. Its step
    /// may then be under way already; settle() where the next call is another one.
    Result<void> run(int32_t id,
                     KvCache& kv,
                     std::vector<float>* logits,
                     int32_t* greedy,
                     bool wants_next = false);

    /// The device can tell the candidates for a token that the host draws: runForTop() is of use.
    [[nodiscard]] bool hasTopLogits() const;
    /// As run(), for a choice among the `wanted` largest logits (1 to TopLogits::kMostWanted),
    /// suppressed ones left out: what TopLogits holds, valid until the next call. Empty where that
    /// does not tell; then `logits` has received [vocab], soft-capped.
    Result<std::span<const kernels::TokenLogit>>
    runForTop(int32_t id, KvCache& kv, int32_t wanted, std::vector<float>& logits);

    /// Somebody else writes the device's list of suppressed tokens.
    void forgetSuppressed() { suppressed_.reset(); }

    /// Waits for a step that ran ahead, which is then forgotten. Before anything else touches the
    /// cache, the weights or this object's memory.
    void settle();

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
    Result<void> setSuppressed(std::span<const int32_t> ids);

    /// Drops the recording: bindings, adapters or buffers changed.
    void reset();
    /// Drops it only where a strength is part of it: updates that the fused steps do not take.
    void strengthsChanged();

private:
    static constexpr size_t kKeyBytes = sizeof(uint64_t); ///< Of a chosen token.

    /// What a caller wants to know of the token behind the one that it appends.
    struct Wanted {
        std::vector<float>* logits = nullptr;
        int32_t* greedy = nullptr;
        bool has_next = false; ///< As wants_next of run().
        int32_t top = 0;       ///< Candidates; 0: none. The row only where they do not tell.
    };
    Result<void> advance(int32_t id, KvCache& kv, const Wanted& wanted);
    Result<void> copyLogitsOut(std::vector<float>& logits);

    Result<void> prepare();
    Result<void> enqueueLastRow(
        int first_layer, const float* x, int64_t row, const KvCache& kv, CollectedSteps& collected);
    Result<void> enqueue(const KvCache& kv);
    /// Makes graph_, if the device takes recordings.
    Result<void> record(const KvCache& kv);
    /// The token at position kv.size(), which nobody has chosen yet. Errors: DeviceLost.
    Result<void> enqueueAhead(KvCache& kv);
    /// are_keys_stored: of the first of these layers.
    Result<void> enqueueLayersAndHead(LayerSteps& steps,
                                      int first_layer,
                                      bool are_keys_stored,
                                      const KvCache& kv);
    Result<void> sendInput();
    /// Behind the head: the soft cap, and the greedy choice or the candidates to the end of host_.
    Result<void> enqueueChoice(const KvCache& kv);
    Result<void> enqueueTop();
    /// On the host: the key of the token that was chosen behind the one at `position`.
    [[nodiscard]] std::byte* resultOf(int64_t position) const;
    /// On the host, in the same place: the candidates.
    [[nodiscard]] kernels::TopLogits& top() const;

    BoundModel* model_;
    std::optional<std::vector<int32_t>> suppressed_; ///< As the device has them.
    StepInputs inputs_;
    LayerSteps steps_; ///< Of the recording.
    DeviceScratch* home_ = nullptr;
    enum class State : uint8_t { Unknown = 1, Possible, Impossible };
    State state_ = State::Unknown;
    kernels::GraphHandle graph_ = nullptr;
    const void* recorded_kv_ = nullptr; ///< K of the first owner when the graph was recorded.
    std::byte* host_ = nullptr;         ///< Page-locked: input block, then the result.
    /// In host_, behind the input block: keys of chosen tokens, 8 bytes each; see resultOf(),
    /// top().
    size_t result_at_ = 0;
    bool may_collect_ = true;    ///< False where the device refused the steps as one launch.
    bool is_collecting_ = false; ///< The last attempt handed them over that way.
    bool may_chain_ = true;   ///< False where the device refused to make the next token's numbers.
    bool is_chained_ = false; ///< The recording does, and sends none.
    int32_t top_ = 0;         ///< Candidates that the recording finds; 0: it chooses itself.
    /// The step that is under way before anybody asked for it.
    struct Ahead {
        const KvCache* kv = nullptr; ///< nullptr: none
        int64_t position = 0;
        int32_t id = -1; ///< Known when the step before has ended; -1: not to be used.
    } ahead_;
};

} // namespace engine
