// SPDX-License-Identifier: Apache-2.0
// bench: how fast prompts and decoding are, with an adapter and with drafts, beside what this
// machine was measured to reach in the same run.
#include "app/cli/bench.h"
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/output.h"
#include "app/cli/temporary_folder.h"
#include "engine/base/paths.h"

#include <filesystem>
#include <string>
#include <utility>

namespace cli {

using engine::Result;
using nlohmann::ordered_json;

namespace {

/// Tokens of the context that everything asked for fits into.
int64_t contextFor(const Arguments& arguments) {
    constexpr int64_t kMediaPrompt = 320; // a picture or ten seconds of sound, and some text
    const int64_t deepest = *std::max_element(arguments.depth.begin(), arguments.depth.end());
    const int64_t longest = *std::max_element(arguments.prefill.begin(), arguments.prefill.end());
    return std::max({deepest + arguments.decode, longest, kMediaPrompt}) + 16;
}

ordered_json rateRow(const char* name, int64_t at, const std::vector<double>& rates) {
    const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
    return {{name, at},
            {"tokens_per_s", medianOf(rates)},
            {"min_tokens_per_s", *least},
            {"max_tokens_per_s", *most},
            {"runs", rates.size()}};
}

ordered_json draftsJson(const engine::DraftReport& report, const std::vector<double>& rates) {
    const auto each = [](double seconds, int64_t count) {
        return count > 0 ? 1e3 * seconds / static_cast<double>(count) : 0.0;
    };
    return {{"tokens_per_s", medianOf(rates)},
            {"tokens_per_round", report.tokensPerRound()},
            {"draft_ms", each(report.draft_s, report.drafted)},
            {"check_ms", each(report.check_s, report.rounds)},
            {"is_off", report.is_off}};
}

/// The loaded model under measurement.
class Bench {
public:
    /// `folder`: for an adapter and media of its own.
    Bench(engine::Engine& engine, const Arguments& arguments, std::filesystem::path folder)
        : engine_(engine), arguments_(arguments), folder_(std::move(folder)) {}
    Result<void> run();
    [[nodiscard]] const ordered_json& report() const { return report_; }

private:
    void measureCeilings();
    Result<void> addAdapter();
    Result<void> prefill(int64_t tokens);
    Result<void> decode(int64_t depth);
    /// To a prompt of random ids; another salt_ gives another prompt, which no cache holds.
    Result<engine::Reply> answer(int64_t prompt_tokens, int64_t tokens, bool has_drafts) const;
    Result<double> promptRate(int64_t tokens);
    /// drafts: with drafts, and what they did.
    Result<double> decodeRate(int64_t depth, int64_t tokens, engine::DraftReport* drafts) const;

    engine::Engine& engine_;
    const Arguments& arguments_;
    engine::WorkCounts counts_;
    const std::filesystem::path folder_;
    bool is_on_card_ = false; ///< Rates of the processor say nothing then.
    double card_read_ = 0.0;  ///< GB/s of the slowest card; 0 = not measured.
    double peak_ = 0.0;       ///< GFLOP/s where the model computes; 0 = not measured.
    uint32_t salt_ = 0;
    ordered_json report_;
};

Result<engine::Reply> Bench::answer(int64_t prompt_tokens, int64_t tokens, bool has_drafts) const {
    engine::GenerateRequest request;
    request.uses_drafts = has_drafts;
    request.forced_acceptance = arguments_.draft_accept;
    request.sampling = arguments_.sampling;
    request.sampling.temperature = std::max(0.0, request.sampling.temperature);
    request.sampling.seed = request.sampling.seed >= 0 ? request.sampling.seed : 1;
    request.sampling.ignores_eos = true;
    request.sampling.max_tokens = tokens;
    uint32_t state = 12345U + salt_;
    const auto range = static_cast<uint32_t>(std::min<int64_t>(counts_.vocab_size - 300, 200000));
    for (int64_t i = 0; i < prompt_tokens; ++i) {
        state = state * 1664525U + 1013904223U;
        request.raw_ids.push_back(static_cast<int32_t>(300 + (state >> 8U) % range));
    }
    return engine_.generate(request, {}, interruptToken());
}

Result<double> Bench::promptRate(int64_t tokens) {
    ++salt_;
    ENGINE_ASSIGN(const engine::Reply reply, answer(tokens, 1, false));
    return static_cast<double>(reply.timing.prefill_tokens) / reply.timing.prefill_s;
}

Result<double> Bench::decodeRate(int64_t depth, int64_t tokens, engine::DraftReport* drafts) const {
    const int64_t prompt_tokens = std::max<int64_t>(1, depth);
    // A few tokens first: recordings are made, caches and clocks warm up.
    ENGINE_TRY(answer(prompt_tokens, 4, drafts != nullptr));
    ENGINE_ASSIGN(const engine::Reply reply, answer(prompt_tokens, tokens, drafts != nullptr));
    if (drafts != nullptr && reply.drafts.has_value()) {
        *drafts = *reply.drafts;
    }
    // The first token comes from the prefill's logits: decode steps are one fewer.
    const double steps = static_cast<double>(reply.timing.decode_tokens) - 1.0;
    return steps > 0 ? steps / reply.timing.decode_s : 0.0;
}

/// The slowest card of those that compute counts as the ceiling of all.
void Bench::measureCeilings() {
    const engine::MachineRates machine = engine_.measureMachine(2.0);
    report_["machine"] = {{"threads", machine.threads},
                          {"kernels", machine.kernels},
                          {"read_gb_per_s", machine.read_gb_per_s},
                          {"fp32_gflops", machine.fp32_gflops},
                          {"bf16_gflops", machine.bf16_gflops}};
    report_["cards"] = ordered_json::array();
    const auto plan = engine_.currentPlan();
    is_on_card_ = std::any_of(plan->modules.begin(), plan->modules.end(),
                              [](const engine::ModulePlacement& module) {
                                  return module.compute.kind == engine::DeviceId::Kind::Cuda;
                              });
    if (!is_on_card_) {
        peak_ = machine.bf16_gflops > 0 ? machine.bf16_gflops : machine.fp32_gflops;
    } else if (arguments_.has_ceiling) {
        for (const engine::CardCeiling& card : engine_.measureCards()) {
            const auto lower = [](double a, double b) { return a > 0 ? std::min(a, b) : b; };
            card_read_ = lower(card_read_, card.read_gb_per_s);
            peak_ = lower(peak_, card.bf16_gflops);
            report_["cards"].push_back({{"device", card.device.toString()},
                                        {"read_gb_per_s", card.read_gb_per_s},
                                        {"bf16_gflops", card.bf16_gflops}});
        }
    }
}

/// A random one beside those that are loaded.
Result<void> Bench::addAdapter() {
    const auto targets = arguments_.adapter_targets == "all-linear"
                             ? engine::AdapterTargets::AllLinear
                             : engine::AdapterTargets::Projections;
    const std::filesystem::path folder = folder_ / "adapter";
    ENGINE_TRY(engine_.writeRandomAdapter(folder, arguments_.adapter_rank, targets));
    std::vector<engine::AdapterChoice> adapters = engine_.loadedRequest().adapters;
    adapters.push_back({engine::utf8Of(folder), 1.0, true});
    report_["adapter"] = {{"rank", arguments_.adapter_rank},
                          {"targets", arguments_.adapter_targets}};
    return engine_.setAdapters(adapters, interruptToken());
}

/// On a card, where a prompt takes milliseconds, the median of several behind a first one that
/// warms caches; on the processor the faster of two.
Result<void> Bench::prefill(int64_t tokens) {
    if (is_on_card_) {
        ENGINE_TRY(promptRate(tokens));
    }
    std::vector<double> rates(is_on_card_ ? 7 : 2);
    for (double& rate : rates) {
        ENGINE_ASSIGN(rate, promptRate(tokens));
    }
    ordered_json row = rateRow("tokens", tokens, rates);
    const double gflops = medianOf(rates) * counts_.prefill_flops / 1e9;
    row["gflops"] = gflops;
    if (peak_ > 0) {
        row["share_of_peak"] = gflops / peak_;
    }
    report_["prefill"].push_back(row);
    return {};
}

/// In turns without and with drafts, and on the processor with reads between them: a machine that
/// others share changes its speed within seconds.
Result<void> Bench::decode(int64_t depth) {
    constexpr int kRounds = 5;
    constexpr double kReadSeconds = 0.05;
    constexpr int64_t kLeastTokens = 12;
    const int64_t in_rounds = std::max(kLeastTokens, arguments_.decode / kRounds);
    const int64_t tokens = is_on_card_ ? arguments_.decode : std::min(arguments_.decode, in_rounds);
    const std::string& draft = arguments_.load.draft;
    const auto read = [&] { return is_on_card_ ? card_read_ : engine_.measureRead(kReadSeconds); };
    std::vector<double> rates;
    std::vector<double> shares;
    std::vector<double> drafted;
    engine::DraftReport drafts;
    double before = read();
    ++salt_; // the prompt of all rounds is the same, so that only the first computes it
    for (int round = 0; round < kRounds; ++round) {
        ENGINE_ASSIGN(const double rate, decodeRate(depth, tokens, nullptr));
        const double after = read();
        rates.push_back(rate);
        shares.push_back(after > 0 ? rate * counts_.decode_bytes / 5e8 / (before + after) : 0.0);
        before = after;
        if (!draft.empty() && draft != "off") {
            ENGINE_ASSIGN(const double with, decodeRate(depth, tokens, &drafts));
            drafted.push_back(with);
        }
    }
    ordered_json row = rateRow("depth", depth, rates);
    row["weight_gb_per_s"] = medianOf(rates) * counts_.decode_bytes / 1e9;
    if (before > 0) {
        row["share_of_read_bandwidth"] = medianOf(shares);
    }
    if (!drafted.empty()) {
        row["drafts"] = draftsJson(drafts, drafted);
    }
    report_["decode"].push_back(row);
    return {};
}

Result<void> Bench::run() {
    ENGINE_ASSIGN(counts_, engine_.countWork());
    report_ = {{"model", arguments_.model},
               {"load_s", engine_.loadSeconds()},
               {"prefill", ordered_json::array()},
               {"decode", ordered_json::array()}};
    measureCeilings();
    if (arguments_.adapter_rank > 0) {
        ENGINE_TRY(addAdapter());
    }
    for (const int64_t tokens : arguments_.prefill) {
        if (tokens > 0) {
            ENGINE_TRY(prefill(tokens));
        }
    }
    for (const int64_t depth : arguments_.depth) {
        if (arguments_.decode > 0) {
            ENGINE_TRY(decode(depth));
        }
    }
    if (arguments_.has_towers) {
        ENGINE_TRY(benchMedia(engine_, folder_, report_));
    }
    report_["memory"] = memoryJson(engine_.memory());
    return {};
}

} // namespace

Result<void> runBench(engine::Engine& engine, const Arguments& arguments) {
    Arguments adjusted = arguments;
    if (adjusted.load.context == 0) {
        adjusted.load.context = contextFor(arguments);
    }
    ENGINE_TRY(loadModel(engine, adjusted));
    ENGINE_ASSIGN(const auto folder, TemporaryFolder::make("bench"));
    Bench bench(engine, arguments, folder->path());
    ENGINE_TRY(bench.run());
    if (arguments.is_json) {
        printJson(bench.report());
    } else {
        printBench(bench.report());
    }
    return {};
}

} // namespace cli
