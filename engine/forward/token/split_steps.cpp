// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/token/split_steps.h"

#include "engine/forward/layers/call_rows.h"

#include <algorithm>
#include <utility>

namespace engine {

SplitSteps::~SplitSteps() {
    reset();
}

void SplitSteps::settle() {
    if (std::exchange(is_under_way_, false)) {
        for (const Part& part : parts_) {
            // Also for a lost device: the next caller is told.
            (void)part.home->device().synchronize();
        }
    }
}

void SplitSteps::dropRecordings() {
    settle();
    begun_.clear();
    for (Part& part : parts_) {
        part.graphs.clear();
        part.has_norm = false;
    }
    is_recorded_ = false;
}

void SplitSteps::reset() {
    dropRecordings();
    parts_.clear();
    chooser_.reset();
    state_ = State::Unknown;
}

void SplitSteps::strengthsChanged() {
    if (std::any_of(parts_.begin(), parts_.end(),
                    [](const Part& part) { return part.steps->hasComposedUpdates(); })) {
        dropRecordings();
    }
}

void SplitSteps::addPart(DeviceScratch& home, int first, int end) {
    Part part;
    part.home = &home;
    part.first = first;
    part.end = end;
    for (Part& other : parts_) {
        if (other.home == &home) {
            part.is_alone_there = other.is_alone_there = false;
            part.host = other.host;
            part.experts = other.experts;
        }
    }
    if (part.is_alone_there) {
        // Room for the rows of a first part as well.
        const auto floats = static_cast<size_t>(home.size(Buffer::StepInput));
        part.host = pageLocked(home.device(), floats * sizeof(float));
        part.experts = std::make_shared<HostExperts>();
        if (model_->config.text.num_experts == 0 || !part.experts->open(*model_, home)) {
            part.experts.reset();
        }
    }
    part.steps = std::make_unique<LayerSteps>(*model_);
    parts_.push_back(std::move(part));
}

void SplitSteps::findParts(const KvCache& kv) {
    const BoundModel& m = *model_;
    const TextConfig& text = m.config.text;
    const int count = static_cast<int>(m.text.layers.size());
    LayerSteps steps(*model_);
    for (int i = 0; i < count; ++i) {
        DeviceScratch* home = m.text.layers[static_cast<size_t>(i)].home;
        // A part takes its per-layer inputs in one piece, to where prompts have those of one layer.
        const int64_t most_layers = text.ple_size <= 0 || m.text.per_layer_home == home
                                        ? text.num_layers
                                        : home->size(Buffer::PleSlice) / text.ple_size;
        const DecoderLayer& layer = m.text.layers[static_cast<size_t>(i)];
        if (most_layers < 1 || !LayerSteps::isPossibleOn(m.decoderStack(), *home, kv) ||
            !LayerSteps::isLayerHere(layer, HostExperts::serves(m, layer)) ||
            !steps.takesLayers(*home, i, i + 1, kv)) {
            continue;
        }
        if (!parts_.empty() && parts_.back().home == home && parts_.back().end == i &&
            i - parts_.back().first < most_layers) {
            ++parts_.back().end;
        } else {
            addPart(*home, i, i + 1);
        }
    }
    if (parts_.empty()) {
        return;
    }
    Part& first = parts_.front();
    if (first.first == 0 && (text.ple_size <= 0 ||
                             (m.text.per_layer_home == first.home &&
                              LayerSteps::isHere(m.text.per_layer_projection, first.home->id())))) {
        first.has_inputs = true;
        inputs_.prepare(*first.home);
    }
    DeviceScratch& head = *m.text.head_home;
    if (LayerSteps::isHere(m.text.head, head.id()) && head.has(Buffer::StepInput) &&
        LayerSteps::isPossibleOn(m.decoderStack(), head, kv)) {
        if (parts_.back().end != count || parts_.back().home != &head) {
            addPart(head, count, count);
        }
        parts_.back().has_head = true;
    }
}

bool SplitSteps::isPossible(const KvCache& kv) {
    if (state_ == State::Unknown) {
        try {
            if (model_->decode.has_split_steps) {
                findParts(kv);
            }
        } catch (const std::bad_alloc&) {
            reset();
            throw;
        }
        // Layers without page-locked memory are for single functions.
        std::erase_if(parts_, [this](const Part& part) {
            return part.host == nullptr || (part.experts == nullptr && hasHostExperts(part));
        });
        linkParts();
        state_ = parts_.empty() ? State::Impossible : State::Possible;
    }
    return state_ == State::Possible;
}

bool SplitSteps::hasHostExperts(const Part& part) const {
    const auto layers = model_->text.layers.begin();
    return std::any_of(layers + part.first, layers + part.end, [this](const DecoderLayer& layer) {
        return HostExperts::serves(*model_, layer);
    });
}

int SplitSteps::endOf(int first) const {
    for (const Part& part : parts_) {
        if (part.first == first) {
            return part.end;
        }
    }
    return first;
}

bool SplitSteps::hasInputs() const {
    return !parts_.empty() && parts_.front().has_inputs;
}

const SplitSteps::Part* SplitSteps::headPart() const {
    return !parts_.empty() && parts_.back().has_head ? &parts_.back() : nullptr;
}

bool SplitSteps::hasHead() const {
    return headPart() != nullptr;
}

bool SplitSteps::hasHeadPart() const {
    return headPart() != nullptr && headPart()->first == headPart()->end;
}

Result<void> SplitSteps::takeResult(TokenChoice* choice, std::vector<float>& logits) {
    DeviceScratch& home = *model_->text.head_home;
    if (choice != nullptr) {
        ENGINE_TRY(chooser_.choose(home, model_->config.text.vocab_size, *choice));
        if (choice->isTold()) {
            is_under_way_ = false;
            return {};
        }
    }
    logits.resize(static_cast<size_t>(model_->config.text.vocab_size));
    ENGINE_KERNEL(home.device().copyOut(logits.data(), home.buffer(Buffer::Logits),
                                        logits.size() * sizeof(float)),
                  "copy out", model_->text.head.name);
    is_under_way_ = false;
    return {};
}

Result<void> SplitSteps::fetchPerLayerInputs(const Part& part) {
    const BoundModel& m = *model_;
    const int64_t width = m.config.text.ple_size;
    if (width <= 0 || m.text.per_layer_home == part.home || part.first == part.end) {
        return {};
    }
    const auto bytes = static_cast<size_t>((part.end - part.first) * width) * sizeof(float);
    return m.context->move(*m.text.per_layer_home,
                           m.text.per_layer_home->buffer(Buffer::Ple) + part.first * width,
                           *part.home, part.home->buffer(Buffer::PleSlice), bytes);
}

void SplitSteps::linkParts() {
    for (size_t i = 0; i < parts_.size(); ++i) {
        Part* const before = i > 0 ? &parts_[i - 1] : nullptr;
        Part& part = parts_[i];
        part.takes_pending = before != nullptr && before->end == part.first &&
                             !before->home->device().isHostVisible() &&
                             !part.home->device().isHostVisible();
        if (part.takes_pending) {
            before->leaves_pending = true;
        }
    }
}

LayerSteps::Pending SplitSteps::pendingOf(const Part& part) const {
    if (!part.takes_pending) {
        return {};
    }
    LayerSteps::Pending pending = (&part - 1)->steps->pending();
    pending.t = part.home->buffer(Buffer::T);
    if (pending.norm.data != nullptr) {
        pending.norm.data = part.home->buffer(Buffer::StepNorm);
    }
    return pending;
}

Result<void> SplitSteps::fetchPending(Part& part) {
    if (!part.takes_pending) {
        return {};
    }
    const Part& before = *(&part - 1);
    const LayerSteps::Pending& pending = before.steps->pending();
    const auto columns = static_cast<size_t>(model_->config.text.hidden_size);
    ENGINE_TRY(model_->context->move(*before.home, pending.t, *part.home,
                                     part.home->buffer(Buffer::T), columns * sizeof(float)));
    if (pending.norm.data != nullptr && !part.has_norm) {
        for (Part& other : parts_) {
            other.has_norm = other.has_norm && other.home != part.home; // they share the place
        }
        const size_t element = pending.norm.type == kernels::DType::F32 ? 4 : 2;
        ENGINE_TRY(model_->context->move(*before.home, pending.norm.data, *part.home,
                                         part.home->buffer(Buffer::StepNorm), columns * element));
        part.has_norm = true;
    }
    return {};
}

Result<void>
SplitSteps::enqueue(Part& part, const KvCache& kv, std::optional<StepRecording>* recording) {
    const BoundModel& m = *model_;
    const TextConfig& text = m.config.text;
    DeviceScratch& home = *part.home;
    kernels::Device& device = home.device();
    const auto& ops = home.ops();
    const int64_t numbers = LayerSteps::kNumberFloats + LayerSteps::ringFloats(home);
    const auto row_bytes = static_cast<size_t>(text.hidden_size) * sizeof(float);
    ENGINE_KERNEL(device.copyInLater(home.buffer(Buffer::StepInput), part.host.get(),
                                     part.has_inputs ? inputs_.sentBytes()
                                                     : static_cast<size_t>(numbers) * sizeof(float),
                                     kernels::Device::kNoMark),
                  "copy in", "decoder layers");
    float* const row =
        part.has_inputs ? home.buffer(Buffer::StepInput) + numbers : home.buffer(Buffer::X);
    const bool has_all_slices = m.text.per_layer_home == part.home;
    const float* const slices =
        text.ple_size <= 0 ? nullptr : home.buffer(has_all_slices ? Buffer::Ple : Buffer::PleSlice);
    part.steps->begin(home, row, home.buffer(Buffer::StepX), slices,
                      has_all_slices ? 0 : part.first, pendingOf(part));
    if (part.has_inputs) {
        ENGINE_TRY(inputs_.enqueue(*part.steps));
    }
    // A list that is not recorded would be written over those of the parts beside it that are.
    const bool may_collect = part.is_alone_there || !is_recorded_;
    const bool is_behind =
        !is_recorded_ && std::find(begun_.begin(), begun_.end(), part.home) != begun_.end();
    CollectedSteps collected(device, !may_collect ? nullptr
                                     : is_behind  ? ops.continue_steps
                                                  : ops.begin_steps);
    if (collected.isOpen() && !is_behind) {
        begun_.push_back(part.home);
    }
    part.graphs.clear();
    part.turns.clear();
    if (part.experts != nullptr) {
        part.experts->expect();
        part.steps->leaveExpertsTo(*part.experts, [&](const DecoderLayer& layer) -> Result<void> {
            if (recording == nullptr) {
                ENGINE_TRY(part.experts->compute(layer));
                part.experts->expect();
                return {};
            }
            part.turns.push_back(&layer);
            part.graphs.push_back((*recording)->end(true));
            recording->emplace(device);
            return part.graphs.back() != nullptr && (*recording)->isOpen()
                       ? Result<void>()
                       : checkStatus(kernels::Status::Unsupported, "recording", "decoder layers");
        });
    }
    ENGINE_TRY(part.steps->enqueueLayers(part.first, part.end, false, kv));
    if (part.has_head) {
        ENGINE_TRY(part.steps->enqueueHead());
    }
    ENGINE_KERNEL(collected.end(), "decoder layers", "decode step");
    if (part.has_head) {
        return text.final_logit_softcap > 0
                   ? checkStatus(ops.soft_cap(home.queue(),
                                              home.matrix(Buffer::Logits, 1, text.vocab_size),
                                              static_cast<float>(text.final_logit_softcap)),
                                 "soft cap", m.text.head.name)
                   : Result<void>();
    }
    if (!part.leaves_pending) {
        ENGINE_TRY(part.steps->enqueueResidual());
    }
    return part.steps->x() == home.buffer(Buffer::X)
               ? Result<void>()
               : checkStatus(device.copyWithin(home.buffer(Buffer::X), part.steps->x(), row_bytes),
                             "copy", "decoder layers");
}

Result<void> SplitSteps::record(const KvCache& kv) {
    dropRecordings();
    for (Part& part : parts_) {
        std::optional<StepRecording> recording(std::in_place, part.home->device());
        if (recording->isOpen()) {
            Result<void> outcome = enqueue(part, kv, &recording);
            if (!outcome.has_value() && outcome.error().code != ErrorCode::Unsupported) {
                return outcome;
            }
            part.graphs.push_back(recording->end(outcome.has_value()));
            if (part.graphs.back() == nullptr) { // run step by step instead
                part.graphs.clear();
            }
        }
    }
    is_recorded_ = true;
    recorded_kv_ = kv.owner(0).primary.k;
    return {};
}

Result<void> SplitSteps::replay(Part& part) {
    for (size_t i = 0; i < part.graphs.size(); ++i) {
        const DecoderLayer* const layer = i < part.turns.size() ? part.turns[i] : nullptr;
        if (layer != nullptr) {
            part.experts->expect();
        }
        ENGINE_KERNEL(part.home->device().replay(part.graphs[i].get()), "replay", "decoder layers");
        if (layer != nullptr) {
            ENGINE_TRY(part.experts->compute(*layer));
        }
    }
    return {};
}

Result<void> SplitSteps::run(int first, int32_t id, const KvCache& kv) {
    if (!parts_.empty() && first == parts_.front().first) {
        settle(); // the token before may have been given up between two parts
    }
    if (first == 0 && hasInputs() && inputs_.hasNewTable()) {
        inputs_.prepare(*parts_.front().home);
        is_recorded_ = false;
    }
    if (!is_recorded_ || recorded_kv_ != kv.owner(0).primary.k) {
        ENGINE_TRY(record(kv));
    }
    const auto part = std::find_if(parts_.begin(), parts_.end(),
                                   [first](const Part& each) { return each.first == first; });
    ENGINE_TRY(fetchPerLayerInputs(*part));
    ENGINE_TRY(fetchPending(*part));
    // What was sent from here before has arrived: the host waits for every token, or settles. Parts
    // of one device send the same numbers of one token.
    is_under_way_ = true;
    if (part->has_inputs) {
        ENGINE_TRY(inputs_.fill(id, kv, part->host.get()));
    } else {
        LayerSteps::fillNumbers(kv, part->host.get());
    }
    ENGINE_TRY(part->graphs.empty() ? enqueue(*part, kv, nullptr) : replay(*part));
    for (int i = part->first; i < part->end; ++i) {
        if (!model_->config.text.layers[static_cast<size_t>(i)].is_kv_shared) {
            ENGINE_TRY(updateMirrors(*model_, i, kv));
        }
    }
    return {};
}

} // namespace engine
