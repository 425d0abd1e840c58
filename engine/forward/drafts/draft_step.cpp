// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/drafts/draft_step.h"

#include "engine/forward/token/step_inputs.h"
#include "engine/forward/token/token_choice.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace engine {

using kernels::DraftNumbers;
using kernels::Status;

namespace {

/// Behind a round's drafts. The loader takes the first marks.
constexpr int kMark = kernels::Device::kMarks - 1;

} // namespace

void DraftStep::reset() {
    graph_.reset();
    state_ = State::Unknown;
}

bool DraftStep::isPossible(const KvCache& kv) {
    if (state_ != State::Unknown) {
        return state_ == State::Possible;
    }
    DeviceScratch* const home = model_->assistant.home;
    if (home == nullptr) {
        return false;
    }
    if (std::exchange(home_, home) != home) {
        host_.reset();
    }
    if (!isHere(kv)) {
        state_ = State::Impossible;
        return false;
    }
    const DeviceTable embedding =
        findTable(*model_, *home, model_->text.embedding, model_->text.embedding_adapter);
    if (embedding.is_locking) {
        return false; // it is on its way
    }
    embedding_ = embedding.there;
    const bool is_ok = embedding_.has_value() && prepare().has_value() && areStepsTaken(kv);
    state_ = is_ok ? State::Possible : State::Impossible;
    return state_ == State::Possible;
}

bool DraftStep::isHere(const KvCache& kv) const {
    const AssistantWeights& weights = model_->assistant;
    const AssistantConfig& assistant = *model_->config.assistant;
    const kernels::OpTable& ops = home_->ops();
    if (model_->is_reference || !model_->decode.has_draft_steps || ops.choose_draft == nullptr ||
        !home_->has(Buffer::DraftNumbers) ||
        !LayerSteps::isPossibleOn(model_->assistantStack(), *home_, kv)) {
        return false;
    }
    std::vector<const Linear*> linears = {&weights.in, &weights.out, &weights.table};
    if (assistant.num_centroids > 0) {
        linears.push_back(&weights.centroids);
    }
    bool is_here = assistant.num_centroids == 0 || assistant.token_ordering != nullptr;
    for (const DecoderLayer& layer : weights.layers) {
        linears.insert(linears.end(), {&layer.attend.q, &layer.attend.o, &layer.mlp.gate,
                                       &layer.mlp.up, &layer.mlp.down});
        is_here = is_here && kv.owner(layer.kv_layer).primary.device == home_->id();
    }
    return is_here && std::all_of(linears.begin(), linears.end(), [this](const Linear* linear) {
               return linear->weight != WeightSource::kAbsent &&
                      LayerSteps::isHere(*linear, home_->id()) && linear->isPlain();
           });
}

Result<void> DraftStep::prepare() {
    const AssistantConfig& assistant = *model_->config.assistant;
    kernels::Device& device = home_->device();
    if (host_ == nullptr) {
        const int64_t floats =
            home_->size(Buffer::KeyPositionSliding) + model_->config.text.hidden_size;
        host_ = pageLocked(device, sizeof(Sent) + static_cast<size_t>(floats) * sizeof(float));
    }
    if (host_ == nullptr || device.kernelAddress(host_.get()) == nullptr) {
        return checkStatus(Status::OutOfMemory, "page-locked memory", "drafts");
    }
    if (assistant.num_centroids > 0) {
        ENGINE_KERNEL(device.copyIn(home_->buffer(Buffer::DraftOrdering),
                                    assistant.token_ordering->data(),
                                    assistant.token_ordering->size() * sizeof(int32_t)),
                      "copy in", "order of tokens");
    }
    std::vector<int32_t> never(assistant.suppress_tokens.begin(), assistant.suppress_tokens.end());
    // The row of such a token is pad's, which a check behind the drafts does not see to.
    const ModelConfig& config = model_->config;
    for (const int64_t id : {config.image_token_id, config.audio_token_id, config.video_token_id}) {
        never.push_back(static_cast<int32_t>(id));
    }
    return sendSuppressed(*home_, Buffer::DraftSuppressed, never, assistant.text.vocab_size);
}

DraftNumbers* DraftStep::numbers() const {
    return reinterpret_cast<DraftNumbers*>(home_->buffer(Buffer::DraftNumbers));
}

Result<void> DraftStep::send(const Start& start, const KvCache& kv) {
    kernels::Device& device = home_->device();
    const int64_t width = model_->config.text.hidden_size;
    const std::vector<int32_t>& ring = kv.slidingPositions();
    Sent& block = sent();
    block = {};
    block.numbers.at.position = static_cast<int32_t>(kv.size()) - 1;
    // Rows are counted back from there.
    block.numbers.at.sliding_slot =
        block.numbers.at.position % static_cast<int32_t>(std::max<size_t>(ring.size(), 1));
    block.numbers.at.full_slot = block.numbers.at.position;
    block.numbers.at.sliding_count = static_cast<int32_t>(kv.slidingSlotsInUse());
    block.numbers.at.full_count = static_cast<int32_t>(kv.size());
    block.numbers.at.token = start.token;
    auto* const positions = reinterpret_cast<int32_t*>(host_.get() + sizeof(Sent));
    std::copy(ring.begin(), ring.end(), positions);
    auto* const hidden =
        reinterpret_cast<float*>(positions + home_->size(Buffer::KeyPositionSliding));
    std::copy(start.hidden.begin(), start.hidden.end(), hidden);
    const auto put = [&device](void* to, const void* from, size_t bytes) {
        return checkStatus(device.copyInLater(to, from, bytes, kernels::Device::kNoMark), "copy in",
                           "drafts");
    };
    ENGINE_TRY(put(numbers(), &block.numbers, sizeof(DraftNumbers)));
    ENGINE_TRY(
        put(home_->buffer(Buffer::KeyPositionSliding), positions, ring.size() * sizeof(int32_t)));
    return put(home_->buffer(Buffer::DraftIn) + width, hidden, start.hidden.size_bytes());
}

Result<void> DraftStep::begin(const Start& start, int64_t count, const KvCache& kv) {
    kernels::Device& device = home_->device();
    assert(count <= DraftNumbers::kMost);
    std::vector<const void*> caches;
    for (const DecoderLayer& layer : model_->assistant.layers) {
        caches.push_back(kv.bufferOn(layer.kv_layer, home_->id()).k);
    }
    if (caches != recorded_kv_ || turn_ != start.turn) {
        graph_.reset();
    }
    recorded_kv_ = std::move(caches);
    turn_ = start.turn;
    const auto attempt = [&]() -> Result<void> {
        if (graph_ == nullptr) {
            ENGINE_TRY(record(device, graph_, [&] { return enqueue(kv); }));
        }
        ENGINE_TRY(send(start, kv));
        for (int64_t i = 0; i < count; ++i) {
            if (graph_ == nullptr) {
                ENGINE_TRY(enqueue(kv));
            } else {
                ENGINE_KERNEL(device.replay(graph_.get()), "replay", "drafts");
            }
        }
        return checkStatus(device.mark(kMark), "mark", "drafts");
    };
    Result<void> outcome = attempt();
    if (!outcome.has_value()) {
        (void)device.synchronize(); // nothing reads the block any more
    }
    return outcome;
}

Result<void> DraftStep::end(int64_t count, std::vector<int32_t>& drafts) {
    ENGINE_KERNEL(home_->device().waitForMark(kMark), "synchronize", "drafts");
    drafts.assign(sent().told, sent().told + count);
    return {};
}

Result<void> DraftStep::enqueue(const KvCache& kv) {
    const kernels::OpTable& ops = home_->ops();
    ENGINE_TRY(enqueueInput());
    CollectedSteps collected(home_->device(), ops.begin_side_steps);
    const auto layers = static_cast<int>(model_->assistant.layers.size());
    ENGINE_TRY(steps_.enqueueLayers(0, layers, false, kv));
    ENGINE_TRY(enqueueEnd());
    ENGINE_KERNEL(collected.end(), "assistant's layers", "drafts");
    return enqueueChoice();
}

Result<void> DraftStep::enqueueInput() {
    const int64_t width = model_->config.text.hidden_size;
    float* const in = home_->buffer(Buffer::DraftIn);
    ENGINE_KERNEL(home_->ops().gather_rows(home_->queue(), *embedding_, &numbers()->at.token, 1, 0,
                                           model_->text.embedding_scale, {in, 1, width, width}),
                  "gather rows", "embedding");
    steps_.beginDraft(home_->buffer(Buffer::DraftX), home_->buffer(Buffer::DraftH), turn_);
    return projectInput();
}

Result<void> DraftStep::projectInput() {
    // A step of its own: the row behind it has a norm, which no step takes from the one before.
    LayerSteps::Projection step;
    step.args.x = home_->buffer(Buffer::DraftIn);
    step.add(model_->assistant.in, steps_.x());
    return steps_.project(step);
}

Result<void> DraftStep::enqueueEnd() {
    const AssistantWeights& weights = model_->assistant;
    const bool has_groups = model_->config.assistant->num_centroids > 0;
    LayerSteps::Projection step;
    step.add(weights.out, home_->buffer(Buffer::DraftIn) + model_->config.text.hidden_size);
    step.add(has_groups ? weights.centroids : weights.table,
             home_->buffer(has_groups ? Buffer::DraftCentroids : Buffer::DraftLogits));
    return steps_.projectRow(step, weights.norm);
}

bool DraftStep::areStepsTaken(const KvCache& kv) {
    const auto ask = [&]() -> Result<bool> {
        steps_.beginDraft(home_->buffer(Buffer::DraftX), home_->buffer(Buffer::DraftH), turn_);
        steps_.ask();
        ENGINE_TRY(projectInput());
        const auto layers = static_cast<int>(model_->assistant.layers.size());
        ENGINE_TRY(steps_.enqueueLayers(0, layers, false, kv));
        ENGINE_TRY(enqueueEnd());
        ENGINE_ASSIGN(const kernels::DraftChoiceArgs choice, choiceArgs());
        const kernels::OpTable& ops = home_->ops();
        return steps_.isTaken() && (ops.takes_draft_choice == nullptr ||
                                    ops.takes_draft_choice(home_->queue(), choice));
    };
    const Result<bool> is_taken = ask();
    return is_taken.has_value() && *is_taken;
}

Result<kernels::DraftChoiceArgs> DraftStep::choiceArgs() const {
    const AssistantConfig& assistant = *model_->config.assistant;
    const AssistantWeights& weights = model_->assistant;
    const bool has_groups = assistant.num_centroids > 0;
    kernels::DraftChoiceArgs args;
    args.logits = home_->buffer(has_groups ? Buffer::DraftCentroids : Buffer::DraftLogits);
    args.tokens = assistant.text.vocab_size;
    args.suppressed = reinterpret_cast<const uint32_t*>(home_->buffer(Buffer::DraftSuppressed));
    args.numbers = numbers();
    args.told = static_cast<int32_t*>(home_->device().kernelAddress(sent().told));
    if (has_groups) {
        args.groups = assistant.num_centroids;
        args.top = assistant.top_centroids;
        args.ordering = home_->ints(Buffer::DraftOrdering);
        args.x = steps_.x();
        args.norm = weights.norm;
        args.eps = static_cast<float>(assistant.text.rms_norm_eps);
        ENGINE_ASSIGN(args.table, model_->context->resident(weights.table));
    }
    return args;
}

Result<void> DraftStep::enqueueChoice() {
    ENGINE_ASSIGN(const kernels::DraftChoiceArgs args, choiceArgs());
    return checkStatus(home_->ops().choose_draft(home_->queue(), args), "choice",
                       model_->assistant.table.name);
}

} // namespace engine
