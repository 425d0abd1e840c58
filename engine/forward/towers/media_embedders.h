// SPDX-License-Identifier: Apache-2.0
// What the 12B has in place of towers: a picture's patches and a sound's frames go straight to the
// projector. Formulas: engine/families/gemma4_unified/ARCHITECTURE.md. Norms run on the host, whose
// memory both ends of them are in anyway; only the products use the devices of their weights.
#pragma once

#include "engine/forward/media_encoders.h"

namespace engine {

class PatchEmbedder final : public PictureEncoder {
public:
    /// `model` has a vision config without a tower.
    PatchEmbedder(BoundModel& model, uint64_t format_key) : PictureEncoder(model, format_key) {}

    Result<std::vector<float>> encode(const PreparedMedia& media,
                                      const std::stop_token& stop) override;
    [[nodiscard]] bool hasTower() const override { return false; }
    /// Embedded patches behind the projector's norm, [patches, towerWidth()].
    Result<std::vector<float>> runTower(const PreparedMedia& media,
                                        const std::stop_token& stop) override;
    Result<std::vector<float>> project(std::span<const float> tower) override;

private:
    [[nodiscard]] Result<void> check(const PreparedMedia& media) const;
    /// rows[i] = patch_dense(layer norm of patch i), without the bias.
    Result<void> multiply(const PreparedMedia& media,
                          std::vector<float>& rows,
                          const std::stop_token& stop) const;
    /// pos_embedding[i, axis] for i below `count`: [count, hidden].
    [[nodiscard]] Result<std::vector<float>> positions(int64_t count, int64_t axis) const;
};

class FrameEmbedder final : public SoundEncoder {
public:
    /// `model` has an audio config without a tower.
    FrameEmbedder(BoundModel& model, uint64_t format_key) : SoundEncoder(model, format_key) {}

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
};

} // namespace engine
