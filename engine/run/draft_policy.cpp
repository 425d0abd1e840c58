// SPDX-License-Identifier: Apache-2.0
#include "engine/run/draft_policy.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

constexpr int64_t kUsualDrafts = 2;
constexpr int64_t kLeastPlain = 3;      ///< Tokens by themselves that are timed first.
constexpr int64_t kRoundsPerChoice = 8; ///< Rounds between two decisions.
constexpr double kFading = 0.97;        ///< Of what is known of acceptance, per round.
constexpr double kStartAcceptance = 0.6;
constexpr double kWorthTrying = 0.8; ///< Gain below which a later reply does not try again.
constexpr double kLeastGain = 1.0;

} // namespace

void DraftPolicy::Mean::add(double sample) {
    ++count;
    const double share = 1.0 / static_cast<double>(std::min<int64_t>(count, 16));
    value += (sample - value) * share;
}

DraftPolicy::DraftPolicy(int64_t fixed, int64_t advised)
    : fixed_(std::min(fixed, kMostDrafts)), chosen_(fixed > 0     ? fixed_
                                                    : advised > 0 ? std::min(advised, kMostDrafts)
                                                                  : kUsualDrafts),
      rounds_left_(kRoundsPerChoice) {}

void DraftPolicy::beginReply() {
    report_ = {};
    if (is_off_ && last_gain_ >= kWorthTrying) {
        is_off_ = false;
        chosen_ = std::max<int64_t>(chosen_, 1);
        rounds_left_ = kRoundsPerChoice / 2;
    }
    report_.is_off = is_off_;
}

int64_t DraftPolicy::next(int64_t most) const {
    const bool is_waiting = fixed_ == 0 && plain_.count < kLeastPlain;
    return is_off_ || is_waiting ? 0 : std::max<int64_t>(0, std::min(chosen_, most));
}

void DraftPolicy::notePlain(double seconds) {
    plain_.add(seconds);
}

void DraftPolicy::noteRound(int64_t drafts, int64_t accepted, double draft_s, double check_s) {
    if (drafts > 0) {
        draft_.add(draft_s / static_cast<double>(drafts));
        ++report_.rounds;
        report_.drafted += drafts;
        report_.accepted += accepted;
        report_.draft_s += draft_s;
        report_.check_s += check_s;
    }
    check_[static_cast<size_t>(std::min(drafts, kMostDrafts) + 1)].add(check_s);
    accepted_ = accepted_ * kFading + static_cast<double>(accepted);
    tried_ = tried_ * kFading + static_cast<double>(std::min(drafts, accepted + 1));
    const double round_seconds = report_.draft_s + report_.check_s;
    if (report_.rounds > 0 && plain_.count > 0 && round_seconds > 0.0) {
        const auto tokens = static_cast<double>(report_.rounds + report_.accepted);
        report_.gain = tokens * plain_.value / round_seconds;
    }
    if (fixed_ == 0 && drafts > 0 && --rounds_left_ <= 0) {
        decide();
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
    is_off_ = last_gain_ < kLeastGain;
    report_.is_off = is_off_;
}

double DraftPolicy::acceptance() const {
    return tried_ > 0.0 ? accepted_ / tried_ : kStartAcceptance;
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
