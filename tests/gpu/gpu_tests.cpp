// SPDX-License-Identifier: Apache-2.0
// The whole engine on a graphics card: golden parity of every family in both precisions, quantized
// models, placements over cards, CPU and disk, adapters, determinism, cancelling, memory of others,
// reloads, and predicted against measured memory. Plain C++: runs on machines without Qt.
//
//   belfry_gpu_tests [--only SECTION,...] [--json FILE] [--reloads N]
//   belfry_gpu_tests --simulated 1        the checks that need no card, on simulated ones
//   belfry_gpu_tests --hold BYTES_LEFT    keep all but so many bytes of cuda:0 until stdin closes
//   belfry_gpu_tests --table FILE         print a file of tests/gpu/run as tables
// Golden data: $BELFRY_GOLDEN_DIR. Ends with 77 when the machine has no usable card.
#include "engine/run/engine.h"
#include "kernels/cuda/cards.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/ops.h"
#include "tests/gpu/check_list.h"
#include "tests/gpu/forum_cases.h"
#include "tests/gpu/other_program.h"
#include "tests/gpu/shared_decoder.h"
#include "tests/support/golden.h"
#include "tests/support/model/golden_model.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <stop_token>

namespace {

using engine::Engine;
using engine::LoadRequest;
using gpu::CheckList;
using kernels::cuda::Driver;
using support::GoldenCase;

constexpr int kNoCard = 77;

/// Simulated cards in place of real ones: shows that the checks themselves are right.
bool is_simulated = false;

struct Machine {
    const Driver* driver = nullptr;
    std::vector<kernels::cuda::Card> cards; ///< Usable ones.
    [[nodiscard]] uint64_t freeBytes() const {
        return kernels::cuda::freeBytes(*driver, cards.front()).value_or(0);
    }
};

LoadRequest
requestFor(const std::string& family, const std::string& map, const std::string& folder = "model") {
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

/// Empty vector with *wrong set on error.
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

/// Predicted and measured bytes of every device; the context is told apart.
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

/// Logits of every case of a family against golden values of `rows` positions, and the tokens.
std::string compareCases(Engine& engine,
                         const std::string& family,
                         int64_t rows,
                         const std::function<std::vector<float>(const GoldenCase&)>& golden,
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

void golden(CheckList& list) {
    for (const std::string& family : families()) {
        list.run("golden", family + " in fp32 on cuda:0", [&](std::string* figure) {
            Engine engine;
            std::string wrong = load(engine, requestFor(family, "gpu"));
            return !wrong.empty()
                       ? wrong
                       : compareCases(
                             engine, family, 32,
                             [&](const GoldenCase& c) { return expectedLogits(family, c); }, true,
                             1e-4, figure);
        });
        list.run("golden", family + " in 16 bits on cuda:0", [&](std::string* figure) {
            const auto about = support::readJson(support::goldenDir() / "about.json");
            Engine engine;
            LoadRequest request = requestFor(family, "gpu");
            request.is_reference_precision = false;
            std::string wrong = load(engine, request);
            double worst = 0.0;
            for (const GoldenCase& c : support::goldenCases(family)) {
                const double allowed =
                    about["noise_against_float64"][family + "/" + c.id]["bf16_nmse"].get<double>();
                const auto values =
                    wrong.empty() ? logits(engine, c, 32, &wrong) : std::vector<float>();
                if (!wrong.empty()) {
                    return wrong;
                }
                const double error = support::nmse(values, expectedLogits(family, c));
                if (!(error <= allowed)) {
                    return c.id + ": NMSE " + number(error) + ", transformers' bf16 run has " +
                           number(allowed);
                }
                worst = std::max(worst, error / allowed);
            }
            *figure = "NMSE at most " + std::to_string(worst).substr(0, 4) + " of transformers'";
            return memoryDifference(engine);
        });
    }
}

/// What files of a folder hold, by name.
std::map<std::string, std::string> contentsOf(const std::filesystem::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream in(entry.path(), std::ios::binary);
        files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in),
                                                   std::istreambuf_iterator<char>()};
    }
    return files;
}

/// The cache of quantized weights after a load onto the card and after one onto the CPU: every
/// byte.
std::string differentBytes(const std::string& quant, std::string* figure) {
    const auto root =
        std::filesystem::temp_directory_path() / ("belfry-quantized-" + std::to_string(::getpid()));
    std::string wrong;
    std::vector<std::map<std::string, std::string>> files;
    for (const std::string map : {"gpu", "cpu"}) {
        LoadRequest request = requestFor("e2b", map);
        request.quant = quant;
        request.head = "int8";
        request.cache_folder = (root / map).string();
        Engine engine;
        wrong = wrong.empty() ? load(engine, request) : wrong;
        files.push_back(wrong.empty() ? contentsOf(root / map)
                                      : std::map<std::string, std::string>());
    }
    std::error_code code;
    std::filesystem::remove_all(root, code);
    size_t bytes = 0;
    for (const auto& [name, text] : files[0]) {
        bytes += text.size();
    }
    *figure = std::to_string(files[0].size()) + " files, " + std::to_string(bytes) + " bytes";
    if (!wrong.empty() || files[0].size() < 2) {
        return wrong.empty() ? "no cache was written" : wrong;
    }
    return files[0] == files[1] ? std::string() : "the card's bytes are not those of the CPU";
}

void quantized(CheckList& list) {
    for (const char* quant : {"nf4", "nf4-dq", "fp4", "fp4-dq"}) {
        list.run("quantized", std::string("bytes of the card, ") + quant + " and int8 head",
                 [&](std::string* figure) { return differentBytes(quant, figure); });
    }
    const auto check = [&](const std::string& family, const std::string& format,
                           const std::string& folder) {
        list.run(
            "quantized", family + " " + format + (folder == "model" ? " on load" : " as saved"),
            [&](std::string* figure) {
                const auto expected =
                    support::readSafetensors(support::goldenDir() / family / "quantized" /
                                             (format + ".expected_logits.safetensors"));
                LoadRequest request = requestFor(family, "gpu", folder);
                request.quant = folder == "model" ? format : "none";
                Engine engine;
                std::string wrong = load(engine, request);
                return !wrong.empty()
                           ? wrong
                           : compareCases(
                                 engine, family, 8,
                                 [&](const GoldenCase& c) {
                                     return expected.at(c.id + ".logits_dequant_fp32").floats();
                                 },
                                 false, 1e-4, figure);
            });
    };
    for (const std::string& family : families()) {
        check(family, "nf4", "model");
        check(family, "nf4-dq", "model");
    }
    check("e2b", "fp4", "model");
    check("e2b", "nf4-dq", "quantized/nf4-dq-checkpoint");
    check("e2b", "fp4", "quantized/fp4-checkpoint");
    check("dense31b", "nf4", "quantized/nf4-checkpoint");
    check("moe26b", "nf4-dq", "quantized/nf4-dq-checkpoint");
}

std::string native(const std::string& fallback, const std::string& entries) {
    return R"({"version": 1, "default": ")" + fallback + R"(", "map": {)" + entries + "}}";
}

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

void determinism(CheckList& list) {
    for (const std::string family : {"e2b", "e4b"}) {
        for (const std::string quant : {"none", "nf4-dq"}) {
            list.run("same twice", family + " " + quant + " in 16 bits", [&](std::string*) {
                std::vector<float> first;
                std::vector<int32_t> first_tokens;
                for (int run = 0; run < 3; ++run) {
                    Engine engine;
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

void lookahead(CheckList& list) {
    for (const std::string family : {"e2b", "e4b", "dense31b"}) {
        for (const std::string quant : {"none", "nf4-dq"}) {
            list.run("lookahead", family + " " + quant, [&](std::string* figure) {
                const auto c = support::goldenCases(family).front();
                std::vector<Story> stories;
                for (const bool looks_ahead : {false, true}) {
                    ::setenv("BELFRY_NO_LOOKAHEAD", "1", 1);
                    if (looks_ahead) {
                        ::unsetenv("BELFRY_NO_LOOKAHEAD");
                    }
                    Engine engine;
                    LoadRequest request = requestFor(family, "gpu");
                    request.is_reference_precision = false;
                    request.quant = quant;
                    request.head = quant == "none" ? request.head : "int8";
                    std::string wrong = load(engine, request);
                    if (wrong.empty()) {
                        stories.push_back(tellStory(engine, c, &wrong));
                        wrong = wrong.empty() ? memoryDifference(engine) : wrong;
                    }
                    ::unsetenv("BELFRY_NO_LOOKAHEAD");
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

/// Tokens that the host draws among the candidates of the card are those it draws from whole rows.
void drawn(CheckList& list) {
    for (const std::string family : {"e2b", "e4b", "dense31b"}) {
        for (const std::string map : {"gpu", "ple-cpu"}) {
            list.run("drawn", family + " " + map, [&](std::string* figure) {
                const auto c = support::goldenCases(family).front();
                std::vector<std::vector<std::vector<int32_t>>> texts;
                std::set<std::vector<int32_t>> different;
                for (const bool has_candidates : {false, true}) {
                    ::setenv("BELFRY_NO_TOP_LOGITS", "1", 1);
                    if (has_candidates) {
                        ::unsetenv("BELFRY_NO_TOP_LOGITS");
                    }
                    Engine engine;
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
                    ::unsetenv("BELFRY_NO_TOP_LOGITS");
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

/// The model answers as it should.
std::string stillWorks(Engine& engine) {
    std::string wrong;
    const auto c = support::goldenCases("e2b").front();
    const auto tokens = greedy(engine, c, static_cast<int>(c.greedy.size()), &wrong);
    return !wrong.empty() ? wrong : tokens == c.greedy ? std::string() : "other tokens than before";
}

void cancel(CheckList& list, const Machine& machine) {
    list.run("cancel", "a load, at every 10th progress step", [&](std::string* figure) {
        const uint64_t before = machine.freeBytes();
        int stops = 0;
        for (int at = 0; at < 400; at += 10) {
            Engine engine;
            std::stop_source stop;
            int step = 0;
            const auto loaded = engine.load(
                requestFor("e2b", "gpu"),
                [&](const engine::LoadProgressValue&) {
                    if (step++ == at) {
                        stop.request_stop();
                    }
                },
                stop.get_token());
            if (loaded.has_value()) {
                continue;
            }
            ++stops;
            if (loaded.error().code != engine::ErrorCode::Cancelled || engine.isLoaded()) {
                return "stopped at step " + std::to_string(at) + ": " + loaded.error().message;
            }
        }
        const uint64_t after = machine.freeBytes();
        *figure = std::to_string(stops) + " stopped";
        return after + (uint64_t{2} << 20) >= before
                   ? std::string()
                   : std::to_string((before - after) >> 20) + " MiB are missing afterwards";
    });
    list.run("cancel", "a reply, after each of 24 tokens", [&](std::string*) {
        Engine engine;
        std::string wrong = load(engine, requestFor("e2b", "gpu"));
        const auto c = support::goldenCases("e2b").front();
        for (int64_t at = 1; at <= 24 && wrong.empty(); ++at) {
            std::stop_source stop;
            engine::GenerateRequest request = promptOf(c);
            request.sampling.max_tokens = 100;
            const auto reply = engine.generate(
                request,
                [&](const engine::ReplyUpdate& update) {
                    if (update.tokens >= at) {
                        stop.request_stop();
                    }
                },
                stop.get_token());
            if (!reply.has_value() && reply.error().code != engine::ErrorCode::Cancelled) {
                wrong = reply.error().message;
            } else if (reply.has_value() &&
                       static_cast<int64_t>(reply->token_ids.size()) > at + 2) {
                wrong = std::to_string(reply->token_ids.size()) + " tokens after a stop at " +
                        std::to_string(at);
            }
            if (wrong.empty()) {
                wrong = stillWorks(engine);
            }
        }
        return wrong;
    });
}

void outOfMemory(CheckList& list, const Machine& machine, const std::string& program) {
    const std::string shape = "shape:e2b";
    for (const uint64_t left_mib : {4000, 2000, 1000, 600, 300, 100, 30}) {
        list.run("memory of others", std::to_string(left_mib) + " MiB left before the load",
                 [&](std::string* figure) {
                     Engine small; // what was loaded before stays usable
                     std::string wrong = load(small, requestFor("e2b", "gpu"));
                     if (!wrong.empty()) {
                         return wrong;
                     }
                     gpu::OtherProgram other(program, left_mib << 20);
                     if (!other.isHolding()) {
                         return std::string("the second program could not take the memory");
                     }
                     LoadRequest request;
                     request.model = shape;
                     request.device_map = "gpu";
                     const auto loaded = small.load(request, {}, {});
                     if (loaded.has_value()) {
                         return std::string("a load succeeded that cannot fit");
                     }
                     *figure = loaded.error().message.substr(0, 70);
                     if (loaded.error().code != engine::ErrorCode::OutOfMemory) {
                         return "expected OutOfMemory: " + loaded.error().message;
                     }
                     uint64_t others = 0;
                     for (const engine::DeviceMemory& device : small.memory()) {
                         others = device.id == engine::DeviceId::cuda(0) ? device.used_by_others
                                                                         : others;
                     }
                     if (others < machine.cards.front().total_bytes / 2) {
                         return std::string("the meter does not show the other program's memory");
                     }
                     return stillWorks(small);
                 });
    }
    for (const uint64_t left_mib : {900, 300, 60}) {
        list.run(
            "memory of others", std::to_string(left_mib) + " MiB left in the middle of the load",
            [&](std::string* figure) {
                Engine small;
                std::string wrong = load(small, requestFor("e2b", "gpu"));
                if (!wrong.empty()) {
                    return wrong;
                }
                std::unique_ptr<gpu::OtherProgram> other;
                LoadRequest request;
                request.model = shape;
                request.device_map = "gpu";
                const auto loaded = small.load(request,
                                               [&](const engine::LoadProgressValue&) {
                                                   if (other == nullptr) {
                                                       other = std::make_unique<gpu::OtherProgram>(
                                                           program, left_mib << 20);
                                                   }
                                               },
                                               {});
                if (loaded.has_value()) {
                    return std::string("a load succeeded that cannot fit");
                }
                *figure = loaded.error().message.substr(0, 70);
                if (loaded.error().code != engine::ErrorCode::OutOfMemory) {
                    return "expected OutOfMemory: " + loaded.error().message;
                }
                other.reset();
                return stillWorks(small);
            });
    }
}

/// Resident memory of this process in bytes.
uint64_t residentBytes() {
    std::ifstream in("/proc/self/statm");
    uint64_t pages = 0;
    uint64_t resident = 0;
    in >> pages >> resident;
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void reloads(CheckList& list, const Machine& machine, int count) {
    list.run("reloads", std::to_string(count) + " loads with one reply each",
             [&](std::string* figure) {
                 const auto c = support::goldenCases("e2b").front();
                 Engine engine;
                 uint64_t free_early = 0;
                 uint64_t resident_early = 0;
                 for (int i = 0; i < count; ++i) {
                     LoadRequest request = requestFor("e2b", i % 2 == 0 ? "gpu" : "lean");
                     request.quant = i % 3 == 0 ? "nf4-dq" : "none";
                     std::string wrong = load(engine, request);
                     const auto tokens =
                         wrong.empty() ? greedy(engine, c, 8, &wrong) : std::vector<int32_t>();
                     if (!wrong.empty()) {
                         return "load " + std::to_string(i) + ": " + wrong;
                     }
                     engine.unload();
                     if (i == count / 10) {
                         free_early = machine.freeBytes();
                         resident_early = residentBytes();
                     }
                 }
                 const uint64_t free_late = machine.freeBytes();
                 const uint64_t resident_late = residentBytes();
                 const auto grownBy = [](uint64_t early, uint64_t late) {
                     return late > early ? late - early : 0;
                 };
                 const uint64_t card = grownBy(free_late, free_early);
                 const uint64_t host = grownBy(resident_early, resident_late);
                 *figure = "card " + std::to_string(card >> 10) + " KiB, host " +
                           std::to_string(host >> 10) + " KiB more than early on";
                 if (card > (uint64_t{2} << 20)) {
                     return std::string("memory of the card grew");
                 }
                 return host > uint64_t{64} * 1024 * static_cast<uint64_t>(count)
                            ? std::string("memory of the process grew")
                            : std::string();
             });
}

void predictedMemory(CheckList& list, const Machine& machine) {
    for (const std::string family : {"e2b", "e4b"}) {
        const std::vector<std::pair<std::string, std::string>> cases = {
            {"gpu", ""}, {"towers-cpu", ""}, {"ple-cpu", ""}, {"lean", ""}, {"lean", "int8"}};
        for (const auto& [preset, head] : cases) {
            const std::string name =
                family + " nf4-dq, " + preset + (head.empty() ? "" : ", head in 8 bits");
            list.run("prediction", name, [&, preset = preset, head = head](std::string* figure) {
                const uint64_t before = machine.freeBytes();
                Engine engine;
                LoadRequest request;
                request.model = "shape:" + family;
                request.device_map = preset;
                request.quant = "nf4-dq";
                if (!head.empty()) {
                    request.head = head;
                }
                std::string wrong = load(engine, request);
                if (!wrong.empty()) {
                    return wrong;
                }
                engine::GenerateRequest prompt;
                prompt.raw_ids.assign(600, 1000);
                prompt.sampling.max_tokens = 8;
                prompt.sampling.temperature = 0.0;
                prompt.sampling.ignores_eos = true;
                if (const auto reply = engine.generate(prompt, {}, {}); !reply.has_value()) {
                    return reply.error().message;
                }
                const uint64_t after = machine.freeBytes();
                const auto taken = static_cast<double>(before - after) / 1048576.0;
                double predicted = 0.0;
                for (const auto& device : engine.currentPlan()->devices) {
                    if (device.id == engine::DeviceId::cuda(0)) {
                        predicted = static_cast<double>(device.parts.total()) / 1048576.0;
                    }
                }
                char text[96];
                std::snprintf(text, sizeof(text), "predicted %.0f MiB, the card %.0f MiB",
                              predicted, taken);
                *figure = text;
                const double allowed = std::max(64.0, 0.02 * taken);
                return std::abs(taken - predicted) <= allowed ? std::string()
                                                              : "apart by more than 2 % and 64 MiB";
            });
        }
    }
}

/// Prints the parts of a file that tests/gpu/run wrote.
int printTable(const char* file) {
    std::ifstream in(file);
    const auto all = nlohmann::json::parse(in, nullptr, false);
    if (all.is_discarded()) {
        std::fprintf(stderr, "%s: not a JSON file of tests/gpu/run\n", file);
        return 1;
    }
    std::printf("\n%-44s %10s %12s %10s\n", "benchmark", "figure", "", "card MiB");
    for (const auto& run : all.value("bench", nlohmann::json::array())) {
        const std::string name = run.value("name", "");
        const auto result = run.value("result", nlohmann::json::object());
        if (!result.is_object() || result.empty()) {
            std::printf("%-44s %10s\n", name.c_str(), "FAILED");
            continue;
        }
        double card = 0.0;
        const auto memory = result.value("memory", nlohmann::json::object());
        if (memory.contains("cuda:0")) {
            card = memory["cuda:0"].value("total", 0.0) / 1048576.0;
        }
        for (const auto& row : result.value("prefill", nlohmann::json::array())) {
            std::printf("%-44s %10.0f %12s %10.0f\n",
                        (name + ", prefill " + std::to_string(row.value("tokens", 0))).c_str(),
                        row.value("tokens_per_s", 0.0), "tokens/s", card);
        }
        for (const auto& row : result.value("decode", nlohmann::json::array())) {
            std::printf("%-44s %10.1f %12s %10.0f\n",
                        (name + ", decode at " + std::to_string(row.value("depth", 0))).c_str(),
                        row.value("tokens_per_s", 0.0), "tokens/s", card);
        }
        for (const char* tower : {"image", "audio"}) {
            if (result.contains(tower)) {
                std::printf("%-44s %10.1f %12s %10.0f\n", (name + ", " + tower).c_str(),
                            1e3 * result[tower].value("seconds", 0.0), "ms", card);
            }
        }
        std::printf("%-44s %10.2f %12s %10.0f\n", (name + ", load").c_str(),
                    result.value("load_s", 0.0), "s", card);
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    std::set<std::string> only;
    std::string json_file;
    int reload_count = 200;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        const std::string value = argv[i + 1];
        if (option == "--table") {
            return printTable(value.c_str());
        }
        if (option == "--hold") {
            return gpu::holdMemory(std::strtoull(value.c_str(), nullptr, 10));
        }
        if (option == "--json") {
            json_file = value;
        } else if (option == "--simulated") {
            is_simulated = value == "1";
        } else if (option == "--reloads") {
            reload_count = std::atoi(value.c_str());
        } else if (option == "--only") {
            for (size_t at = 0; at <= value.size();) {
                const size_t comma = std::min(value.find(',', at), value.size());
                only.insert(value.substr(at, comma - at));
                at = comma + 1;
            }
        } else {
            std::fprintf(stderr, "unknown option %s\n", option.c_str());
            return 2;
        }
    }
    std::string why;
    Machine machine;
    machine.driver = kernels::cuda::systemDriver(&why);
    if (machine.driver != nullptr) {
        for (const kernels::cuda::Card& card : kernels::cuda::listCards(*machine.driver)) {
            if (card.unusable.empty()) {
                machine.cards.push_back(card);
                std::printf("cuda:%d  %s, %.1f GiB, compute capability %d.%d\n", card.ordinal,
                            card.name.c_str(), static_cast<double>(card.total_bytes) / 1073741824.0,
                            card.compute_capability / 10, card.compute_capability % 10);
            }
        }
    }
    if (!is_simulated && (machine.cards.empty() || kernels::cuda::embeddedImages().empty())) {
        std::printf("skipped: %s\n", !why.empty()            ? why.c_str()
                                     : machine.cards.empty() ? "no usable graphics card"
                                                             : "this build has no GPU kernels");
        return kNoCard;
    }
    CheckList list(only);
    if (list.wants("golden")) {
        golden(list);
    }
    if (list.wants("quantized")) {
        quantized(list);
    }
    if (list.wants("placement")) {
        placements(list, is_simulated || machine.cards.size() > 1);
    }
    if (list.wants("shared")) {
        const bool has_second = is_simulated || machine.cards.size() > 1;
        gpu::sharedDecoders(list, is_simulated ? "sim:" : "cuda:", has_second);
        if (!is_simulated) {
            gpu::sharedDecoderRates(list, has_second);
        }
    }
    if (list.wants("adapter")) {
        adapters(list);
    }
    if (list.wants("twice")) {
        determinism(list);
    }
    if (list.wants("lookahead")) {
        lookahead(list);
    }
    if (list.wants("drawn")) {
        drawn(list);
    }
    if (list.wants("forum")) {
        if (is_simulated) {
            const std::string folder = (support::goldenDir() / "e2b" / "model").string();
            gpu::forumCases(list, {{"small e2b", folder, "sim:0"}});
        } else {
            gpu::forumCases(list, {{"E2B", "shape:e2b", "cuda:0"}, {"E4B", "shape:e4b", "cuda:0"}});
        }
    }
    if (list.wants("cancel") && !is_simulated) {
        cancel(list, machine);
    }
    if (list.wants("others") && !is_simulated) {
        outOfMemory(list, machine, argv[0]);
    }
    if (list.wants("reloads") && !is_simulated) {
        reloads(list, machine, reload_count);
    }
    if (list.wants("prediction") && !is_simulated) {
        predictedMemory(list, machine);
    }
    std::printf("%d passed, %d failed\n", list.passed(), list.failed());
    if (!json_file.empty()) {
        std::ofstream out(json_file);
        nlohmann::ordered_json all = {
            {"passed", list.passed()}, {"failed", list.failed()}, {"checks", list.rows()}};
        out << all.dump(1) << "\n";
    }
    return list.failed() == 0 ? 0 : 1;
}
