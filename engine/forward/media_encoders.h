// SPDX-License-Identifier: Apache-2.0
// Pictures and sounds as encoders of a model take them, and the encoders of models with towers.
// Models without towers: media_embedders.h.
#pragma once

#include "engine/forward/bound_model.h"
#include "engine/forward/towers/audio_tower.h"
#include "engine/forward/towers/vision_tower.h"
#include "engine/media/audio.h"
#include "engine/model/media_encoder.h"

namespace engine {

/// Soft tokens of a recording of that many samples at 16 kHz, with a tower or without.
[[nodiscard]] int64_t soundTokens(const AudioConfig& audio, int64_t samples);

/// What all encoders of pictures have in common. The model outlives them.
class PictureEncoder : public MediaEncoder {
public:
    [[nodiscard]] std::string_view name() const override { return "vision"; }
    [[nodiscard]] int64_t placeholder() const override { return model_.config.image_token_id; }
    [[nodiscard]] size_t maxFileBytes() const override;
    [[nodiscard]] uint64_t formatKey() const override { return format_key_; }
    [[nodiscard]] Result<PreparedMedia> prepare(std::span<const std::byte> file,
                                                const MediaWish& wish) const override;
    [[nodiscard]] int64_t towerWidth() const override { return model_.config.vision->hidden_size; }
    [[nodiscard]] int64_t featureWidth() const override { return model_.config.text.hidden_size; }

protected:
    PictureEncoder(BoundModel& model, uint64_t format_key)
        : model_(model), format_key_(format_key) {}
    [[nodiscard]] BoundModel& model() const { return model_; }

private:
    BoundModel& model_;
    uint64_t format_key_;
};

/// The same of sounds.
class SoundEncoder : public MediaEncoder {
public:
    [[nodiscard]] std::string_view name() const override { return "audio"; }
    [[nodiscard]] int64_t placeholder() const override { return model_.config.audio_token_id; }
    [[nodiscard]] size_t maxFileBytes() const override;
    [[nodiscard]] uint64_t formatKey() const override { return format_key_; }
    [[nodiscard]] int64_t towerWidth() const override { return model_.config.audio->output_size; }
    [[nodiscard]] int64_t featureWidth() const override { return model_.config.text.hidden_size; }

protected:
    SoundEncoder(BoundModel& model, uint64_t format_key) : model_(model), format_key_(format_key) {}
    [[nodiscard]] BoundModel& model() const { return model_; }

private:
    BoundModel& model_;
    uint64_t format_key_;
};

class PictureTowerEncoder final : public PictureEncoder {
public:
    PictureTowerEncoder(BoundModel& model, VisionTower& tower, uint64_t format_key)
        : PictureEncoder(model, format_key), tower_(tower) {}

    Result<std::vector<float>> encode(const PreparedMedia& media,
                                      const std::stop_token& stop) override;
    Result<std::vector<float>> runTower(const PreparedMedia& media,
                                        const std::stop_token& stop) override;
    Result<std::vector<float>> project(std::span<const float> tower) override {
        return tower_.project(tower);
    }

private:
    VisionTower& tower_;
};

class SoundTowerEncoder final : public SoundEncoder {
public:
    SoundTowerEncoder(BoundModel& model, AudioTower& tower, uint64_t format_key)
        : SoundEncoder(model, format_key), tower_(tower) {}

    [[nodiscard]] Result<PreparedMedia> prepare(std::span<const std::byte> file,
                                                const MediaWish& wish) const override;
    Result<std::vector<float>> encode(const PreparedMedia& media,
                                      const std::stop_token& stop) override {
        return tower_.encode({media.rows, media.grid_w}, stop);
    }
    Result<std::vector<float>> runTower(const PreparedMedia& media,
                                        const std::stop_token& stop) override {
        return tower_.run({media.rows, media.grid_w}, stop);
    }
    Result<std::vector<float>> project(std::span<const float> tower) override {
        return tower_.project(tower);
    }

private:
    AudioTower& tower_;
};

/// The samples of a recording at 16 kHz, cut as wished.
[[nodiscard]] Result<DecodedAudio> decodeCut(std::span<const std::byte> file,
                                             const MediaWish& wish);

} // namespace engine
