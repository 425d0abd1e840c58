// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/towers/media_embedders.h"

#include "engine/forward/towers/projector.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace engine {

using kernels::MutF32;

namespace {

constexpr double kLayerNormEps = 1e-5; ///< PyTorch's default, which the model's class leaves.

/// row = (row - mean) / sqrt(variance + eps) * weight + bias.
void normalize(std::span<float> row, const LayerNormWeights& norm) {
    const auto size = static_cast<double>(row.size());
    double sum = 0.0;
    for (const float value : row) {
        sum += value;
    }
    const double mean = sum / size;
    double squares = 0.0;
    for (const float value : row) {
        squares += (value - mean) * (value - mean);
    }
    const double factor = 1.0 / std::sqrt(squares / size + kLayerNormEps);
    for (size_t i = 0; i < row.size(); ++i) {
        row[i] = static_cast<float>((row[i] - mean) * factor) * norm.weight[i] + norm.bias[i];
    }
}

/// row = row / rms(row), in front of a projector.
void scaleByRms(std::span<float> row, double eps) {
    double squares = 0.0;
    for (const float value : row) {
        squares += static_cast<double>(value) * value;
    }
    const double factor = 1.0 / std::sqrt(squares / static_cast<double>(row.size()) + eps);
    for (float& value : row) {
        value = static_cast<float>(value * factor);
    }
}

} // namespace

Result<void> PatchEmbedder::check(const PreparedMedia& media) const {
    const int64_t patches = media.grid_w * media.grid_h;
    const Linear& projector = model().vision.projector;
    const int64_t room =
        model().context->scratch(projector.device)->size(Buffer::VisionProjectorIn);
    if (patches <= 0 ||
        static_cast<int64_t>(media.rows.size()) != patches * model().vision.patches.in ||
        patches * projector.in > room) {
        return Error{ErrorCode::InvalidRequest,
                     said("image of %1 x %2 patches: does not fit the budget the model was loaded "
                          "for; load with a larger --image-tokens",
                          media.grid_w, media.grid_h)};
    }
    const int64_t most = model().config.vision->position_table_size;
    if (std::max(media.grid_w, media.grid_h) > most) {
        return Error{ErrorCode::InvalidRequest,
                     said("image of %1 x %2 patches: the model knows %3 positions per side; choose "
                          "a smaller token budget or a squarer picture",
                          media.grid_w, media.grid_h, most)};
    }
    return {};
}

Result<void> PatchEmbedder::multiply(const PreparedMedia& media,
                                     std::vector<float>& rows,
                                     const std::stop_token& stop) const {
    const Linear& dense = model().vision.patches;
    DeviceScratch& home = *model().vision.home;
    const int64_t patches = media.grid_w * media.grid_h;
    const int64_t block_rows = home.size(Buffer::VisionPatch) / dense.in;
    std::vector<float> normed(static_cast<size_t>(std::min(block_rows, patches) * dense.in));
    for (int64_t first = 0; first < patches; first += block_rows) {
        if (!model().mayGoOn(stop)) {
            return Error{ErrorCode::Cancelled, said("stopped by the user")};
        }
        const int64_t count = std::min(block_rows, patches - first);
        std::copy_n(media.rows.begin() + first * dense.in, count * dense.in, normed.begin());
        for (int64_t i = 0; i < count; ++i) {
            normalize({normed.data() + i * dense.in, static_cast<size_t>(dense.in)},
                      model().vision.patch_norms[0]);
        }
        const MutF32 in = home.matrix(Buffer::VisionPatch, count, dense.in);
        const MutF32 out = home.matrix(Buffer::VisionT, count, dense.out);
        ENGINE_KERNEL(home.device().copyIn(in.data, normed.data(),
                                           static_cast<size_t>(count * dense.in) * sizeof(float)),
                      "copy in", dense.name);
        ENGINE_TRY(model().context->linear(dense, home, in, out));
        ENGINE_KERNEL(home.device().copyOut(rows.data() + first * dense.out, out.data,
                                            static_cast<size_t>(count * dense.out) * sizeof(float)),
                      "copy out", dense.name);
    }
    return {};
}

Result<std::vector<float>> PatchEmbedder::positions(int64_t count, int64_t axis) const {
    const VisionWeights& weights = model().vision;
    const int64_t hidden = model().config.vision->hidden_size;
    std::vector<int32_t> ids(static_cast<size_t>(count));
    for (size_t i = 0; i < ids.size(); ++i) {
        ids[i] = static_cast<int32_t>(2 * static_cast<int64_t>(i) + axis);
    }
    std::vector<float> rows(static_cast<size_t>(count * hidden));
    if (weights.replaced_positions.empty()) {
        ENGINE_TRY(model().context->weights().gatherRows(weights.positions, ids, 0, 1.0F,
                                                         {rows.data(), count, hidden, hidden}));
        return rows;
    }
    for (int64_t i = 0; i < count; ++i) {
        std::copy_n(weights.replaced_positions.begin() + ids[static_cast<size_t>(i)] * hidden,
                    hidden, rows.begin() + i * hidden);
    }
    return rows;
}

Result<std::vector<float>> PatchEmbedder::runTower(const PreparedMedia& media,
                                                   const std::stop_token& stop) {
    ENGINE_TRY(check(media));
    const VisionWeights& weights = model().vision;
    const auto hidden = static_cast<size_t>(model().config.vision->hidden_size);
    const auto columns = static_cast<size_t>(media.grid_w);
    ENGINE_ASSIGN(const std::vector<float> of_column, positions(media.grid_w, 0));
    ENGINE_ASSIGN(const std::vector<float> of_row, positions(media.grid_h, 1));
    std::vector<float> rows(columns * static_cast<size_t>(media.grid_h) * hidden);
    ENGINE_TRY(multiply(media, rows, stop));
    for (size_t n = 0; n < rows.size() / hidden; ++n) {
        const std::span<float> row(rows.data() + n * hidden, hidden);
        const float* x = of_column.data() + n % columns * hidden;
        const float* y = of_row.data() + n / columns * hidden;
        for (size_t i = 0; i < hidden; ++i) {
            row[i] += weights.patch_bias[i];
        }
        normalize(row, weights.patch_norms[1]);
        for (size_t i = 0; i < hidden; ++i) {
            row[i] += x[i] + y[i];
        }
        normalize(row, weights.patch_norms[2]);
        scaleByRms(row, model().config.vision->rms_norm_eps);
    }
    return rows;
}

Result<std::vector<float>> PatchEmbedder::project(std::span<const float> tower) {
    return projectedFromHost(model(), model().vision.projector, tower, Buffer::VisionProjectorIn,
                             Buffer::VisionProjectorOut);
}

Result<std::vector<float>> PatchEmbedder::encode(const PreparedMedia& media,
                                                 const std::stop_token& stop) {
    ENGINE_ASSIGN(const std::vector<float> rows, runTower(media, stop));
    return project(rows);
}

Result<PreparedMedia> FrameEmbedder::prepare(std::span<const std::byte> file,
                                             const MediaWish& wish) const {
    ENGINE_ASSIGN(DecodedAudio decoded, decodeCut(file, wish));
    PreparedMedia media;
    media.grid_w = soundTokens(*model().config.audio, static_cast<int64_t>(decoded.samples.size()));
    media.rows = std::move(decoded.samples);
    media.rows.resize(static_cast<size_t>(media.grid_w * towerWidth()), 0.0F);
    media.notes = std::move(decoded.source.notes);
    return media;
}

Result<std::vector<float>> FrameEmbedder::runTower(const PreparedMedia& media,
                                                   const std::stop_token& /*stop*/) {
    const int64_t most = model().config.processor.max_audio_tokens;
    if (media.grid_w > most) {
        return Error{
            ErrorCode::InvalidRequest,
            said("audio: %1 tokens, the model takes at most %2 (30 s) per clip; cut the clip",
                 media.grid_w, most)};
    }
    std::vector<float> rows = media.rows;
    const auto width = static_cast<size_t>(towerWidth());
    for (size_t first = 0; first < rows.size(); first += width) {
        scaleByRms({rows.data() + first, width}, model().config.audio->rms_norm_eps);
    }
    return rows;
}

Result<std::vector<float>> FrameEmbedder::project(std::span<const float> tower) {
    return projectedFromHost(model(), model().audio.projector, tower, Buffer::AudioProjectorIn,
                             Buffer::AudioProjectorOut);
}

Result<std::vector<float>> FrameEmbedder::encode(const PreparedMedia& media,
                                                 const std::stop_token& stop) {
    ENGINE_ASSIGN(const std::vector<float> rows, runTower(media, stop));
    return project(rows);
}

} // namespace engine
