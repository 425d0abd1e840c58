// SPDX-License-Identifier: Apache-2.0
// What stands in front of a decoder's layers: embedding rows (with the features of pictures and
// sounds in the places of their placeholders) and per-layer inputs. Formulas: ARCHITECTURE.md of
// the family.
#pragma once

#include "engine/forward/bound_model.h"
#include "engine/forward/memory/upload_rows.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace engine {

/// Rows of the input that are not token embeddings: one run of soft tokens of one image or clip.
struct FeatureSpan {
    int64_t first_row = 0; ///< Within this call's rows.
    int64_t count = 0;
    const float* features = nullptr; ///< [count, hidden], host memory, not scaled.
};

class DecoderInputs {
public:
    explicit DecoderInputs(BoundModel& model) : model_(&model) {}

    /// x [ids, hidden] on `home` = embedding_scale * the rows of `ids`, or features.
    Result<void> embed(std::span<const int32_t> ids,
                       std::span<const FeatureSpan> features,
                       DeviceScratch& home,
                       kernels::MutF32 x);
    /// Buffer::Ple of the projection's device, from x of embed() on `home`. full_rows: the last
    /// rows, which go through all layers; the others stop behind the last owner of KV.
    Result<void> perLayer(DeviceScratch& home, kernels::MutF32 x, int64_t full_rows);

private:
    /// The table where it lies in `where`'s own memory, so that its kernels gather the rows of this
    /// call: no byte of the table passes through the host. Nothing when it lies elsewhere, an
    /// adapter changes rows of it or an id of this call is outside it: gather on the host then.
    [[nodiscard]] std::optional<kernels::WeightView> tableThere(WeightSource::Handle table,
                                                                AdapterHook::Handle adapter,
                                                                const DeviceScratch& where) const;
    /// Token ids of this call to `where`.
    Result<const int32_t*> uploadIds(DeviceScratch& where);
    /// Rows of the table and features, made on the host.
    Result<void> embedOnHost(std::span<const FeatureSpan> features, kernels::MutF32 rows);
    /// The first ple.cols columns for rows that begin at `first_row` of this call. table: as
    /// `where` reads it, or nullptr; the ids are then in its buffer.
    Result<void> perLayerRows(DeviceScratch& where,
                              kernels::MutF32 merged,
                              int64_t first_row,
                              kernels::MutF32 ple,
                              const kernels::WeightView* table);
    /// ple = projection x, its first columns.
    Result<void> project(DeviceScratch& where, kernels::MutF32 x, kernels::MutF32 ple);
    /// ple = rms(ple * before) * norm of every slice.
    Result<void> normSlices(DeviceScratch& where, kernels::MutF32 ple, float before);

    BoundModel* model_;
    std::vector<int32_t> ids_; ///< Tokens of this call, placeholders as pad.
    UploadRows embed_upload_, per_layer_upload_;
};

} // namespace engine
