// SPDX-License-Identifier: Apache-2.0
// The audio tower (conformer) and its projector. Formulas: ARCHITECTURE.md of the family, section
// 5; the attention is the closed form of 5.4 (banded, causal, relative keys). Only valid frames are
// run.
#pragma once

#include "engine/forward/bound_model.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// Log-mel frames of one clip.
struct SoundInput {
    std::span<const float> log_mel; ///< [frames, mel bins]
    int64_t frames = 0;
    /// Soft tokens that come out.
    [[nodiscard]] int64_t tokens() const { return ((frames + 1) / 2 + 1) / 2; }
};

class AudioTower {
public:
    explicit AudioTower(BoundModel& model) : model_(&model) {}

    /// Features [tokens, text hidden] in host memory. tower_output (may be nullptr) receives the
    /// tower's output [tokens, output size].
    /// Errors: InvalidRequest (no tower, a clip that is too short or too long), Cancelled, device
    /// errors.
    Result<std::vector<float>> encode(const SoundInput& sound,
                                      const std::stop_token& stop,
                                      std::vector<float>* tower_output = nullptr);
    /// What the projector takes, [tokens, output size]: uses nothing but the tower's device.
    Result<std::vector<float>> run(const SoundInput& sound, const std::stop_token& stop) {
        return runLayers(sound, stop, nullptr);
    }
    Result<std::vector<float>> project(std::span<const float> tower);

private:
    Result<void> check(const SoundInput& sound) const;
    /// The output with the projector's norm, in host memory.
    Result<std::vector<float>> runLayers(const SoundInput& sound,
                                         const std::stop_token& stop,
                                         std::vector<float>* tower_output);
    /// AudioX = the frames of Mel behind two convolutions, a quarter as many.
    Result<void> subsample(int64_t mel_frames, kernels::MutF32 out);
    Result<void> runLayer(const AudioLayer& layer, int64_t frames);
    Result<void> feedForward(const AudioFeedForward& weights, kernels::MatF32 h, kernels::MutF32 t);
    Result<void> attend(const AudioLayer& layer, kernels::MatF32 h, kernels::MutF32 t);
    /// Linear, GLU, depthwise causal convolution, norm, SiLU, linear. h is overwritten.
    Result<void> convolve(const AudioLayer& layer, kernels::MutF32 h, kernels::MutF32 t);

    BoundModel* model_;
};

} // namespace engine
