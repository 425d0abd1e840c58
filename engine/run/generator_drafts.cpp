// SPDX-License-Identifier: Apache-2.0
// Rounds of drafts: the assistant guesses some tokens, the model looks at all of them in one call,
// and its own choice at each row confirms a guess or puts another token in its place. As the model
// chooses from its own filtered distribution, with one random number a token, what comes out is
// what it would have said one by one; the guesses only decide how much of it comes from one call.
#include "engine/run/generator.h"

#include <algorithm>
#include <chrono>

namespace engine {

namespace {

using DraftClock = std::chrono::steady_clock;

double between(DraftClock::time_point from, DraftClock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

} // namespace

int64_t Generator::mostDrafts(const Writing& writing) const {
    int64_t most = std::min(kv_->context() - kv_->size() - 1,
                            model_->maxRowsPerCall(DraftPolicy::kMostDrafts + 1) - 1);
    if (writing.max_tokens > 0) {
        // Of the last token only the choice is wanted.
        const auto said = static_cast<int64_t>(writing.result.tokens.size());
        most = std::min(most, writing.max_tokens - said - 1);
    }
    return std::clamp<int64_t>(most, 0, DraftPolicy::kMostDrafts);
}

Result<std::vector<TokenId>> Generator::makeDrafts(TokenId token,
                                                   int64_t count,
                                                   const Drafting& drafting,
                                                   const std::stop_token& stop) {
    std::vector<TokenId> ids = {token};
    if (count == 0) {
        return ids;
    }
    Drafter& drafter = *model_->drafter();
    ENGINE_TRY(drafter.begin(drafting.hidden, *kv_));
    while (static_cast<int64_t>(ids.size()) <= count) {
        if (stop.stop_requested()) {
            return Error{ErrorCode::Cancelled, said("stopped by the user")};
        }
        ENGINE_ASSIGN(const TokenId draft, drafter.next(ids.back(), *kv_));
        ids.push_back(draft);
    }
    return ids;
}

Result<bool> Generator::draftRound(Writing& writing,
                                   TokenId token,
                                   int64_t drafts,
                                   Drafting& drafting,
                                   const std::stop_token& stop) {
    model_->settle();
    const int64_t held = kv_->size();
    const auto started = DraftClock::now();
    ENGINE_ASSIGN(const std::vector<TokenId> ids, makeDrafts(token, drafts, drafting, stop));
    const auto drafted = DraftClock::now();
    std::vector<float> logits;
    std::vector<float> hidden;
    ForwardInput input;
    input.ids = ids;
    input.logits_rows = static_cast<int64_t>(ids.size());
    input.hidden = &hidden;
    ENGINE_TRY(model_->forward(input, *kv_, logits, stop));
    const auto checked = DraftClock::now();

    // From here on the rows of the cache count that are confirmed; an error below takes none back,
    // as `rows_` says what the cache holds.
    const ModelConfig& config = model_->config();
    const auto vocab = static_cast<size_t>(config.text.vocab_size);
    const auto width = static_cast<size_t>(config.text.hidden_size);
    writing.choice.token.reset();
    writing.choice.top = {};
    ConfirmedDrafts outcome =
        confirmDrafts(logits, config.text.vocab_size, std::span(ids).subspan(1), writing.sampler,
                      drafting.forced, [&writing](TokenId draft) { return say(writing, draft); });
    const size_t confirmed = outcome.count;
    writing.chosen = outcome.other;
    const auto kept = static_cast<int64_t>(confirmed) + 1;
    if (!kv_->truncate(held + kept)) {
        return Error{ErrorCode::Internal, "a round of " + std::to_string(drafts) +
                                              " drafts cannot be cut from the ring of keys"};
    }
    for (int64_t row = 0; row < kept; ++row) {
        rows_.push_back({ids[static_cast<size_t>(row)], 0});
    }
    if (outcome.error.has_value()) {
        return *std::move(outcome.error);
    }
    writing.logits.assign(logits.begin() + static_cast<std::ptrdiff_t>(confirmed * vocab),
                          logits.begin() + static_cast<std::ptrdiff_t>((confirmed + 1) * vocab));
    drafting.hidden.assign(hidden.begin() + static_cast<std::ptrdiff_t>(confirmed * width),
                           hidden.begin() + static_cast<std::ptrdiff_t>((confirmed + 1) * width));
    drafting.policy->noteRound(drafts, static_cast<int64_t>(confirmed), between(started, drafted),
                               between(drafted, checked));
    return !outcome.has_ended;
}

} // namespace engine
