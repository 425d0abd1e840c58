// SPDX-License-Identifier: Apache-2.0
#include "engine/run/draft_policy.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

constexpr int64_t kUsualDrafts = 2;
constexpr int64_t kLeastPlain = 3;      ///< Tokens by themselves that are timed first.
constexpr int64_t kRoundsPerChoice = 8; ///< Rounds between two decisions.
constexpr double kFading = 0.97;        ///< Decay of what is known of acceptance, per round.
constexpr double kTokenFading = 1.0 - 1.0 / 1024.0;
/// Acceptance before anything is known, and how many drafts that guess weighs as much as.
constexpr double kStartAcceptance = 0.6, kStartWeight = 4.0;
constexpr int64_t kFirstWait = 64, kLongestWait = 4096; ///< Tokens.
/// Guesses of what is not measured, by a token: a draft, and a row of a check. On the processor and
/// without a way to check rows at once that is what they take.
constexpr double kMostTimesWorse = 2.0;
constexpr double kGuessedDraft = 0.3, kGuessedRow = 1.0;

} // namespace

void DraftPolicy::Mean::add(double sample) {
    ++count;
    if (count == 2) {
        value = std::min(value, sample);
        return;
    }
    const double share = 1.0 / static_cast<double>(std::clamp<int64_t>(count - 1, 1, 16));
    value += (sample - value) * share;
}

DraftPolicy::DraftPolicy(int64_t fixed, int64_t advised)
    : fixed_(std::min(fixed, kMostDrafts)), chosen_(fixed > 0     ? fixed_
                                                    : advised > 0 ? std::min(advised, kMostDrafts)
                                                                  : kUsualDrafts),
      rounds_left_(kRoundsPerChoice), next_wait_(kFirstWait) {}

void DraftPolicy::beginReply() {
    report_ = {};
    report_.is_off = is_off_;
    report_.gain = is_off_ ? last_gain_ : 0.0;
}

double DraftPolicy::allowance() const {
    return std::max(kFreeTokens, kMostLoss * tokens_) * plain_.value;
}

double DraftPolicy::worstLoss(int64_t drafts) const {
    const auto rows = static_cast<size_t>(drafts) + 1;
    const double guessed = kGuessedRow * static_cast<double>(rows) * plain_.value;
    // What was measured once may have set something up: the guess counts where it is less.
    const double check = check_[rows].count > 1    ? check_[rows].value
                         : check_[rows].count == 1 ? std::min(check_[rows].value, guessed)
                                                   : guessed;
    const double draft =
        draft_.count > 1 ? draft_.value : kGuessedDraft * std::max(plain_.value, 0.0);
    return check + static_cast<double>(drafts) * draft - plain_.value;
}

bool DraftPolicy::isProven() const {
    return !is_off_ && last_gain_ > 1.0;
}

int64_t DraftPolicy::next(int64_t most, bool has_row) const {
    int64_t drafts = std::max<int64_t>(0, std::min(chosen_, most));
    if (fixed_ > 0) {
        return drafts;
    }
    if (plain_.count < kLeastPlain || (is_off_ && wait_ > 0)) {
        return 0;
    }
    // What is only tried may cost no more than is left.
    const double spent = loss_s_ + (has_row ? 0.0 : std::max(0.0, worstLoss(0)));
    while (drafts > 0 && spent + (isProven() ? 0.0 : worstLoss(drafts)) > allowance()) {
        --drafts;
    }
    return drafts;
}

void DraftPolicy::account(int64_t tokens, double loss) {
    const double kept = std::pow(kTokenFading, static_cast<double>(tokens));
    tokens_ = tokens_ * kept + static_cast<double>(tokens);
    // What was won pays for no later loss: the text of then was another one.
    loss_s_ = std::max(0.0, loss_s_ * kept + loss);
    wait_ = std::max<int64_t>(0, wait_ - tokens);
}

void DraftPolicy::notePlain(double seconds) {
    plain_.add(seconds);
    account(1, 0.0);
}

void DraftPolicy::noteRound(int64_t drafts, int64_t accepted, double draft_s, double check_s) {
    const size_t rows = static_cast<size_t>(std::min(drafts, kMostDrafts)) + 1;
    const bool sets_up = check_[rows].count == 0; // once per load, as its other preparations
    check_[rows].add(check_s);
    const int64_t tokens = accepted + 1;
    const double round_s = draft_s + check_s;
    if (plain_.count > 0) {
        // A round that took many times as long as others did was held up by something else, as
        // tokens by themselves are, too.
        const double most = kMostTimesWorse * std::max(0.0, worstLoss(drafts));
        const double loss = round_s - static_cast<double>(tokens) * plain_.value;
        account(tokens, std::min(loss, sets_up ? 0.0 : most));
    }
    if (drafts == 0) {
        return;
    }
    if (is_off_) { // another text: what was accepted before says little
        accepted_ = tried_ = 0.0;
    }
    draft_.add(draft_s / static_cast<double>(drafts));
    ++report_.rounds;
    report_.drafted += drafts;
    report_.accepted += accepted;
    report_.draft_s += draft_s;
    report_.check_s += check_s;
    accepted_ = accepted_ * kFading + static_cast<double>(accepted);
    tried_ = tried_ * kFading + static_cast<double>(std::min(drafts, accepted + 1));
    const double all_s = report_.draft_s + report_.check_s;
    if (plain_.count > 0 && all_s > 0.0) {
        const auto said = static_cast<double>(report_.rounds + report_.accepted);
        report_.gain = said * plain_.value / all_s;
    }
    if (fixed_ > 0) {
        return;
    }
    // A look at drafts that were off, and rounds that have cost what they may, are judged at once.
    const bool is_spent = loss_s_ + (isProven() ? 0.0 : worstLoss(1)) > allowance();
    const bool is_due = --rounds_left_ <= 0 || is_off_ || is_spent;
    if (is_due && !sets_up) {
        decide();
        if (!is_off_ && loss_s_ > allowance()) { // whatever the means say
            last_gain_ = std::min({last_gain_, report_.gain, 1.0});
            switchOff();
        }
    }
}

void DraftPolicy::decide() {
    rounds_left_ = kRoundsPerChoice;
    int64_t best = 1;
    for (int64_t drafts = 2; drafts <= kMostDrafts; ++drafts) {
        // One more than was ever tried at a time: what lies beyond is a guess.
        const bool is_known = check_[static_cast<size_t>(drafts)].count > 0 ||
                              check_[static_cast<size_t>(drafts) + 1].count > 0;
        if (is_known && speedOf(drafts) > speedOf(best)) {
            best = drafts;
        }
    }
    const double plain = speedOf(0);
    last_gain_ = plain > 0.0 ? speedOf(best) / plain : 1.0;
    chosen_ = best;
    is_off_ = report_.is_off = false;
    if (last_gain_ < 1.0) {
        switchOff();
    } else if (tried_ >= static_cast<double>(kRoundsPerChoice)) {
        next_wait_ = kFirstWait;
    }
}

void DraftPolicy::switchOff() {
    is_off_ = report_.is_off = true;
    wait_ = next_wait_;
    next_wait_ = std::min(2 * next_wait_, kLongestWait);
}

double DraftPolicy::acceptance() const {
    return (accepted_ + kStartWeight * kStartAcceptance) / (tried_ + kStartWeight);
}

double DraftPolicy::tokensOfRound(double acceptance, int64_t drafts) {
    double tokens = 1.0;
    double power = 1.0;
    for (int64_t i = 0; i < drafts; ++i) {
        power *= acceptance;
        tokens += power;
    }
    return tokens;
}

double DraftPolicy::checkSeconds(int64_t rows) const {
    const auto at = static_cast<size_t>(rows);
    if (check_[at].count > 0) {
        return check_[at].value;
    }
    size_t nearest = 0;
    for (size_t i = 1; i < check_.size(); ++i) {
        const auto far = [at](size_t j) { return j > at ? j - at : at - j; };
        if (check_[i].count > 0 && (nearest == 0 || far(i) < far(nearest))) {
            nearest = i;
        }
    }
    if (nearest == 0) {
        return plain_.value;
    }
    // The price of a row as that check has it: what is tried on it is measured then.
    const auto behind_first = static_cast<double>(nearest) - 1.0;
    const double price = behind_first > 0.0
                             ? std::max(0.0, (check_[nearest].value - plain_.value) / behind_first)
                             : 0.0;
    const double more = static_cast<double>(rows) - static_cast<double>(nearest);
    return std::max(plain_.value, check_[nearest].value + more * price);
}

double DraftPolicy::speedOf(int64_t drafts) const {
    if (drafts == 0) {
        return plain_.value > 0.0 ? 1.0 / plain_.value : 0.0;
    }
    const double seconds = checkSeconds(drafts + 1) + static_cast<double>(drafts) * draft_.value;
    return seconds > 0.0 ? tokensOfRound(acceptance(), drafts) / seconds : 0.0;
}

} // namespace engine
