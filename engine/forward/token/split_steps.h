// SPDX-License-Identifier: Apache-2.0
// A decoded token of a decoder that several devices share: each run of layers on one device is
// enqueued as the same fused steps that a whole token on one device takes (decode_step.h), recorded
// once and replayed where the device takes recordings; where experts of its layers are the host's,
// it is recorded in pieces, between which the host computes them. The first part makes the token's
// inputs, the last one its logits, where they are on a device with layers. token_runner.h goes from
// part to part and does by single functions what has no such form: layers with weights elsewhere,
// streamed ones, experts with adapters.
//
// Between two cards a row goes as the steps have it, without what its last layer leaves to add: the
// first step of the next card adds that as it would behind a step of its own, so that several cards
// of a kind give, to the bit, what one gives.
#pragma once

#include "engine/forward/token/step_inputs.h"
#include "engine/forward/token/step_recording.h"
#include "engine/forward/token/token_choice.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace engine {

class SplitSteps {
public:
    explicit SplitSteps(BoundModel& model) : model_(&model), inputs_(model) {}
    ~SplitSteps();
    SplitSteps(const SplitSteps&) = delete;
    SplitSteps& operator=(const SplitSteps&) = delete;

    /// Some layers of this plan have fused steps. Cheap after the first call. Not
    /// without DecodeOptions::has_split_steps.
    [[nodiscard]] bool isPossible(const KvCache& kv);
    /// One past the last layer of the part that begins with layer `first`; `first` where none does.
    [[nodiscard]] int endOf(int first) const;
    /// The part that begins with layer 0 makes embedding row and per-layer inputs: nothing is
    /// expected in Buffer::X and Ple.
    [[nodiscard]] bool hasInputs() const;
    /// The logits come from the part that ends with the last layer, or from one without layers: it
    /// "begins" behind the last layer, where hasHeadPart() says so, and expects Buffer::X as others
    /// do.
    [[nodiscard]] bool hasHead() const;
    [[nodiscard]] bool hasHeadPart() const;
    /// Runs the part that begins with layer `first` for token `id`, the last in the cache, and
    /// sends its keys and values to their mirrors. Buffer::X of its device holds the row in front
    /// of it, and the row behind it on return; Buffer::Ple of the projection's device the per-layer
    /// inputs. Errors: DeviceLost, OutOfMemory.
    Result<void> run(int first, int32_t id, const KvCache& kv);
    /// Behind the part that makes them: the choice (may be nullptr) where its device makes it, else
    /// logits [vocab], soft-capped.
    Result<void> takeResult(TokenChoice* choice, std::vector<float>& logits);
    /// Somebody else writes the device's list of suppressed tokens.
    void forgetSuppressed() { chooser_.reset(); }
    /// The token that parts were run for has been waited for.
    void noteEnded() { is_under_way_ = false; }
    /// Waits for parts whose token was given up between them. Before anything else touches what
    /// they read.
    void settle();

    /// Drops what was found out and recorded: bindings, adapters or buffers changed.
    void reset();
    /// The same where strengths are part of a recording.
    void strengthsChanged();

private:
    struct Part {
        DeviceScratch* home = nullptr;
        int first = 0, end = 0;
        /// Page-locked: numbers and ring; all parts of a device share it.
        std::shared_ptr<std::byte> host;
        bool has_inputs = false, has_head = false;
        bool is_alone_there = true;
        bool takes_pending = false; ///< From the part before it, which is on a card like this one.
        bool leaves_pending = false;
        bool has_norm = false;         ///< Buffer::StepNorm holds that of what is pending.
        std::vector<Recording> graphs; ///< Empty: not recorded. Experts of the host between two.
        std::vector<const DecoderLayer*> turns; ///< Layers of these experts.
        std::shared_ptr<HostExperts> experts;   ///< One for all parts of a device.
        std::unique_ptr<LayerSteps> steps;
    };

    void findParts(const KvCache& kv);
    void addPart(DeviceScratch& home, int first, int end);
    [[nodiscard]] const Part* headPart() const;
    [[nodiscard]] bool hasHostExperts(const Part& part) const;
    void dropRecordings();
    /// Recordings of all parts, one after the other: their lists of steps share a place.
    Result<void> record(const KvCache& kv);
    /// Which parts leave something pending to the next.
    void linkParts();
    /// What the part before it has left, to where its steps expect it.
    Result<void> fetchPending(Part& part);
    [[nodiscard]] LayerSteps::Pending pendingOf(const Part& part) const;
    /// recording: nullptr where it is run at once.
    Result<void> enqueue(Part& part, const KvCache& kv, std::optional<StepRecording>* recording);
    Result<void> replay(Part& part);
    /// The part's slices of the per-layer inputs, where they are computed on another device.
    Result<void> fetchPerLayerInputs(const Part& part);

    BoundModel* model_;
    StepInputs inputs_; ///< For the first part, where that has them.
    HeadChooser chooser_;
    enum class State : uint8_t { Unknown = 1, Possible, Impossible };
    State state_ = State::Unknown;
    std::vector<Part> parts_;
    bool is_recorded_ = false;
    bool is_under_way_ = false;               ///< Enqueued, and nobody has waited for it.
    std::vector<const DeviceScratch*> begun_; ///< Have a list of steps of these recordings.
    const void* recorded_kv_ = nullptr; ///< K of the first owner when the parts were recorded.
};

} // namespace engine
