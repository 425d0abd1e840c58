// SPDX-License-Identifier: Apache-2.0
// A few tokens that follow each other as one recording of fused steps on one device
// (OpTable::begin_rows): weights are read once for all of them. The check of drafts. Serves what
// decode_step.h serves, where both tables are read by the device, low-rank updates of projections
// included; everything else goes by Decoder::forward(), which gives the same answer. More tokens
// than a launch takes go as two launches, which both read all weights.
#pragma once

#include "engine/forward/token/step_inputs.h"
#include "engine/forward/token/step_recording.h"
#include "engine/forward/token/token_choice.h"

#include <functional>
#include <span>
#include <vector>

namespace engine {

class CheckStep {
public:
    static constexpr int64_t kMostRows = kernels::kMostStepRows; ///< Per launch.
    static constexpr int64_t kMostTokens = 2 * kMostRows;
    /// Longer hidden rows go as one launch only: five and six of 31B take longer as two launches
    /// than by forward(), seven and eight as long (docs/benchmarks.md).
    static constexpr int64_t kLongestOfTwo = 3072;

    explicit CheckStep(BoundModel& model) : model_(&model), inputs_(model), steps_(model) {}

    /// For a model and a cache of which DecodeStep::isPossible() holds.
    [[nodiscard]] bool isPossible(const KvCache& kv, int64_t tokens);
    /// Ids behind the first one that are being made on the same card, by what was enqueued before.
    struct Later {
        const int32_t* ids = nullptr;            ///< In its memory, one less than tokens.
        std::function<Result<void>()> when_told; ///< Called when the first launch is enqueued.
    };
    /// Appends `ids` to the cache; with `later` only the first of them counts. Errors leave it as
    /// it was.
    Result<void> run(std::span<const int32_t> ids,
                     KvCache& kv,
                     RowChoices& choices,
                     const Later* later = nullptr);
    [[nodiscard]] const DeviceScratch* home() const { return home_; }

    /// Drops the recording: bindings, adapters or buffers changed.
    void reset();

private:
    /// What is sent, at the beginning of the input block.
    struct Numbers {
        kernels::TokenNumbers first; ///< For the first token.
        int32_t id[kMostRows];
        int32_t count;
        int32_t unused[3];
    };
    /// What comes back.
    struct Results {
        uint64_t key[kMostRows]; ///< OpTable::argmax
        kernels::TopLogits top[kMostRows];
    };
    /// Finds out state_: unknown as long as a table is not where the device reads it.
    void prepare(const KvCache& kv);
    /// Rows of Buffer::X in front of the first layer.
    void beginLayers();
    /// Layers and head to a list of rows. Errors: Unsupported, what the table does not take as one.
    Result<void> enqueueLayers(const KvCache& kv);
    /// The table takes them.
    bool takesLayers(const KvCache& kv);
    /// The tokens of a launch, from `at` on of `ids`, whose first is at `position`.
    Result<void>
    send(std::span<const int32_t> ids, size_t at, int64_t position, const Later* later);
    Result<void> enqueue(const KvCache& kv);
    Result<void> enqueueChoices();
    /// For `ids`, which were appended.
    Result<void> runLaunches(std::span<const int32_t> ids,
                             const KvCache& kv,
                             RowChoices& choices,
                             const Later* later);
    /// What the tokens of a launch came to, as those from `at` on.
    Result<void> read(size_t at, size_t tokens, RowChoices& choices);
    [[nodiscard]] Numbers& numbers() const { return *reinterpret_cast<Numbers*>(host_.get()); }
    [[nodiscard]] Results& results() const {
        return *reinterpret_cast<Results*>(host_.get() + sizeof(Numbers));
    }
    [[nodiscard]] const float* hidden() const {
        return reinterpret_cast<const float*>(host_.get() + sizeof(Numbers) + sizeof(Results));
    }

    BoundModel* model_;
    StepInputs inputs_;
    LayerSteps steps_;
    DeviceScratch* home_ = nullptr;
    enum class State : uint8_t { Unknown = 1, Possible, Impossible };
    State state_ = State::Unknown;
    std::shared_ptr<std::byte> host_; ///< Page-locked: Numbers, Results, [kMostRows, hidden].
    Recording graph_;
    const void* recorded_kv_ = nullptr;
    std::vector<kernels::TopLogits> tops_; ///< [kMostTokens], where RowChoices points.
    int32_t top_ = 0;                      ///< Candidates of the recording; 0: none,
    bool is_greedy_ = false;               ///< but the choice, or neither.
};

} // namespace engine
