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
        // The last token needs only its choice.
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
    ENGINE_ASSIGN(const std::vector<TokenId> drafts,
                  model_->drafter()->draft(token, count, drafting.hidden, *kv_, stop));
    ids.insert(ids.end(), drafts.begin(), drafts.end());
    return ids;
}

RowChoices Generator::wantedRows(const Writing& writing) {
    RowChoices rows;
    rows.is_greedy = writing.choice.is_greedy;
    rows.wanted = writing.choice.wanted;
    rows.suppressed = writing.choice.suppressed;
    return rows;
}

Result<RowChoices> Generator::checkDrafts(std::span<const TokenId> ids,
                                          const Writing& writing,
                                          const std::stop_token& stop) {
    RowChoices rows = wantedRows(writing);
    ENGINE_ASSIGN(const bool is_done, model_->check(ids, *kv_, rows));
    if (is_done) {
        return rows;
    }
    rows.rows.assign(ids.size(), {});
    ForwardInput input;
    input.ids = ids;
    input.logits_rows = static_cast<int64_t>(ids.size());
    input.hidden = &rows.hidden;
    input.choices = &rows;
    ENGINE_TRY(model_->forward(input, *kv_, rows.logits, stop));
    return rows;
}

Result<bool> Generator::draftRound(Writing& writing,
                                   TokenId token,
                                   int64_t drafts,
                                   Drafting& drafting,
                                   const std::stop_token& stop) {
    model_->settle();
    const int64_t held = kv_->size();
    const auto started = DraftClock::now();
    auto drafted = started;
    RowChoices rows = wantedRows(writing);
    DraftRound round{
        token, drafts, drafting.hidden, {}, [&drafted] { drafted = DraftClock::now(); }};
    bool is_checked = false;
    if (drafts > 0) {
        ENGINE_ASSIGN(is_checked, model_->draftAndCheck(round, *kv_, rows));
    }
    if (!is_checked) {
        ENGINE_ASSIGN(round.ids, makeDrafts(token, drafts, drafting, stop));
        drafted = DraftClock::now();
        ENGINE_ASSIGN(rows, checkDrafts(round.ids, writing, stop));
    }
    const std::vector<TokenId>& ids = round.ids;
    const auto checked = DraftClock::now();

    // From here on the rows of the cache count that are confirmed; an error below takes none back,
    // as `rows_` says what the cache holds.
    const ModelConfig& config = model_->config();
    const auto vocab = static_cast<size_t>(config.text.vocab_size);
    const auto width = static_cast<size_t>(config.text.hidden_size);
    writing.choice.token.reset();
    writing.choice.top = {};
    const auto choose = [&](size_t row) -> Result<TokenId> {
        const RowChoices::Row& at = rows.rows[row];
        if (at.token.has_value()) {
            return *at.token;
        }
        return at.top.empty() ? writing.sampler.sample(
                                    std::span<const float>(rows.logits).subspan(row * vocab, vocab))
                              : writing.sampler.sampleFrom(at.top);
    };
    ConfirmedDrafts outcome =
        confirmDrafts(choose, config.text.vocab_size, std::span(ids).subspan(1), drafting.forced,
                      [&writing](TokenId draft) { return say(writing, draft); });
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
    const auto last = static_cast<std::ptrdiff_t>(confirmed);
    const auto vocab_step = static_cast<std::ptrdiff_t>(vocab);
    const auto width_step = static_cast<std::ptrdiff_t>(width);
    writing.choice.token = rows.rows[confirmed].token;
    writing.choice.top = rows.rows[confirmed].top; // valid until the next check
    if (!rows.logits.empty()) {
        writing.logits.assign(rows.logits.begin() + last * vocab_step,
                              rows.logits.begin() + (last + 1) * vocab_step);
    }
    drafting.hidden.assign(rows.hidden.begin() + last * width_step,
                           rows.hidden.begin() + (last + 1) * width_step);
    drafting.policy->noteRound(drafts, static_cast<int64_t>(confirmed), between(started, drafted),
                               between(drafted, checked));
    return !outcome.has_ended;
}

} // namespace engine
