// SPDX-License-Identifier: Apache-2.0
// Sections "same twice", "lookahead" and "drawn": one way to the next token against another.
#include "tests/gpu/gpu_tests.h"

#include <set>
#include <stop_token>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;
using support::GoldenCase;

namespace {

/// Replies that run out, are cancelled, said again and gone on with: all tokens, and logits behind
/// them. `wrong` as of logits().
struct Story {
    std::vector<std::vector<int32_t>> tokens;
    std::vector<std::vector<float>> logits;
    std::vector<int64_t> held;
};

Story tellStory(Engine& engine, const GoldenCase& c, std::string* wrong) {
    Story story;
    const auto say = [&](const std::vector<int32_t>& ids, int most, int64_t cancel_after) {
        engine::GenerateRequest request = promptOf(c);
        request.raw_ids = ids;
        request.sampling.max_tokens = most;
        std::stop_source stop;
        const auto reply = engine.generate(
            request,
            [&](const engine::ReplyUpdate& update) {
                if (update.tokens >= cancel_after) {
                    stop.request_stop();
                }
            },
            stop.get_token());
        if (!reply.has_value()) {
            *wrong = reply.error().message;
            return std::vector<int32_t>();
        }
        story.tokens.push_back(reply->token_ids);
        story.held.push_back(engine.contextUse().first);
        return reply->token_ids;
    };
    const auto behind = [&](std::vector<int32_t> ids) {
        for (int i = 0; i < 5; ++i) {
            ids.push_back(40 + 3 * i);
        }
        engine::GenerateRequest request = promptOf(c);
        request.raw_ids = ids;
        const auto result = engine.logits(request, 3, {});
        if (!result.has_value()) {
            *wrong = result.error().message;
            return;
        }
        story.logits.push_back(result->logits);
    };
    const auto join = [](std::vector<int32_t> a, const std::vector<int32_t>& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
    };
    const std::vector<int32_t>& prompt = c.input_ids;
    const std::vector<int32_t> whole = say(prompt, 100, 1000); // rings wrap
    for (const int64_t at : {1, 2, 5, 12, 13, 31}) {
        const auto said = say(prompt, 100, at);
        behind(join(prompt, said));
        say(join(prompt, said), 20, 7);
    }
    say(join(prompt, whole), 9, 1000);
    behind(join(prompt, whole));
    return story;
}

} // namespace

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

void lookahead(CheckList& list) {
    for (const std::string family : {"e2b", "e4b", "dense31b"}) {
        for (const std::string quant : {"none", "nf4-dq"}) {
            list.run("lookahead", family + " " + quant, [&](std::string* figure) {
                const auto c = support::goldenCases(family).front();
                std::vector<Story> stories;
                for (const bool looks_ahead : {false, true}) {
                    engine::EngineOptions options = engineOptions();
                    options.decode.looks_ahead = looks_ahead;
                    Engine engine(options);
                    LoadRequest request = requestFor(family, "gpu");
                    request.is_reference_precision = false;
                    request.quant = quant;
                    request.head = quant == "none" ? request.head : "int8";
                    std::string wrong = load(engine, request);
                    if (wrong.empty()) {
                        stories.push_back(tellStory(engine, c, &wrong));
                        wrong = wrong.empty() ? memoryDifference(engine) : wrong;
                    }
                    if (!wrong.empty()) {
                        return wrong;
                    }
                }
                size_t tokens = 0;
                for (const auto& reply : stories[0].tokens) {
                    tokens += reply.size();
                }
                *figure = std::to_string(tokens) + " tokens";
                return stories[0].tokens != stories[1].tokens   ? std::string("other tokens")
                       : stories[0].logits != stories[1].logits ? std::string("other logits")
                       : stories[0].held != stories[1].held     ? std::string("another cache")
                                                                : std::string();
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
                        engine::GenerateRequest prompt = promptOf(c);
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
