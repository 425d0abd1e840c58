// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench_output.h"

#include "app/cli/console.h"
#include "app/cli/output.h"

#include <cstdio>

namespace cli {

using nlohmann::ordered_json;

namespace {

ordered_json machineJson(const Ceilings& ceilings) {
    const engine::MachineRates& machine = ceilings.machine;
    return {{"threads", machine.threads},
            {"kernels", machine.kernels},
            {"read_gb_per_s", machine.read_gb_per_s},
            {"weights_read_gb_per_s", ceilings.weights_read},
            {"decode_arithmetic_gb_per_s", ceilings.arithmetic},
            {"decode_asked_gb_per_s", ceilings.asked(machine.read_gb_per_s, ceilings.weights_read)},
            {"fp32_gflops", machine.fp32_gflops},
            {"bf16_gflops", machine.bf16_gflops}};
}

ordered_json choiceJson(const engine::SamplingParameters& choice) {
    ordered_json out = {{"is_greedy", choice.temperature == 0.0}};
    if (choice.temperature > 0.0) {
        out["temperature"] = choice.temperature;
        out["top_k"] = choice.top_k;
        out["top_p"] = choice.top_p;
        out["min_p"] = choice.min_p;
        out["seed"] = choice.seed;
    }
    out["repetition_penalty"] = choice.repetition_penalty;
    return out;
}

ordered_json prefillJson(const PrefillRow& row) {
    ordered_json out = {{"tokens", row.tokens},
                        {"tokens_per_s", row.tokens_per_s},
                        {"min_tokens_per_s", row.min_tokens_per_s},
                        {"max_tokens_per_s", row.max_tokens_per_s},
                        {"runs", row.runs},
                        {"gflops", row.gflops},
                        {"share_of_peak", row.share_of_peak}};
    if (row.share_of_card_peak) {
        out["share_of_card_peak"] = *row.share_of_card_peak;
    }
    return out;
}

ordered_json decodeJson(const DecodeRow& row) {
    ordered_json out = {{"depth", row.depth},
                        {"tokens_per_s", row.tokens_per_s},
                        {"weight_gb_per_s", row.weight_gb_per_s},
                        {"read_gb_per_s", row.read_gb_per_s},
                        {"weights_read_gb_per_s", row.weights_read_gb_per_s},
                        {"share_of_read_bandwidth", row.share_of_read_bandwidth},
                        {"share_of_asked", row.share_of_asked},
                        {"share_of_weights_read", row.share_of_weights_read},
                        {"min_tokens_per_s", row.min_tokens_per_s},
                        {"max_tokens_per_s", row.max_tokens_per_s},
                        {"rounds", ordered_json::array()}};
    for (const DecodeRound& round : row.rounds) {
        out["rounds"].push_back({{"tokens_per_s", round.tokens_per_s},
                                 {"read_gb_per_s", round.read},
                                 {"weights_read_gb_per_s", round.weights_read}});
    }
    if (row.share_of_card_read) {
        out["share_of_card_read"] = *row.share_of_card_read;
    }
    return out;
}

ordered_json draftsJson(const std::vector<DraftRow>& drafts, double given_acceptance) {
    ordered_json rows = ordered_json::array();
    for (const DraftRow& row : drafts) {
        rows.push_back({{"depth", row.depth},
                        {"given_acceptance", given_acceptance},
                        {"tokens_per_s_without", row.without},
                        {"tokens_per_s", row.with},
                        {"gain", ratio(row.with, row.without)},
                        {"rounds", row.report.rounds},
                        {"drafted", row.report.drafted},
                        {"accepted", row.report.accepted},
                        {"tokens_per_round", row.report.tokensPerRound()},
                        {"draft_ms", row.draftMs()},
                        {"check_ms", row.checkMs()},
                        {"is_off", row.report.is_off}});
    }
    return rows;
}

ordered_json adapterJson(const AdapterBench& adapter, double given_acceptance) {
    ordered_json out = {{"rank", adapter.rank},
                        {"targets", adapter.targets},
                        {"bytes", adapter.bytes},
                        {"decode", ordered_json::array()},
                        {"prefill", ordered_json::array()}};
    for (const AdapterRow& row : adapter.decode) {
        out["decode"].push_back({{"depth", row.at},
                                 {"tokens_per_s_without", row.without},
                                 {"tokens_per_s_with", row.with},
                                 {"slower_by", row.slowerBy()}});
    }
    for (const AdapterRow& row : adapter.prefill) {
        out["prefill"].push_back({{"tokens", row.at},
                                  {"tokens_per_s_with", row.with},
                                  {"tokens_per_s", row.without},
                                  {"slower_by", row.slowerBy()}});
    }
    if (!adapter.drafts.empty()) {
        out["drafts"] = draftsJson(adapter.drafts, given_acceptance);
    }
    return out;
}

ordered_json mediumJson(const MediumRow& row) {
    ordered_json out = {{"seconds", row.tower_s},
                        {"prepare_s", row.prepare_s},
                        {"soft_tokens", row.soft_tokens},
                        {"first_token_s", row.first_token_s},
                        {"min_first_token_s", row.min_first_token_s},
                        {"max_first_token_s", row.max_first_token_s}};
    if (row.patches > 0) {
        out["patches"] = row.patches;
        out["pixels"] = row.pixels;
    } else {
        out["audio_s"] = row.audio_s;
    }
    out["prompt_s"] = row.prompt_s;
    if (row.gflops) {
        out["gflops"] = *row.gflops;
        out["share_of_peak"] = row.share_of_peak.value_or(0.0);
    }
    return out;
}

std::string choiceText(const engine::SamplingParameters& choice) {
    char text[160];
    if (choice.temperature == 0.0) {
        std::snprintf(text, sizeof(text), "greedy, repetition penalty %g",
                      choice.repetition_penalty);
    } else {
        std::snprintf(text, sizeof(text),
                      "drawn: temperature %g, top-k %lld, top-p %g, min-p %g, repetition penalty "
                      "%g, seed %lld",
                      choice.temperature, static_cast<long long>(choice.top_k), choice.top_p,
                      choice.min_p, choice.repetition_penalty, static_cast<long long>(choice.seed));
    }
    return text;
}

void printCeilings(const BenchReport& report) {
    const engine::MachineRates& machine = report.ceilings.machine;
    print("machine  %d threads, %s, read %.1f GB/s, fp32 %.0f GFLOP/s, bf16 %.0f GFLOP/s "
          "(measured now)\n",
          machine.threads, machine.kernels.c_str(), machine.read_gb_per_s, machine.fp32_gflops,
          machine.bf16_gflops);
    if (!report.is_on_card) {
        print("         a plain read of these weights where they lie: %.1f GB/s\n",
              report.ceilings.weights_read);
        print("         the same products with weights from the cores' caches (arithmetic "
              "bound): %.1f GB/s\n"
              "         asked of decoding: %.1f GB/s (70 %% of the faster read, or the bound "
              "if lower)\n",
              report.ceilings.arithmetic,
              report.ceilings.asked(machine.read_gb_per_s, report.ceilings.weights_read));
    }
    for (const engine::CardCeiling& card : report.cards) {
        print("card     %s, read %.0f GB/s, tensor cores %.0f TFLOP/s in bf16 (measured now)\n",
              card.device.toString().c_str(), card.read_gb_per_s, card.bf16_gflops / 1000);
    }
}

/// In percent, with what it is a share of; nothing where it was not measured.
void printShare(const std::optional<double>& share, const char* of) {
    if (share) {
        print("  %5.1f %% of %s", 100 * *share, of);
    }
}

void printPrefill(const PrefillRow& row, bool is_on_card) {
    print("prefill  %6lld tokens   %8.1f tokens/s   %7.1f GFLOP/s",
          static_cast<long long>(row.tokens), row.tokens_per_s, row.gflops);
    if (!is_on_card) {
        print("  %5.1f %% of peak", 100 * row.share_of_peak);
    }
    printShare(row.share_of_card_peak, "the card's tensor cores");
    print("\n");
}

void printDecode(const DecodeRow& row, bool is_on_card) {
    print("decode   depth %6lld    %8.2f tokens/s   %7.2f GB/s of weights",
          static_cast<long long>(row.depth), row.tokens_per_s, row.weight_gb_per_s);
    if (is_on_card) {
        print(" (median of %lld, %.2f to %.2f)", static_cast<long long>(row.rounds.size()),
              row.min_tokens_per_s, row.max_tokens_per_s);
    } else {
        print("  %5.1f %% of read bandwidth, %5.1f %% of the plain read, %5.1f %% of what "
              "is asked",
              100 * row.share_of_read_bandwidth, 100 * row.share_of_weights_read,
              100 * row.share_of_asked);
        print(" (medians of %lld rounds with reads of %.1f and %.1f GB/s between them)",
              static_cast<long long>(row.rounds.size()), row.read_gb_per_s,
              row.weights_read_gb_per_s);
    }
    printShare(row.share_of_card_read, "the card's read bandwidth");
    print("\n");
}

void printDrafts(const char* name, const DraftRow& row) {
    print("%-8s depth %6lld    %8.2f tokens/s   %.2f without: %.2f times; %.2f tokens a round; a "
          "draft %.2f ms, a check %.2f ms%s\n",
          name, static_cast<long long>(row.depth), row.with, row.without,
          ratio(row.with, row.without), row.report.tokensPerRound(), row.draftMs(), row.checkMs(),
          row.report.is_off ? "; off, as they do not pay" : "");
}

void printAdapter(const AdapterBench& adapter) {
    for (const AdapterRow& row : adapter.decode) {
        print("adapter  depth %6lld    %8.2f tokens/s   with rank %lld on %s (%.1f MB); "
              "%.2f without: %.1f %% slower\n",
              static_cast<long long>(row.at), row.with, static_cast<long long>(adapter.rank),
              adapter.targets.c_str(), static_cast<double>(adapter.bytes) / 1e6, row.without,
              100 * row.slowerBy());
    }
    for (const AdapterRow& row : adapter.prefill) {
        print("adapter  prompt %5lld    %8.1f tokens/s   with it; %.1f without: %.1f %% "
              "slower\n",
              static_cast<long long>(row.at), row.with, row.without, 100 * row.slowerBy());
    }
    for (const DraftRow& row : adapter.drafts) {
        printDrafts("+drafts", row);
    }
}

/// The tower, the preparation, and the whole request.
void printMedium(const char* name, const std::string& what, const MediumRow& row, bool is_on_card) {
    print("%-8s %s  tower %.3f s, reading and preparing %.3f s, from the request to the "
          "first token %.3f s (%.3f to %.3f)",
          name, what.c_str(), row.tower_s, row.prepare_s, row.first_token_s, row.min_first_token_s,
          row.max_first_token_s);
    if (row.gflops && !is_on_card) {
        print("   %.1f GFLOP/s  %.1f %% of peak", *row.gflops,
              100 * row.share_of_peak.value_or(0.0));
    }
    print("\n");
}

} // namespace

ordered_json benchJson(const BenchReport& report) {
    ordered_json out = {{"model", report.model},
                        {"load_s", report.load_s},
                        {"machine", machineJson(report.ceilings)},
                        {"decode_choice", choiceJson(report.choice)},
                        {"decode", ordered_json::array()},
                        {"prefill", ordered_json::array()}};
    for (const DecodeRow& row : report.decode) {
        out["decode"].push_back(decodeJson(row));
    }
    for (const PrefillRow& row : report.prefill) {
        out["prefill"].push_back(prefillJson(row));
    }
    if (!report.drafts.empty()) {
        out["drafts"] = draftsJson(report.drafts, report.draft_acceptance);
    }
    if (report.adapter) {
        out["adapter"] = adapterJson(*report.adapter, report.draft_acceptance);
    }
    if (report.image) {
        out["image"] = mediumJson(*report.image);
    }
    if (report.audio) {
        out["audio"] = mediumJson(*report.audio);
    }
    out["memory"] = memoryJson(report.memory);
    out["cards"] = ordered_json::array();
    for (const engine::CardCeiling& card : report.cards) {
        out["cards"].push_back({{"device", card.device.toString()},
                                {"read_gb_per_s", card.read_gb_per_s},
                                {"bf16_gflops", card.bf16_gflops}});
    }
    return out;
}

void printBench(const BenchReport& report) {
    printCeilings(report);
    print("load     %.2f s\n", report.load_s);
    for (const PrefillRow& row : report.prefill) {
        printPrefill(row, report.is_on_card);
    }
    if (!report.decode.empty()) {
        print("choice   %s\n", choiceText(report.choice).c_str());
    }
    for (const DecodeRow& row : report.decode) {
        printDecode(row, report.is_on_card);
    }
    for (const DraftRow& row : report.drafts) {
        printDrafts("drafts", row);
    }
    if (report.adapter) {
        printAdapter(*report.adapter);
    }
    if (report.image) {
        printMedium("image", std::to_string(report.image->patches) + " patches", *report.image,
                    report.is_on_card);
    }
    if (report.audio) {
        printMedium("audio", "10 s of sound", *report.audio, report.is_on_card);
    }
}

} // namespace cli
