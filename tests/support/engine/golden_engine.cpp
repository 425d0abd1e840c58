// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engine/golden_engine.h"

#include <cstdio>
#include <cstdlib>

namespace support {

engine::LoadRequest goldenRequest(const std::string& family, const std::string& folder) {
    engine::LoadRequest request;
    request.model = (goldenDir() / family / folder).string();
    request.device_map = "cpu";
    request.context = 256;
    request.is_reference_precision = true;
    request.threads = 2;
    return request;
}

engine::GenerateRequest goldenCaseRequest(const GoldenCase& c) {
    engine::GenerateRequest request;
    request.raw_ids = c.input_ids;
    if (!c.image.empty()) {
        request.raw_images.push_back((goldenDir() / c.image).string());
    }
    if (!c.audio.empty()) {
        request.raw_audios.push_back((goldenDir() / c.audio).string());
    }
    request.sampling.temperature = 0.0;
    request.sampling.ignores_eos = true;
    return request;
}

std::vector<float> engineLogits(engine::Engine& engine, const GoldenCase& c, int64_t rows) {
    auto result = engine.logits(goldenCaseRequest(c), rows, {});
    if (!result.has_value()) {
        std::fprintf(stderr, "logits of %s: %s\n", c.id.c_str(), result.error().message.c_str());
        std::exit(97);
    }
    return std::move(result->logits);
}

std::vector<int32_t> engineGreedy(engine::Engine& engine, const GoldenCase& c, int count) {
    engine::GenerateRequest request = goldenCaseRequest(c);
    request.sampling.max_tokens = count;
    auto reply = engine.generate(request, {}, {});
    if (!reply.has_value()) {
        std::fprintf(stderr, "greedy of %s: %s\n", c.id.c_str(), reply.error().message.c_str());
        std::exit(97);
    }
    return reply->token_ids;
}

std::string memoryDifference(const engine::Engine& engine) {
    std::string text;
    for (const engine::DeviceMemory& device : engine.memory()) {
        for (const engine::MemoryPart part : engine::kMemoryParts) {
            if (device.measured[part] != device.predicted[part]) {
                text += device.id.toString() + " " + engine::memoryPartName(part) + ": predicted " +
                        std::to_string(device.predicted[part]) + ", measured " +
                        std::to_string(device.measured[part]) + "; ";
            }
        }
    }
    return text;
}

std::string goldenAdapter(const std::string& family, const std::string& name) {
    return (goldenDir() / family / "adapters" / name).string();
}

} // namespace support
