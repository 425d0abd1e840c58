// SPDX-License-Identifier: Apache-2.0
// How many tokens to draft in the next round, from what rounds have cost and how many drafts were
// accepted: as many as give most tokens per second, none where drafting is slower than not to.
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

    /// fixed: drafts of every round, whatever it costs; 0: as many as pay. advised: what the
    /// assistant's makers say, 0: nothing.
    DraftPolicy(int64_t fixed, int64_t advised);

    /// A reply begins: its own counts start. Drafting that did not pay is tried again for a few
    /// rounds where it was close.
    void beginReply();
    /// Drafts of the next round, at most `most`; 0: a token by itself.
    [[nodiscard]] int64_t next(int64_t most) const;
    /// A token by itself that took `seconds`.
    void notePlain(double seconds);
    /// A round of `drafts` drafts that took `draft_s`, whose rows the model checked in `check_s`.
    void noteRound(int64_t drafts, int64_t accepted, double draft_s, double check_s);

    /// Rounds do not pay: none are made.
    [[nodiscard]] bool isOff() const { return is_off_; }
    /// Of this reply.
    [[nodiscard]] const DraftReport& report() const { return report_; }
    /// Tokens of one round of `drafts` drafts when each is accepted with probability `acceptance`:
    /// 1 + a + ... + a^drafts.
    static double tokensOfRound(double acceptance, int64_t drafts);

private:
    /// A mean of the last values.
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
    void decide();

    int64_t fixed_, chosen_;
    bool is_off_ = false;
    int64_t rounds_left_ = 0; ///< Before the number of drafts is decided anew.
    Mean plain_, draft_;
    std::array<Mean, kMostDrafts + 2> check_; ///< By rows.
    double accepted_ = 0.0, tried_ = 0.0;     ///< Fading sums.
    double last_gain_ = 1.0;                  ///< Of the best number of drafts, when decided.
    DraftReport report_;
};

} // namespace engine
