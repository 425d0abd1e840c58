// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench_media.h"

#include "app/cli/commands.h"
#include "engine/base/paths.h"

#include <png.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <vector>

namespace cli {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr int kRuns = 3; ///< That count, behind one that does not.
constexpr int64_t kSoundSamples = 10 * engine::Engine::kTowerSampleRate;

struct PictureSize {
    int64_t width = 0, height = 0; ///< Pixels.
};

Result<void> writeFile(const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream out(file, std::ios::binary);
    out << bytes;
    out.close();
    return out ? Result<void>()
               : Error{ErrorCode::InvalidFile, engine::utf8Of(file) + ": not written"};
}

/// Shapes with hard and soft edges in many colours; another picture for each `number`.
Result<void> drawPicture(const std::filesystem::path& file, PictureSize size, int number) {
    std::vector<uint8_t> rgb;
    rgb.reserve(static_cast<size_t>(size.width * size.height * 3));
    for (int64_t y = 0; y < size.height; ++y) {
        for (int64_t x = 0; x < size.width; ++x) {
            const auto fx = static_cast<double>(x);
            const auto fy = static_cast<double>(y);
            const bool is_dark = (x / 64 + y / 64 + number) % 2 == 0;
            const double ring = std::sin(
                std::hypot(fx - 300.0 - 40.0 * static_cast<double>(number), fy - 260.0) / 9.0);
            rgb.push_back(static_cast<uint8_t>((x + int64_t{17} * number) % 256));
            rgb.push_back(static_cast<uint8_t>(is_dark ? 40 : 200 - y % 64));
            rgb.push_back(static_cast<uint8_t>(127.0 + 120.0 * ring));
        }
    }
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(size.width);
    image.height = static_cast<png_uint_32>(size.height);
    image.format = PNG_FORMAT_RGB;
    // By way of memory: the library opens files by narrow names, which are not UTF-8 on Windows.
    png_alloc_size_t num_bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::string bytes(num_bytes, '\0');
    if (png_image_write_to_memory(&image, bytes.data(), &num_bytes, 0, rgb.data(), 0, nullptr) ==
        0) {
        return Error{ErrorCode::InvalidFile, engine::utf8Of(file) + ": " + image.message};
    }
    bytes.resize(num_bytes);
    return writeFile(file, bytes);
}

/// A rising tone with a beat, 16-bit mono at the tower's rate; another one for each `number`.
Result<void> drawSound(const std::filesystem::path& file, int number) {
    std::string bytes;
    const auto put = [&bytes](uint64_t value, int count) {
        for (int i = 0; i < count; ++i) {
            bytes.push_back(static_cast<char>(value >> (8 * i) & 0xffU));
        }
    };
    constexpr auto kRate = static_cast<uint64_t>(engine::Engine::kTowerSampleRate);
    constexpr uint64_t kDataBytes = uint64_t{2} * static_cast<uint64_t>(kSoundSamples);
    bytes += "RIFF";
    put(36 + kDataBytes, 4);
    bytes += "WAVEfmt ";
    put(16, 4);
    put(1, 2); // PCM
    put(1, 2); // channels
    put(kRate, 4);
    put(2 * kRate, 4);
    put(2, 2);
    put(16, 2);
    bytes += "data";
    put(kDataBytes, 4);
    for (int64_t i = 0; i < kSoundSamples; ++i) {
        const double t = static_cast<double>(i) / static_cast<double>(kRate);
        const double tone = std::sin(t * (800.0 + 50.0 * number + 120.0 * t));
        const double value = 12000.0 * tone * (0.6 + 0.4 * std::sin(18.0 * t));
        put(static_cast<uint64_t>(static_cast<int64_t>(value)), 2);
    }
    return writeFile(file, bytes);
}

/// Files and ids of one request; the same for every run but for the file's contents.
struct MediaRequest {
    std::function<Result<void>(const std::filesystem::path& file, int number)> draw;
    std::function<Result<double>()> tower;
    bool is_image = false;
    int64_t image_tokens = 0; ///< The budget.
    engine::MediumShape shape;
};

Result<MediumRow>
measure(engine::Engine& engine, const MediaRequest& media, const std::filesystem::path& folder) {
    std::error_code code;
    std::filesystem::create_directories(folder, code);
    ENGINE_ASSIGN(const engine::WorkCounts counts, engine.countWork());
    std::vector<double> towers;
    std::vector<double> prepared;
    std::vector<double> requests;
    for (int run = 0; run <= kRuns; ++run) {
        const auto file = folder / (std::to_string(run) + (media.is_image ? ".png" : ".wav"));
        ENGINE_TRY(media.draw(file, run));
        ENGINE_ASSIGN(const double tower, media.tower());
        const engine::MessagePart part = {media.is_image ? engine::MessagePart::Kind::Image
                                                         : engine::MessagePart::Kind::Audio,
                                          engine::utf8Of(file)};
        ENGINE_ASSIGN(const double seconds, engine.measurePreparation(part, media.image_tokens));
        engine::GenerateRequest request;
        constexpr int kTextBefore = 8;
        constexpr int kTextBehind = 10;
        // Texts of their own: nothing of the cache fits the next one.
        const auto text = [&](int count) {
            for (int i = 0; i < count; ++i) {
                request.raw_ids.push_back(static_cast<int32_t>(
                    300 + (97 * run + 31 * i) % std::min<int64_t>(counts.vocab_size - 300, 5000)));
            }
        };
        text(kTextBefore);
        request.raw_ids.push_back(static_cast<int32_t>(media.shape.begin_id));
        request.raw_ids.insert(request.raw_ids.end(), static_cast<size_t>(media.shape.soft_tokens),
                               static_cast<int32_t>(media.shape.soft_id));
        request.raw_ids.push_back(static_cast<int32_t>(media.shape.end_id));
        text(kTextBehind);
        (media.is_image ? request.raw_images : request.raw_audios).push_back(engine::utf8Of(file));
        request.image_tokens = media.image_tokens;
        request.sampling.temperature = 0.0;
        request.sampling.max_tokens = 1;
        request.sampling.ignores_eos = true;
        ENGINE_ASSIGN(const engine::Reply reply, engine.generate(request, {}, interruptToken()));
        if (run > 0) {
            towers.push_back(tower);
            prepared.push_back(seconds);
            requests.push_back(reply.timing.time_to_first_token_s);
        }
    }
    const auto [least, most] = std::minmax_element(requests.begin(), requests.end());
    MediumRow row;
    row.tower_s = medianOf(towers);
    row.prepare_s = medianOf(prepared);
    row.soft_tokens = media.shape.soft_tokens;
    row.first_token_s = medianOf(requests);
    row.min_first_token_s = *least;
    row.max_first_token_s = *most;
    return row;
}

} // namespace

Result<MediumRow> benchImage(engine::Engine& engine, const std::filesystem::path& folder) {
    // Such a picture at 280 soft tokens has 60 x 42 patches, all that may be; small models take
    // fewer.
    constexpr int64_t kBudget = 280;
    constexpr PictureSize kDrawn = {1200, 840};
    MediaRequest media;
    media.image_tokens = std::min(engine.currentPlan()->image_tokens, kBudget);
    ENGINE_ASSIGN(media.shape, engine.imageShape(kDrawn.width, kDrawn.height, media.image_tokens));
    media.draw = [&](const std::filesystem::path& file, int number) {
        return drawPicture(file, kDrawn, number);
    };
    media.tower = [&] { return engine.measureImage(media.shape.grid_w, media.shape.grid_h); };
    media.is_image = true;
    ENGINE_ASSIGN(MediumRow row, measure(engine, media, folder));
    row.patches = media.shape.grid_w * media.shape.grid_h;
    row.pixels = std::to_string(kDrawn.width) + " x " + std::to_string(kDrawn.height);
    return row;
}

Result<MediumRow> benchAudio(engine::Engine& engine, const std::filesystem::path& folder) {
    MediaRequest media;
    ENGINE_ASSIGN(media.shape, engine.audioShape(kSoundSamples));
    media.draw = drawSound;
    media.tower = [&] { return engine.measureAudio(media.shape.frames); };
    ENGINE_ASSIGN(MediumRow row, measure(engine, media, folder));
    row.audio_s = kSoundSamples / engine::Engine::kTowerSampleRate;
    return row;
}

} // namespace cli
