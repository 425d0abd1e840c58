// SPDX-License-Identifier: Apache-2.0
// The vision and the audio tower of a Model, seen as encoders. They belong to the model. Models
// without towers: media_embedders.h.
#pragma once

#include "engine/forward/model.h"
#include "engine/model/media_encoder.h"

namespace engine {

/// Soft tokens of a recording of that many samples at 16 kHz, with a tower or without.
[[nodiscard]] int64_t soundTokens(const AudioConfig& audio, int64_t samples);

class PictureEncoder final : public MediaEncoder {
public:
    explicit PictureEncoder(Model& model) : model_(model) {}

    [[nodiscard]] std::string_view name() const override { return "vision"; }
    [[nodiscard]] int64_t placeholder() const override { return model_.config().image_token_id; }
    [[nodiscard]] size_t maxFileBytes() const override;
    [[nodiscard]] uint64_t formatKey() const override { return model_.formatKeys().vision; }
    [[nodiscard]] Result<PreparedMedia> prepare(std::span<const std::byte> file,
                                                const MediaWish& wish) const override;
    Result<std::vector<float>> encode(const PreparedMedia& media,
                                      const std::stop_token& stop) override;
    Result<std::vector<float>> runTower(const PreparedMedia& media,
                                        const std::stop_token& stop) override;
    Result<std::vector<float>> project(std::span<const float> tower) override;
    [[nodiscard]] int64_t towerWidth() const override;
    [[nodiscard]] int64_t featureWidth() const override { return model_.config().text.hidden_size; }

private:
    Model& model_;
};

class SoundEncoder final : public MediaEncoder {
public:
    explicit SoundEncoder(Model& model) : model_(model) {}

    [[nodiscard]] std::string_view name() const override { return "audio"; }
    [[nodiscard]] int64_t placeholder() const override { return model_.config().audio_token_id; }
    [[nodiscard]] size_t maxFileBytes() const override;
    [[nodiscard]] uint64_t formatKey() const override { return model_.formatKeys().audio; }
    [[nodiscard]] Result<PreparedMedia> prepare(std::span<const std::byte> file,
                                                const MediaWish& wish) const override;
    Result<std::vector<float>> encode(const PreparedMedia& media,
                                      const std::stop_token& stop) override;
    Result<std::vector<float>> runTower(const PreparedMedia& media,
                                        const std::stop_token& stop) override;
    Result<std::vector<float>> project(std::span<const float> tower) override;
    [[nodiscard]] int64_t towerWidth() const override;
    [[nodiscard]] int64_t featureWidth() const override { return model_.config().text.hidden_size; }

private:
    Model& model_;
};

} // namespace engine
