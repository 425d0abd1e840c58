// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/media_encoders.h"

#include "engine/media/audio.h"
#include "engine/media/image.h"

#include <optional>
#include <utility>

namespace engine {

namespace {

ImageInput imageOf(const PreparedMedia& media) {
    ImageInput input;
    input.patches = media.rows;
    input.grid_w = media.grid_w;
    input.grid_h = media.grid_h;
    return input;
}

} // namespace

int64_t soundTokens(const AudioConfig& audio, int64_t samples) {
    return audio.has_tower ? audioTokens(samples)
                           : (samples + audio.output_size - 1) / audio.output_size;
}

size_t PictureEncoder::maxFileBytes() const {
    return kMaxImageFileBytes;
}

Result<PreparedMedia> PictureEncoder::prepare(std::span<const std::byte> file,
                                              const MediaWish& wish) const {
    const VisionConfig& vision = *model_.config().vision;
    ENGINE_ASSIGN(DecodedImage decoded, decodeImage(file));
    ENGINE_ASSIGN(PatchGrid grid,
                  preprocessImage(decoded, wish.tokens, vision.patch_size, vision.pooling_kernel,
                                  vision.position_table_size));
    return PreparedMedia{std::move(grid.patches), grid.grid_w, grid.grid_h,
                         std::move(decoded.notes)};
}

Result<std::vector<float>> PictureEncoder::encode(const PreparedMedia& media,
                                                  const std::stop_token& stop) {
    return model_.vision().encode(imageOf(media), stop);
}

Result<std::vector<float>> PictureEncoder::runTower(const PreparedMedia& media,
                                                    const std::stop_token& stop) {
    return model_.vision().run(imageOf(media), stop);
}

Result<std::vector<float>> PictureEncoder::project(std::span<const float> tower) {
    return model_.vision().project(tower);
}

int64_t PictureEncoder::towerWidth() const {
    return model_.config().vision->hidden_size;
}

size_t SoundEncoder::maxFileBytes() const {
    return kMaxAudioFileBytes;
}

Result<PreparedMedia> SoundEncoder::prepare(std::span<const std::byte> file,
                                            const MediaWish& wish) const {
    std::optional<AudioCut> cut;
    if (wish.cut_length_s > 0) {
        cut = AudioCut{wish.cut_start_s, wish.cut_length_s};
    }
    ENGINE_ASSIGN(DecodedAudio decoded, decodeAudio(file, cut));
    ENGINE_ASSIGN(LogMel mel, logMel(decoded.samples));
    return PreparedMedia{std::move(mel.values), mel.frames, 1, std::move(decoded.source.notes)};
}

Result<std::vector<float>> SoundEncoder::encode(const PreparedMedia& media,
                                                const std::stop_token& stop) {
    return model_.audio().encode({media.rows, media.grid_w}, stop);
}

Result<std::vector<float>> SoundEncoder::runTower(const PreparedMedia& media,
                                                  const std::stop_token& stop) {
    return model_.audio().run({media.rows, media.grid_w}, stop);
}

Result<std::vector<float>> SoundEncoder::project(std::span<const float> tower) {
    return model_.audio().project(tower);
}

int64_t SoundEncoder::towerWidth() const {
    return model_.config().audio->output_size;
}

} // namespace engine
