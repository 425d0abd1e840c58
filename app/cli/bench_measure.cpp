// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench_measure.h"

#include "app/cli/bench_media.h"
#include "app/cli/commands.h"
#include "engine/base/paths.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>

namespace cli {

using engine::Result;

namespace {

/// A folder that is gone when the benchmark is.
struct TemporaryFolder {
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("belfry-bench-" + std::to_string(std::random_device{}()));
    TemporaryFolder() = default;
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code code;
        std::filesystem::remove_all(path, code);
    }
};

/// How decoded tokens are chosen: greedily unless a temperature was asked for; the rest of it as
/// asked for, or as the model's makers do.
engine::SamplingParameters choiceOf(const engine::SamplingParameters& asked,
                                    const engine::SamplingParameters& defaults) {
    engine::SamplingParameters choice;
    choice.temperature = std::max(0.0, asked.temperature);
    choice.ignores_eos = true;
    choice.top_k = asked.top_k >= 0 ? asked.top_k : defaults.top_k;
    choice.top_p = asked.top_p >= 0 ? asked.top_p : defaults.top_p;
    choice.min_p = asked.min_p >= 0 ? asked.min_p : defaults.min_p;
    choice.repetition_penalty =
        asked.repetition_penalty >= 0 ? asked.repetition_penalty : defaults.repetition_penalty;
    choice.seed = asked.seed >= 0 ? asked.seed : 1;
    return choice;
}

/// Tokens of the context that everything asked for fits into.
int64_t contextFor(const Arguments& arguments) {
    constexpr int64_t kMediaPrompt = 320; // a picture or ten seconds of sound, and some text
    const int64_t deepest = *std::max_element(arguments.depth.begin(), arguments.depth.end());
    const int64_t longest = *std::max_element(arguments.prefill.begin(), arguments.prefill.end());
    return std::max({deepest + arguments.decode, longest,
                     arguments.has_towers ? kMediaPrompt : int64_t{0}}) +
           16;
}

/// The loaded model under measurement.
class Bench {
public:
    Bench(engine::Engine& engine, const Arguments& arguments)
        : engine_(engine), arguments_(arguments) {}

    Result<BenchReport> run();

private:
    Result<PrefillRow> prefill(int64_t tokens);
    Result<DecodeRow> decode(int64_t depth);
    Result<std::vector<DecodeRound>> decodeRounds(int64_t depth);
    Result<AdapterBench> adapter();
    [[nodiscard]] bool hasDrafts() const {
        return arguments_.decode > 0 && arguments_.load.draft != "off" &&
               !arguments_.load.draft.empty();
    }
    Result<DraftRow> drafts(int64_t depth);
    Result<MediumRow> image();
    Result<MediumRow> audio();
    /// The slowest card of those that compute counts as the ceiling of all.
    void compareWithCards();

    /// Ids of a prompt; another salt gives another prompt, which no cache holds.
    std::vector<int32_t> ids(int64_t count) const;
    Result<engine::Reply> answer(int64_t prompt_tokens,
                                 const engine::SamplingParameters& sampling,
                                 bool uses_drafts = false) const;
    /// Decode steps per second behind a prompt of `depth` tokens.
    /// draft_report: with drafts, and what they did; nullptr: without.
    Result<double>
    decodeTokens(int64_t depth, int64_t tokens, engine::DraftReport* draft_report = nullptr) const;
    /// Seconds of a prompt of so many tokens, its logits included: what follows a tower.
    Result<double> promptSeconds(int64_t tokens);
    /// The best of `rounds` without and with the adapter, in turns, so that both meet the same
    /// state of the machine.
    Result<AdapterRow> inTurns(int64_t at,
                               int rounds,
                               const std::vector<engine::AdapterChoice>& off,
                               const std::vector<engine::AdapterChoice>& on,
                               const std::function<Result<double>()>& rate);

    engine::Engine& engine_;
    const Arguments& arguments_;
    engine::WorkCounts counts_;
    BenchReport report_;
    int32_t salt_ = 0;
};

engine::SamplingParameters oneGreedyToken() {
    engine::SamplingParameters sampling;
    sampling.temperature = 0.0;
    sampling.max_tokens = 1;
    sampling.ignores_eos = true;
    return sampling;
}

std::vector<int32_t> Bench::ids(int64_t count) const {
    std::vector<int32_t> tokens(static_cast<size_t>(count));
    uint32_t state = 12345U + static_cast<uint32_t>(salt_);
    const auto range = static_cast<uint32_t>(std::min<int64_t>(counts_.vocab_size - 300, 200000));
    for (int32_t& token : tokens) {
        state = state * 1664525U + 1013904223U;
        token = static_cast<int32_t>(300 + (state >> 8U) % range);
    }
    return tokens;
}

Result<engine::Reply> Bench::answer(int64_t prompt_tokens,
                                    const engine::SamplingParameters& sampling,
                                    bool uses_drafts) const {
    engine::GenerateRequest request;
    request.uses_drafts = uses_drafts;
    request.forced_acceptance = arguments_.draft_accept;
    request.raw_ids = ids(prompt_tokens);
    request.sampling = sampling;
    return engine_.generate(request, {}, interruptToken());
}

Result<PrefillRow> Bench::prefill(int64_t tokens) {
    // On a card, where a prompt takes milliseconds, the median of several behind a first one that
    // warms caches; on the processor the faster of two.
    std::vector<double> runs;
    const int num_runs = report_.is_on_card ? 8 : 2;
    for (int repeat = 0; repeat < num_runs; ++repeat) {
        ++salt_;
        ENGINE_ASSIGN(const engine::Reply reply, answer(tokens, oneGreedyToken()));
        if (!report_.is_on_card || repeat > 0) {
            runs.push_back(static_cast<double>(reply.timing.prefill_tokens) /
                           reply.timing.prefill_s);
        }
    }
    const auto [least, most] = std::minmax_element(runs.begin(), runs.end());
    PrefillRow row;
    row.tokens = tokens;
    row.tokens_per_s = report_.is_on_card ? medianOf(runs) : *most;
    row.min_tokens_per_s = *least;
    row.max_tokens_per_s = *most;
    row.runs = runs.size();
    row.gflops = row.tokens_per_s * counts_.prefill_flops / 1e9;
    row.share_of_peak = ratio(row.gflops, report_.ceilings.peakGflops());
    return row;
}

Result<double>
Bench::decodeTokens(int64_t depth, int64_t tokens, engine::DraftReport* draft_report) const {
    const int64_t prompt_tokens = std::max<int64_t>(1, depth);
    engine::SamplingParameters sampling = report_.choice;
    // A few tokens first: recordings are made, caches and clocks warm up.
    sampling.max_tokens = 4;
    const bool uses_drafts = draft_report != nullptr;
    ENGINE_TRY(answer(prompt_tokens, sampling, uses_drafts));
    sampling.max_tokens = tokens;
    ENGINE_ASSIGN(const engine::Reply reply, answer(prompt_tokens, sampling, uses_drafts));
    if (uses_drafts && reply.drafts.has_value()) {
        *draft_report = *reply.drafts;
    }
    // The first token comes from the prefill's logits: decode steps are one fewer.
    const double steps = static_cast<double>(reply.timing.decode_tokens) - 1.0;
    return steps > 0 ? steps / reply.timing.decode_s : 0.0;
}

/// On the processor in turns with the two reads: a machine that others share changes its speed
/// within seconds, and a share of a bandwidth of another moment says nothing.
Result<std::vector<DecodeRound>> Bench::decodeRounds(int64_t depth) {
    constexpr int kRounds = 5;
    constexpr double kReadSeconds = 0.05;
    constexpr int64_t kLeastTokens = 12;
    std::vector<DecodeRound> rounds(kRounds);
    ++salt_; // the prompt of all rounds is the same, so that only the first computes it
    if (report_.is_on_card) {
        for (DecodeRound& round : rounds) {
            ENGINE_ASSIGN(round.tokens_per_s, decodeTokens(depth, arguments_.decode));
            round.read = report_.ceilings.machine.read_gb_per_s;
            round.weights_read = report_.ceilings.weights_read;
        }
        return rounds;
    }
    const int64_t tokens =
        std::min(arguments_.decode, std::max(kLeastTokens, arguments_.decode / 5));
    double read = engine_.measureRead(kReadSeconds);
    double weights_read = engine_.measureWeightRead(kReadSeconds);
    for (DecodeRound& round : rounds) {
        ENGINE_ASSIGN(round.tokens_per_s, decodeTokens(depth, tokens));
        const double read_after = engine_.measureRead(kReadSeconds);
        const double weights_after = engine_.measureWeightRead(kReadSeconds);
        round.read = (read + read_after) / 2;
        round.weights_read = (weights_read + weights_after) / 2;
        read = read_after;
        weights_read = weights_after;
    }
    return rounds;
}

Result<DecodeRow> Bench::decode(int64_t depth) {
    DecodeRow row;
    row.depth = depth;
    ENGINE_ASSIGN(row.rounds, decodeRounds(depth));
    const auto median = [&](const auto& value) {
        std::vector<double> values;
        values.reserve(row.rounds.size());
        for (const DecodeRound& round : row.rounds) {
            values.push_back(value(round));
        }
        return medianOf(values);
    };
    const auto weightRate = [&](const DecodeRound& round) {
        return round.tokens_per_s * counts_.decode_bytes / 1e9;
    };
    row.tokens_per_s = median([](const DecodeRound& round) { return round.tokens_per_s; });
    row.weight_gb_per_s = median(weightRate);
    row.read_gb_per_s = median([](const DecodeRound& round) { return round.read; });
    row.weights_read_gb_per_s = median([](const DecodeRound& round) { return round.weights_read; });
    row.share_of_read_bandwidth =
        median([&](const DecodeRound& round) { return ratio(weightRate(round), round.read); });
    row.share_of_asked = median([&](const DecodeRound& round) {
        return ratio(weightRate(round), report_.ceilings.asked(round.read, round.weights_read));
    });
    row.share_of_weights_read = median(
        [&](const DecodeRound& round) { return ratio(weightRate(round), round.weights_read); });
    const auto [slowest, fastest] =
        std::minmax_element(row.rounds.begin(), row.rounds.end(), [](const auto& a, const auto& b) {
            return a.tokens_per_s < b.tokens_per_s;
        });
    row.min_tokens_per_s = slowest->tokens_per_s;
    row.max_tokens_per_s = fastest->tokens_per_s;
    return row;
}

Result<DraftRow> Bench::drafts(int64_t depth) {
    constexpr int kRounds = 3;
    DraftRow row;
    row.depth = depth;
    std::vector<double> without;
    std::vector<double> with;
    ++salt_;
    for (int round = 0; round < kRounds; ++round) {
        ENGINE_ASSIGN(const double plain, decodeTokens(depth, arguments_.decode));
        ENGINE_ASSIGN(const double drafted, decodeTokens(depth, arguments_.decode, &row.report));
        without.push_back(plain);
        with.push_back(drafted);
    }
    row.without = medianOf(without);
    row.with = medianOf(with);
    return row;
}

Result<double> Bench::promptSeconds(int64_t tokens) {
    double best = 0.0;
    const int64_t most = engine_.currentPlan()->context - 2;
    for (int repeat = 0; repeat < 2; ++repeat) { // the first run also warms caches
        ++salt_;
        ENGINE_ASSIGN(const engine::Reply reply, answer(std::min(tokens, most), oneGreedyToken()));
        const double seconds = reply.timing.prefill_s;
        best = repeat == 0 ? seconds : std::min(best, seconds);
    }
    return best;
}

Result<AdapterRow> Bench::inTurns(int64_t at,
                                  int rounds,
                                  const std::vector<engine::AdapterChoice>& off,
                                  const std::vector<engine::AdapterChoice>& on,
                                  const std::function<Result<double>()>& rate) {
    AdapterRow row;
    row.at = at;
    for (int round = 0; round < rounds; ++round) {
        ENGINE_TRY(engine_.setAdapters(off, interruptToken()));
        ENGINE_ASSIGN(const double without, rate());
        ENGINE_TRY(engine_.setAdapters(on, interruptToken()));
        ENGINE_ASSIGN(const double with, rate());
        row.without = std::max(row.without, without);
        row.with = std::max(row.with, with);
    }
    return row;
}

Result<AdapterBench> Bench::adapter() {
    constexpr int kDecodeRounds = 4;
    constexpr int kPromptRounds = 2;
    const TemporaryFolder folder;
    const auto targets = arguments_.adapter_targets == "all-linear"
                             ? engine::AdapterTargets::AllLinear
                             : engine::AdapterTargets::Projections;
    ENGINE_TRY(engine_.writeRandomAdapter(folder.path, arguments_.adapter_rank, targets));
    const std::vector<engine::AdapterChoice> former = engine_.loadedRequest().adapters;
    std::vector<engine::AdapterChoice> on = former;
    on.push_back({engine::utf8Of(folder.path), 1.0, true});
    std::vector<engine::AdapterChoice> off = on;
    off.back().is_enabled = false;
    ENGINE_TRY(engine_.setAdapters(off, interruptToken()));
    AdapterBench out;
    out.rank = arguments_.adapter_rank;
    out.targets = arguments_.adapter_targets;
    for (const engine::DeviceMemory& device : engine_.memory()) {
        out.bytes += device.measured[engine::MemoryPart::Adapter];
    }
    for (const int64_t depth : arguments_.depth) {
        const auto rate = [&] {
            ++salt_;
            return decodeTokens(depth, arguments_.decode);
        };
        ENGINE_ASSIGN(AdapterRow row, inTurns(depth, kDecodeRounds, off, on, rate));
        out.decode.push_back(row);
    }
    for (const int64_t tokens : arguments_.prefill) {
        if (tokens <= 0) {
            continue;
        }
        const auto rate = [&]() -> Result<double> {
            ENGINE_ASSIGN(const double seconds, promptSeconds(tokens));
            return static_cast<double>(tokens) / seconds;
        };
        ENGINE_ASSIGN(AdapterRow row, inTurns(tokens, kPromptRounds, off, on, rate));
        out.prefill.push_back(row);
    }
    if (hasDrafts()) {
        ENGINE_TRY(engine_.setAdapters(on, interruptToken()));
        for (const int64_t depth : arguments_.depth) {
            ENGINE_ASSIGN(DraftRow row, drafts(depth));
            out.drafts.push_back(row);
        }
    }
    ENGINE_TRY(engine_.setAdapters(former, interruptToken()));
    return out;
}

constexpr int64_t kTextBeside = 20; ///< Tokens around a medium.

Result<MediumRow> Bench::image() {
    const TemporaryFolder folder;
    ENGINE_ASSIGN(MediumRow row, benchImage(engine_, folder.path));
    ENGINE_ASSIGN(row.prompt_s, promptSeconds(row.soft_tokens + kTextBeside));
    if (row.patches == engine::WorkCounts::kCountedPatches) {
        row.gflops = counts_.image_flops / row.tower_s / 1e9;
        row.share_of_peak = ratio(*row.gflops, report_.ceilings.peakGflops());
    }
    return row;
}

Result<MediumRow> Bench::audio() {
    const TemporaryFolder folder;
    ENGINE_ASSIGN(MediumRow row, benchAudio(engine_, folder.path));
    ENGINE_ASSIGN(row.prompt_s, promptSeconds(row.soft_tokens + kTextBeside));
    return row;
}

void Bench::compareWithCards() {
    double read = 0.0;
    double gflops = 0.0;
    for (const engine::CardCeiling& card : report_.cards) {
        read = read > 0 ? std::min(read, card.read_gb_per_s) : card.read_gb_per_s;
        gflops = gflops > 0 ? std::min(gflops, card.bf16_gflops) : card.bf16_gflops;
    }
    for (DecodeRow& row : report_.decode) {
        if (read > 0) {
            row.share_of_card_read = row.weight_gb_per_s / read;
        }
    }
    for (PrefillRow& row : report_.prefill) {
        if (gflops > 0) {
            row.share_of_card_peak = row.gflops / gflops;
        }
    }
}

Result<BenchReport> Bench::run() {
    ENGINE_ASSIGN(counts_, engine_.countWork());
    const auto plan = engine_.currentPlan();
    const auto model = engine_.summary();
    report_.model = arguments_.model;
    report_.load_s = engine_.loadSeconds();
    report_.is_on_card = std::any_of(plan->modules.begin(), plan->modules.end(),
                                     [](const engine::ModulePlacement& module) {
                                         return module.compute.kind == engine::DeviceId::Kind::Cuda;
                                     });
    report_.ceilings.machine = engine_.measureMachine(2.0);
    report_.ceilings.weights_read = engine_.measureWeightRead(1.0);
    report_.ceilings.arithmetic = engine_.measureDecodeArithmetic();
    report_.choice = choiceOf(arguments_.sampling, model->sampling);
    for (const int64_t tokens : arguments_.prefill) {
        if (tokens > 0) {
            ENGINE_ASSIGN(PrefillRow row, prefill(tokens));
            report_.prefill.push_back(row);
        }
    }
    for (const int64_t depth : arguments_.depth) {
        if (arguments_.decode > 0) {
            ENGINE_ASSIGN(DecodeRow row, decode(depth));
            report_.decode.push_back(std::move(row));
        }
    }
    report_.draft_acceptance = arguments_.draft_accept;
    for (const int64_t depth : arguments_.depth) {
        if (hasDrafts()) {
            ENGINE_ASSIGN(DraftRow row, drafts(depth));
            report_.drafts.push_back(row);
        }
    }
    if (arguments_.adapter_rank > 0) {
        ENGINE_ASSIGN(report_.adapter, adapter());
    }
    if (arguments_.has_towers && model->has_vision) {
        ENGINE_ASSIGN(report_.image, image());
    }
    if (arguments_.has_towers && model->has_audio) {
        ENGINE_ASSIGN(report_.audio, audio());
    }
    report_.memory = engine_.memory();
    if (arguments_.has_ceiling) {
        report_.cards = engine_.measureCards();
    }
    compareWithCards();
    return std::move(report_);
}

} // namespace

Result<BenchReport> measureBench(engine::Engine& engine, const Arguments& arguments) {
    Arguments adjusted = arguments;
    if (adjusted.load.context == 0) {
        adjusted.load.context = contextFor(arguments);
    }
    ENGINE_TRY(loadModel(engine, adjusted));
    return Bench(engine, arguments).run();
}

} // namespace cli
