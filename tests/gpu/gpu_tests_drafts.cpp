// SPDX-License-Identifier: Apache-2.0
// Section "drafts": texts with an assistant's drafts are those without, on models with random
// weights whose heads and rows are such that a check is one launch (stream_rows.cu), without and
// with an adapter; what stays in the caches behind drafts is what such a text leaves.
#include "tests/gpu/gpu_tests.h"
#include "tests/support/engine/tiny_model.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

namespace gpu {

using engine::Engine;
using engine::LoadRequest;

namespace {

/// Tokens whose logits are so close, as a share of the largest, may be exchanged: a check rounds
/// otherwise than a token by itself does.
constexpr float kNear = 1.5e-2F;
#ifdef BELFRY_EMULATED_CARD
constexpr int kTexts = 1;
constexpr int kTokens = 9;
#else
constexpr int kTexts = 4;
constexpr int kTokens = 48;
#endif

/// Model, assistant and adapter on disk as long as this lives.
struct Folders {
    std::filesystem::path all;
    explicit Folders(const support::TinyShape& shape)
        : all(std::filesystem::temp_directory_path() /
              ("belfry-drafts-" + std::to_string(std::random_device{}()))) {
        support::writeTinyModel(all / "model", shape);
        support::writeTinyAssistant(all / "assistant", all / "model", shape);
        support::writeTinyAdapter(all / "adapter", shape, 16);
    }
    ~Folders() {
        std::error_code ignored;
        std::filesystem::remove_all(all, ignored);
    }
    Folders(const Folders&) = delete;
    Folders& operator=(const Folders&) = delete;
};

std::vector<int32_t>
textOf(Engine& engine, engine::GenerateRequest prompt, bool uses_drafts, std::string* wrong) {
    prompt.uses_drafts = uses_drafts;
    const auto reply = engine.generate(prompt, {}, {});
    if (!reply.has_value()) {
        *wrong = reply.error().message;
        return {};
    }
    if (uses_drafts && (!reply->drafts.has_value() || reply->drafts->rounds == 0)) {
        *wrong = "no round of drafts";
    }
    return reply->token_ids;
}

/// Where the texts part, the two tokens have to be near each other. is_near: they were.
std::string compareTexts(Engine& engine,
                         engine::GenerateRequest prompt,
                         const std::vector<int32_t>& text,
                         const std::vector<int32_t>& other,
                         bool* is_near) {
    const auto [at, there] = std::mismatch(text.begin(), text.end(), other.begin(), other.end());
    *is_near = at != text.end() && there != other.end();
    if (!*is_near) {
        return text.size() == other.size() ? std::string() : std::string("texts of other lengths");
    }
    prompt.raw_ids.insert(prompt.raw_ids.end(), text.begin(), at);
    const auto result = engine.logits(prompt, 1, {});
    if (!result.has_value()) {
        return result.error().message;
    }
    const std::vector<float>& logits = result->logits;
    float largest = 0.0F;
    for (const float value : logits) {
        largest = std::max(largest, std::abs(value));
    }
    const float gap =
        std::abs(logits[static_cast<size_t>(*at)] - logits[static_cast<size_t>(*there)]) / largest;
    return gap < kNear ? std::string()
                       : "token " + std::to_string(at - text.begin()) + " is another, " +
                             number(gap) + " away";
}

engine::GenerateRequest promptFrom(int first) {
    engine::GenerateRequest prompt = support::greedyRequest({2}, kTokens);
    for (int i = 0; i < 20; ++i) {
        prompt.raw_ids.push_back(30 + (first + 37 * i + i * i) % 340);
    }
    prompt.sampling.repetition_penalty = 1.0;
    return prompt;
}

std::string
compareDrafts(const Folders& folders, int drafts, bool has_adapter, std::string* figure) {
    Engine engine(engineOptions());
    LoadRequest request;
    request.model = (folders.all / "model").string();
    request.device_map = "gpu";
    request.quant = "nf4-dq";
    request.head = "int8";
    request.context = 512;
    request.is_text_only = true;
    request.draft = (folders.all / "assistant").string();
    request.draft_tokens = drafts;
    if (is_simulated) {
        request.sim_gpus = {uint64_t{512} << 20U};
    }
    if (has_adapter) {
        request.adapters.push_back({(folders.all / "adapter").string(), 1.0, true});
    }
    std::string wrong = load(engine, request);
    int same = 0;
    int near = 0;
    for (int first = 0; first < kTexts && wrong.empty(); ++first) {
        const engine::GenerateRequest prompt = promptFrom(50 * first);
        const std::vector<int32_t> without = textOf(engine, prompt, false, &wrong);
        const std::vector<int32_t> with =
            wrong.empty() ? textOf(engine, prompt, true, &wrong) : without;
        bool is_near = false;
        wrong = wrong.empty() ? compareTexts(engine, prompt, with, without, &is_near) : wrong;
        (is_near ? near : same) += 1;
    }
    if (wrong.empty()) {
        // All drafts taken, whatever the model says: what follows is what follows such a text.
        engine::GenerateRequest prompt = promptFrom(7);
        prompt.forced_acceptance = 1.0;
        const std::vector<int32_t> forced = textOf(engine, prompt, true, &wrong);
        prompt.forced_acceptance = -1.0;
        prompt.raw_ids.insert(prompt.raw_ids.end(), forced.begin(), forced.end());
        const std::vector<int32_t> behind =
            wrong.empty() ? textOf(engine, prompt, false, &wrong) : forced;
        wrong = wrong.empty() ? load(engine, request) : wrong; // empty caches
        const std::vector<int32_t> anew =
            wrong.empty() ? textOf(engine, prompt, false, &wrong) : behind;
        bool is_near = false;
        wrong = wrong.empty() ? compareTexts(engine, prompt, behind, anew, &is_near) : wrong;
    }
    *figure = std::to_string(same) + " texts the same, " + std::to_string(near) +
              " part where tokens are near";
    return !wrong.empty() ? wrong
           : same == 0    ? std::string("no text is the same")
                          : support::memoryDifference(engine, false);
}

} // namespace

void drafts(CheckList& list) {
    support::TinyShape small;
    small.hidden = 128;
    small.per_layer = 64;
    small.heads = 2;
    small.sliding_dim = 256;
    small.full_dim = 512;
    std::vector<std::pair<std::string, support::TinyShape>> shapes = {{"small", small}};
#ifndef BELFRY_EMULATED_CARD
    if (!is_simulated) {
        support::TinyShape middle = small; // E2B's widths but for the MLP
        middle.hidden = 1536;
        middle.intermediate = 3072;
        middle.per_layer = 256;
        middle.heads = 8;
        support::TinyShape large = middle; // 12B's residual row (stream_rows_large.cu)
        large.hidden = 3840;
        large.intermediate = 2048;
        shapes.insert(shapes.end(), {{"rows of 1536", middle}, {"rows of 3840", large}});
    }
#endif
    for (const auto& [name, shape] : shapes) {
        const Folders folders(shape);
        const auto run = [&](const std::string& what, int drafts_a_round, bool has_adapter) {
            list.run("drafts", name + what, [&](std::string* figure) {
                return compareDrafts(folders, drafts_a_round, has_adapter, figure);
            });
        };
        run("", 3, false);
        run(", with an adapter", 3, true);
        run(", six drafts", 6, false);
    }
}

} // namespace gpu
