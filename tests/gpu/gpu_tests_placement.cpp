// SPDX-License-Identifier: Apache-2.0
// Section "placement": parts on cards, CPU and disk against everything on one card.
#include "tests/gpu/gpu_tests.h"

#include <algorithm>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;
using support::GoldenCase;

namespace {

std::vector<std::pair<std::string, std::string>> placementRows(bool has_second) {
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
        rows.emplace_back("last layers" + name, native("cuda:0", layer + "[6-9]" + there));
        if (std::string(other) != "disk") {
            rows.emplace_back("KV owners" + name + ", readers on cuda:0",
                              native("cuda:0", layer + "[0-5]" + there));
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

} // namespace

void placements(CheckList& list, bool has_second) {
    for (const std::string quant : {"none", "nf4-dq"}) {
        std::vector<float> expected;
        std::vector<int32_t> expected_tokens;
        const auto all = support::goldenCases("e2b");
        const auto found = std::find_if(
            all.begin(), all.end(), [](const GoldenCase& one) { return one.id == "image_audio"; });
        const GoldenCase c = found != all.end() ? *found : all.front();
        list.run("placement", quant + ": everything on cuda:0", [&](std::string*) {
            Engine engine;
            LoadRequest request = requestFor("e2b", "gpu");
            request.quant = quant;
            std::string wrong = load(engine, request);
            if (wrong.empty()) {
                expected = logits(engine, c, 4, &wrong);
            }
            if (wrong.empty()) {
                expected_tokens = greedy(engine, c, 12, &wrong);
            }
            return wrong;
        });
        for (const auto& [name, map] : placementRows(has_second)) {
            list.run("placement", quant + ": " + name, [&](std::string* figure) {
                Engine engine;
                LoadRequest request = requestFor("e2b", map);
                request.quant = quant;
                std::string wrong = load(engine, request);
                if (wrong.empty()) {
                    wrong = memoryDifference(engine);
                }
                const auto values =
                    wrong.empty() ? logits(engine, c, 4, &wrong) : std::vector<float>();
                const auto tokens =
                    wrong.empty() ? greedy(engine, c, 12, &wrong) : std::vector<int32_t>();
                if (!wrong.empty()) {
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
}

} // namespace gpu
