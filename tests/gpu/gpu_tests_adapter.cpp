// SPDX-License-Identifier: Apache-2.0
// Section "adapter": golden adapters on every family, whole, split and travelling, in fp32 and in
// default precision; the further kinds of tests/data/adapters; base formats, sets of adapters and
// placements of the forum thread in all combinations.
#include "tests/gpu/gpu_tests.h"
#include "tests/support/places.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;
using support::GoldenCase;

namespace {

using Golden = std::map<std::string, support::GoldenTensor>;

/// Beside the noise of few rows without an adapter (tests/support/tolerances.md).
constexpr double kAdapterRounding = 1.5;

/// Golden logits under `prefix` + the case; empty where there are none.
GoldenLogits
logitsIn(const Golden& golden, const std::string& prefix = "", const std::string& suffix = "") {
    return [&golden, prefix, suffix](const GoldenCase& c) {
        const auto it = golden.find(prefix + c.id + suffix);
        return it == golden.end() ? std::vector<float>() : it->second.floats();
    };
}

/// An adapter, or several, in both precisions against golden logits of `rows` positions.
void check(CheckList& list,
           const std::string& name,
           const std::string& family,
           const std::string& map,
           const std::string& quant,
           const std::vector<std::string>& folders,
           int64_t rows,
           const GoldenLogits& golden) {
    LoadRequest request = requestFor(family, map);
    request.quant = quant;
    for (const std::string& folder : folders) {
        request.adapters.push_back({folder, 1.0, true});
    }
    list.run("adapter", name, [&](std::string* figure) {
        Engine engine(engineOptions());
        std::string wrong = load(engine, request);
        return !wrong.empty() ? wrong
                              : compareCases(engine, family, rows, golden, false, 1e-4, figure);
    });
    request.is_reference_precision = false;
    list.run("adapter", name + " in 16 bits", [&](std::string* figure) {
        Engine engine(engineOptions());
        std::string wrong = load(engine, request);
        // A x is rounded to bf16 on its way into a product, as PEFT rounds it in bf16.
        const double allowed = kAdapterRounding * fewRowsBound(family);
        const auto bound = [allowed](const GoldenCase&) { return allowed; };
        return !wrong.empty() ? wrong : compareDefault(engine, family, rows, golden, bound, figure);
    });
}

std::string goldenFolder(const std::string& family, const std::string& name) {
    return (support::goldenDir() / family / "adapters" / name).string();
}

void goldenAdapters(CheckList& list) {
    for (const std::string& family : families()) {
        for (const auto& entry :
             std::filesystem::directory_iterator(support::goldenDir() / family / "adapters")) {
            const std::string name = entry.path().filename().string();
            const std::string source = name == "multimodal_old_keys" ? "multimodal" : name;
            const Golden golden_values = support::readSafetensors(goldenFolder(family, source) +
                                                                  "/expected_logits.safetensors");
            const std::vector<std::pair<std::string, std::string>> maps = {
                {"", "gpu"},
                {", split", native("cuda:0", R"("model.language_model.layers.[2-3]": "cpu",
                                     "model.vision_tower": "cpu")")},
                {", travelling with its base",
                 native(
                     "cuda:0",
                     R"("model.language_model.layers.[1-2]": {"store": "cpu", "compute": "cuda:0"},
                           "model.language_model.layers.3": {"store": "disk", "compute": "cuda:0"},
                           "model.vision_tower": {"store": "cpu", "compute": "cuda:0"})")}};
            for (const auto& [how, map] : maps) {
                check(list, family + " " + name + how, family, map, "none", {entry.path().string()},
                      8, logitsIn(golden_values));
            }
        }
    }
    for (const std::string family : {"e2b", "e4b"}) {
        const Golden expected =
            support::readSafetensors(support::goldenDir() / family / "quantized" /
                                     "nf4-dq+multimodal.expected_logits.safetensors");
        check(list, family + " multimodal on the nested 4-bit model", family, "gpu", "nf4-dq",
              {goldenFolder(family, "multimodal")}, 8, logitsIn(expected));
    }
}

/// tests/data/adapters: biases, modules_to_save, embeddings, experts, ... made with PEFT.
/// $BELFRY_ADAPTERS_DIR where tests/gpu/collect put them.
void furtherKinds(CheckList& list) {
    const char* moved = std::getenv("BELFRY_ADAPTERS_DIR");
    const std::filesystem::path data =
        moved != nullptr ? moved : support::testDataDir() / "adapters";
    if (!std::filesystem::is_directory(data)) {
        list.run("adapter", "further kinds", [&](std::string*) {
            return data.string() + " is not there; BELFRY_ADAPTERS_DIR names the folder";
        });
        return;
    }
    for (const std::string name :
         {"lora_bias", "bias_all", "modules_to_save", "trainable_tokens", "embedding",
          "embedding_dora", "head", "tied_embedding", "experts", "experts_down", "saved_positions",
          "saved_embedding", "saved_experts", "experts_peft_0_18", "experts_square_peft_0_18",
          "experts_square_peft_0_19_0"}) {
        const std::string family = name.find("experts") != std::string::npos ? "moe26b" : "e2b";
        const Golden golden_values =
            support::readSafetensors(data / name / "expected_logits.safetensors");
        check(list, family + " " + name, family, "gpu", "none", {(data / name).string()}, 4,
              logitsIn(golden_values));
    }
    const Golden both =
        support::readSafetensors(data / "text_and_dora" / "expected_logits.safetensors");
    const std::vector<std::vector<std::string>> orders = {{"text", "dora"}, {"dora", "text"}};
    for (const std::vector<std::string>& order : orders) {
        const GoldenLogits golden_values = [&](const GoldenCase& c) {
            return c.id == "text" ? both.at(order[0] + "+" + order[1]).floats()
                                  : std::vector<float>();
        };
        check(list, "e2b " + order[0] + ", then " + order[1], "e2b", "gpu", "none",
              {goldenFolder("e2b", order[0]), goldenFolder("e2b", order[1])}, 4, golden_values);
    }
}

/// What the forum thread fails at elsewhere: the towers on the CPU with a quantized base and an
/// adapter, and what is near to it. Greedy tokens of fp32 and logits in default precision, each
/// against everything on one card.
void forumMatrix(CheckList& list, bool has_second) {
    const std::vector<std::pair<std::string, std::string>> maps = {
        {"all on one GPU", "gpu"},
        {"towers on the CPU",
         R"({"model.vision_tower": "cpu", "model.audio_tower": "cpu", "": "cuda:0"})"},
        {"towers and table on the CPU", "lean"},
        {"everything on the CPU", "cpu"},
        {"two GPUs", native("cuda:0", R"("model.language_model.layers.[5-9]": "cuda:1")")}};
    const GoldenCase c = support::goldenCases("e2b").back();
    const double bound = 2 * noiseOf("e2b", c).nmse; // both placements round
    const std::vector<std::pair<std::string, std::vector<std::string>>> sets = {
        {"no adapter", {}},
        {"text", {"text"}},
        {"multimodal", {"multimodal"}},
        {"multimodal+text", {"multimodal", "text"}}};
    int left_out = 0;
    for (const std::string quant : {"none", "nf4", "nf4-dq"}) {
        for (const auto& [set, adapters] : sets) {
            std::vector<int32_t> expected;
            std::vector<float> expected_logits;
            for (const auto& [where, map] : maps) {
                if (where == "two GPUs" && !has_second) {
                    ++left_out;
                    continue;
                }
                const bool is_first = where == maps.front().first;
                list.run(
                    "adapter", "matrix: " + where + ", " + quant + ", " + set,
                    [&, map = map, names = adapters](std::string* figure) {
                        LoadRequest request = requestFor("e2b", map);
                        request.quant = quant;
                        for (const std::string& name : names) {
                            request.adapters.push_back({goldenFolder("e2b", name), 1.0, true});
                        }
                        Engine engine(engineOptions());
                        std::string wrong = load(engine, request);
                        wrong = wrong.empty() ? support::memoryDifference(engine, false) : wrong;
                        const auto tokens =
                            wrong.empty() ? greedy(engine, c, 24, &wrong) : std::vector<int32_t>();
                        request.is_reference_precision = false;
                        wrong = wrong.empty() ? load(engine, request) : wrong;
                        wrong = wrong.empty() ? support::memoryDifference(engine, false) : wrong;
                        const auto steps = wrong.empty() ? steppedLogits(engine, c, 4, &wrong)
                                                         : std::vector<float>();
                        if (!wrong.empty()) {
                            return wrong;
                        }
                        if (is_first) {
                            expected = tokens;
                            expected_logits = steps;
                            return std::string();
                        }
                        if (expected.empty() || tokens != expected) {
                            return std::string("other tokens than on one GPU");
                        }
                        const double error = support::nmse(steps, expected_logits);
                        *figure = "in 16 bits: NMSE " + number(error);
                        return error <= bound ? std::string()
                                              : "in 16 bits: NMSE " + number(error) + ", allowed " +
                                                    number(bound);
                    });
            }
        }
    }
    if (left_out > 0) {
        list.leaveOut("adapter", std::to_string(left_out) +
                                     " rows of the matrix need a second card and are left out");
    }
}

} // namespace

void adapters(CheckList& list, bool has_second) {
    goldenAdapters(list);
    furtherKinds(list);
    forumMatrix(list, has_second);
}

} // namespace gpu
