// SPDX-License-Identifier: Apache-2.0
#include "engine/run/confirm_drafts.h"

#include <utility>

namespace engine {

TokenId ForcedAcceptance::choice(TokenId chosen, TokenId draft, int64_t vocab_size) {
    if (random_.uniform() < probability_) {
        return draft;
    }
    return chosen == draft ? static_cast<TokenId>((chosen + 1) % vocab_size) : chosen;
}

ConfirmedDrafts confirmDrafts(std::span<const float> logits,
                              int64_t vocab_size,
                              std::span<const TokenId> drafts,
                              Sampler& sampler,
                              ForcedAcceptance& forced,
                              const std::function<bool(TokenId)>& say) {
    const auto vocab = static_cast<size_t>(vocab_size);
    ConfirmedDrafts out;
    for (; out.count < drafts.size(); ++out.count) {
        const std::span<const float> row = logits.subspan(out.count * vocab, vocab);
        const TokenId draft = drafts[out.count];
        Result<TokenId> choice = sampler.sample(row);
#ifdef BELFRY_PLANTED_DRAFT_BIAS // built once so: the statistical test must notice
        if (choice.has_value() && *choice != draft) {
            choice = sampler.sample(row);
        }
#endif
        if (!choice.has_value()) {
            out.error = std::move(choice).error();
            return out;
        }
        const TokenId chosen = forced.isOn() ? forced.choice(*choice, draft, vocab_size) : *choice;
        if (chosen != draft) {
            out.other = chosen;
            return out;
        }
        if (!say(chosen)) {
            out.has_ended = true; // the last token of a text is in no cache
            return out;
        }
    }
    return out;
}

} // namespace engine
