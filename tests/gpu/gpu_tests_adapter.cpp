// SPDX-License-Identifier: Apache-2.0
// Section "adapter": golden adapters on every family, also on split models.
#include "tests/gpu/gpu_tests.h"

#include <filesystem>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;
using support::GoldenCase;

void adapters(CheckList& list) {
    for (const std::string& family : families()) {
        for (const auto& entry :
             std::filesystem::directory_iterator(support::goldenDir() / family / "adapters")) {
            const std::string name = entry.path().filename().string();
            const std::string source = name == "multimodal_old_keys" ? "multimodal" : name;
            const auto golden_values =
                support::readSafetensors(support::goldenDir() / family / "adapters" / source /
                                         "expected_logits.safetensors");
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
                list.run("adapter", family + " " + name + how, [&, map = map](std::string* figure) {
                    Engine engine;
                    LoadRequest request = requestFor(family, map);
                    request.adapters.push_back({entry.path().string(), 1.0, true});
                    std::string wrong = load(engine, request);
                    return !wrong.empty() ? wrong
                                          : compareCases(
                                                engine, family, 8,
                                                [&](const GoldenCase& c) {
                                                    const auto it = golden_values.find(c.id);
                                                    return it == golden_values.end()
                                                               ? std::vector<float>()
                                                               : it->second.floats();
                                                },
                                                false, 1e-4, figure);
                });
            }
        }
    }
    list.run("adapter", "e2b multimodal on the nested 4-bit model", [&](std::string* figure) {
        const auto expected =
            support::readSafetensors(support::goldenDir() / "e2b" / "quantized" /
                                     "nf4-dq+multimodal.expected_logits.safetensors");
        Engine engine;
        LoadRequest request = requestFor("e2b", "gpu");
        request.quant = "nf4-dq";
        request.adapters.push_back(
            {(support::goldenDir() / "e2b" / "adapters" / "multimodal").string(), 1.0, true});
        std::string wrong = load(engine, request);
        return !wrong.empty()
                   ? wrong
                   : compareCases(
                         engine, "e2b", 8,
                         [&](const GoldenCase& c) {
                             for (const std::string& key : {c.id, c.id + ".logits_dequant_fp32"}) {
                                 const auto it = expected.find(key);
                                 if (it != expected.end()) {
                                     return it->second.floats();
                                 }
                             }
                             return std::vector<float>();
                         },
                         false, 1e-4, figure);
    });
}

} // namespace gpu
