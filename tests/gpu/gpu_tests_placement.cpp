// SPDX-License-Identifier: Apache-2.0
// Section "placement": parts on cards, CPU and disk against everything on one card, in fp32 and in
// default precision.
#include "tests/gpu/gpu_tests.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;
using support::GoldenCase;

namespace {

std::vector<std::pair<std::string, std::string>> placementRows(const std::string& family,
                                                               bool has_second) {
    // The layers that own keys and values, and those that read them.
    const std::string owners = family == "e4b" ? "[0-6]" : "[0-5]";
    const std::string readers = family == "e4b" ? "[7-11]" : "[6-9]";
    const std::string layer = "\"model.language_model.layers.";
    std::vector<std::pair<std::string, std::string>> rows;
    for (const char* preset : {"towers-cpu", "ple-cpu", "lean", "fit"}) {
        rows.emplace_back(std::string("preset ") + preset, preset);
    }
    for (const char* other : {"cpu", "disk", "cuda:1"}) {
        if (std::string(other) == "cuda:1" && !has_second) {
            continue;
        }
        const std::string there = std::string("\": \"") + other + "\"";
        const std::string name = std::string(" on ") + other;
        for (const char* part :
             {"model.vision_tower", "model.audio_tower", "model.embed_vision",
              "model.language_model.embed_tokens", "model.language_model.embed_tokens_per_layer",
              "model.language_model.per_layer_model_projection"}) {
            rows.emplace_back(part + name, native("cuda:0", "\"" + (part + there)));
        }
        rows.emplace_back("layer 0" + name, native("cuda:0", layer + "0" + there));
        rows.emplace_back("layers 3 to 5" + name, native("cuda:0", layer + "[3-5]" + there));
        rows.emplace_back("last layers" + name, native("cuda:0", layer + readers + there));
        if (std::string(other) != "disk") {
            rows.emplace_back("KV owners" + name + ", readers on cuda:0",
                              native("cuda:0", layer + owners + there));
            rows.emplace_back("one projection" + name,
                              native("cuda:0", layer + "2.self_attn.k_proj" + there));
            rows.emplace_back(
                "KV cache" + name,
                R"({"version": 1, "default": "cuda:0", "map": {}, "kv": {"place": ")" +
                    std::string(other) + "\"}}");
        }
    }
    rows.emplace_back("streamed from the CPU",
                      native("cuda:0", layer + R"([2-4]": {"store": "cpu", "compute": "cuda:0"})"));
    rows.emplace_back(
        "streamed from disk",
        native("cuda:0", layer + R"([2-4]": {"store": "disk", "compute": "cuda:0"})"));
    rows.emplace_back(
        "towers visit",
        native(
            "cuda:0",
            R"("model.vision_tower": {"store": "cpu", "compute": "cuda:0", "residency": "on_use"},
                  "model.audio_tower": {"store": "disk", "compute": "cuda:0", "residency": "on_use"})"));
    rows.emplace_back("everything on disk, computed on cuda:0",
                      native("cuda:0", R"("model": "disk")"));
    return rows;
}

/// Routed experts apart from their layers.
std::vector<std::pair<std::string, std::string>> expertRows(bool has_second) {
    const std::string layer = "\"model.language_model.layers.";
    std::vector<std::pair<std::string, std::string>> rows = {{"preset experts-cpu", "experts-cpu"}};
    rows.emplace_back("experts of layers 0 to 2 on cpu",
                      native("cuda:0", layer + R"([0-2].experts": "cpu")"));
    rows.emplace_back(
        "layers on cpu, their experts on cuda:0",
        native("cuda:0", layer + R"([1-2]": "cpu", )" + layer + R"([1-2].experts": "cuda:0")"));
    rows.emplace_back(
        "experts streamed from the CPU",
        native("cuda:0", layer + R"([3-4].experts": {"store": "cpu", "compute": "cuda:0"})"));
    if (has_second) {
        rows.emplace_back("experts on cuda:1",
                          native("cuda:0", layer + R"([0-5].experts": "cuda:1")"));
    }
    return rows;
}

/// fp32: everything on one card, then every row; logits and greedy tokens.
void inReference(CheckList& list,
                 const std::string& family,
                 const std::string& quant,
                 const std::vector<std::pair<std::string, std::string>>& rows) {
    std::vector<float> expected;
    std::vector<int32_t> expected_tokens;
    const GoldenCase c = support::goldenCase(family, family == "moe26b" ? "image" : "image_audio");
    const auto answer = [&](const std::string& map, std::vector<float>* values,
                            std::vector<int32_t>* tokens) {
        Engine engine(engineOptions());
        LoadRequest request = requestFor(family, map);
        request.quant = quant;
        std::string wrong = load(engine, request);
        wrong = wrong.empty() ? support::memoryDifference(engine, false) : wrong;
        if (wrong.empty()) {
            *values = logits(engine, c, 4, &wrong);
        }
        if (wrong.empty()) {
            *tokens = greedy(engine, c, 12, &wrong);
        }
        return wrong;
    };
    const std::string name = family + " " + quant + ": ";
    list.run("placement", name + "everything on cuda:0",
             [&](std::string*) { return answer("gpu", &expected, &expected_tokens); });
    for (const auto& [row, map] : rows) {
        list.run("placement", name + row, [&, map = map](std::string* figure) {
            if (expected.empty()) {
                return std::string("nothing to compare with: everything on cuda:0 failed");
            }
            std::vector<float> values;
            std::vector<int32_t> tokens;
            if (const std::string wrong = answer(map, &values, &tokens); !wrong.empty()) {
                return wrong;
            }
            const double error = support::maxRelativeToLargest(values, expected);
            *figure = "differs by " + number(error);
            // Two equal cards run the same kernels; the CPU sums in another order.
            const bool is_same_kernels =
                map.find("cuda:1") != std::string::npos && map.find("cpu") == std::string::npos;
            const double bound = is_same_kernels ? 1e-6 : 2e-5;
            if (!(error <= bound)) {
                return "logits differ by " + number(error) + ", allowed " + number(bound);
            }
            return tokens == expected_tokens ? std::string() : "other greedy tokens";
        });
    }
}

/// Where the golden logits of a row leave no doubt: its best token; -1 elsewhere. `tolerance`: a
/// share of the largest logit.
std::vector<int32_t> clearTokens(const std::vector<float>& golden, size_t rows, double tolerance) {
    float largest = 0.0F;
    for (const float x : golden) {
        largest = std::max(largest, std::abs(x));
    }
    const size_t vocab = golden.size() / rows;
    std::vector<int32_t> out;
    for (size_t row = 0; row < rows; ++row) {
        std::vector<float> sorted(golden.begin() + static_cast<std::ptrdiff_t>(row * vocab),
                                  golden.begin() + static_cast<std::ptrdiff_t>((row + 1) * vocab));
        const auto best = std::max_element(sorted.begin(), sorted.end());
        const auto token = static_cast<int32_t>(best - sorted.begin());
        std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
        out.push_back(sorted[0] - sorted[1] > tolerance * largest ? token : -1);
    }
    return out;
}

/// The best token of each row.
std::vector<int32_t> bestTokens(const std::vector<float>& logits, size_t rows) {
    const auto vocab = static_cast<std::ptrdiff_t>(logits.size() / rows);
    std::vector<int32_t> out;
    for (auto at = logits.begin(); at != logits.end(); at += vocab) {
        out.push_back(static_cast<int32_t>(std::max_element(at, at + vocab) - at));
    }
    return out;
}

/// Default precision: what a placement gives for a text and for a picture with a sound, whole
/// prompts and single steps behind them.
struct Answers {
    std::vector<std::vector<float>> prompt, steps;
};

void inDefault(CheckList& list,
               const std::string& family,
               const std::string& quant,
               const std::vector<std::pair<std::string, std::string>>& rows) {
    constexpr int64_t kSteps = 4;
    const size_t num_rows = quant == "none" ? 32 : 8;
    const std::vector<GoldenCase> cases = {support::goldenCase(family, "image_audio"),
                                           support::goldenCase(family, "text")};
    std::vector<std::vector<int32_t>> clear;
    for (const GoldenCase& c : cases) {
        const std::vector<float> golden =
            quant == "none" ? expectedLogits(family, c)
                            : support::readSafetensors(support::goldenDir() / family / "quantized" /
                                                       (quant + ".expected_logits.safetensors"))
                                  .at(c.id + ".logits_dequant_fp32")
                                  .floats();
        clear.push_back(clearTokens(golden, num_rows, noiseOf(family, c).largest));
    }
    const auto answer = [&](const std::string& map, Answers* out) {
        Engine engine(engineOptions());
        LoadRequest request = requestFor(family, map);
        request.is_reference_precision = false;
        request.quant = quant;
        std::string wrong = load(engine, request);
        wrong = wrong.empty() ? support::memoryDifference(engine, false) : wrong;
        for (size_t i = 0; i < cases.size() && wrong.empty(); ++i) {
            out->steps.push_back(steppedLogits(engine, cases[i], kSteps, &wrong));
            if (wrong.empty()) {
                out->prompt.push_back(
                    logits(engine, cases[i], static_cast<int64_t>(num_rows), &wrong));
            }
        }
        return wrong;
    };
    /// Rows whose token is clear, or what is wrong with one of them.
    const auto compareClear = [&](const Answers& answers, int* compared) {
        for (size_t i = 0; i < cases.size(); ++i) {
            const auto prompt = bestTokens(answers.prompt[i], num_rows);
            const auto steps = bestTokens(answers.steps[i], kSteps);
            for (size_t row = 0; row < num_rows; ++row) {
                const size_t step = row + kSteps - num_rows; // wraps for rows before the steps
                if (clear[i][row] >= 0) {
                    ++*compared;
                    if (prompt[row] != clear[i][row] ||
                        (step < kSteps && steps[step] != clear[i][row])) {
                        return cases[i].id + ": another token at row " + std::to_string(row);
                    }
                }
            }
        }
        return *compared > 0 ? std::string() : std::string("no row has a clear token");
    };
    Answers expected;
    bool has_expected = false;
    const std::string name = family + " " + quant + " in 16 bits: ";
    list.run("placement", name + "everything on cuda:0", [&](std::string* figure) {
        int compared = 0;
        std::string wrong = answer("gpu", &expected);
        wrong = wrong.empty() ? compareClear(expected, &compared) : wrong;
        has_expected = wrong.empty();
        *figure = std::to_string(compared) + " clear tokens";
        return wrong;
    });
    for (const auto& [row, map] : rows) {
        list.run("placement", name + row, [&, map = map](std::string* figure) {
            if (!has_expected) {
                return std::string("nothing to compare with: everything on cuda:0 failed");
            }
            Answers answers;
            int compared = 0;
            std::string wrong = answer(map, &answers);
            wrong = wrong.empty() ? compareClear(answers, &compared) : wrong;
            if (!wrong.empty()) {
                return wrong;
            }
            double prompt = 0.0;
            double steps = 0.0;
            for (size_t i = 0; i < cases.size(); ++i) {
                // Two runs, each as far from the truth as transformers' bf16 run at most.
                const double bound = noiseOf(family, cases[i]).nmse;
                const double prompt_error = support::nmse(answers.prompt[i], expected.prompt[i]);
                const double step_error = support::nmse(answers.steps[i], expected.steps[i]);
                prompt = std::max(prompt, prompt_error);
                steps = std::max(steps, step_error);
                if (!(prompt_error <= bound) || !(step_error <= bound)) {
                    wrong = cases[i].id + ": NMSE " + number(prompt_error) + ", single steps " +
                            number(step_error) + ", allowed " + number(bound);
                }
            }
            *figure = "NMSE " + number(prompt) + ", single steps " + number(steps) + ", " +
                      std::to_string(compared) + " clear tokens";
            return wrong;
        });
    }
}

} // namespace

void placements(CheckList& list, bool has_second) {
    for (const std::string family : {"e2b", "e4b"}) {
        const auto rows = placementRows(family, has_second);
        for (const std::string quant : {"none", "nf4-dq"}) {
            inReference(list, family, quant, rows);
            inDefault(list, family, quant, rows);
        }
    }
    for (const char* quant : {"none", "nf4+experts"}) {
        inReference(list, "moe26b", quant, expertRows(has_second));
    }
    if (!has_second) {
        list.leaveOut("placement", "rows with cuda:1 are left out: this machine has one card");
    }
}

} // namespace gpu
