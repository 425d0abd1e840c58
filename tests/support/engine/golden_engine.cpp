// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engine/golden_engine.h"

#include "tests/support/results.h"

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

engine::LoadRequest folderRequest(const std::filesystem::path& folder) {
    engine::LoadRequest request = goldenRequest("e2b");
    request.model = folder.string();
    return request;
}

engine::GenerateRequest greedyRequest(std::vector<int32_t> ids, int64_t tokens) {
    engine::GenerateRequest request;
    request.raw_ids = std::move(ids);
    request.sampling.temperature = 0.0;
    request.sampling.ignores_eos = true;
    request.sampling.max_tokens = tokens;
    return request;
}

engine::LoadRequest goldenGgufRequest(const std::string& name, const std::string& label) {
    const std::filesystem::path folder = goldenMoreDir() / ("gguf-" + name);
    engine::LoadRequest request = goldenRequest("e2b");
    request.model = (folder / (label + ".gguf")).string();
    request.image_tokens = 70; // as the expected data have it
    const std::filesystem::path projector = folder / (label + ".mmproj.gguf");
    if (std::filesystem::exists(projector)) {
        request.projector = projector.string();
    }
    return request;
}

engine::GenerateRequest goldenGgufCase(const nlohmann::json& c) {
    engine::GenerateRequest request;
    request.raw_ids = c["input_ids"].get<std::vector<int32_t>>();
    request.image_tokens = 70;
    if (c["image"].is_string()) {
        request.raw_images.push_back((goldenMoreDir() / c["image"].get<std::string>()).string());
    }
    if (c["audio"].is_string()) {
        request.raw_audios.push_back((goldenMoreDir() / c["audio"].get<std::string>()).string());
    }
    request.sampling.temperature = 0.0;
    request.sampling.ignores_eos = true;
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
    return must(engine.logits(goldenCaseRequest(c), rows, {}), c.id.c_str()).logits;
}

std::vector<int32_t> engineGreedy(engine::Engine& engine, const GoldenCase& c, int count) {
    engine::GenerateRequest request = goldenCaseRequest(c);
    request.sampling.max_tokens = count;
    return must(engine.generate(request, {}, {}), c.id.c_str()).token_ids;
}

std::string memoryDifference(const engine::Engine& engine, bool counts_context) {
    std::string text;
    for (const engine::DeviceMemory& device : engine.memory()) {
        for (const engine::MemoryPart part : engine::kMemoryParts) {
            if ((counts_context || part != engine::MemoryPart::Context) &&
                device.measured[part] != device.predicted[part]) {
                text += device.id.toString() + " " + engine::memoryPartName(part) + ": predicted " +
                        std::to_string(device.predicted[part]) + ", measured " +
                        std::to_string(device.measured[part]) + "; ";
            }
        }
    }
    return text;
}

std::string nativeMap(const std::string& fallback, const std::string& entries) {
    return R"({"version": 1, "default": ")" + fallback + R"(", "map": {)" + entries + "}}";
}

std::string goldenAdapter(const std::string& family, const std::string& name) {
    return (goldenDir() / family / "adapters" / name).string();
}

} // namespace support
