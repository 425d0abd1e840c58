// SPDX-License-Identifier: Apache-2.0
// How many tokens to draft in the next round, from what rounds have cost and how many drafts were
// accepted: as many as give most tokens per second, none where drafting is slower than not to.
// Trying costs time that does not pay where drafts do not: it may take 2 % of the time of the last
// thousand tokens, and of a shorter text the time of four. What the first round of a number of
// rows costs does not count, as it may set something up, and the second is only guessed before.
// Belongs to one loaded model; knows no clock and no model.
#pragma once

#include "engine/api/chat.h"

#include <array>
#include <cstdint>
#include <optional>

namespace engine {

class DraftPolicy {
public:
    static constexpr int64_t kMostDrafts = 16;
    /// Share of the time without drafts that trying them may cost, ...
    static constexpr double kMostLoss = 0.02;
    /// ... or so many tokens, where that is more: the first rounds of a short text.
    static constexpr double kFreeTokens = 4.0;

    /// fixed: drafts of every round, whatever it costs; 0: as many as pay. advised: what the
    /// assistant's makers say, 0: nothing.
    DraftPolicy(int64_t fixed, int64_t advised);

    /// A reply begins: its own counts start.
    void beginReply();
    /// Drafts of the next round, at most `most`; 0: a token by itself. has_row: what a round begins
    /// with is there; else a call of noteRound() without drafts comes first.
    [[nodiscard]] int64_t next(int64_t most, bool has_row) const;
    /// A token by itself that took `seconds`.
    void notePlain(double seconds);
    /// A round of `drafts` drafts that took `draft_s`, whose rows the model checked in `check_s`.
    /// 0 drafts: the token by itself that brings what a round begins with.
    void noteRound(int64_t drafts, int64_t accepted, double draft_s, double check_s);

    /// Rounds do not pay: none are made, but for one now and then that looks whether they do.
    [[nodiscard]] bool isOff() const { return is_off_; }
    /// Report on this reply. `gain` where this reply had no round because drafting is off: that of
    /// the rounds that it was switched off by.
    [[nodiscard]] const DraftReport& report() const { return report_; }
    /// Tokens of one round of `drafts` drafts when each is accepted with probability `acceptance`:
    /// 1 + a + ... + a^drafts.
    static double tokensOfRound(double acceptance, int64_t drafts);

private:
    /// A mean of the last values. The first of all is of a step that also sets something up, so the
    /// second takes its place where it is smaller.
    struct Mean {
        double value = 0.0;
        int64_t count = 0;
        void add(double sample);
    };
    /// Tokens per second of rounds of so many drafts; 0 drafts: without.
    [[nodiscard]] double speedOf(int64_t drafts) const;
    /// Seconds of a check of so many rows: measured, or drawn on from the nearest that was.
    [[nodiscard]] double checkSeconds(int64_t rows) const;
    [[nodiscard]] double acceptance() const;
    /// What a round costs at most beyond tokens by themselves, where none of its drafts is
    /// accepted; of what was not measured twice a guess.
    [[nodiscard]] double worstLoss(int64_t drafts) const;
    [[nodiscard]] double allowance() const;
    /// Rounds are known to pay: they need no allowance.
    [[nodiscard]] bool isProven() const;
    /// `tokens` that took `loss` seconds more than they would have by themselves.
    void account(int64_t tokens, double loss);
    void decide();
    void switchOff();

    int64_t fixed_, chosen_;
    bool is_off_ = false;
    int64_t rounds_left_ = 0; ///< Before the number of drafts is decided anew.
    int64_t wait_ = 0;        ///< Tokens before drafting that is off is looked at again,
    int64_t next_wait_;       ///< and after the next time that it turns out not to pay.
    Mean plain_, draft_;
    std::array<Mean, kMostDrafts + 2> check_; ///< By rows.
    double accepted_ = 0.0, tried_ = 0.0;     ///< Fading sums.
    double tokens_ = 0.0, loss_s_ = 0.0;      ///< Fading sums of the last thousand tokens.
    double last_gain_ = 1.0;                  ///< Gain of the best number of drafts, when decided.
    DraftReport report_;
};

} // namespace engine
