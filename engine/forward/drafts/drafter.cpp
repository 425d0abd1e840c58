// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/drafts/drafter.h"

#include "engine/forward/matrix_views.h"
#include "kernels/weight_formats.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace engine {

using kernels::MatF32;
using kernels::MutF32;
using kernels::WeightFormat;

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

} // namespace

Result<void> Drafter::checkStart(std::span<const float> hidden, const KvCache& kv) const {
    const int64_t width = model_->config.text.hidden_size;
    if (model_->assistant.home == nullptr || kv.size() == 0 ||
        static_cast<int64_t>(hidden.size()) != width) {
        return Error{ErrorCode::Internal,
                     "drafts need an assistant, a token in the cache and a hidden state of " +
                         std::to_string(width) + " values; there are " + std::to_string(kv.size()) +
                         " tokens and " + std::to_string(hidden.size()) + " values"};
    }
    return {};
}

Result<std::vector<int32_t>> Drafter::draft(int32_t token,
                                            int64_t count,
                                            std::span<const float> hidden,
                                            const KvCache& kv,
                                            const std::stop_token& stop) {
    ENGINE_TRY(checkStart(hidden, kv));
    std::vector<int32_t> drafts;
    if (step_.isPossible(kv)) {
        ENGINE_TRY(step_.begin({token, hidden, turn()}, count, kv));
        ENGINE_TRY(step_.end(count, drafts));
        return drafts;
    }
    ENGINE_TRY(begin(hidden, kv));
    while (static_cast<int64_t>(drafts.size()) < count) {
        if (stop.stop_requested()) {
            return Error{ErrorCode::Cancelled, said("stopped by the user")};
        }
        ENGINE_ASSIGN(token, next(token, kv));
        drafts.push_back(token);
    }
    return drafts;
}

Result<void> Drafter::begin(std::span<const float> hidden, const KvCache& kv) {
    ENGINE_TRY(checkStart(hidden, kv));
    DeviceScratch& home = *model_->assistant.home;
    const int64_t width = model_->config.text.hidden_size;
    const auto n = static_cast<int32_t>(kv.size());
    ENGINE_TRY(call_rows_.open(*model_, kv, 1, {}, 1));
    std::array<int32_t, kDraftSeenFrom + 1> positions{};
    positions[0] = position_ == DraftPosition::OfToken ? n : n - 1;
    positions[kDraftSeenFrom] = n - 1;
    const auto put = [&home](void* to, const void* from, size_t bytes) {
        return checkStatus(home.device().copyIn(to, from, bytes), "copy in", "assistant");
    };
    const std::vector<int32_t>& ring = kv.slidingPositions();
    ENGINE_TRY(put(home.buffer(Buffer::DraftPosition), positions.data(), sizeof(positions)));
    ENGINE_TRY(
        put(home.buffer(Buffer::KeyPositionSliding), ring.data(), ring.size() * sizeof(int32_t)));
    return put(home.buffer(Buffer::DraftIn) + width, hidden.data(), hidden.size_bytes());
}

Result<void> Drafter::embed(int32_t token) {
    const DecoderWeights& text = model_->text;
    DeviceScratch& home = *model_->assistant.home;
    const int64_t width = model_->config.text.hidden_size;
    row_.resize(static_cast<size_t>(width));
    const MutF32 embedded{row_.data(), 1, width, width};
    ENGINE_TRY(model_->context->gatherRows(text.embedding, text.embedding_adapter,
                                           std::span(&token, 1), text.embedding_scale, embedded));
    return checkStatus(
        home.device().copyIn(home.buffer(Buffer::DraftIn), row_.data(), sizeBytes(embedded)),
        "copy in", "assistant");
}

Result<int32_t> Drafter::next(int32_t token, const KvCache& kv, std::vector<float>* logits) {
    const AssistantWeights& weights = model_->assistant;
    const AssistantConfig& assistant = *model_->config.assistant;
    ComputeContext& context = *model_->context;
    DeviceScratch& home = *weights.home;
    const int64_t width = model_->config.text.hidden_size;
    const int64_t hidden = assistant.text.hidden_size;
    ENGINE_TRY(embed(token));
    const MutF32 x = row(Buffer::DraftX, hidden);
    ENGINE_TRY(context.linear(weights.in, home, row(Buffer::DraftIn, 2 * width), x));
    const LayerCall call{model_->assistantStack(), kv, call_rows_};
    for (int i = 0; i < static_cast<int>(weights.layers.size()); ++i) {
        ENGINE_TRY(layers_.runLayer(call, i, x, false));
    }
    const MutF32 normed = row(Buffer::DraftH, hidden);
    ENGINE_KERNEL(home.ops().rms_norm(home.queue(), x, weights.norm, call.stack.eps(), normed),
                  "final norm", weights.out.name);
    const MutF32 back{home.buffer(Buffer::DraftIn) + width, 1, width, width};
    ENGINE_TRY(context.linear(weights.out, home, normed, back));
    ENGINE_TRY(head(normed));

    const auto idOf = [this](size_t i) { return ids_.empty() ? static_cast<int32_t>(i) : ids_[i]; };
    if (logits != nullptr) {
        logits->assign(static_cast<size_t>(assistant.text.vocab_size), kNever);
        for (size_t i = 0; i < values_.size(); ++i) {
            (*logits)[static_cast<size_t>(idOf(i))] = values_[i];
        }
    }
    // The largest; of equals the lowest token, as the model's own choice.
    int32_t best = -1;
    float most = kNever;
    for (size_t i = 0; i < values_.size(); ++i) {
        const int32_t id = idOf(i);
        const bool is_better = values_[i] > most || (values_[i] == most && id < best);
        if (is_better &&
            std::find(assistant.suppress_tokens.begin(), assistant.suppress_tokens.end(), id) ==
                assistant.suppress_tokens.end()) {
            most = values_[i];
            best = id;
        }
    }
    // Values that are no numbers make a bad draft, which the model turns down.
    return best >= 0 ? best : token;
}

Result<void> Drafter::chooseGroups(MatF32 normed) {
    const AssistantConfig& assistant = *model_->config.assistant;
    const AssistantWeights& weights = model_->assistant;
    DeviceScratch& home = *weights.home;
    const MutF32 near = row(Buffer::DraftCentroids, assistant.num_centroids);
    ENGINE_TRY(model_->context->linear(weights.centroids, home, normed, near));
    centroids_.resize(static_cast<size_t>(assistant.num_centroids));
    ENGINE_KERNEL(home.device().copyOut(centroids_.data(), near.data, sizeBytes(near)), "copy out",
                  weights.centroids.name);
    groups_.resize(centroids_.size());
    std::iota(groups_.begin(), groups_.end(), 0);
    const auto is_nearer = [this](int32_t a, int32_t b) {
        const float left = centroids_[static_cast<size_t>(a)];
        const float right = centroids_[static_cast<size_t>(b)];
        return left > right || (left == right && a < b);
    };
    std::partial_sort(groups_.begin(), groups_.begin() + assistant.top_centroids, groups_.end(),
                      is_nearer);
    groups_.resize(static_cast<size_t>(assistant.top_centroids));
    places_.clear();
    ids_.clear();
    const int64_t size = assistant.groupSize();
    for (const int32_t group : groups_) {
        for (int64_t place = group * size; place < (group + 1) * size; ++place) {
            places_.push_back(static_cast<int32_t>(place));
            ids_.push_back((*assistant.token_ordering)[static_cast<size_t>(place)]);
        }
    }
    return {};
}

Result<void> Drafter::multiplyGroups(MatF32 normed, MutF32 out) {
    const Linear& table = model_->assistant.table;
    DeviceScratch& home = *model_->assistant.home;
    ComputeContext& context = *model_->context;
    if (table.device != home.id() || !table.is_resident || !table.isPlain()) {
        return multiplyGathered(normed, out);
    }
    ENGINE_ASSIGN(const kernels::WeightView whole, context.resident(table));
    if (kernels::rowOf(whole.format).bits < 16) {
        return multiplyGathered(normed, out);
    }
    // A group's rows lie in the table as an expert's do in its tensor.
    const MutF32 parts = reshaped(out, model_->config.assistant->groupSize());
    for (size_t i = 0; i < groups_.size(); ++i) {
        const MutF32 part = rowsOf(parts, static_cast<int64_t>(i), 1);
        ENGINE_TRY(context.expert(table, home, groups_[i], normed, part));
    }
    return {};
}

Result<void> Drafter::multiplyGathered(MatF32 normed, MutF32 out) {
    const Linear& table = model_->assistant.table;
    DeviceScratch& home = *model_->assistant.home;
    const int64_t hidden = model_->config.assistant->text.hidden_size;
    const MutF32 there = home.matrix(Buffer::DraftRows, out.cols, hidden);
    const bool is_visible = home.device().isHostVisible();
    rows_.resize(is_visible ? 0 : static_cast<size_t>(out.cols * hidden));
    const MutF32 rows = is_visible ? there : MutF32{rows_.data(), out.cols, hidden, hidden};
    ENGINE_TRY(model_->context->weights().gatherRows(table.weight, places_, 0, 1.0F, rows));
    if (!is_visible) {
        ENGINE_KERNEL(home.device().copyIn(there.data, rows.data, sizeBytes(rows)), "copy in",
                      table.name);
    }
    kernels::WeightView view;
    view.data = there.data;
    view.format = WeightFormat::F32;
    view.rows = out.cols;
    view.cols = hidden;
    return checkStatus(home.ops().linear(home.queue(), normed, view, out), "linear", table.name);
}

Result<void> Drafter::head(MatF32 normed) {
    const AssistantConfig& assistant = *model_->config.assistant;
    const AssistantWeights& weights = model_->assistant;
    DeviceScratch& home = *weights.home;
    const int64_t count = assistant.candidates();
    const MutF32 out = row(Buffer::DraftLogits, count);
    if (assistant.num_centroids == 0) {
        ids_.clear();
        ENGINE_TRY(model_->context->linear(weights.table, home, normed, out));
    } else {
        ENGINE_TRY(chooseGroups(normed));
        ENGINE_TRY(multiplyGroups(normed, out));
    }
    values_.resize(static_cast<size_t>(count));
    return checkStatus(home.device().copyOut(values_.data(), out.data, sizeBytes(out)), "copy out",
                       weights.table.name);
}

} // namespace engine
