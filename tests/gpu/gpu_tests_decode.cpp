// SPDX-License-Identifier: Apache-2.0
// Sections "same twice" and "drawn": one way to the next token against another.
#include "tests/gpu/gpu_tests.h"

#include <set>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;

void determinism(CheckList& list) {
    for (const std::string family : {"e2b", "e4b"}) {
        for (const std::string quant : {"none", "nf4-dq"}) {
            list.run("same twice", family + " " + quant + " in 16 bits", [&](std::string*) {
                std::vector<float> first;
                std::vector<int32_t> first_tokens;
                for (int run = 0; run < 3; ++run) {
                    Engine engine(engineOptions());
                    LoadRequest request = requestFor(family, "gpu");
                    request.is_reference_precision = false;
                    request.quant = quant;
                    std::string wrong = load(engine, request);
                    const auto c = support::goldenCases(family).front();
                    const auto values =
                        wrong.empty() ? logits(engine, c, 8, &wrong) : std::vector<float>();
                    const auto tokens =
                        wrong.empty() ? greedy(engine, c, 64, &wrong) : std::vector<int32_t>();
                    if (!wrong.empty()) {
                        return wrong;
                    }
                    if (run == 0) {
                        first = values;
                        first_tokens = tokens;
                    } else if (values != first || tokens != first_tokens) {
                        return std::string("run ") + std::to_string(run + 1) + " differs";
                    }
                }
                return std::string();
            });
        }
    }
}

void drawn(CheckList& list) {
    for (const std::string family : {"e2b", "e4b", "dense31b"}) {
        for (const std::string map : {"gpu", "ple-cpu"}) {
            list.run("drawn", family + " " + map, [&](std::string* figure) {
                const auto c = support::goldenCases(family).front();
                std::vector<std::vector<std::vector<int32_t>>> texts;
                std::set<std::vector<int32_t>> different;
                for (const bool has_candidates : {false, true}) {
                    engine::EngineOptions options = engineOptions();
                    options.decode.has_candidates = has_candidates;
                    Engine engine(options);
                    LoadRequest request = requestFor(family, map);
                    request.is_reference_precision = false;
                    std::string wrong = load(engine, request);
                    texts.emplace_back();
                    constexpr int64_t top_k[] = {64, 1, 256};
                    for (int seed = 0; seed < 12 && wrong.empty(); ++seed) {
                        engine::GenerateRequest prompt = support::goldenCaseRequest(c);
                        prompt.sampling.temperature = 0.7 + 0.2 * (seed % 4);
                        prompt.sampling.top_k = top_k[seed % 3];
                        prompt.sampling.top_p = seed % 2 == 0 ? 0.95 : 1.0;
                        prompt.sampling.min_p = seed % 5 == 4 ? 0.02 : 0.0;
                        prompt.sampling.repetition_penalty = 1.0;
                        prompt.sampling.seed = seed;
                        prompt.sampling.max_tokens = 60;
                        const auto reply = engine.generate(prompt, {}, {});
                        wrong = reply.has_value() ? std::string() : reply.error().message;
                        texts.back().push_back(reply.has_value() ? reply->token_ids
                                                                 : std::vector<int32_t>());
                        different.insert(texts.back().back());
                    }
                    if (!wrong.empty()) {
                        return wrong;
                    }
                }
                *figure = std::to_string(different.size()) + " texts";
                return texts[0] != texts[1]   ? std::string("other tokens")
                       : different.size() < 6 ? std::string("seeds make no difference")
                                              : std::string();
            });
        }
    }
}

} // namespace gpu
