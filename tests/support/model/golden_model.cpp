// SPDX-License-Identifier: Apache-2.0
#include "tests/support/model/golden_model.h"

#include "engine/families/config.h"
#include "tests/support/results.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>

namespace support {

namespace {

std::string goldenKey(std::string file) {
    std::replace(file.begin(), file.end(), '/', '_');
    return file;
}

} // namespace

std::vector<GoldenCase> goldenCases(const std::string& family) {
    const bool is_more = !std::filesystem::exists(goldenDir() / family);
    const std::filesystem::path root = is_more ? goldenMoreDir() : goldenDir();
    const auto mediaFile = [&](const nlohmann::json& file) -> std::string {
        if (!file.is_string()) {
            return "";
        }
        return is_more ? (root / file.get<std::string>()).string() : file.get<std::string>();
    };
    std::vector<GoldenCase> cases;
    for (const auto& entry : readJson(root / family / "cases.json")) {
        GoldenCase c;
        c.id = entry["id"].get<std::string>();
        c.image = mediaFile(entry["image"]);
        c.audio = mediaFile(entry["audio"]);
        c.input_ids = entry["input_ids"].get<std::vector<int32_t>>();
        c.greedy = entry["greedy"].get<std::vector<int32_t>>();
        cases.push_back(std::move(c));
    }
    return cases;
}

namespace {

template <typename Wanted>
GoldenCase firstCase(const std::string& family, const Wanted& is_wanted) {
    for (GoldenCase& c : goldenCases(family)) {
        if (is_wanted(c)) {
            return std::move(c);
        }
    }
    std::fprintf(stderr, "%s has no such golden case\n", family.c_str());
    std::exit(98);
}

} // namespace

GoldenCase goldenCase(const std::string& family, const std::string& id) {
    return firstCase(family, [&id](const GoldenCase& c) { return c.id == id; });
}

GoldenCase goldenCaseWith(const std::string& family, bool has_image, bool has_audio) {
    return firstCase(family, [=](const GoldenCase& c) {
        return c.image.empty() != has_image && c.audio.empty() != has_audio;
    });
}

OpenGoldenModel openGoldenModel(const std::string& family,
                                bool is_reference,
                                const kernels::OpTable& ops,
                                int64_t chunk,
                                int64_t context,
                                engine::Format kv_format) {
    const auto folder = goldenDir() / family / "model";
    return openModel(folder, must(engine::readModelConfig(folder), "config"), is_reference, ops,
                     chunk, context, kv_format);
}

OpenGoldenModel openModel(const std::filesystem::path& folder,
                          engine::ModelConfig config,
                          bool is_reference,
                          const kernels::OpTable& ops,
                          int64_t chunk,
                          int64_t context,
                          engine::Format kv_format) {
    OpenGoldenModel open;
    open.config = std::move(config);
    open.pool = std::make_unique<kernels::cpu::ThreadPool>(2);
    open.cpu = std::make_unique<kernels::cpu::HostDevice>(0, open.pool.get(), ops);
    open.devices[engine::DeviceId::cpu()] = open.cpu.get();
    open.weights = std::make_unique<MemoryWeights>(folder / "model.safetensors", open.config,
                                                   engine::DeviceId::cpu());
    open.plan = oneDevicePlan(open.config, engine::DeviceId::cpu(), is_reference, context, chunk);
    open.plan.kv_format = kv_format;
    open.kv = must(engine::KvCache::create(open.config, open.plan, open.devices), "KV cache");
    open.model =
        must(engine::Model::create(open.config, open.plan, *open.weights, open.devices, nullptr),
             "model");
    return open;
}

std::vector<SoftTokenRun> softTokenRuns(const engine::ModelConfig& config,
                                        const std::vector<int32_t>& ids) {
    std::vector<SoftTokenRun> runs;
    for (size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] != config.image_token_id && ids[i] != config.audio_token_id) {
            continue;
        }
        if (!runs.empty() && runs.back().id == ids[i] &&
            runs.back().first + runs.back().count == static_cast<int64_t>(i)) {
            ++runs.back().count;
        } else {
            runs.push_back({static_cast<int64_t>(i), 1, ids[i]});
        }
    }
    return runs;
}

namespace {

/// Embedders take the file itself: golden data of their models has no pixels of its own.
std::vector<float> encodeFile(engine::MediaEncoder& encoder,
                              const std::string& file,
                              int64_t image_tokens,
                              std::vector<float>& tower) {
    std::ifstream in(goldenDir() / file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const auto media =
        must(encoder.prepare(std::as_bytes(std::span(bytes)), {image_tokens}), "prepare");
    tower = must(encoder.runTower(media, {}), "embed");
    return must(encoder.encode(media, {}), "encode");
}

} // namespace

CaseFeatures encodeCase(engine::Model& model, const GoldenCase& c) {
    CaseFeatures out;
    const engine::ModelConfig& config = model.config();
    const bool has_towers = config.hasVisionTower() || config.hasAudioTower();
    if (!has_towers) {
        const int64_t budget = config.processor.image_tokens;
        if (!c.image.empty()) {
            out.image = encodeFile(*model.encoder(engine::MediaKind::Image), c.image, budget,
                                   out.vision_tower);
        }
        if (!c.audio.empty()) {
            out.audio = encodeFile(*model.encoder(engine::MediaKind::Audio), c.audio, budget,
                                   out.audio_tower);
        }
        return out;
    }
    if (!c.image.empty()) {
        const auto tensors = readSafetensors(goldenDir() / "media/image_processor_pil.safetensors");
        const GoldenTensor& pixels = tensors.at(goldenKey(c.image) + ".70.pixels_u8");
        const auto positions = tensors.at(goldenKey(c.image) + ".70.positions").integers();
        std::vector<float> patches(pixels.bytes.size());
        for (size_t i = 0; i < patches.size(); ++i) {
            patches[i] = static_cast<float>(pixels.bytes[i]) / 255.0F;
        }
        engine::ImageInput input;
        input.patches = patches;
        for (size_t i = 0; i + 1 < positions.size(); i += 2) {
            input.grid_w = std::max(input.grid_w, positions[i] + 1);
            input.grid_h = std::max(input.grid_h, positions[i + 1] + 1);
        }
        out.image = must(model.vision().encode(input, {}, &out.vision_tower), "encodeImage");
    }
    if (!c.audio.empty()) {
        const auto tensors = readSafetensors(goldenDir() / "media/mel.safetensors");
        std::vector<float> mel = tensors.at(goldenKey(c.audio) + ".mel").floats();
        const auto& mask = tensors.at(goldenKey(c.audio) + ".mask").bytes;
        const auto frames = static_cast<int64_t>(std::count(mask.begin(), mask.end(), 1));
        mel.resize(static_cast<size_t>(frames * 128));
        out.audio = must(model.audio().encode({mel, frames}, {}, &out.audio_tower), "encodeAudio");
    }
    return out;
}

std::vector<float> prefill(engine::Model& model,
                           engine::KvCache& kv,
                           const std::vector<int32_t>& ids,
                           const CaseFeatures& features,
                           int64_t logits_rows,
                           int64_t chunk,
                           const engine::HiddenObserver* observer) {
    const auto& config = model.config();
    const auto runs = softTokenRuns(config, ids);
    const auto total = static_cast<int64_t>(ids.size());
    std::vector<float> logits;
    std::vector<int32_t> block(ids.size(), -1);
    int32_t next_block = 0;
    for (const auto& run : runs) {
        if (run.id == config.image_token_id) {
            std::fill_n(block.begin() + run.first, run.count, next_block++);
        }
    }
    for (int64_t first = 0; first < total;) {
        int64_t end = std::min(total, first + chunk);
        const auto isInside = [&block, total](int64_t at) { // a block begins in front of that row
            return at > 0 && at < total && block[static_cast<size_t>(at)] >= 0 &&
                   block[static_cast<size_t>(at)] == block[static_cast<size_t>(at - 1)];
        };
        if (config.text.is_vision_bidirectional && isInside(end)) {
            int64_t begin = end;
            while (isInside(begin)) {
                --begin;
            }
            end = begin > first ? begin : end; // a block stays whole: in the next call, or in this
            while (begin == first && isInside(end)) {
                ++end;
            }
        }
        engine::ForwardInput input;
        input.ids =
            std::span(ids).subspan(static_cast<size_t>(first), static_cast<size_t>(end - first));
        input.block =
            std::span(block).subspan(static_cast<size_t>(first), static_cast<size_t>(end - first));
        for (const auto& run : runs) {
            const int64_t from = std::max(first, run.first);
            const int64_t to = std::min(end, run.first + run.count);
            if (from < to) {
                const auto& source =
                    run.id == config.image_token_id ? features.image : features.audio;
                input.features.push_back(
                    {from - first, to - from,
                     source.data() + (from - run.first) * config.text.hidden_size});
            }
        }
        const int64_t wanted = std::clamp<int64_t>(logits_rows - (total - end), 0, end - first);
        input.logits_rows = observer != nullptr ? end - first : wanted;
        std::vector<float> part;
        must(model.forward(input, kv, part, {}, observer), "forward");
        logits.insert(logits.end(), part.end() - wanted * config.text.vocab_size, part.end());
        first = end;
    }
    return logits;
}

std::vector<int32_t>
greedy(engine::Model& model, engine::KvCache& kv, std::vector<float> logits, int count) {
    std::vector<int32_t> tokens;
    for (int i = 0; i < count; ++i) {
        const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
        tokens.push_back(static_cast<int32_t>(best));
        engine::ForwardInput input;
        const int32_t id = tokens.back();
        input.ids = std::span(&id, 1);
        must(model.forward(input, kv, logits, {}), "forward");
    }
    return tokens;
}

} // namespace support
