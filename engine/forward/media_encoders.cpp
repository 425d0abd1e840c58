// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/media_encoders.h"

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

Result<DecodedAudio> decodeCut(std::span<const std::byte> file, const MediaWish& wish) {
    std::optional<AudioCut> cut;
    if (wish.cut_length_s > 0) {
        cut = AudioCut{wish.cut_start_s, wish.cut_length_s};
    }
    return decodeAudio(file, cut);
}

size_t PictureEncoder::maxFileBytes() const {
    return kMaxImageFileBytes;
}

Result<PreparedMedia> PictureEncoder::prepare(std::span<const std::byte> file,
                                              const MediaWish& wish) const {
    const VisionConfig& vision = *model_.config.vision;
    ENGINE_ASSIGN(DecodedImage decoded, decodeImage(file));
    ENGINE_ASSIGN(PatchGrid grid,
                  preprocessImage(decoded, wish.tokens, vision.patch_size, vision.pooling_kernel,
                                  vision.position_table_size));
    return PreparedMedia{std::move(grid.patches), grid.grid_w, grid.grid_h,
                         std::move(decoded.notes)};
}

size_t SoundEncoder::maxFileBytes() const {
    return kMaxAudioFileBytes;
}

Result<std::vector<float>> PictureTowerEncoder::encode(const PreparedMedia& media,
                                                       const std::stop_token& stop) {
    return tower_.encode(imageOf(media), stop);
}

Result<std::vector<float>> PictureTowerEncoder::runTower(const PreparedMedia& media,
                                                         const std::stop_token& stop) {
    return tower_.run(imageOf(media), stop);
}

Result<PreparedMedia> SoundTowerEncoder::prepare(std::span<const std::byte> file,
                                                 const MediaWish& wish) const {
    ENGINE_ASSIGN(DecodedAudio decoded, decodeCut(file, wish));
    ENGINE_ASSIGN(LogMel mel, logMel(decoded.samples));
    return PreparedMedia{std::move(mel.values), mel.frames, 1, std::move(decoded.source.notes)};
}

} // namespace engine
