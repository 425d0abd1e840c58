// SPDX-License-Identifier: Apache-2.0
// bench: decode (greedy, or with tokens drawn as asked for) and prefill rates and tower times, each
// beside the ceiling that this machine was measured to have in the same run. Bytes and FLOPs are
// counted from the config, not timed.
#include "app/cli/bench_media.h"
#include "app/cli/bench_values.h"
#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/output.h"
#include "engine/base/paths.h"
#include "engine/families/gemma4/tensor_list.h"
#include "engine/lora/random_adapter.h"
#include "engine/model/model_config.h"
#include "kernels/cpu/tables.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>

namespace cli {

using engine::Result;
using nlohmann::ordered_json;

namespace {

struct Counted {
    double decode_bytes = 0.0;  ///< Weight bytes read per decoded token.
    double prefill_flops = 0.0; ///< Per prompt token that is not the last (with the cut).
    double image_flops = 0.0;   ///< Per 2520-patch image.
};

/// Weight bytes per token: every linear of the decoder and the head once, in their formats; the
/// tables only one row. FLOPs of prefill: two per weight of the layers below the cut.
Counted count(const engine::PlacementPlan& plan, const engine::ModelConfig& config) {
    Counted out;
    const int cut = config.text.lastKvOwner();
    bool has_own_head = false;
    for (const auto& row : plan.tensors) {
        has_own_head = has_own_head || row.part.role == engine::PartRole::Head;
    }
    for (const auto& row : plan.tensors) {
        const engine::PartRole role = row.part.role;
        const bool is_gather_only = role == engine::PartRole::PerLayerTable ||
                                    (role == engine::PartRole::Embedding && has_own_head);
        if (!engine::isMedia(row.part) && !is_gather_only) {
            out.decode_bytes += static_cast<double>(row.bytes);
        }
    }
    const auto& text = config.text;
    const auto hidden = static_cast<double>(text.hidden_size);
    for (int i = 0; i <= cut; ++i) {
        const auto& layer = text.layers[static_cast<size_t>(i)];
        const auto q = static_cast<double>(text.num_heads * layer.head_dim);
        const auto kv = static_cast<double>(layer.num_kv_heads * layer.head_dim);
        const double kv_weights =
            layer.is_kv_shared ? 0.0 : (layer.k_is_v ? 1.0 : 2.0) * hidden * kv;
        out.prefill_flops += 2.0 * kv_weights;
        if (i < cut) {
            out.prefill_flops +=
                2.0 *
                (2.0 * hidden * q + 3.0 * hidden * static_cast<double>(layer.intermediate_size) +
                 2.0 * hidden * static_cast<double>(text.ple_size));
        }
    }
    out.prefill_flops += 2.0 * hidden * static_cast<double>(text.ple_size * text.num_layers);
    if (config.vision) {
        const auto& vision = *config.vision;
        const double patches = 2520.0;
        const auto h = static_cast<double>(vision.hidden_size);
        const auto heads = static_cast<double>(vision.num_heads * vision.head_dim);
        const double per_layer =
            2.0 * patches *
                (4.0 * h * heads + 3.0 * h * static_cast<double>(vision.intermediate_size)) +
            4.0 * patches * patches * heads;
        out.image_flops =
            per_layer * static_cast<double>(vision.num_layers) + 2.0 * patches * 768.0 * h;
    }
    return out;
}

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

/// Rates of decoding and of prompts without and with a random adapter, in turns, so that both meet
/// the same state of the machine; the best of each counts.
Result<ordered_json> benchAdapter(engine::Engine& engine,
                                  const Arguments& arguments,
                                  const std::function<Result<double>(int64_t depth)>& decodeRate,
                                  const std::function<Result<double>(int64_t)>& promptSeconds) {
    constexpr int kRounds = 4;
    constexpr int kPromptRounds = 2;
    const TemporaryFolder folder;
    ENGINE_ASSIGN(const engine::ModelConfig config, engine.loadedConfig());
    const auto targets = arguments.adapter_targets == "all-linear"
                             ? engine::AdapterTargets::AllLinear
                             : engine::AdapterTargets::Projections;
    ENGINE_TRY(engine::writeRandomAdapter(folder.path, engine::listTensors(config),
                                          arguments.adapter_rank, targets, 1));
    const std::vector<engine::AdapterChoice> former = engine.loadedRequest().adapters;
    std::vector<engine::AdapterChoice> on = former;
    on.push_back({engine::utf8Of(folder.path), 1.0, true});
    std::vector<engine::AdapterChoice> off = on;
    off.back().is_enabled = false;
    ENGINE_TRY(engine.setAdapters(off, interruptToken()));
    uint64_t bytes = 0;
    for (const engine::DeviceMemory& device : engine.memory()) {
        bytes += device.measured[engine::MemoryPart::Adapter];
    }
    ordered_json out = {
        {"rank", arguments.adapter_rank}, {"targets", arguments.adapter_targets}, {"bytes", bytes}};
    out["decode"] = ordered_json::array();
    for (const int64_t depth : arguments.depth) {
        double without = 0.0;
        double with = 0.0;
        for (int round = 0; round < kRounds; ++round) {
            ENGINE_TRY(engine.setAdapters(off, interruptToken()));
            ENGINE_ASSIGN(const double rate_off, decodeRate(depth));
            ENGINE_TRY(engine.setAdapters(on, interruptToken()));
            ENGINE_ASSIGN(const double rate_on, decodeRate(depth));
            without = std::max(without, rate_off);
            with = std::max(with, rate_on);
        }
        out["decode"].push_back({{"depth", depth},
                                 {"tokens_per_s_without", without},
                                 {"tokens_per_s_with", with},
                                 {"slower_by", with > 0 ? without / with - 1.0 : 0.0}});
    }
    out["prefill"] = ordered_json::array();
    for (const int64_t tokens : arguments.prefill) {
        if (tokens <= 0) {
            continue;
        }
        double without = 0.0;
        double with = 0.0;
        for (int round = 0; round < kPromptRounds; ++round) {
            ENGINE_TRY(engine.setAdapters(off, interruptToken()));
            ENGINE_ASSIGN(const double seconds_off, promptSeconds(tokens));
            ENGINE_TRY(engine.setAdapters(on, interruptToken()));
            ENGINE_ASSIGN(const double seconds_on, promptSeconds(tokens));
            without = std::max(without, static_cast<double>(tokens) / seconds_off);
            with = std::max(with, static_cast<double>(tokens) / seconds_on);
        }
        out["prefill"].push_back({{"tokens", tokens},
                                  {"tokens_per_s_with", with},
                                  {"tokens_per_s", without},
                                  {"slower_by", with > 0 ? without / with - 1.0 : 0.0}});
    }
    ENGINE_TRY(engine.setAdapters(former, interruptToken()));
    return out;
}

/// One of several measurements of decoding, with the reads of the same moment in GB/s.
struct DecodeRound {
    double tokens_per_s = 0.0;
    double read = 0.0;         ///< Of a fresh buffer, the mean of before and after.
    double weights_read = 0.0; ///< Of the weights where they lie, likewise.
};

/// Decodes in turns with the two reads: a machine that others share changes its speed within
/// seconds, and a share of a bandwidth of another moment says nothing.
Result<std::vector<DecodeRound>> decodeInRounds(engine::Engine& engine,
                                                const std::function<Result<double>()>& decodeRate) {
    constexpr int kRounds = 5;
    constexpr double kReadSeconds = 0.05;
    std::vector<DecodeRound> rounds(kRounds);
    double read = engine.measureRead(kReadSeconds);
    double weights_read = engine.measureWeightRead(kReadSeconds);
    for (DecodeRound& round : rounds) {
        ENGINE_ASSIGN(round.tokens_per_s, decodeRate());
        const double read_after = engine.measureRead(kReadSeconds);
        const double weights_after = engine.measureWeightRead(kReadSeconds);
        round.read = (read + read_after) / 2;
        round.weights_read = (weights_read + weights_after) / 2;
        read = read_after;
        weights_read = weights_after;
    }
    return rounds;
}

/// How decoded tokens are chosen: greedily unless a temperature was asked for; the rest of it as
/// asked for, or as the model's makers do.
engine::SamplingParameters choiceOf(const engine::SamplingParameters& asked,
                                    const engine::GenerationDefaults& defaults) {
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

} // namespace

Result<void> runBench(engine::Engine& engine, const Arguments& arguments) {
    Arguments adjusted = arguments;
    const int64_t deepest = *std::max_element(arguments.depth.begin(), arguments.depth.end());
    const int64_t longest = *std::max_element(arguments.prefill.begin(), arguments.prefill.end());
    if (adjusted.load.context == 0) {
        constexpr int64_t kMediaPrompt = 320; // a picture or ten seconds of sound, and some text
        adjusted.load.context = std::max({deepest + arguments.decode, longest,
                                          arguments.has_towers ? kMediaPrompt : int64_t{0}}) +
                                16;
    }
    ENGINE_TRY(loadModel(engine, adjusted));
    ENGINE_ASSIGN(const engine::ModelConfig config, engine.loadedConfig());
    const auto plan = engine.currentPlan();
    const Counted counted = count(*plan, config);
    const auto rates = engine.measureMachine(2.0);
    const double weights_read = engine.measureWeightRead(1.0);
    const double arithmetic = engine.measureDecodeArithmetic();
    // What decoding is held to: 70 % of the read bandwidth, or less where arithmetic allows less.
    // Of the two reads the faster counts: a virtual machine may back one buffer worse.
    const auto askedOf = [arithmetic](double read, double plain) {
        constexpr double kReadShareAsked = 0.7;
        const double by_read = kReadShareAsked * std::max(read, plain);
        return arithmetic > 0.0 ? std::min(by_read, arithmetic) : by_read;
    };
    const double asked = askedOf(rates.read_gb_per_s, weights_read);
    const auto ratio = [](double a, double b) { return b > 0.0 ? a / b : 0.0; };
    // Rates of this machine's processor say nothing about a model that computes on a card.
    const bool is_on_card = std::any_of(
        plan->modules.begin(), plan->modules.end(), [](const engine::ModulePlacement& module) {
            return module.compute.kind == engine::DeviceId::Kind::Cuda;
        });
    const double peak_gflops = rates.bf16_gflops > 0 ? rates.bf16_gflops : rates.fp32_gflops;

    ordered_json out;
    out["model"] = arguments.model;
    out["load_s"] = engine.loadSeconds();
    out["machine"] = {{"threads", rates.threads},
                      {"kernels", kernels::bestCpuOps().name},
                      {"read_gb_per_s", rates.read_gb_per_s},
                      {"weights_read_gb_per_s", weights_read},
                      {"decode_arithmetic_gb_per_s", arithmetic},
                      {"decode_asked_gb_per_s", asked},
                      {"fp32_gflops", rates.fp32_gflops},
                      {"bf16_gflops", rates.bf16_gflops}};
    const engine::SamplingParameters choice = choiceOf(arguments.sampling, config.generation);
    out["decode_choice"] = choiceJson(choice);
    out["decode"] = ordered_json::array();
    out["prefill"] = ordered_json::array();

    const auto ids = [&](int64_t count, int32_t salt) {
        std::vector<int32_t> tokens(static_cast<size_t>(count));
        uint32_t state = 12345U + static_cast<uint32_t>(salt);
        for (int32_t& token : tokens) {
            state = state * 1664525U + 1013904223U;
            token = static_cast<int32_t>(
                300 + (state >> 8U) % static_cast<uint32_t>(
                                          std::min<int64_t>(config.text.vocab_size - 300, 200000)));
        }
        return tokens;
    };
    int32_t salt = 0;
    for (const int64_t tokens : arguments.prefill) {
        if (tokens <= 0) {
            continue;
        }
        // On a card, where a prompt takes milliseconds, the median of several behind a first one
        // that warms caches; on the processor the faster of two.
        std::vector<double> runs;
        const int num_runs = is_on_card ? 8 : 2;
        for (int repeat = 0; repeat < num_runs; ++repeat) {
            engine::GenerateRequest request;
            request.raw_ids = ids(tokens, ++salt);
            request.sampling.temperature = 0.0;
            request.sampling.max_tokens = 1;
            request.sampling.ignores_eos = true;
            ENGINE_ASSIGN(const engine::Reply reply,
                          engine.generate(request, {}, interruptToken()));
            if (!is_on_card || repeat > 0) {
                runs.push_back(static_cast<double>(reply.timing.prefill_tokens) /
                               reply.timing.prefill_s);
            }
        }
        const auto [least, most] = std::minmax_element(runs.begin(), runs.end());
        const double rate = is_on_card ? medianOf(runs) : *most;
        out["prefill"].push_back(
            {{"tokens", tokens},
             {"tokens_per_s", rate},
             {"min_tokens_per_s", *least},
             {"max_tokens_per_s", *most},
             {"runs", runs.size()},
             {"gflops", rate * counted.prefill_flops / 1e9},
             {"share_of_peak",
              peak_gflops > 0 ? rate * counted.prefill_flops / 1e9 / peak_gflops : 0.0}});
    }
    const auto decodeTokens = [&](int64_t depth, int64_t tokens) -> Result<double> {
        engine::GenerateRequest request;
        request.raw_ids = ids(std::max<int64_t>(1, depth), salt);
        request.sampling = choice;
        // A few tokens first: recordings are made, caches and clocks warm up.
        request.sampling.max_tokens = 4;
        ENGINE_TRY(engine.generate(request, {}, interruptToken()));
        request.sampling.max_tokens = tokens;
        ENGINE_ASSIGN(const engine::Reply reply, engine.generate(request, {}, interruptToken()));
        // The first token comes from the prefill's logits: decode steps are one fewer.
        const double steps = static_cast<double>(reply.timing.decode_tokens) - 1.0;
        return steps > 0 ? steps / reply.timing.decode_s : 0.0;
    };
    const auto decodeRate = [&](int64_t depth) {
        ++salt;
        return decodeTokens(depth, arguments.decode);
    };
    for (const int64_t depth : arguments.depth) {
        if (arguments.decode <= 0) {
            continue;
        }
        constexpr size_t kCardRounds = 5;
        std::vector<DecodeRound> rounds(is_on_card ? kCardRounds : 0);
        // The prompt of all rounds is the same, so that only the first computes it.
        ++salt;
        for (DecodeRound& round : rounds) {
            ENGINE_ASSIGN(round.tokens_per_s, decodeTokens(depth, arguments.decode));
            round.read = rates.read_gb_per_s;
            round.weights_read = weights_read;
        }
        if (!is_on_card) {
            constexpr int64_t kLeastTokens = 12;
            const int64_t tokens =
                std::min(arguments.decode, std::max(kLeastTokens, arguments.decode / 5));
            ENGINE_ASSIGN(rounds,
                          decodeInRounds(engine, [&] { return decodeTokens(depth, tokens); }));
        }
        const auto median = [&](const std::function<double(const DecodeRound&, double gb)>& value) {
            std::vector<double> values;
            values.reserve(rounds.size());
            for (const DecodeRound& round : rounds) {
                values.push_back(value(round, round.tokens_per_s * counted.decode_bytes / 1e9));
            }
            return medianOf(values);
        };
        ordered_json row = {
            {"depth", depth},
            {"tokens_per_s", median([](const auto& round, double) { return round.tokens_per_s; })},
            {"weight_gb_per_s", median([](const auto&, double gb) { return gb; })},
            {"read_gb_per_s", median([](const auto& round, double) { return round.read; })},
            {"weights_read_gb_per_s",
             median([](const auto& round, double) { return round.weights_read; })},
            {"share_of_read_bandwidth",
             median([&](const auto& round, double gb) { return ratio(gb, round.read); })},
            {"share_of_asked", median([&](const auto& round, double gb) {
                 return ratio(gb, askedOf(round.read, round.weights_read));
             })},
            {"share_of_weights_read",
             median([&](const auto& round, double gb) { return ratio(gb, round.weights_read); })}};
        const auto [slowest, fastest] =
            std::minmax_element(rounds.begin(), rounds.end(), [](const auto& a, const auto& b) {
                return a.tokens_per_s < b.tokens_per_s;
            });
        row["min_tokens_per_s"] = slowest->tokens_per_s;
        row["max_tokens_per_s"] = fastest->tokens_per_s;
        row["rounds"] = ordered_json::array();
        for (const DecodeRound& round : rounds) {
            row["rounds"].push_back({{"tokens_per_s", round.tokens_per_s},
                                     {"read_gb_per_s", round.read},
                                     {"weights_read_gb_per_s", round.weights_read}});
        }
        out["decode"].push_back(row);
    }
    // Seconds of a prompt of so many tokens, its logits included: what follows a tower.
    const auto promptSeconds = [&](int64_t tokens) -> Result<double> {
        double best = 0.0;
        for (int repeat = 0; repeat < 2; ++repeat) { // the first run also warms caches
            engine::GenerateRequest request;
            request.raw_ids = ids(std::min(tokens, plan->context - 2), ++salt);
            request.sampling.temperature = 0.0;
            request.sampling.max_tokens = 1;
            request.sampling.ignores_eos = true;
            ENGINE_ASSIGN(const engine::Reply reply,
                          engine.generate(request, {}, interruptToken()));
            const double seconds = reply.timing.prefill_s;
            best = repeat == 0 ? seconds : std::min(best, seconds);
        }
        return best;
    };
    if (arguments.adapter_rank > 0) {
        ENGINE_ASSIGN(out["adapter"], benchAdapter(engine, arguments, decodeRate, promptSeconds));
    }
    constexpr int64_t kTextBeside = 20;
    if (arguments.has_towers && config.vision) {
        const TemporaryFolder folder;
        ENGINE_ASSIGN(ordered_json row, benchImage(engine, folder.path));
        ENGINE_ASSIGN(row["prompt_s"],
                      promptSeconds(row["soft_tokens"].get<int64_t>() + kTextBeside));
        constexpr int64_t kCountedPatches = 2520; // that image_flops are counted for
        if (row["patches"] == kCountedPatches) {
            const double seconds = row["seconds"].get<double>();
            row["gflops"] = counted.image_flops / seconds / 1e9;
            row["share_of_peak"] =
                peak_gflops > 0 ? counted.image_flops / seconds / 1e9 / peak_gflops : 0.0;
        }
        out["image"] = row;
    }
    if (arguments.has_towers && config.audio) {
        const TemporaryFolder folder;
        ENGINE_ASSIGN(ordered_json row, benchAudio(engine, folder.path));
        ENGINE_ASSIGN(row["prompt_s"],
                      promptSeconds(row["soft_tokens"].get<int64_t>() + kTextBeside));
        out["audio"] = row;
    }
    out["memory"] = memoryJson(engine.memory());
    // The slowest card of those that compute counts as the ceiling of all.
    const std::vector<engine::CardCeiling> cards =
        arguments.has_ceiling ? engine.measureCards() : std::vector<engine::CardCeiling>();
    out["cards"] = ordered_json::array();
    double card_read = 0.0;
    double card_gflops = 0.0;
    for (const engine::CardCeiling& card : cards) {
        out["cards"].push_back({{"device", card.device.toString()},
                                {"read_gb_per_s", card.read_gb_per_s},
                                {"bf16_gflops", card.bf16_gflops}});
        card_read = card_read > 0 ? std::min(card_read, card.read_gb_per_s) : card.read_gb_per_s;
        card_gflops = card_gflops > 0 ? std::min(card_gflops, card.bf16_gflops) : card.bf16_gflops;
    }
    if (card_read > 0) {
        for (auto& row : out["decode"]) {
            row["share_of_card_read"] = row["weight_gb_per_s"].get<double>() / card_read;
        }
    }
    if (card_gflops > 0) {
        for (auto& row : out["prefill"]) {
            row["share_of_card_peak"] = row["gflops"].get<double>() / card_gflops;
        }
    }

    if (arguments.is_json) {
        printJson(out);
        return {};
    }
    print("machine  %d threads, %s, read %.1f GB/s, fp32 %.0f GFLOP/s, bf16 %.0f GFLOP/s "
          "(measured now)\n",
          rates.threads, kernels::bestCpuOps().name, rates.read_gb_per_s, rates.fp32_gflops,
          rates.bf16_gflops);
    if (!is_on_card) {
        print("         a plain read of these weights where they lie: %.1f GB/s\n", weights_read);
        print("         the same products with weights from the cores' caches (arithmetic "
              "bound): %.1f GB/s\n"
              "         asked of decoding: %.1f GB/s (70 %% of the faster read, or the bound "
              "if lower)\n",
              arithmetic, asked);
    }
    for (const engine::CardCeiling& card : cards) {
        print("card     %s, read %.0f GB/s, tensor cores %.0f TFLOP/s in bf16 (measured now)\n",
              card.device.toString().c_str(), card.read_gb_per_s, card.bf16_gflops / 1000);
    }
    // NAME of a row in percent, with what it is a share of; nothing where it was not measured.
    const auto share = [](const ordered_json& row, const char* name, const char* of) {
        if (row.contains(name)) {
            print("  %5.1f %% of %s", 100 * row[name].get<double>(), of);
        }
    };
    print("load     %.2f s\n", engine.loadSeconds());
    for (const auto& row : out["prefill"]) {
        print("prefill  %6d tokens   %8.1f tokens/s   %7.1f GFLOP/s", row["tokens"].get<int>(),
              row["tokens_per_s"].get<double>(), row["gflops"].get<double>());
        if (!is_on_card) {
            print("  %5.1f %% of peak", 100 * row["share_of_peak"].get<double>());
        }
        share(row, "share_of_card_peak", "the card's tensor cores");
        print("\n");
    }
    if (!out["decode"].empty()) {
        print("choice   %s\n", choiceText(choice).c_str());
    }
    for (const auto& row : out["decode"]) {
        print("decode   depth %6d    %8.2f tokens/s   %7.2f GB/s of weights",
              row["depth"].get<int>(), row["tokens_per_s"].get<double>(),
              row["weight_gb_per_s"].get<double>());
        if (!is_on_card) {
            print("  %5.1f %% of read bandwidth, %5.1f %% of the plain read, %5.1f %% of what "
                  "is asked",
                  100 * row["share_of_read_bandwidth"].get<double>(),
                  100 * row["share_of_weights_read"].get<double>(),
                  100 * row["share_of_asked"].get<double>());
        }
        if (is_on_card) {
            print(" (median of %zu, %.2f to %.2f)", row["rounds"].size(),
                  row["min_tokens_per_s"].get<double>(), row["max_tokens_per_s"].get<double>());
        } else {
            print(" (medians of %zu rounds with reads of %.1f and %.1f GB/s between them)",
                  row["rounds"].size(), row["read_gb_per_s"].get<double>(),
                  row["weights_read_gb_per_s"].get<double>());
        }
        share(row, "share_of_card_read", "the card's read bandwidth");
        print("\n");
    }
    if (out.contains("adapter")) {
        for (const auto& row : out["adapter"]["decode"]) {
            print("adapter  depth %6d    %8.2f tokens/s   with rank %d on %s (%.1f MB); "
                  "%.2f without: %.1f %% slower\n",
                  row["depth"].get<int>(), row["tokens_per_s_with"].get<double>(),
                  out["adapter"]["rank"].get<int>(),
                  out["adapter"]["targets"].get<std::string>().c_str(),
                  out["adapter"]["bytes"].get<double>() / 1e6,
                  row["tokens_per_s_without"].get<double>(), 100 * row["slower_by"].get<double>());
        }
        for (const auto& row : out["adapter"]["prefill"]) {
            print("adapter  prompt %5d    %8.1f tokens/s   with it; %.1f without: %.1f %% "
                  "slower\n",
                  row["tokens"].get<int>(), row["tokens_per_s_with"].get<double>(),
                  row["tokens_per_s"].get<double>(), 100 * row["slower_by"].get<double>());
        }
    }
    // Of the row of a medium: its tower, its preparation, and the whole request.
    const auto printMedium = [&](const char* name, const std::string& what) {
        const ordered_json& row = out[name];
        print("%-8s %s  tower %.3f s, reading and preparing %.3f s, from the request to the "
              "first token %.3f s (%.3f to %.3f)",
              name, what.c_str(), row["seconds"].get<double>(), row["prepare_s"].get<double>(),
              row["first_token_s"].get<double>(), row["min_first_token_s"].get<double>(),
              row["max_first_token_s"].get<double>());
        if (row.contains("gflops") && !is_on_card) {
            print("   %.1f GFLOP/s  %.1f %% of peak", row["gflops"].get<double>(),
                  100 * row["share_of_peak"].get<double>());
        }
        print("\n");
    };
    if (out.contains("image")) {
        printMedium("image", std::to_string(out["image"]["patches"].get<int>()) + " patches");
    }
    if (out.contains("audio")) {
        printMedium("audio", "10 s of sound");
    }
    return {};
}

} // namespace cli
