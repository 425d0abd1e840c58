// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/shared_decoder.h"

#include "engine/run/engine.h"
#include "tests/gpu/gpu_tests.h"
#include "tests/support/golden.h"
#include "tests/support/model/golden_model.h"

#include <memory>

namespace gpu {

namespace {

struct Answer {
    std::vector<float> prompt, token; ///< Logits of a prompt's last rows, and behind a token.
    std::vector<int32_t> text;
};

/// is_plain: without fused steps.
engine::EngineOptions optionsFor(bool is_plain) {
    engine::EngineOptions options;
    options.decode.has_split_steps = !is_plain;
    return options;
}

std::string mapOf(const std::string& device, const std::string& entries) {
    std::string map = R"({"version": 1, "default": "cuda:0", "map": {)" + entries + "}}";
    for (size_t at = 0; (at = map.find("cuda:", at)) != std::string::npos; at += device.size()) {
        map.replace(at, 5, device);
    }
    return map;
}

engine::LoadRequest requestFor(const std::string& family,
                               const std::string& map,
                               const std::string& quant,
                               const std::string& device) {
    engine::LoadRequest request;
    request.model = (support::goldenDir() / family / "model").string();
    request.device_map = map;
    request.context = 256;
    request.quant = quant;
    request.head = "int8";
    if (device == "sim:") {
        request.sim_gpus = {uint64_t{512} << 20, uint64_t{512} << 20};
    }
    return request;
}

std::string ask(const engine::LoadRequest& request, Answer& answer, bool is_plain = false) {
    engine::Engine engine(optionsFor(is_plain));
    if (const auto loaded = engine.load(request, {}, {}); !loaded.has_value()) {
        return "load: " + loaded.error().message;
    }
    engine::GenerateRequest prompt = support::greedyRequest({}, 12);
    for (int32_t i = 0; i < 40; ++i) {
        prompt.raw_ids.push_back(i == 0 ? 2 : 20 + 7 * i);
    }
    auto rows = engine.logits(prompt, 8, {});
    if (!rows.has_value()) {
        return "prompt: " + rows.error().message;
    }
    answer.prompt = std::move(rows->logits);
    auto reply = engine.generate(prompt, {}, {});
    if (!reply.has_value()) {
        return "tokens: " + reply.error().message;
    }
    answer.text = reply->token_ids;
    prompt.raw_ids.insert(prompt.raw_ids.end(), answer.text.begin(), answer.text.end());
    auto last = engine.logits(prompt, 1, {});
    if (!last.has_value()) {
        return "last token: " + last.error().message;
    }
    answer.token = std::move(last->logits);
    return {};
}

} // namespace

void sharedDecoders(CheckList& list, const std::string& device, bool has_second) {
    // What two kinds of processor differ by in 16 bits on these small models (the emulator and a
    // CPU: 1.2e-2 of the largest logit at most).
    constexpr double kProcessors = 4e-2;
    const std::string layer = "\"model.language_model.layers.";
    struct Row {
        std::string name, entries;
        bool needs_second, has_cpu;
    };
    const std::vector<Row> rows = {
        {"half of them", layer + R"([3-5]": "cuda:1")", true, false},
        {"in turns", layer + R"(1": "cuda:1", )" + layer + R"(3": "cuda:1")", true, false},
        {"keys and values of others", layer + R"([0-3]": "cuda:1")", true, false},
        {"CPU in the middle", layer + R"([2-3]": "cpu")", false, true},
        {"first layers on the CPU", layer + R"([0-1]": "cpu")", false, true},
        {"a card, the CPU, another card", layer + R"(2": "cpu", )" + layer + R"([4-5]": "cuda:1")",
         true, true},
        {"one matrix elsewhere", layer + R"(2.mlp.up_proj": "cpu")", false, true},
    };
    for (const std::string family : {"e2b", "e4b", "dense31b"}) {
        for (const std::string quant : {"none", "nf4-dq"}) {
            Answer one;
            const std::string name = family + " " + quant;
            list.run("shared", name + ": one card", [&](std::string*) {
                return ask(requestFor(family, mapOf(device, ""), quant, device), one);
            });
            for (const Row& row : rows) {
                if (row.needs_second && !has_second) {
                    continue;
                }
                for (const bool is_plain : {false, true}) {
                    const std::string how = is_plain ? ", single functions" : "";
                    list.run("shared", name + ": " + row.name + how, [&](std::string* figure) {
                        Answer parts;
                        std::string wrong =
                            ask(requestFor(family, mapOf(device, row.entries), quant, device),
                                parts, is_plain);
                        if (!wrong.empty()) {
                            return wrong;
                        }
                        const double of_prompt =
                            support::maxRelativeToLargest(parts.prompt, one.prompt);
                        const double of_token =
                            parts.text == one.text
                                ? support::maxRelativeToLargest(parts.token, one.token)
                                : 0.0; // another text
                        *figure = "prompt " + number(of_prompt) + ", token " + number(of_token) +
                                  (parts.text == one.text ? "" : ", other text");
                        const bool is_exact = !row.has_cpu && !is_plain;
                        const double bound = is_exact ? 0.0 : kProcessors;
                        if (!(of_prompt <= bound) || !(of_token <= bound)) {
                            return "logits differ by more than " + number(bound);
                        }
                        return is_exact && parts.text != one.text ? "another text" : std::string();
                    });
                }
            }
        }
    }
}

void sharedDecoderRates(CheckList& list, bool has_second) {
    std::vector<std::pair<std::string, std::string>> rows = {
        {"E2B, three layers on the CPU", R"("model.language_model.layers.[16-18]": "cpu")"}};
    if (has_second) {
        rows.emplace_back("E2B over two cards",
                          R"("model.language_model.layers.[17-34]": "cuda:1")");
    }
    for (const auto& [name, entries] : rows) {
        list.run("shared", name, [&](std::string* figure) {
            for (const bool is_plain : {false, true}) {
                engine::Engine engine(optionsFor(is_plain));
                engine::LoadRequest request;
                request.model = "shape:e2b";
                request.quant = "nf4-dq";
                request.head = "int8";
                request.device_map = mapOf("cuda:", entries);
                if (const auto loaded = engine.load(request, {}, {}); !loaded.has_value()) {
                    return "load: " + loaded.error().message;
                }
                engine::GenerateRequest prompt = support::greedyRequest({}, 64);
                for (int32_t i = 0; i < 64; ++i) {
                    prompt.raw_ids.push_back(i == 0 ? 2 : 200 + 7 * i);
                }
                const auto reply = engine.generate(prompt, {}, {});
                if (!reply.has_value()) {
                    return reply.error().message;
                }
                char text[64];
                std::snprintf(text, sizeof(text), "%s%.0f tokens/s%s", is_plain ? ", " : "",
                              63.0 / reply->timing.decode_s,
                              is_plain ? " without fused steps" : "");
                *figure += text;
            }
            return std::string();
        });
    }
}

} // namespace gpu
