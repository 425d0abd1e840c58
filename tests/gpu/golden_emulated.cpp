// SPDX-License-Identifier: Apache-2.0
// Golden parity in 16 bits of the whole engine on a card whose kernels run on the CPU, for work on
// kernels without a card. Not a test of CI (minutes). Usage: belfry_emulated_golden [family]
// [quant]
#include "engine/run/engine.h"
#include "tests/gpu/emulated_card.h"
#include "tests/support/golden.h"
#include "tests/support/model/golden_model.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace {

/// Launches that run layers of a token.
int layerLaunches(const std::map<std::string, int>& launches) {
    int count = 0;
    for (const auto& [name, times] : launches) {
        if (name.starts_with("belfry_stream") && name != "belfry_stream_plans") {
            count += times;
        }
    }
    return count;
}

} // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): a failure may end it
int main(int argc, char** argv) {
    const std::string family = argc > 1 ? argv[1] : "e2b";
    gpu::EmulatedCards cards(1);
    std::map<std::string, int>& launches = cards.launches;
    const std::string& error = cards.error;
    engine::EngineOptions options;
    options.gpus = cards.access();
    engine::Engine engine(options);
    engine::LoadRequest request;
    request.model = (support::goldenDir() / family / "model").string();
    request.device_map = "gpu";
    request.context = 256;
    request.prefill_chunk = argc > 3 ? std::atoi(argv[3]) : request.prefill_chunk;
    if (argc > 2) {
        request.quant = argv[2];
    }
    if (const auto loaded = engine.load(request, {}, {}); !loaded.has_value()) {
        std::printf("load: %s\n", loaded.error().message.c_str());
        return 1;
    }
    const auto about = support::readJson(support::goldenDir() / "about.json");
    bool is_ok = true;
    for (const support::GoldenCase& c : support::goldenCases(family)) {
        engine::GenerateRequest prompt;
        prompt.raw_ids = c.input_ids;
        if (!c.image.empty()) {
            prompt.raw_images.push_back((support::goldenDir() / c.image).string());
        }
        if (!c.audio.empty()) {
            prompt.raw_audios.push_back((support::goldenDir() / c.audio).string());
        }
        launches.clear();
        const auto last = engine.logits(prompt, 1, {});
        const auto result = engine.logits(prompt, 32, {});
        if (!last.has_value() || !result.has_value() || !error.empty()) {
            std::printf("%s: %s\n", c.id.c_str(),
                        error.empty() ? result.error().message.c_str() : error.c_str());
            return 1;
        }
        const auto expected = support::readSafetensors(support::goldenDir() / family / "expected" /
                                                       (c.id + ".safetensors"))
                                  .at("logits")
                                  .floats();
        const double allowed =
            about["noise_against_float64"][family + "/" + c.id]["bf16_nmse"].get<double>();
        const double nmse = support::nmse(result->logits, expected);
        // The last row alone goes through the decode steps behind the cut.
        const std::vector<float> expected_row(
            expected.end() - static_cast<std::ptrdiff_t>(last->logits.size()), expected.end());
        const double nmse_last = support::nmse(last->logits, expected_row);
        int total = 0;
        for (const auto& [name, count] : launches) {
            total += count;
        }
        std::printf("%-24s NMSE %.2e, allowed %.2e: %s, last row %.2e; %d launches, fused %d + %d, "
                    "steps %d\n",
                    c.id.c_str(), nmse, allowed,
                    nmse <= allowed && nmse_last <= allowed ? "ok" : "FAIL", nmse_last, total,
                    launches["belfry_norm_rows"], launches["belfry_head_rows"],
                    layerLaunches(launches));
        // A few tokens as they are chosen: the recorded step from its inputs to its choice.
        engine::GenerateRequest decode = prompt;
        decode.sampling.temperature = 0.0;
        decode.sampling.ignores_eos = true;
        decode.sampling.max_tokens = static_cast<int>(std::min<size_t>(4, c.greedy.size()));
        launches.clear();
        const auto chosen = engine.generate(decode, {}, {});
        const bool is_same =
            chosen.has_value() && error.empty() && !chosen->token_ids.empty() &&
            static_cast<int>(chosen->token_ids.size()) == decode.sampling.max_tokens &&
            std::equal(chosen->token_ids.begin(), chosen->token_ids.end(), c.greedy.begin());
        std::printf("%24s %zu greedy tokens %s; inputs in one launch %d, choice %d, layers %d\n",
                    "", chosen.has_value() ? chosen->token_ids.size() : 0, is_same ? "ok" : "FAIL",
                    launches["belfry_token_inputs_four_bit"] +
                        launches["belfry_token_inputs_int8"] + launches["belfry_token_inputs_bf16"],
                    launches["belfry_cap_argmax"], layerLaunches(launches));
        // Tokens drawn among the candidates that the card names, and from whole rows.
        decode.sampling.temperature = 1.0;
        decode.sampling.top_k = 64;
        decode.sampling.top_p = 0.95;
        decode.sampling.seed = 11;
        decode.sampling.max_tokens = 6;
        launches.clear();
        const auto drawn = engine.generate(decode, {}, {});
        const int named = launches["belfry_top_logits"];
        decode.sampling.repetition_penalty = 1.0 + 1e-12; // almost nothing: the host sees every row
        const auto from_rows = engine.generate(decode, {}, {});
        const bool is_drawn_alike = drawn.has_value() && from_rows.has_value() && error.empty() &&
                                    drawn->token_ids.size() == 6 && named >= 5 &&
                                    drawn->token_ids == from_rows->token_ids;
        std::printf("%24s %d rows of candidates, drawn tokens %s\n", "", named,
                    is_drawn_alike ? "ok" : "FAIL");
        std::fflush(stdout);
        is_ok = is_ok && is_drawn_alike && (is_same || argc > 2) && nmse <= allowed &&
                nmse_last <= allowed;
    }
    return is_ok ? 0 : 1;
}
