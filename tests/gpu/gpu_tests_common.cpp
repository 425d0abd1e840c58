// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/driver.h"
#include "tests/gpu/gpu_tests.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;
using support::GoldenCase;

bool is_simulated = false;

engine::EngineOptions& engineOptions() {
    static engine::EngineOptions options;
    return options;
}

uint64_t Machine::freeBytes() const {
    return kernels::cuda::freeBytes(*driver, cards.front()).value_or(0);
}

LoadRequest
requestFor(const std::string& family, const std::string& map, const std::string& folder) {
    LoadRequest request;
    request.model = (support::goldenDir() / family / folder).string();
    request.device_map = map;
    request.context = 256;
    request.is_reference_precision = true;
    if (is_simulated) {
        request.sim_gpus = {uint64_t{512} << 20, uint64_t{512} << 20};
        for (size_t at = 0; (at = request.device_map.find("cuda:", at)) != std::string::npos;) {
            request.device_map.replace(at, 5, "sim:");
        }
    }
    return request;
}

std::string load(Engine& engine, const LoadRequest& request) {
    const auto loaded = engine.load(request, {}, {});
    return loaded.has_value() ? std::string() : "load: " + loaded.error().message;
}

std::vector<float> logits(Engine& engine, const GoldenCase& c, int64_t rows, std::string* wrong) {
    auto result = engine.logits(support::goldenCaseRequest(c), rows, {});
    if (!result.has_value()) {
        *wrong = c.id + ": " + result.error().message;
        return {};
    }
    return std::move(result->logits);
}

std::vector<int32_t> greedy(Engine& engine, const GoldenCase& c, int count, std::string* wrong) {
    engine::GenerateRequest request = support::goldenCaseRequest(c);
    request.sampling.max_tokens = count;
    auto reply = engine.generate(request, {}, {});
    if (!reply.has_value()) {
        *wrong = c.id + ": " + reply.error().message;
        return {};
    }
    return reply->token_ids;
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.2e", value);
    return text;
}

const std::vector<std::string>& families() {
    static const std::vector<std::string> kFamilies = {"e2b", "e4b", "dense31b", "moe26b"};
    return kFamilies;
}

std::string compareCases(Engine& engine,
                         const std::string& family,
                         int64_t rows,
                         const GoldenLogits& golden,
                         bool compares_tokens,
                         double bound,
                         std::string* figure) {
    double largest = -1.0;
    for (const GoldenCase& c : support::goldenCases(family)) {
        std::string wrong;
        const std::vector<float> expected = golden(c);
        if (expected.empty()) {
            continue;
        }
        const auto values = logits(engine, c, rows, &wrong);
        if (!wrong.empty()) {
            return wrong;
        }
        const double error = support::maxRelativeToLargest(values, expected);
        if (!(error <= bound)) {
            return c.id + ": logits differ by " + number(error) + ", allowed " + number(bound);
        }
        largest = std::max(largest, error);
        if (compares_tokens) {
            const auto tokens = greedy(engine, c, static_cast<int>(c.greedy.size()), &wrong);
            if (!wrong.empty() || tokens != c.greedy) {
                return wrong.empty() ? c.id + ": other greedy tokens" : wrong;
            }
        }
    }
    if (largest < 0.0) {
        return "no golden logits to compare with";
    }
    *figure = "largest error " + number(largest);
    return support::memoryDifference(engine, false);
}

Noise noiseOf(const std::string& family, const GoldenCase& c) {
    static const auto kAbout = support::readJson(support::goldenDir() / "about.json");
    const auto& noise = kAbout["noise_against_float64"][family + "/" + c.id];
    return {noise["bf16_nmse"].get<double>(), noise["bf16_max"].get<double>()};
}

double fewRowsBound(const std::string& family) {
    static std::map<std::string, double> known;
    double& largest = known[family];
    if (largest > 0.0) {
        return 1.5 * largest;
    }
    for (const GoldenCase& c : support::goldenCases(family)) {
        largest = std::max(largest, noiseOf(family, c).nmse);
        for (const char* format : {"nf4", "nf4-dq", "fp4"}) {
            const auto file = support::goldenDir() / family / "quantized" /
                              (std::string(format) + ".expected_logits.safetensors");
            if (std::filesystem::exists(file)) {
                const auto values = support::readSafetensors(file);
                largest = std::max(
                    largest, support::nmse(values.at(c.id + ".logits_bnb_bf16").floats(),
                                           values.at(c.id + ".logits_dequant_fp32").floats()));
            }
        }
    }
    return 1.5 * largest;
}

std::vector<float>
steppedLogits(Engine& engine, const GoldenCase& c, int64_t rows, std::string* wrong) {
    std::vector<float> all;
    engine::GenerateRequest request = support::goldenCaseRequest(c);
    const auto first = static_cast<std::ptrdiff_t>(c.input_ids.size()) - rows;
    for (std::ptrdiff_t end = first; end <= first + rows; ++end) {
        request.raw_ids.assign(c.input_ids.begin(), c.input_ids.begin() + end);
        const auto one = engine.logits(request, 1, {});
        if (!one.has_value()) {
            *wrong = c.id + ", step by step: " + one.error().message;
            return {};
        }
        if (end > first) {
            all.insert(all.end(), one->logits.begin(), one->logits.end());
        }
    }
    return all;
}

std::string compareDefault(Engine& engine,
                           const std::string& family,
                           int64_t rows,
                           const GoldenLogits& golden,
                           const CaseBound& bound,
                           std::string* figure) {
    const int64_t num_steps = std::min<int64_t>(8, rows);
    struct Worst {
        double error = 0.0, share = -1.0;
    };
    Worst prompt;
    Worst steps;
    std::string wrong;
    for (const GoldenCase& c : support::goldenCases(family)) {
        const std::vector<float> expected = golden(c);
        if (expected.empty()) {
            continue;
        }
        const auto compare = [&](const std::vector<float>& values, const char* how, Worst* worst) {
            const auto count = static_cast<std::ptrdiff_t>(values.size());
            if (count == 0 || values.size() > expected.size()) {
                wrong = c.id + how + ": another number of logits";
                return;
            }
            const double error = support::nmse(values, {expected.end() - count, expected.end()});
            const double allowed = bound(c);
            if (!(error <= worst->share * allowed)) {
                *worst = {error, error / allowed};
            }
            if (!(error <= allowed)) {
                wrong = c.id + how + ": NMSE " + number(error) + ", allowed " + number(allowed);
            }
        };
        // Steps first: their cache is not yet that of the whole prompt.
        std::string failed;
        const auto stepped = steppedLogits(engine, c, num_steps, &failed);
        const auto whole = failed.empty() ? logits(engine, c, rows, &failed) : std::vector<float>();
        if (!failed.empty()) {
            return failed;
        }
        compare(stepped, ", single steps", &steps);
        compare(whole, "", &prompt);
    }
    if (prompt.share < 0.0 && wrong.empty()) {
        return "no golden logits to compare with";
    }
    char text[120];
    std::snprintf(text, sizeof(text), "NMSE %.2e (%.2f of its bound), single steps %.2e (%.2f)",
                  prompt.error, prompt.share, steps.error, steps.share);
    *figure = text;
    return wrong.empty() ? support::memoryDifference(engine, false) : wrong;
}

std::vector<float> expectedLogits(const std::string& family, const GoldenCase& c) {
    return support::readSafetensors(support::goldenDir() / family / "expected" /
                                    (c.id + ".safetensors"))
        .at("logits")
        .floats();
}

std::string native(const std::string& fallback, const std::string& entries) {
    return R"({"version": 1, "default": ")" + fallback + R"(", "map": {)" + entries + "}}";
}

} // namespace gpu
