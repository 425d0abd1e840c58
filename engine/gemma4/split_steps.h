// SPDX-License-Identifier: Apache-2.0
// A decoded token of a decoder that several devices share: each run of layers on one device is
// enqueued as the same fused steps that a whole token on one device takes (decode_step.h), recorded
// once and replayed where the device takes recordings. Model::forward() goes from part to part and
// does by single functions what has no such form: layers with weights elsewhere, streamed ones,
// experts, the table's rows, the head.
#pragma once

#include "engine/gemma4/layer_steps.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace engine {

class SplitSteps {
public:
    explicit SplitSteps(Model& model) : model_(&model) {}
    ~SplitSteps();
    SplitSteps(const SplitSteps&) = delete;
    SplitSteps& operator=(const SplitSteps&) = delete;

    /// Some layers of this plan have fused steps. Cheap after the first call. Not with
    /// BELFRY_NO_SPLIT_STEPS=1, for comparisons.
    [[nodiscard]] bool isPossible(const KvCache& kv);
    /// One past the last layer of the part that begins with layer `first`; `first` where none does.
    [[nodiscard]] int endOf(int first) const;
    /// Runs the part that begins with layer `first` for the last token in the cache, and sends its
    /// keys and values to their mirrors. "x" of its device holds the row in front of it, and the
    /// row behind it on return; "ple" of the projection's device the per-layer inputs.
    /// Errors: Unsupported (the table refuses: "x" is as it was, endOf(first) is `first` from now
    /// on), DeviceLost, OutOfMemory.
    Result<void> run(int first, const KvCache& kv);

    /// Drops what was found out and recorded: bindings, adapters or buffers changed.
    void reset();
    /// The same where strengths are part of a recording.
    void strengthsChanged();

private:
    struct Part {
        DeviceScratch* home = nullptr;
        int first = 0, end = 0;
        std::byte* host =
            nullptr; ///< Page-locked: numbers and ring; all parts of a device share it.
        bool is_first_there = true;
        bool is_alone_there = true;
        bool may_collect = true; ///< False where the device refused the steps as one launch.
        bool is_collecting = false;
        kernels::GraphHandle graph = nullptr;
        std::unique_ptr<LayerSteps> steps;
    };

    void findParts(const KvCache& kv);
    Part* partAt(int first);
    void dropRecordings();
    /// Recordings of all parts, one after the other: their lists of steps share a place.
    Result<void> record(const KvCache& kv);
    Result<void> recordPart(Part& part, const KvCache& kv);
    /// Enqueues the part, again in single launches where they are refused as one.
    Result<void> enqueue(Part& part, const KvCache& kv);
    Result<void> enqueueOnce(Part& part, const KvCache& kv);
    /// The part's slices of the per-layer inputs, where they are computed on another device.
    Result<void> fetchPerLayerInputs(const Part& part);
    void disable(Part& part);

    Model* model_;
    enum class State : uint8_t { Unknown = 1, Possible, Impossible };
    State state_ = State::Unknown;
    std::vector<Part> parts_;
    bool is_recorded_ = false;
    const void* recorded_kv_ = nullptr; ///< K of the first owner when the parts were recorded.
};

} // namespace engine
