// SPDX-License-Identifier: Apache-2.0
#include "engine/gemma4/split_steps.h"

#include "engine/gemma4/step_recording.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace engine {

using kernels::Status;

SplitSteps::~SplitSteps() {
    reset();
}

void SplitSteps::dropRecordings() {
    for (Part& part : parts_) {
        if (part.graph != nullptr) {
            part.home->device().freeGraph(std::exchange(part.graph, nullptr));
        }
    }
    is_recorded_ = false;
}

void SplitSteps::reset() {
    dropRecordings();
    for (const Part& part : parts_) {
        if (part.is_first_there && part.host != nullptr) {
            part.home->device().freeHost(part.host);
        }
    }
    parts_.clear();
    state_ = State::Unknown;
}

void SplitSteps::strengthsChanged() {
    if (std::any_of(parts_.begin(), parts_.end(),
                    [](const Part& part) { return part.steps->hasComposedUpdates(); })) {
        dropRecordings();
    }
}

void SplitSteps::findParts(const KvCache& kv) {
    const Model& m = *model_;
    const TextConfig& text = m.config_.text;
    const PlanIndex plan(m.plan_);
    for (int i = 0; i < static_cast<int>(m.layers_.size()); ++i) {
        DeviceScratch* home = m.layers_[static_cast<size_t>(i)].home;
        // A part takes its per-layer inputs in one piece, to where prompts have those of one layer.
        const int64_t most_layers = text.ple_size <= 0 || m.ple_home_ == home
                                        ? text.num_layers
                                        : home->size("ple_slice") / text.ple_size;
        if (most_layers < 1 || !LayerSteps::isPossibleOn(m, *home, kv) ||
            !LayerSteps::isLayerHere(m, plan, i)) {
            continue;
        }
        if (!parts_.empty() && parts_.back().home == home && parts_.back().end == i &&
            i - parts_.back().first < most_layers) {
            ++parts_.back().end;
            continue;
        }
        Part part;
        part.home = home;
        part.first = i;
        part.end = i + 1;
        for (Part& other : parts_) {
            if (other.home == home) {
                part.is_first_there = part.is_alone_there = other.is_alone_there = false;
                part.host = other.host;
            }
        }
        part.steps = std::make_unique<LayerSteps>(*model_);
        parts_.push_back(std::move(part));
        if (parts_.back().is_first_there) { // freed by reset() from here on
            const auto floats = LayerSteps::kNumberFloats + LayerSteps::ringFloats(*home);
            parts_.back().host = static_cast<std::byte*>(
                home->device().allocateHost(static_cast<size_t>(floats) * sizeof(float)));
        }
    }
}

bool SplitSteps::isPossible(const KvCache& kv) {
    if (state_ == State::Unknown) {
        try {
            if (std::getenv("BELFRY_NO_SPLIT_STEPS") == nullptr) {
                findParts(kv);
            }
        } catch (const std::bad_alloc&) {
            reset();
            throw;
        }
        for (Part& part : parts_) {
            if (part.host == nullptr) {
                disable(part); // no page-locked memory: single functions need none
            }
        }
        state_ = parts_.empty() ? State::Impossible : State::Possible;
    }
    return state_ == State::Possible;
}

void SplitSteps::disable(Part& part) {
    part.end = part.first;
}

SplitSteps::Part* SplitSteps::partAt(int first) {
    const auto found = std::find_if(parts_.begin(), parts_.end(),
                                    [first](const Part& part) { return part.first == first; });
    return found == parts_.end() ? nullptr : &*found;
}

int SplitSteps::endOf(int first) const {
    for (const Part& part : parts_) {
        if (part.first == first) {
            return part.end;
        }
    }
    return first;
}

Result<void> SplitSteps::fetchPerLayerInputs(const Part& part) {
    const Model& m = *model_;
    const int64_t width = m.config_.text.ple_size;
    if (width <= 0 || m.ple_home_ == part.home) {
        return {};
    }
    const auto bytes = static_cast<size_t>((part.end - part.first) * width) * sizeof(float);
    return m.context_->move(*m.ple_home_, m.ple_home_->buffer("ple") + part.first * width,
                            *part.home, part.home->buffer("ple_slice"), bytes);
}

Result<void> SplitSteps::enqueueOnce(Part& part, const KvCache& kv) {
    const Model& m = *model_;
    const TextConfig& text = m.config_.text;
    DeviceScratch& home = *part.home;
    kernels::Device& device = home.device();
    const auto& ops = home.ops();
    const int64_t numbers = LayerSteps::kNumberFloats + LayerSteps::ringFloats(home);
    const auto row_bytes = static_cast<size_t>(text.hidden_size) * sizeof(float);
    ENGINE_KERNEL(device.copyInLater(home.buffer("step_input"), part.host,
                                     static_cast<size_t>(numbers) * sizeof(float),
                                     kernels::Device::kNoMark),
                  "copy in", "decoder layers");
    // A copy: should the steps be refused, single functions begin with the row as it was.
    float* const row = home.buffer("step_input") + numbers;
    ENGINE_KERNEL(device.copyWithin(row, home.buffer("x"), row_bytes), "copy", "decoder layers");
    const bool has_all_slices = m.ple_home_ == part.home;
    const float* const slices =
        text.ple_size <= 0 ? nullptr : home.buffer(has_all_slices ? "ple" : "ple_slice");
    part.steps->begin(home, row, home.buffer("step_x"), slices, has_all_slices ? 0 : part.first);
    // A list that is not recorded would be written over those of the parts beside it that are.
    const bool may_collect = part.may_collect && (part.is_alone_there || !is_recorded_);
    CollectedSteps collected(device, !may_collect          ? nullptr
                                     : part.is_first_there ? ops.begin_steps
                                                           : ops.continue_steps);
    part.is_collecting = collected.isOpen();
    for (int i = part.first; i < part.end; ++i) {
        ENGINE_TRY(part.steps->enqueueLayer(i, false, kv));
    }
    ENGINE_KERNEL(collected.end(), "decoder layers", "decode step");
    ENGINE_TRY(part.steps->enqueueResidual());
    return checkStatus(device.copyWithin(home.buffer("x"), part.steps->x(), row_bytes), "copy",
                       "decoder layers");
}

Result<void> SplitSteps::enqueue(Part& part, const KvCache& kv) {
    Result<void> outcome = enqueueOnce(part, kv);
    if (!outcome.has_value() && outcome.error().code == ErrorCode::Unsupported &&
        part.is_collecting) {
        part.may_collect = false; // this card does not take all steps as one launch
        outcome = enqueueOnce(part, kv);
    }
    return outcome;
}

Result<void> SplitSteps::recordPart(Part& part, const KvCache& kv) {
    for (;;) {
        StepRecording recording(part.home->device());
        if (!recording.isOpen()) {
            return {};
        }
        const Result<void> outcome = enqueueOnce(part, kv);
        part.graph = recording.end(outcome.has_value());
        if (outcome.has_value() || outcome.error().code != ErrorCode::Unsupported) {
            return outcome;
        }
        if (!std::exchange(part.is_collecting, false)) {
            disable(part);
            return {};
        }
        part.may_collect = false; // this card does not take all steps as one launch
    }
}

Result<void> SplitSteps::record(const KvCache& kv) {
    dropRecordings();
    for (Part& part : parts_) {
        if (part.end > part.first) {
            ENGINE_TRY(recordPart(part, kv));
        }
    }
    is_recorded_ = true;
    recorded_kv_ = kv.owner(0).primary.k;
    return {};
}

Result<void> SplitSteps::run(int first, const KvCache& kv) {
    Part* const part = partAt(first);
    if (part == nullptr) {
        return Error{ErrorCode::Unsupported, "no fused steps of these layers"};
    }
    if (!is_recorded_ || recorded_kv_ != kv.owner(0).primary.k) {
        ENGINE_TRY(record(kv));
    }
    if (part->end == part->first) {
        return Error{ErrorCode::Unsupported, "no fused steps of these layers"};
    }
    ENGINE_TRY(fetchPerLayerInputs(*part));
    // What was sent from here before has arrived: the host waits for every token.
    LayerSteps::fillNumbers(kv, part->host);
    if (part->graph != nullptr) {
        ENGINE_KERNEL(part->home->device().replay(part->graph), "replay", "decoder layers");
    } else if (const Result<void> outcome = enqueue(*part, kv); !outcome.has_value()) {
        if (outcome.error().code == ErrorCode::Unsupported) {
            disable(*part);
        }
        return outcome;
    }
    for (int i = part->first; i < part->end; ++i) {
        if (!model_->config_.text.layers[static_cast<size_t>(i)].is_kv_shared) {
            ENGINE_TRY(model_->updateMirrors(i, kv));
        }
    }
    return {};
}

} // namespace engine
