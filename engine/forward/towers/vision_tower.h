// SPDX-License-Identifier: Apache-2.0
// The vision tower and its projector. Formulas: ARCHITECTURE.md of the family, section 4. One image
// at its true size (no padding). Everything outside attention runs in blocks of rows, so that
// scratch stays small for 1120-token images. Layers run by single functions (here) or in fused
// steps of many rows (vision_rows.h), as chosen when the model was bound.
#pragma once

#include "engine/forward/bound_model.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace engine {

/// Pixels of one image, ready for the tower.
struct ImageInput {
    std::span<const float> patches; ///< [grid_h * grid_w, patch^2 * 3], pixel / 255.
    int64_t grid_w = 0, grid_h = 0; ///< In patches; multiples of the pooling kernel.
    [[nodiscard]] int64_t count() const { return grid_w * grid_h; }
};

/// Every patch sees every patch.
[[nodiscard]] kernels::AttentionMask openMask(const DeviceScratch& home);

class VisionTower {
public:
    explicit VisionTower(BoundModel& model) : model_(&model) {}

    /// Features [soft tokens, text hidden] in host memory. tower_output (may be nullptr) receives
    /// the pooled output [soft tokens, vision hidden].
    /// Errors: InvalidRequest (no tower, an image that does not fit), Cancelled, device errors.
    Result<std::vector<float>> encode(const ImageInput& image,
                                      const std::stop_token& stop,
                                      std::vector<float>* tower_output = nullptr);
    /// What the projector takes, [soft tokens, vision hidden]: uses nothing but the tower's device.
    Result<std::vector<float>> run(const ImageInput& image, const std::stop_token& stop);
    Result<std::vector<float>> project(std::span<const float> tower);

private:
    Result<void> check(const ImageInput& image) const;
    /// The output on the tower's device, pooled, before the projector's norm.
    Result<kernels::MutF32> runLayers(const ImageInput& image,
                                      const std::stop_token& stop,
                                      std::vector<float>* tower_output);
    /// Columns and rows of the patches to the device.
    Result<void> uploadPlaces(const ImageInput& image);
    /// VisionX = W (2 (p - 0.5)) + table[0][x] + table[1][y].
    Result<void> embed(const ImageInput& image);
    /// Adds rows `ids` of the position table, wherever it is. rows_host: room for [ids, hidden].
    Result<void> addPositions(std::span<const int32_t> ids,
                              const kernels::WeightView* table,
                              std::span<float> rows_host,
                              kernels::MutF32 block);
    Result<void> runLayer(const VisionLayer& layer, int64_t patches);
    Result<void> storeKeys(const VisionLayer& layer, int64_t patches);
    Result<void> attend(const VisionLayer& layer,
                        int64_t patches,
                        int64_t first,
                        kernels::MatF32 h,
                        kernels::MutF32 t);
    Result<void> gatedMlp(const VisionLayer& layer, kernels::MatF32 h, kernels::MutF32 t);
    /// Half 0 of each head turns with the column, half 1 with the row.
    Result<void> rotate(kernels::MutF32 heads, int64_t first, const std::string& name);
    /// The states of the patches averaged over what a soft token stands for, times sqrt(hidden).
    Result<kernels::MutF32> pool(const ImageInput& image);
    Result<std::vector<float>> poolOnHost(const ImageInput& image, float factor);
    Result<void> standardize(kernels::MutF32 rows);

    BoundModel* model_;
};

} // namespace engine
