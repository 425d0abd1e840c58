// SPDX-License-Identifier: Apache-2.0
// One pass copies the row (penalty, suppression, check for NaN), a second one keeps what can pass
// top-k; everything after that works on the few tokens that are left. With top-k off the most
// probable tokens are sorted in growing portions, until top-p or min-p is satisfied.
#include "engine/run/sampler.h"

#include "engine/run/finite.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>

namespace engine {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// With top-k off, so many of the most probable tokens are sorted first.
constexpr size_t kFirstPortion = 256;

/// exp(x) for x <= 0 from IEEE basic operations only, so that it is the same on every platform:
/// x = k ln 2 + r with |r| <= ln 2 / 2, exp(r) by its Taylor series up to r^13 (the next term is
/// below 5e-18).
double portableExp(double x) {
    if (!(x > -700.0)) {
        return 0.0;
    }
    constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
    constexpr double kLn2High = 0x1.62e42feep-1; // ln 2 cut to 33 bits: k times it is exact
    constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
    constexpr double kInverseFactorial[] = {1.0 / 6227020800.0,
                                            1.0 / 479001600.0,
                                            1.0 / 39916800.0,
                                            1.0 / 3628800.0,
                                            1.0 / 362880.0,
                                            1.0 / 40320.0,
                                            1.0 / 5040.0,
                                            1.0 / 720.0,
                                            1.0 / 120.0,
                                            1.0 / 24.0,
                                            1.0 / 6.0,
                                            0.5,
                                            1.0,
                                            1.0};
    const double k = std::floor(x * kInverseLn2 + 0.5);
    const double r = (x - k * kLn2High) - k * kLn2Low;
    double sum = 0.0;
    for (const double coefficient : kInverseFactorial) {
        sum = sum * r + coefficient;
    }
    const auto exponent = static_cast<uint64_t>(static_cast<int64_t>(k) + 1023);
    return sum * std::bit_cast<double>(exponent << 52);
}

Error noTokenLeft() {
    return Error{ErrorCode::Internal,
                 "sampler: no token is left: every logit is -infinity or its token is suppressed",
                 {}};
}

Error badOption(const std::string& name, Phrase expected, double found) {
    return Error{ErrorCode::InvalidRequest,
                 said("sampling option %1: expected %2, found %3", name, expected, found),
                 {{"option", name}}};
}

} // namespace

RandomSource::RandomSource(uint64_t seed) {
    for (uint64_t& word : state_) { // SplitMix64 (Steele, Lea, Flood 2014)
        seed += 0x9e3779b97f4a7c15U;
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        word = z ^ (z >> 31);
    }
}

uint64_t RandomSource::next() {
    const uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

double RandomSource::uniform() {
    return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

SamplingOptions samplingFromDefaults(const GenerationDefaults& defaults) {
    SamplingOptions options;
    options.temperature = defaults.do_sample ? defaults.temperature : 0.0;
    options.top_k = defaults.top_k;
    options.top_p = defaults.top_p;
    options.min_p = defaults.min_p;
    options.repetition_penalty = defaults.repetition_penalty;
    return options;
}

std::vector<TokenId> suppressedTokens(const ModelConfig& config) {
    std::vector<int64_t> wanted = config.generation.suppress_tokens;
    wanted.insert(wanted.end(), {config.image_token_id, config.audio_token_id,
                                 config.video_token_id, config.boi_token_id, config.eoi_token_id,
                                 config.boa_token_id, config.eoa_token_id});
    std::vector<TokenId> ids;
    for (const int64_t id : wanted) {
        if (id >= 0 && id <= std::numeric_limits<TokenId>::max()) {
            ids.push_back(static_cast<TokenId>(id));
        }
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

Result<Sampler> Sampler::create(SamplingOptions options, int64_t vocab_size) {
    // Written so that NaN fails every test.
    if (!(options.temperature >= 0.0 && options.temperature <= 100.0)) {
        return badOption("temperature", phrase("a number from 0 to 100"), options.temperature);
    }
    if (options.top_k < 0) {
        return badOption("top_k", phrase("0 (off) or a positive whole number"),
                         static_cast<double>(options.top_k));
    }
    if (!(options.top_p >= 0.0 && options.top_p <= 1.0)) {
        return badOption("top_p", phrase("a number from 0 to 1"), options.top_p);
    }
    if (!(options.min_p >= 0.0 && options.min_p <= 1.0)) {
        return badOption("min_p", phrase("a number from 0 to 1"), options.min_p);
    }
    if (options.repetition_penalty == 0.0) {
        options.repetition_penalty = 1.0; // as some programs write "off"
    }
    if (!(options.repetition_penalty > 0.0 && options.repetition_penalty <= 100.0)) {
        return badOption("repetition_penalty", phrase("a number from 0 to 100"),
                         options.repetition_penalty);
    }
    if (vocab_size <= 0 || vocab_size > std::numeric_limits<TokenId>::max()) {
        return badOption("vocab_size", phrase("a positive 32-bit number"),
                         static_cast<double>(vocab_size));
    }
    return Sampler(std::move(options), vocab_size);
}

Sampler::Sampler(SamplingOptions options, int64_t vocab_size)
    : options_(std::move(options)), random_(options_.seed),
      is_in_history_(static_cast<size_t>(vocab_size)), scores_(static_cast<size_t>(vocab_size)) {}

void Sampler::accept(TokenId id) {
    if (id >= 0 && static_cast<size_t>(id) < is_in_history_.size() &&
        is_in_history_[static_cast<size_t>(id)] == 0) {
        is_in_history_[static_cast<size_t>(id)] = 1;
        history_.push_back(id);
    }
}

void Sampler::setHistory(std::span<const TokenId> ids) {
    for (const TokenId id : history_) {
        is_in_history_[static_cast<size_t>(id)] = 0;
    }
    history_.clear();
    for (const TokenId id : ids) {
        accept(id);
    }
}

void Sampler::reseed(uint64_t seed) {
    options_.seed = seed;
    random_ = RandomSource(seed);
}

Result<void> Sampler::prepare(std::span<const float> logits) {
    if (logits.size() != scores_.size()) {
        return Error{ErrorCode::Internal,
                     "sampler: the row has " + std::to_string(logits.size()) +
                         " logits, expected one for each of " + std::to_string(scores_.size()) +
                         " tokens",
                     {}};
    }
    constexpr float kLargest = std::numeric_limits<float>::max();
    bool is_usable = true;
    for (size_t i = 0; i < logits.size(); ++i) {
        scores_[i] = logits[i];
        is_usable = is_usable & (logits[i] <= kLargest); // false for NaN and +infinity
    }
#ifndef BELFRY_PLANTED_NOT_FINITE // built once without this check: tests must notice
    if (!is_usable) {
        const auto bad = std::find_if(logits.begin(), logits.end(),
                                      [](float logit) { return !(logit <= kLargest); });
        return notFiniteError(
            "sampler: the logit of token " + std::to_string(bad - logits.begin()) + " is " +
                (std::isnan(*bad) ? "not a number" : "infinite") +
                "; the model's arithmetic has failed, so that no token can be chosen",
            "language");
    }
#endif
    if (options_.repetition_penalty != 1.0) {
        const auto penalty = static_cast<float>(options_.repetition_penalty);
        for (const TokenId id : history_) {
            float& score = scores_[static_cast<size_t>(id)];
            // A tiny penalty may overflow: the largest number keeps the order of the others.
            score = std::min(score < 0.0F ? score * penalty : score / penalty, kLargest);
        }
    }
    for (const TokenId id : options_.suppressed) {
        if (id >= 0 && static_cast<size_t>(id) < scores_.size()) {
            scores_[static_cast<size_t>(id)] = kNever;
        }
    }
    return {};
}

Result<TokenId> Sampler::greedy() const {
    size_t best = 0;
    float best_score = kNever;
    for (size_t i = 0; i < scores_.size(); ++i) {
        if (scores_[i] > best_score) {
            best = i;
            best_score = scores_[i];
        }
    }
    if (best_score == kNever) {
        return noTokenLeft();
    }
    return static_cast<TokenId>(best);
}

float Sampler::cutToTopK() {
    const auto top_k = static_cast<size_t>(options_.top_k);
    if (ids_.size() <= top_k) {
        return kNever;
    }
    const auto scoreOf = [this](TokenId id) { return scores_[static_cast<size_t>(id)]; };
    const auto kth = ids_.begin() + static_cast<std::ptrdiff_t>(top_k) - 1;
    std::nth_element(ids_.begin(), kth, ids_.end(),
                     [&](TokenId a, TokenId b) { return scoreOf(a) > scoreOf(b); });
    const float bar = scoreOf(*kth);
    ids_.erase(
        std::remove_if(ids_.begin(), ids_.end(), [&](TokenId id) { return scoreOf(id) < bar; }),
        ids_.end());
    return bar;
}

void Sampler::keepTopK() {
    const auto top_k = static_cast<size_t>(options_.top_k);
    ids_.clear();
    if (top_k == 0 || top_k >= scores_.size()) {
        for (size_t i = 0; i < scores_.size(); ++i) {
            if (scores_[i] != kNever) {
                ids_.push_back(static_cast<TokenId>(i));
            }
        }
        return;
    }
    // Candidates are collected until there are far more than k; then the k-th largest of them
    // becomes the bar for the rest of the row. Scores equal to the bar stay in (as the reference).
    const size_t capacity = std::max<size_t>(4 * top_k, 256);
    float bar = kNever;
    size_t limit = capacity;
    for (size_t i = 0; i < scores_.size(); ++i) {
        const float score = scores_[i];
        if (score < bar || score == kNever) {
            continue;
        }
        ids_.push_back(static_cast<TokenId>(i));
        if (ids_.size() >= limit) {
            bar = cutToTopK();
            limit =
                std::max(capacity, 2 * ids_.size()); // many equal scores: do not select each time
        }
    }
    cutToTopK();
}

void Sampler::weigh() {
    float largest = kNever;
    for (const TokenId id : ids_) {
        largest = std::max(largest, scores_[static_cast<size_t>(id)]);
    }
    candidates_.clear();
    total_ = 0.0;
    for (const TokenId id : ids_) {
        const double distance =
            static_cast<double>(scores_[static_cast<size_t>(id)]) - static_cast<double>(largest);
        candidates_.push_back({id, portableExp(distance / options_.temperature)});
        total_ += candidates_.back().probability;
    }
    num_sorted_ = 0;
}

void Sampler::sortUpTo(size_t count) {
    count = std::min(count, candidates_.size());
    if (count <= num_sorted_) {
        return;
    }
    const auto is_before = [this](const Candidate& a, const Candidate& b) {
        const float score_a = scores_[static_cast<size_t>(a.id)];
        const float score_b = scores_[static_cast<size_t>(b.id)];
        return score_a != score_b ? score_a > score_b : a.id < b.id;
    };
    const auto begin = candidates_.begin() + static_cast<std::ptrdiff_t>(num_sorted_);
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(count);
    if (end != candidates_.end()) {
        std::nth_element(begin, end, candidates_.end(), is_before);
    }
    std::sort(begin, end, is_before);
    num_sorted_ = count;
}

void Sampler::keepTopP() {
    if (options_.top_p >= 1.0) {
        return;
    }
    // The reference removes, from the least probable up, what sums to at most 1 - top_p; equally,
    // a token stays as long as those before it (in falling order) sum to less than top_p.
    const double wanted = options_.top_p * total_;
    double sum = 0.0;
    size_t count = 0;
    while (count < candidates_.size() && (count == 0 || sum < wanted)) {
        if (count == num_sorted_) {
            sortUpTo(std::max(kFirstPortion, 4 * num_sorted_));
        }
        sum += candidates_[count].probability;
        ++count;
    }
    candidates_.resize(count);
    num_sorted_ = count;
    total_ = sum;
}

void Sampler::keepMinP() {
    if (options_.min_p <= 0.0) {
        return;
    }
    // The largest weight is exp(0) = 1.
    const auto is_below = [this](const Candidate& c) { return c.probability < options_.min_p; };
    const auto end = std::remove_if(candidates_.begin(), candidates_.end(), is_below);
    candidates_.erase(end, candidates_.end());
    num_sorted_ = std::min(num_sorted_, candidates_.size());
    total_ = 0.0;
    for (const Candidate& candidate : candidates_) {
        total_ += candidate.probability;
    }
}

Result<void> Sampler::filter(std::span<const float> logits) {
    ENGINE_TRY(prepare(logits));
    ENGINE_ASSIGN(const TokenId best, greedy());
    if (options_.temperature == 0.0) {
        candidates_.assign(1, {best, 1.0});
        total_ = 1.0;
        num_sorted_ = 1;
        return {};
    }
    keepTopK();
    weighAndCut();
    return {};
}

Result<void> Sampler::takeCandidates(std::span<const kernels::TokenLogit> candidates) {
    ids_.clear();
    for (const kernels::TokenLogit& candidate : candidates) {
        if (candidate.token < 0 || static_cast<size_t>(candidate.token) >= scores_.size() ||
            !(candidate.logit <= std::numeric_limits<float>::max())) {
            return Error{ErrorCode::Internal,
                         "sampler: token " + std::to_string(candidate.token) + " with logit " +
                             std::to_string(candidate.logit) + " is no candidate",
                         {}};
        }
        if (candidate.logit != kNever) {
            scores_[static_cast<size_t>(candidate.token)] = candidate.logit;
            ids_.push_back(candidate.token);
        }
    }
    if (ids_.empty()) {
        return noTokenLeft();
    }
    cutToTopK();
    return {};
}

void Sampler::weighAndCut() {
    weigh();
    // What top-k left stands in no particular order. Sums are taken in an order that every
    // platform shares: by rank here, by id when top-k is off.
    if (options_.top_k > 0) {
        sortUpTo(candidates_.size());
        total_ = 0.0;
        for (const Candidate& candidate : candidates_) {
            total_ += candidate.probability;
        }
    }
    keepTopP();
    keepMinP();
}

int64_t Sampler::candidatesWanted() const {
    const bool is_plain = options_.temperature > 0.0 && options_.repetition_penalty == 1.0;
    return is_plain && !options_.needs_rows ? options_.top_k : 0;
}

Result<TokenId> Sampler::sample(std::span<const float> logits) {
    ENGINE_TRY(filter(logits));
    return options_.temperature == 0.0 ? candidates_[0].id // takes no random number
                                       : draw();
}

Result<TokenId> Sampler::sampleFrom(std::span<const kernels::TokenLogit> candidates) {
    assert(candidatesWanted() > 0);
    ENGINE_TRY(takeCandidates(candidates));
    weighAndCut();
    return draw();
}

TokenId Sampler::draw() {
    const double target = random_.uniform() * total_;
    double sum = 0.0;
    TokenId chosen = -1;
    for (size_t i = 0; i < candidates_.size(); ++i) {
        if (i == num_sorted_) {
            sortUpTo(std::max(kFirstPortion, 4 * num_sorted_));
        }
        if (candidates_[i].probability > 0.0) {
            chosen = candidates_[i].id;
        }
        sum += candidates_[i].probability;
        if (target < sum) {
            break;
        }
    }
    return chosen; // the last possible one if rounding left the target above the sum
}

Result<std::vector<Sampler::Candidate>> Sampler::distribution(std::span<const float> logits) {
    ENGINE_TRY(filter(logits));
    sortUpTo(candidates_.size());
    std::vector<Candidate> out = candidates_;
    for (Candidate& candidate : out) {
        candidate.probability /= total_;
    }
    return out;
}

} // namespace engine
