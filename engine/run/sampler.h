// SPDX-License-Identifier: Apache-2.0
// Chooses the next token from one row of logits: repetition penalty, temperature, top-k, top-p,
// min-p, in the order of transformers' logits processors. Probabilities and their sums are double;
// the exponential and the random numbers are our own, so the same logits and seed give the same
// token on every platform. Leaves out beams, grammars, frequency penalties.
#pragma once

#include "engine/base/result.h"
#include "engine/model/model_config.h"
#include "engine/text/tokenizer.h"
#include "kernels/ops.h"

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// xoshiro256++ 1.0 (Blackman, Vigna 2019, public domain), state filled from the seed by
/// SplitMix64.
class RandomSource {
public:
    explicit RandomSource(uint64_t seed);
    uint64_t next();
    /// Uniform in [0, 1): the upper 53 bits of next() times 2^-53.
    double uniform();

private:
    uint64_t state_[4] = {};
};

struct SamplingOptions {
    double temperature = 1.0;        ///< 0 = greedy: the largest logit, the lowest id on ties.
    int64_t top_k = 0;               ///< 0 = off. Tokens equal to the k-th largest stay, too.
    double top_p = 1.0;              ///< [0, 1]; 1 = off, 0 = the likeliest.
    double min_p = 0.0;              ///< [0, 1]; 0 = off. Share of the largest probability.
    double repetition_penalty = 1.0; ///< 1 or 0 = off. Also applied in greedy choice.
    uint64_t seed = 0;
    std::vector<TokenId> suppressed; ///< Never chosen.
    /// Each choice is made from a whole row of logits, which the generator hands on: not by the
    /// device, not from candidates.
    bool needs_rows = false;
};

/// temperature 0 when the defaults say do_sample false. seed stays 0, suppressed empty.
SamplingOptions samplingFromDefaults(const GenerationDefaults& defaults);

/// generation_config's suppress_tokens and the media tokens (image, audio, video placeholder,
/// begin and end): none of them is text. Sorted, without duplicates.
std::vector<TokenId> suppressedTokens(const ModelConfig& config);

class Sampler {
public:
    /// Errors: InvalidRequest, naming the option, its range and its value. Suppressed ids outside
    /// the vocabulary are ignored.
    static Result<Sampler> create(SamplingOptions options, int64_t vocab_size);

    /// Chooses from logits [vocab_size]. Does not add the token to the history: call accept().
    /// Errors: Internal when a logit is NaN or +infinity (names the first token), or when no token
    /// is left (all -infinity or suppressed).
    Result<TokenId> sample(std::span<const float> logits);

    /// k where the choice depends on nothing but the k largest logits that are not suppressed and
    /// those equal to the k-th; else 0.
    [[nodiscard]] int64_t candidatesWanted() const;
    /// As sample(), with the same random numbers and hence the same token, from a part of the row:
    /// all of those that candidatesWanted() speaks of, any others, in any order, each token once.
    /// Only where candidatesWanted() > 0. Errors: Internal when a candidate is no token or its
    /// logit NaN or +infinity, or when no token is left.
    Result<TokenId> sampleFrom(std::span<const kernels::TokenLogit> candidates);

    /// Tells the repetition penalty that `id` now stands in the text.
    void accept(TokenId id);
    /// The text is now `ids` (prompt and reply so far): after a prompt, an edit, a roll-back.
    void setHistory(std::span<const TokenId> ids);
    /// Starts the random numbers anew.
    void reseed(uint64_t seed);

    [[nodiscard]] const SamplingOptions& options() const { return options_; }

    /// One token that could be chosen, with its probability after all filters.
    struct Candidate {
        TokenId id = 0;
        double probability = 0.0;
    };
    /// The distribution that sample() draws from, most probable first (lowest id first among
    /// equals). With temperature 0: the one greedy token. Errors as sample().
    Result<std::vector<Candidate>> distribution(std::span<const float> logits);

private:
    Sampler(SamplingOptions options, int64_t vocab_size);
    [[nodiscard]] Result<void> prepare(std::span<const float> logits);
    [[nodiscard]] Result<TokenId> greedy() const;
    [[nodiscard]] Result<void> filter(std::span<const float> logits);
    [[nodiscard]] Result<void> takeCandidates(std::span<const kernels::TokenLogit> candidates);
    /// From ids_ on: what top_p and min_p leave, with its probabilities.
    void weighAndCut();
    TokenId draw();
    void keepTopK();
    /// Drops of ids_ what lies below the k-th; returns that bar, or -infinity where none is needed.
    float cutToTopK();
    void weigh();
    void keepTopP();
    void keepMinP();
    void sortUpTo(size_t count);

    SamplingOptions options_;
    RandomSource random_;
    std::vector<uint8_t> is_in_history_; ///< [vocab_size]
    std::vector<TokenId> history_;       ///< Distinct ids, in order of first use.
    std::vector<float> scores_;          ///< [vocab_size], after penalty and suppression.
    std::vector<TokenId> ids_;           ///< What top-k left.
    /// Weights relative to the most probable token; the first num_sorted_ are in falling order.
    std::vector<Candidate> candidates_;
    size_t num_sorted_ = 0;
    double total_ = 0.0; ///< Sum of all weights in candidates_.
};

} // namespace engine
