// SPDX-License-Identifier: Apache-2.0
// Which drafts of a round stay: those that the model's own choice at their row confirms. The choice
// is made as without drafts, from the filtered distribution of the row behind the text so far, with
// one random number a token. So the text is the one that would come token by token, whatever the
// drafts are (a draft is a proposal of one point: Leviathan et al. 2023, exact for such).
#pragma once

#include "engine/base/result.h"
#include "engine/run/sampler.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace engine {

/// Accepts drafts with a given probability, whatever the model chooses: benchmarks on random
/// weights only.
class ForcedAcceptance {
public:
    /// Negative: the model decides.
    explicit ForcedAcceptance(double probability) : probability_(probability) {}
    [[nodiscard]] bool isOn() const { return probability_ >= 0.0; }
    /// What counts as the model's choice at a row whose draft is `draft`.
    TokenId choice(TokenId chosen, TokenId draft, int64_t vocab_size);

private:
    double probability_;
    RandomSource random_{1};
};

struct ConfirmedDrafts {
    size_t count = 0; ///< Drafts that are in the text and before its last token.
    /// The model's choice in place of the draft behind them; absent where all were confirmed.
    std::optional<TokenId> other;
    bool has_ended = false;     ///< A confirmed draft was the last token: it is not in `count`.
    std::optional<Error> error; ///< From a choice; what is in `count` stays.
};

/// choose: the model's choice behind row i, asked for in order. say: takes a confirmed draft into
/// the text (the sampler's history with it); false: it was the last token.
ConfirmedDrafts confirmDrafts(const std::function<Result<TokenId>(size_t)>& choose,
                              int64_t vocab_size,
                              std::span<const TokenId> drafts,
                              ForcedAcceptance& forced,
                              const std::function<bool(TokenId)>& say);
/// The same by the sampler. logits [drafts or more, vocab_size]: of the rows that the drafts are
/// behind.
ConfirmedDrafts confirmDrafts(std::span<const float> logits,
                              int64_t vocab_size,
                              std::span<const TokenId> drafts,
                              Sampler& sampler,
                              ForcedAcceptance& forced,
                              const std::function<bool(TokenId)>& say);

} // namespace engine
