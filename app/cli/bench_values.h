// SPDX-License-Identifier: Apache-2.0
// What a benchmark measured, as values: bench_measure.h fills them, bench_output.h prints them.
// Rates are per second, GB are 1e9 bytes, GFLOP/s count a multiply-add as two, shares are of 1.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/measure.h"
#include "engine/api/snapshot.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cli {

inline double medianOf(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0.0 : values[values.size() / 2];
}

inline double ratio(double a, double b) {
    return b > 0.0 ? a / b : 0.0;
}

/// What this machine reaches, and what decoding is held to.
struct Ceilings {
    engine::MachineRates machine;
    double weights_read = 0.0; ///< GB/s, of the weights where they lie.
    double arithmetic = 0.0;   ///< GB/s of weights; 0 = not known.

    /// What is asked of decoding: 70 % of the read bandwidth, or less where arithmetic allows less.
    /// Of the two reads the faster counts: a virtual machine may back one buffer worse.
    [[nodiscard]] double asked(double read, double plain) const {
        constexpr double kReadShareAsked = 0.7;
        const double by_read = kReadShareAsked * std::max(read, plain);
        return arithmetic > 0.0 ? std::min(by_read, arithmetic) : by_read;
    }
    [[nodiscard]] double peakGflops() const {
        return machine.bf16_gflops > 0 ? machine.bf16_gflops : machine.fp32_gflops;
    }
};

/// Prompts of one length.
struct PrefillRow {
    int64_t tokens = 0;
    double tokens_per_s = 0.0, min_tokens_per_s = 0.0, max_tokens_per_s = 0.0;
    size_t runs = 0;
    double gflops = 0.0;
    double share_of_peak = 0.0;               ///< Of the processor.
    std::optional<double> share_of_card_peak; ///< Where a card was measured.
};

/// One of several measurements of decoding, with the reads of the same moment in GB/s.
struct DecodeRound {
    double tokens_per_s = 0.0;
    double read = 0.0;         ///< Of a fresh buffer, the mean of before and after.
    double weights_read = 0.0; ///< Of the weights where they lie, likewise.
};

/// Decoding behind `depth` tokens; medians of the rounds.
struct DecodeRow {
    int64_t depth = 0;
    double tokens_per_s = 0.0, min_tokens_per_s = 0.0, max_tokens_per_s = 0.0;
    double weight_gb_per_s = 0.0;
    double read_gb_per_s = 0.0, weights_read_gb_per_s = 0.0;
    double share_of_read_bandwidth = 0.0, share_of_asked = 0.0, share_of_weights_read = 0.0;
    std::optional<double> share_of_card_read; ///< Where a card was measured.
    std::vector<DecodeRound> rounds;
};

/// A rate without and with the random adapter; `at` is a depth or a prompt's length in tokens.
struct AdapterRow {
    int64_t at = 0;
    double without = 0.0, with = 0.0; ///< Tokens per second.
    [[nodiscard]] double slowerBy() const { return with > 0 ? without / with - 1.0 : 0.0; }
};

/// Decoding behind `depth` tokens without and with drafts, medians of paired measurements.
struct DraftRow {
    int64_t depth = 0;
    double without = 0.0, with = 0.0; ///< Tokens per second.
    engine::DraftReport report;       ///< Of the last measurement.
    [[nodiscard]] double draftMs() const {
        return 1e3 * ratio(report.draft_s, static_cast<double>(report.drafted));
    }
    [[nodiscard]] double checkMs() const {
        return 1e3 * ratio(report.check_s, static_cast<double>(report.rounds));
    }
};

struct AdapterBench {
    int64_t rank = 0;
    std::string targets;
    uint64_t bytes = 0;
    std::vector<AdapterRow> decode, prefill;
    std::vector<DraftRow> drafts; ///< Beside it.
};

/// A picture or a sound: seconds of the tower by itself, of reading and preparing the file by
/// itself, of a whole request to its first token, and of a prompt of as many tokens of text.
struct MediumRow {
    double tower_s = 0.0, prepare_s = 0.0;
    int64_t soft_tokens = 0;
    double first_token_s = 0.0, min_first_token_s = 0.0, max_first_token_s = 0.0;
    double prompt_s = 0.0;
    int64_t patches = 0; ///< Of a picture.
    std::string pixels;  ///< "1200 x 840"
    int64_t audio_s = 0; ///< Of a sound.
    /// Only where the counted size was measured.
    std::optional<double> gflops, share_of_peak;
};

struct BenchReport {
    std::string model;
    double draft_acceptance = -1.0; ///< Given; negative: the model's own.
    std::vector<DraftRow> drafts;
    double load_s = 0.0;
    bool is_on_card = false; ///< Rates of the processor say nothing then.
    Ceilings ceilings;
    engine::SamplingParameters choice; ///< How decoded tokens were chosen.
    std::vector<PrefillRow> prefill;
    std::vector<DecodeRow> decode;
    std::optional<AdapterBench> adapter;
    std::optional<MediumRow> image, audio;
    std::vector<engine::DeviceMemory> memory;
    std::vector<engine::CardCeiling> cards;
};

} // namespace cli
