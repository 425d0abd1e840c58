// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/driver.h"
#include "tests/gpu/gpu_tests.h"

#include <algorithm>
#include <cstdio>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;
using support::GoldenCase;

bool is_simulated = false;

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

engine::GenerateRequest promptOf(const GoldenCase& c) {
    engine::GenerateRequest request;
    request.raw_ids = c.input_ids;
    if (!c.image.empty()) {
        request.raw_images.push_back((support::goldenDir() / c.image).string());
    }
    if (!c.audio.empty()) {
        request.raw_audios.push_back((support::goldenDir() / c.audio).string());
    }
    request.sampling.temperature = 0.0;
    request.sampling.ignores_eos = true;
    return request;
}

std::vector<float> logits(Engine& engine, const GoldenCase& c, int64_t rows, std::string* wrong) {
    auto result = engine.logits(promptOf(c), rows, {});
    if (!result.has_value()) {
        *wrong = c.id + ": " + result.error().message;
        return {};
    }
    return std::move(result->logits);
}

std::vector<int32_t> greedy(Engine& engine, const GoldenCase& c, int count, std::string* wrong) {
    engine::GenerateRequest request = promptOf(c);
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

std::string memoryDifference(const Engine& engine) {
    std::string text;
    for (const engine::DeviceMemory& device : engine.memory()) {
        for (const engine::MemoryPart part : engine::kMemoryParts) {
            if (part != engine::MemoryPart::Context &&
                device.measured[part] != device.predicted[part]) {
                text += device.id.toString() + " " + engine::memoryPartName(part) + ": predicted " +
                        std::to_string(device.predicted[part]) + ", measured " +
                        std::to_string(device.measured[part]) + "; ";
            }
        }
    }
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
    double largest = 0.0;
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
    *figure = "largest error " + number(largest);
    return memoryDifference(engine);
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
