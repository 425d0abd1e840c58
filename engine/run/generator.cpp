// SPDX-License-Identifier: Apache-2.0
#include "engine/run/generator.h"

#include "engine/base/seconds_since.h"
#include "engine/forward/token/decode_step.h"
#include "engine/run/media_kinds.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace engine {

void Generator::forget() {
    kv_->clear();
    rows_.clear();
}

int64_t Generator::missingTokens(std::span<const int32_t> ids,
                                 const std::string& fingerprint) const {
    size_t common = 0;
    while (fingerprint == fingerprint_ && formats_ == model_->formatKeys().text &&
           common < std::min(ids.size(), rows_.size()) && rows_[common] == RowKey{ids[common], 0}) {
        ++common;
    }
    return static_cast<int64_t>(ids.size() - common);
}

Generator::PromptRows Generator::rowsOf(const PreparedPrompt& prompt) {
    PromptRows rows;
    rows.keys.resize(prompt.ids.size());
    rows.block.resize(prompt.ids.size(), -1);
    for (size_t i = 0; i < rows.keys.size(); ++i) {
        rows.keys[i].id = prompt.ids[i];
    }
    int32_t block_index = 0;
    for (const MediaSpan& span : prompt.spans) {
        const auto& media = prompt.media[span.kind][static_cast<size_t>(span.item)];
        const bool is_block = mediaRow(span.kind).is_block;
        for (int64_t i = 0; i < span.count; ++i) {
            const auto at = static_cast<size_t>(span.first_token + i);
            rows.keys[at].media = media->key;
            if (is_block) {
                rows.block[at] = block_index;
            }
        }
        block_index += is_block ? 1 : 0;
    }
    return rows;
}

/// Features of the prompt's tokens [first, end), rows counted from `first`.
static std::vector<FeatureSpan>
featuresBetween(const PreparedPrompt& prompt, int64_t first, int64_t end, int64_t hidden_size) {
    std::vector<FeatureSpan> features;
    for (const MediaSpan& span : prompt.spans) {
        const int64_t from = std::max(first, span.first_token);
        const int64_t to = std::min(end, span.first_token + span.count);
        if (from >= to) {
            continue;
        }
        const auto& media = prompt.media[span.kind][static_cast<size_t>(span.item)];
        features.push_back({from - first, to - from,
                            media->features.data() + (from - span.first_token) * hidden_size});
    }
    return features;
}

Result<Generator::PrefillResult> Generator::prefill(const PreparedPrompt& prompt,
                                                    const std::string& fingerprint,
                                                    int64_t logits_rows,
                                                    const std::stop_token& stop,
                                                    const HiddenObserver* observer,
                                                    bool wants_hidden) {
    const ModelConfig& config = model_->config();
    const auto total = static_cast<int64_t>(prompt.ids.size());
    if (total == 0) {
        return Error{ErrorCode::InvalidRequest,
                     said("the prompt is empty: there is nothing to answer")};
    }
    if (total > kv_->context()) {
        return Error{
            ErrorCode::InvalidRequest,
            said("the prompt has %1 tokens, the context holds %2; shorten the conversation or load "
                 "with a larger context",
                 total, kv_->context()),
            {{"tokens", std::to_string(total)}, {"context", std::to_string(kv_->context())}}};
    }
    logits_rows = std::min(logits_rows, total);

    const PromptRows rows = rowsOf(prompt);
    const std::vector<RowKey>& wanted = rows.keys;
    const std::vector<int32_t>& block = rows.block;

    // The longest common beginning, at most up to the first row whose logits are wanted.
    int64_t common = 0;
    const uint64_t formats = model_->formatKeys().text;
    if (fingerprint == fingerprint_ && formats == formats_) {
        const auto limit =
            std::min<int64_t>(static_cast<int64_t>(rows_.size()), total - logits_rows);
        while (common < limit &&
               rows_[static_cast<size_t>(common)] == wanted[static_cast<size_t>(common)]) {
            ++common;
        }
        // Rows of an image block see each other where blocks are bidirectional: all or none.
        if (config.text.is_vision_bidirectional) {
            while (common > 0 && common < total && block[static_cast<size_t>(common)] >= 0 &&
                   block[static_cast<size_t>(common)] == block[static_cast<size_t>(common - 1)]) {
                --common;
            }
        }
    }
    if (!kv_->truncate(common)) {
        // The sliding layers no longer hold the window before that point: start over.
        kv_->clear();
        common = 0;
    }
    rows_.resize(static_cast<size_t>(common));
    fingerprint_ = fingerprint;
    formats_ = formats;

    PrefillResult result;
    result.reused_tokens = common;
    if (model_->drafter() == nullptr) {
        wants_hidden = false;
    }
    const int64_t chunk =
        std::max<int64_t>(1, std::min(model_->maxRowsPerCall(logits_rows), total));
    for (int64_t first = common; first < total;) {
        int64_t end = std::min(total, first + chunk);
        if (config.text.is_vision_bidirectional && end < total &&
            block[static_cast<size_t>(end)] >= 0 &&
            block[static_cast<size_t>(end)] == block[static_cast<size_t>(end - 1)]) {
            // Cut before the block if it began in this chunk, so that it stays whole.
            int64_t begin = end;
            while (begin > first &&
                   block[static_cast<size_t>(begin - 1)] == block[static_cast<size_t>(end)]) {
                --begin;
            }
            if (begin > first) {
                end = begin;
            } else {
                return Error{ErrorCode::InvalidRequest,
                             said("a picture has more soft tokens than one prefill call holds "
                                  "(%1); load with a larger --image-tokens",
                                  chunk)};
            }
        }
        ForwardInput input;
        const auto offset = static_cast<size_t>(first);
        const auto count = static_cast<size_t>(end - first);
        input.ids = std::span(prompt.ids).subspan(offset, count);
        input.block = std::span(block).subspan(offset, count);
        input.features = featuresBetween(prompt, first, end, config.text.hidden_size);
        input.logits_rows = std::clamp<int64_t>(logits_rows - (total - end), 0, end - first);
        input.hidden = wants_hidden && end == total ? &result.hidden : nullptr;
        std::vector<float> part;
        const Result<void> outcome = model_->forward(input, *kv_, part, stop, observer);
        if (!outcome.has_value()) {
            // A long call that failed may have left nothing in the cache.
            rows_.resize(std::min(rows_.size(), static_cast<size_t>(kv_->size())));
            return outcome.error();
        }
        rows_.insert(rows_.end(), wanted.begin() + first, wanted.begin() + end);
        if (result.logits.empty()) {
            result.logits = std::move(part);
        } else {
            result.logits.insert(result.logits.end(), part.begin(), part.end());
        }
        result.computed_tokens += end - first;
        first = end;
    }
    return result;
}

Result<TokenId> Generator::choose(Writing& writing) {
    if (writing.chosen.has_value()) {
        return *std::exchange(writing.chosen, std::nullopt);
    }
    if (writing.choice.token.has_value()) {
        return *writing.choice.token;
    }
    return writing.choice.top.empty() ? writing.sampler.sample(writing.logits)
                                      : writing.sampler.sampleFrom(writing.choice.top);
}

bool Generator::say(Writing& writing, TokenId token) {
    DecodeResult& result = writing.result;
    writing.sampler.accept(token);
    result.tokens.push_back(token);
    const bool goes_on =
        !writing.on_token || writing.on_token(token, writing.sampler.options().needs_rows
                                                         ? std::span<const float>(writing.logits)
                                                         : std::span<const float>());
    if (!goes_on || std::find(writing.stop_tokens.begin(), writing.stop_tokens.end(), token) !=
                        writing.stop_tokens.end()) {
        result.finish_reason = "stop";
        return false;
    }
    if (writing.max_tokens > 0 &&
        static_cast<int64_t>(result.tokens.size()) >= writing.max_tokens) {
        result.finish_reason = "length";
        return false;
    }
    return true;
}

Result<Generator::DecodeResult> Generator::decode(std::vector<float> logits,
                                                  Sampler& sampler,
                                                  std::span<const int64_t> stop_tokens,
                                                  int64_t max_tokens,
                                                  const TokenCallback& on_token,
                                                  const std::stop_token& stop,
                                                  Drafting* drafting) {
    Writing writing{sampler, stop_tokens, max_tokens,        on_token,    {},
                    {},      false,       std::move(logits), std::nullopt};
    DecodeResult& result = writing.result;
    // Where it can, the device makes the greedy choice or says which tokens another one can fall
    // on: the row of logits does not travel.
    const SamplingOptions& options = sampler.options();
    const bool is_greedy =
        options.temperature == 0.0 && options.repetition_penalty == 1.0 && !options.needs_rows;
    const int64_t candidates = sampler.candidatesWanted();
    const bool is_among_few = candidates > 0 && candidates <= kernels::TopLogits::kMostWanted &&
                              model_->decodeOptions().has_candidates;
    // What a token that was given up has left under way is over before anybody else comes.
    struct AtEnd {
        Model* model;
        ~AtEnd() { model->settle(); }
    };
    const AtEnd at_end{model_};
    TokenChoice& choice = writing.choice;
    choice.is_greedy = is_greedy;
    choice.wanted = is_among_few ? static_cast<int32_t>(candidates) : 0;
    choice.suppressed = options.suppressed;
    while (true) {
        if (stop.stop_requested()) {
            result.finish_reason = "cancelled";
            return std::move(result);
        }
        ENGINE_ASSIGN(const TokenId token, choose(writing));
        if (!say(writing, token)) {
            return std::move(result);
        }
        if (kv_->size() >= kv_->context()) {
            result.finish_reason = "context";
            return std::move(result);
        }
        DraftPolicy* policy = drafting == nullptr ? nullptr : drafting->policy;
        const int64_t drafts =
            policy == nullptr ? 0 : policy->next(mostDrafts(writing), !drafting->hidden.empty());
        // Behind tokens by themselves a round without drafts brings the hidden state.
        const bool is_round = drafts > 0;
        Result<bool> goes_on = true;
        if (is_round) {
            const bool has_hidden = !drafting->hidden.empty();
            goes_on = draftRound(writing, token, has_hidden ? drafts : 0, *drafting, stop);
        } else {
            const auto started = std::chrono::steady_clock::now();
            const Result<void> outcome = model_->step(
                token, *kv_, is_greedy || is_among_few ? &choice : nullptr, writing.logits, stop);
            if (outcome.has_value()) {
                rows_.push_back({token, 0});
            } else {
                goes_on = outcome.error();
            }
            if (policy != nullptr) {
                policy->notePlain(secondsSince(started));
                drafting->hidden.clear();
            }
        }
        if (!goes_on.has_value() && goes_on.error().code == ErrorCode::Cancelled) {
            result.finish_reason = "cancelled";
            return std::move(result);
        }
        if (!goes_on.has_value()) {
            return goes_on.error();
        }
        if (!*goes_on) {
            return std::move(result);
        }
    }
}

} // namespace engine
