// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/forum_cases.h"

#include "engine/families/tensor_list.h"
#include "engine/lora/random_adapter.h"
#include "engine/media/image.h"
#include "engine/run/engine.h"
#include "tests/gpu/gpu_tests.h"
#include "tests/support/engine/golden_engine.h"
#include "tests/support/golden.h"
#include "tests/support/model/golden_model.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace gpu {

namespace {

using engine::Engine;

constexpr int kCaseTokens = 48;
constexpr int kMediaTokens = 24;
/// Towers round in bf16 on the card and otherwise on the CPU: so far apart, as a share of the
/// largest logit, may logits after media be.
constexpr double kMediaBound = 0.1;

/// What one placement gave.
struct Outcome {
    std::vector<int32_t> tokens;           ///< For a text prompt.
    std::vector<float> text, plain, media; ///< Last logits: text, text without adapter, media.
    std::vector<int32_t> media_tokens;     ///< Behind a picture and a sound.
    std::vector<float> media_rows;         ///< Logits that each of them was chosen from.
    double load_s = 0.0, tokens_per_s = 0.0;
};

/// Gone when the check is.
struct AdapterFolder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("belfry-forum-" + std::to_string(::getpid()));
    AdapterFolder() = default;
    AdapterFolder(const AdapterFolder&) = delete;
    AdapterFolder& operator=(const AdapterFolder&) = delete;
    ~AdapterFolder() {
        std::error_code code;
        std::filesystem::remove_all(path, code);
    }
};

engine::GenerateRequest textPrompt() {
    engine::GenerateRequest request = support::greedyRequest({}, kCaseTokens);
    uint32_t state = 99;
    for (int i = 0; i < 64; ++i) {
        state = state * 1664525U + 1013904223U;
        request.raw_ids.push_back(static_cast<int32_t>(300 + (state >> 8U) % 500U));
    }
    return request;
}

/// One picture and one sound between the words. Empty when the picture cannot be read.
engine::GenerateRequest mediaPrompt(const engine::ModelConfig& config, int64_t image_tokens) {
    const std::filesystem::path picture = support::goldenDir() / "media/picture0.png";
    engine::GenerateRequest request = textPrompt();
    request.raw_images = {picture.string()};
    request.raw_audios = {(support::goldenDir() / "media/clip1.wav").string()};
    const int64_t patch = config.vision->patch_size;
    const int64_t pooling = config.vision->pooling_kernel;
    const auto info = engine::probeImageFile(picture);
    if (!info.has_value()) {
        return {};
    }
    const auto size = engine::targetSize(info->displayed.height, info->displayed.width,
                                         image_tokens, patch, pooling);
    if (!size.has_value()) {
        return {};
    }
    // All models hear with the same front end: the golden prompt tells how long the clip is.
    size_t audio_count = 0;
    for (const support::GoldenCase& c : support::goldenCases("e2b")) {
        if (c.id == "audio") {
            constexpr int32_t kGoldenAudioId = 12;
            audio_count = static_cast<size_t>(
                std::count(c.input_ids.begin(), c.input_ids.end(), kGoldenAudioId));
        }
    }
    std::vector<int32_t> ids(request.raw_ids.begin(), request.raw_ids.begin() + 8);
    const auto insert = [&ids](int64_t token, size_t count) {
        ids.insert(ids.end(), count, static_cast<int32_t>(token));
    };
    insert(config.boi_token_id, 1);
    insert(config.image_token_id,
           static_cast<size_t>(engine::imageTokens(size.value(), patch, pooling)));
    insert(config.eoi_token_id, 1);
    insert(config.boa_token_id, 1);
    insert(config.audio_token_id, audio_count);
    insert(config.eoa_token_id, 1);
    ids.insert(ids.end(), request.raw_ids.begin() + 8, request.raw_ids.begin() + 24);
    request.raw_ids = std::move(ids);
    return request;
}

std::string
lastLogits(Engine& engine, const engine::GenerateRequest& prompt, std::vector<float>* out) {
    auto result = engine.logits(prompt, 1, {});
    if (!result.has_value()) {
        return "logits: " + result.error().message;
    }
    *out = std::move(result->logits);
    const bool is_finite =
        std::all_of(out->begin(), out->end(), [](float x) { return std::isfinite(x); });
    return is_finite ? std::string() : "logits that are not numbers";
}

/// Last logits of a prompt with media, and what is said behind it. Returns what is wrong.
std::string answerMedia(Engine& engine, engine::GenerateRequest prompt, Outcome* out) {
    if (std::string wrong = lastLogits(engine, prompt, &out->media); !wrong.empty()) {
        return wrong;
    }
    prompt.sampling.max_tokens = kMediaTokens;
    prompt.sampling.ignores_eos = false; // no placeholder of a medium among the tokens
    const auto reply = engine.generate(prompt, {}, {});
    if (!reply.has_value()) {
        return "generate behind media: " + reply.error().message;
    }
    out->media_tokens = reply->token_ids;
    if (out->media_tokens.empty()) {
        return "no token behind media";
    }
    prompt.raw_ids.insert(prompt.raw_ids.end(), out->media_tokens.begin(),
                          out->media_tokens.end() - 1);
    auto rows = engine.logits(prompt, static_cast<int64_t>(out->media_tokens.size()), {});
    if (!rows.has_value()) {
        return "logits behind media: " + rows.error().message;
    }
    out->media_rows = std::move(rows->logits);
    return {};
}

/// Where two placements first say something else behind media, the logits of `one` must not have
/// been clear about it. Returns what is wrong; *figure tells how far they agree.
std::string compareMediaTokens(const Outcome& one, const Outcome& two, std::string* figure) {
    const size_t count = std::min(one.media_tokens.size(), two.media_tokens.size());
    const auto [mine, theirs] = std::mismatch(
        one.media_tokens.begin(), one.media_tokens.begin() + static_cast<std::ptrdiff_t>(count),
        two.media_tokens.begin());
    const auto same = static_cast<size_t>(mine - one.media_tokens.begin());
    *figure += ", " + std::to_string(same) + " same tokens behind media";
    if (same == count) {
        return one.media_tokens.size() == two.media_tokens.size()
                   ? std::string()
                   : "one reply behind media ends after " + std::to_string(count) + " tokens";
    }
    const size_t vocab = one.media_rows.size() / one.media_tokens.size();
    const float* row = one.media_rows.data() + same * vocab;
    const float largest = std::abs(*std::max_element(
        row, row + vocab, [](float a, float b) { return std::abs(a) < std::abs(b); }));
    const double apart = (row[*mine] - row[*theirs]) / largest;
    char text[96];
    std::snprintf(text, sizeof(text), ", then one whose logit is %.1e less", apart);
    *figure += text;
    return apart <= kMediaBound ? std::string()
                                : "another token behind media where there was no doubt";
}

/// Loads, adds the adapter, answers. Returns what is wrong.
std::string runPlacement(const ForumModel& model,
                         const std::string& quant,
                         const std::string& map,
                         Outcome* out) {
    Engine engine(engineOptions());
    engine::LoadRequest request;
    request.model = model.model;
    request.device_map = map;
    request.quant = quant;
    request.context = 1024;
    if (model.device.starts_with("sim:")) {
        request.sim_gpus = {uint64_t{512} << 20U};
    }
    if (const auto loaded = engine.load(request, {}, {}); !loaded.has_value()) {
        return "load: " + loaded.error().message;
    }
    out->load_s = engine.loadSeconds();
    const auto config = engine.loadedConfig();
    if (!config.has_value()) {
        return config.error().message;
    }
    if (std::string wrong = lastLogits(engine, textPrompt(), &out->plain); !wrong.empty()) {
        return wrong;
    }
    const auto plan_before = engine.currentPlan();
    const AdapterFolder folder;
    if (const auto written =
            engine::writeRandomAdapter(folder.path, engine::listTensors(config.value()), 16,
                                       engine::AdapterTargets::AllLinear, 5);
        !written.has_value()) {
        return "adapter: " + written.error().message;
    }
    if (const auto added = engine.setAdapters({{folder.path.string(), 1.0, true}}, {});
        !added.has_value()) {
        return "adapter: " + added.error().message;
    }
    // Adding an adapter adds; what was placed stays where it was.
    const auto plan = engine.currentPlan();
    for (const engine::TensorPlacement& before : plan_before->tensors) {
        const auto after =
            std::find_if(plan->tensors.begin(), plan->tensors.end(),
                         [&](const auto& row) { return row.tensor == before.tensor; });
        if (after == plan->tensors.end() || after->store != before.store ||
            after->compute != before.compute) {
            return "the adapter moved " + before.tensor;
        }
    }
    if (std::string wrong = lastLogits(engine, textPrompt(), &out->text); !wrong.empty()) {
        return wrong;
    }
    if (out->text == out->plain) {
        return "the adapter changes nothing";
    }
    const auto reply = engine.generate(textPrompt(), {}, {});
    if (!reply.has_value()) {
        return "generate: " + reply.error().message;
    }
    out->tokens = reply->token_ids;
    out->tokens_per_s = reply->timing.decode_s > 0.0
                            ? static_cast<double>(kCaseTokens - 1) / reply->timing.decode_s
                            : 0.0;
    if (out->tokens.size() != kCaseTokens) {
        return "a reply of " + std::to_string(out->tokens.size()) + " tokens";
    }
    return answerMedia(engine, mediaPrompt(config.value(), plan->image_tokens), out);
}

std::string figureOf(const Outcome& outcome) {
    char text[96];
    std::snprintf(text, sizeof(text), "load %.1f s, %.0f tokens/s with the adapter", outcome.load_s,
                  outcome.tokens_per_s);
    return text;
}

} // namespace

void forumCases(CheckList& list, const std::vector<ForumModel>& models) {
    for (const ForumModel& model : models) {
        for (const std::string quant : {"nf4", "nf4-dq"}) {
            Outcome one;
            bool has_one = false;
            const std::string whole = R"({"": ")" + model.device + R"("})";
            const std::string split =
                R"({"": ")" + model.device +
                R"(", "model.vision_tower": "cpu", "model.audio_tower": "cpu"})";
            list.run("forum", model.name + " " + quant + " and adapter on one device (R05)",
                     [&](std::string* figure) {
                         std::string wrong = runPlacement(model, quant, whole, &one);
                         has_one = wrong.empty();
                         *figure = figureOf(one);
                         return wrong;
                     });
            list.run("forum", model.name + " " + quant + " and adapter, towers on the CPU (R03)",
                     [&](std::string* figure) {
                         Outcome two;
                         std::string wrong = runPlacement(model, quant, split, &two);
                         if (!wrong.empty()) {
                             return wrong;
                         }
                         if (!has_one) {
                             return std::string("nothing to compare with: the case before failed");
                         }
                         const double text = support::maxRelativeToLargest(two.text, one.text);
                         const double media = support::maxRelativeToLargest(two.media, one.media);
                         char more[96];
                         std::snprintf(more, sizeof(more), "; logits: text %.1e, media %.1e apart",
                                       text, media);
                         *figure = figureOf(two) + more;
                         if (two.tokens != one.tokens) {
                             return std::string("other tokens than on one device");
                         }
                         if (!(text <= 1e-6)) {
                             return std::string("other logits of a text than on one device");
                         }
                         // With random weights of a full shape a tower makes everything of a
                         // rounding, and adapters of towers that visit run as single functions.
                         if (model.model.starts_with("shape:")) {
                             return std::string();
                         }
                         if (!(media <= kMediaBound)) {
                             return std::string("logits after media differ by more than 0.1");
                         }
                         return compareMediaTokens(one, two, figure);
                     });
        }
    }
}

} // namespace gpu
