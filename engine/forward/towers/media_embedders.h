// SPDX-License-Identifier: Apache-2.0
// What the 12B has in place of towers: a picture's patches and a sound's frames go straight to the
// projector. Formulas: engine/families/gemma4_unified/ARCHITECTURE.md. Norms run on the host, whose
// memory both ends of them are in anyway; only the products use the devices of their weights.
#pragma once

#include "engine/forward/bound_model.h"
#include "engine/model/media_encoder.h"

namespace engine {

class PatchEmbedder final : public MediaEncoder {
public:
    /// `model` has a vision config without a tower, and outlives this.
    PatchEmbedder(BoundModel& model, uint64_t format_key)
        : model_(model), format_key_(format_key) {}

    [[nodiscard]] std::string_view name() const override { return "vision"; }
    [[nodiscard]] int64_t placeholder() const override { return model_.config.image_token_id; }
    [[nodiscard]] size_t maxFileBytes() const override;
    [[nodiscard]] uint64_t formatKey() const override { return format_key_; }
    [[nodiscard]] Result<PreparedMedia> prepare(std::span<const std::byte> file,
                                                const MediaWish& wish) const override;
    Result<std::vector<float>> encode(const PreparedMedia& media,
                                      const std::stop_token& stop) override;
    [[nodiscard]] bool hasTower() const override { return false; }
    /// Embedded patches behind the projector's norm, [patches, towerWidth()].
    Result<std::vector<float>> runTower(const PreparedMedia& media,
                                        const std::stop_token& stop) override;
    Result<std::vector<float>> project(std::span<const float> tower) override;
    [[nodiscard]] int64_t towerWidth() const override { return model_.config.vision->hidden_size; }
    [[nodiscard]] int64_t featureWidth() const override { return model_.config.text.hidden_size; }

private:
    [[nodiscard]] Result<void> check(const PreparedMedia& media) const;
    /// rows[i] = patch_dense(layer norm of patch i), without the bias.
    Result<void> multiply(const PreparedMedia& media,
                          std::vector<float>& rows,
                          const std::stop_token& stop) const;
    /// pos_embedding[i, axis] for i below `count`: [count, hidden].
    [[nodiscard]] Result<std::vector<float>> positions(int64_t count, int64_t axis) const;

    BoundModel& model_;
    uint64_t format_key_;
};

class FrameEmbedder final : public MediaEncoder {
public:
    /// `model` has an audio config without a tower, and outlives this.
    FrameEmbedder(BoundModel& model, uint64_t format_key)
        : model_(model), format_key_(format_key) {}

    [[nodiscard]] std::string_view name() const override { return "audio"; }
    [[nodiscard]] int64_t placeholder() const override { return model_.config.audio_token_id; }
    [[nodiscard]] size_t maxFileBytes() const override;
    [[nodiscard]] uint64_t formatKey() const override { return format_key_; }
    /// Rows: the samples at 16 kHz, zeros behind them up to a whole frame.
    [[nodiscard]] Result<PreparedMedia> prepare(std::span<const std::byte> file,
                                                const MediaWish& wish) const override;
    Result<std::vector<float>> encode(const PreparedMedia& media,
                                      const std::stop_token& stop) override;
    [[nodiscard]] bool hasTower() const override { return false; }
    /// The frames behind the projector's norm, [frames, towerWidth()].
    Result<std::vector<float>> runTower(const PreparedMedia& media,
                                        const std::stop_token& stop) override;
    Result<std::vector<float>> project(std::span<const float> tower) override;
    [[nodiscard]] int64_t towerWidth() const override { return model_.config.audio->output_size; }
    [[nodiscard]] int64_t featureWidth() const override { return model_.config.text.hidden_size; }

private:
    BoundModel& model_;
    uint64_t format_key_;
};

} // namespace engine
