// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench.h"
#include "app/cli/commands.h"
#include "engine/base/paths.h"

#include <png.h>

#include <fstream>
#include <string>

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using nlohmann::ordered_json;

namespace {

constexpr int64_t kSoundSamples = 10 * engine::Engine::kTowerSampleRate;
// Such a picture at 280 soft tokens has 60 x 42 patches, all that may be.
constexpr uint32_t kWidth = 1200;
constexpr uint32_t kHeight = 840;

/// Colours with soft and hard edges as PNG, others for each `number`.
std::string drawPicture(int number) {
    std::vector<uint8_t> rgb;
    for (uint32_t i = 0; i < kWidth * kHeight; ++i) {
        const uint32_t x = i % kWidth + 17U * static_cast<uint32_t>(number);
        const uint32_t y = i / kWidth;
        for (const uint32_t value : {x, y, x * y / 512}) {
            rgb.push_back(static_cast<uint8_t>(value));
        }
    }
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = kWidth;
    image.height = kHeight;
    image.format = PNG_FORMAT_RGB;
    // By way of memory: the library opens files by narrow names, which are not UTF-8 on Windows.
    png_alloc_size_t num_bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::string bytes(num_bytes, '\0');
    const bool is_written =
        png_image_write_to_memory(&image, bytes.data(), &num_bytes, 0, rgb.data(), 0, nullptr) != 0;
    bytes.resize(is_written ? num_bytes : 0);
    return bytes;
}

/// A rising sawtooth as WAV, 16 bits at the tower's rate; another one for each `number`.
std::string drawSound(int number) {
    std::string bytes;
    const auto put = [&bytes](int64_t value, int count) {
        for (int i = 0; i < count; ++i) {
            bytes.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xffU));
        }
    };
    constexpr int64_t kRate = engine::Engine::kTowerSampleRate;
    bytes += "RIFF";
    put(36 + 2 * kSoundSamples, 4);
    bytes += "WAVEfmt ";
    put(16, 4);
    put(1, 2); // PCM
    put(1, 2); // channels
    put(kRate, 4);
    put(2 * kRate, 4);
    put(2, 2);
    put(16, 2);
    bytes += "data";
    put(2 * kSoundSamples, 4);
    for (int64_t i = 0; i < kSoundSamples; ++i) {
        put(i * (i / 400 + number) % 20000 - 10000, 2);
    }
    return bytes;
}

struct Medium {
    engine::MessagePart::Kind kind = engine::MessagePart::Kind::Image;
    std::string (*draw)(int number) = drawPicture;
    engine::MediumShape shape = {};
    int64_t image_tokens = 0; ///< The budget.
};

/// Medians of three requests behind one that makes room and warms caches; every one has a file of
/// its own, because a known one would not be encoded again.
Result<void> measureMedium(engine::Engine& engine,
                           const Medium& medium,
                           const std::filesystem::path& folder,
                           ordered_json& row) {
    constexpr int kRuns = 3;
    const bool is_image = medium.kind == engine::MessagePart::Kind::Image;
    std::vector<double> prepared;
    std::vector<double> encoded;
    std::vector<double> requests;
    for (int run = 0; run <= kRuns; ++run) {
        const auto file = folder / (std::to_string(run) + (is_image ? ".png" : ".wav"));
        const engine::MessagePart part = {medium.kind, engine::utf8Of(file)};
        std::ofstream out(file, std::ios::binary);
        out << medium.draw(run);
        out.close();
        if (!out) {
            return Error{ErrorCode::InvalidFile, part.text + ": not written"};
        }
        ENGINE_ASSIGN(const double preparation,
                      engine.measurePreparation(part, medium.image_tokens));
        engine::GenerateRequest request;
        const auto add = [&](int64_t id, int64_t count) {
            request.raw_ids.insert(request.raw_ids.end(), static_cast<size_t>(count),
                                   static_cast<int32_t>(id));
        };
        add(300 + run, 8); // another text for each, so that no cache holds it
        add(medium.shape.begin_id, 1);
        add(medium.shape.soft_id, medium.shape.soft_tokens);
        add(medium.shape.end_id, 1);
        add(300, 10);
        (is_image ? request.raw_images : request.raw_audios) = {part.text};
        request.image_tokens = medium.image_tokens;
        request.sampling.temperature = 0.0;
        request.sampling.max_tokens = 1;
        request.sampling.ignores_eos = true;
        ENGINE_ASSIGN(const engine::Reply reply, engine.generate(request, {}, interruptToken()));
        if (run > 0) {
            prepared.push_back(preparation);
            encoded.push_back(reply.timing.image_s + reply.timing.audio_s);
            requests.push_back(reply.timing.time_to_first_token_s);
        }
    }
    row = {{"soft_tokens", medium.shape.soft_tokens},
           {"first_token_s", medianOf(requests)},
           {"encode_s", medianOf(encoded)},
           {"prepare_s", medianOf(prepared)}};
    return {};
}

} // namespace

Result<void>
benchMedia(engine::Engine& engine, const std::filesystem::path& folder, ordered_json& report) {
    const auto model = engine.summary();
    if (model->has_vision) {
        constexpr int64_t kBudget = 280; // small models take fewer
        Medium picture;
        picture.image_tokens = std::min(engine.currentPlan()->image_tokens, kBudget);
        ENGINE_ASSIGN(picture.shape, engine.imageShape(kWidth, kHeight, picture.image_tokens));
        ENGINE_TRY(measureMedium(engine, picture, folder, report["image"]));
    }
    if (model->has_audio) {
        Medium sound = {engine::MessagePart::Kind::Audio, drawSound};
        ENGINE_ASSIGN(sound.shape, engine.audioShape(kSoundSamples));
        ENGINE_TRY(measureMedium(engine, sound, folder, report["audio"]));
    }
    return {};
}

} // namespace cli
