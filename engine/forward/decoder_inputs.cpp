// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/decoder_inputs.h"

#include "engine/forward/matrix_views.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine {

using kernels::MutF32;

std::optional<kernels::WeightView> DecoderInputs::tableThere(WeightSource::Handle table,
                                                             AdapterHook::Handle adapter,
                                                             const DeviceScratch& where) const {
    if (adapter != AdapterHook::kNone || where.device().isHostVisible()) {
        return std::nullopt;
    }
    auto view = model_->context->weights().residentOn(table, where.id());
    const auto is_outside = [&view](int32_t id) { return id < 0 || id >= view->rows; };
    if (view && std::any_of(ids_.begin(), ids_.end(), is_outside)) {
        view.reset();
    }
    return view;
}

Result<const int32_t*> DecoderInputs::uploadIds(DeviceScratch& where) {
    int32_t* const ids = where.ints(Buffer::Ids);
    ENGINE_KERNEL(where.device().copyIn(ids, ids_.data(), ids_.size() * sizeof(int32_t)), "copy in",
                  "token ids");
    return ids;
}

Result<void> DecoderInputs::embedOnHost(std::span<const FeatureSpan> features, MutF32 rows) {
    const DecoderWeights& weights = model_->text;
    ENGINE_TRY(model_->context->gatherRows(weights.embedding, weights.embedding_adapter, ids_,
                                           weights.embedding_scale, rows));
    for (const FeatureSpan& span : features) {
        const int64_t begin = std::max<int64_t>(0, span.first_row);
        const int64_t end = std::min(rows.rows, span.first_row + span.count);
        for (int64_t row = begin; row < end; ++row) {
            std::memcpy(rows.data + row * rows.stride,
                        span.features + (row - span.first_row) * rows.cols,
                        static_cast<size_t>(rows.cols) * sizeof(float));
        }
    }
    return {};
}

Result<void> DecoderInputs::embed(std::span<const int32_t> ids,
                                  std::span<const FeatureSpan> features,
                                  DeviceScratch& home,
                                  MutF32 x) {
    const DecoderWeights& weights = model_->text;
    // Media placeholders embed as pad, also for the per-layer table.
    ids_.assign(ids.begin(), ids.end());
    for (int32_t& id : ids_) {
        if (model_->isPlaceholder(id)) {
            id = static_cast<int32_t>(model_->config.text.pad_token_id);
        }
    }
    if (home.device().isHostVisible()) {
        return embedOnHost(features, x);
    }
    if (const auto table = tableThere(weights.embedding, weights.embedding_adapter, home)) {
        ENGINE_ASSIGN(const int32_t* there, uploadIds(home));
        ENGINE_KERNEL(home.ops().gather_rows(home.queue(), *table, there, x.rows, 0,
                                             weights.embedding_scale, x),
                      "gather rows", "embedding");
        for (const FeatureSpan& span : features) {
            const int64_t begin = std::max<int64_t>(0, span.first_row);
            const int64_t end = std::min(x.rows, span.first_row + span.count);
            if (begin < end) {
                ENGINE_KERNEL(home.device().copyIn(
                                  x.data + begin * x.stride,
                                  span.features + (begin - span.first_row) * x.cols,
                                  static_cast<size_t>((end - begin) * x.cols) * sizeof(float)),
                              "copy in", "features");
            }
        }
        return {};
    }
    ENGINE_TRY(embed_upload_.begin(home.device(), x.rows * x.cols));
    const MutF32 rows = embed_upload_.take(x.rows, x.cols);
    ENGINE_TRY(embedOnHost(features, rows));
    return embed_upload_.send(rows, x);
}

Result<void> DecoderInputs::perLayer(DeviceScratch& home, MutF32 x, int64_t full_rows) {
    const TextConfig& text = model_->config.text;
    const DecoderWeights& weights = model_->text;
    DeviceScratch& where = *weights.per_layer_home;
    const int64_t width = model_->perLayerWidth();
    MutF32 merged = x;
    if (&where != &home) {
        merged = where.matrix(Buffer::X, x.rows, text.hidden_size);
        ENGINE_TRY(model_->context->move(home, x.data, where, merged.data, sizeBytes(x)));
    }
    const MutF32 ple = where.matrix(Buffer::Ple, x.rows, width);
    // Rows that stop at the cut need the slices of the layers up to it only.
    const int64_t cut_rows = x.rows - full_rows;
    const int64_t cut_width = (text.lastKvOwner() + 1) * text.ple_size;
    const Linear& projection = weights.per_layer_projection;
    const bool is_cut = cut_rows > 0 && cut_width < width &&
                        projection.adapter == AdapterHook::kNone && projection.device == where.id();
    const auto there = tableThere(weights.per_layer_table, weights.per_layer_adapter, where);
    const kernels::WeightView* table = there ? &*there : nullptr;
    if (table != nullptr) {
        ENGINE_TRY(uploadIds(where));
    } else if (!where.device().isHostVisible()) {
        ENGINE_TRY(per_layer_upload_.begin(
            where.device(), is_cut ? cut_rows * cut_width + full_rows * width : x.rows * width));
    }
    if (is_cut) {
        ENGINE_TRY(perLayerRows(where, rowsOf(merged, 0, cut_rows), 0,
                                {ple.data, cut_rows, cut_width, width}, table));
        if (full_rows == 0) {
            return {};
        }
        return perLayerRows(where, rowsOf(merged, cut_rows, full_rows), cut_rows,
                            rowsOf(ple, cut_rows, full_rows), table);
    }
    return perLayerRows(where, merged, 0, ple, table);
}

Result<void> DecoderInputs::project(DeviceScratch& where, MutF32 x, MutF32 ple) {
    const Linear& projection = model_->text.per_layer_projection;
    ComputeContext& context = *model_->context;
    if (ple.cols == model_->perLayerWidth()) {
        return context.linear(projection, where, x, ple);
    }
    // The first rows of the weight: blocks and their statistics begin at row 0, too.
    ENGINE_ASSIGN(kernels::WeightView view, context.weights().acquire(projection.weight));
    view.rows = ple.cols;
    const kernels::Status status = where.ops().linear(where.queue(), x, view, ple);
    context.weights().release(projection.weight);
    return checkStatus(status, "linear", projection.name);
}

Result<void> DecoderInputs::normSlices(DeviceScratch& where, MutF32 ple, float before) {
    const TextConfig& text = model_->config.text;
    const auto queue = where.queue();
    const auto& ops = where.ops();
    const kernels::MatView weight = model_->text.per_layer_norm;
    const auto eps = static_cast<float>(text.rms_norm_eps);
    const std::string& name = model_->text.per_layer_projection.name;
    ENGINE_KERNEL(ops.scale(queue, ple, before), "scale", name);
    if (ple.stride == ple.cols) {
        const MutF32 slices = reshaped(ple, text.ple_size);
        return checkStatus(ops.rms_norm(queue, slices, weight, eps, slices), "norm", name);
    }
    for (int64_t at = 0; at < ple.cols; at += text.ple_size) {
        const MutF32 slice{ple.data + at, ple.rows, text.ple_size, ple.stride};
        ENGINE_KERNEL(ops.rms_norm(queue, slice, weight, eps, slice), "norm", name);
    }
    return {};
}

Result<void> DecoderInputs::perLayerRows(DeviceScratch& where,
                                         MutF32 merged,
                                         int64_t first_row,
                                         MutF32 ple,
                                         const kernels::WeightView* table) {
    const TextConfig& text = model_->config.text;
    const DecoderWeights& weights = model_->text;
    const auto queue = where.queue();
    const auto& ops = where.ops();
    const std::string& name = weights.per_layer_projection.name;
    ENGINE_TRY(project(where, merged, ple));
    // Scales, norm and sum in one pass over the rows of each part, or one by one.
    const float before = 1.0F / std::sqrt(static_cast<float>(text.hidden_size));
    const float after = 1.0F / std::sqrt(2.0F);
    const bool is_fused = ops.per_layer_rows != nullptr && ple.rows > 1 && text.ple_size % 4 == 0 &&
                          text.ple_size <= 1024;
    if (!is_fused) {
        ENGINE_TRY(normSlices(where, ple, before));
    }

    // Token part: one contiguous row of the table per token, wherever the table is.
    const float scale = std::sqrt(static_cast<float>(text.ple_size));
    const auto gather = [&](int64_t first, MutF32 rows) {
        const std::span<const int32_t> ids(ids_.data() + first_row + first,
                                           static_cast<size_t>(rows.rows));
        return model_->context->gatherRows(weights.per_layer_table, weights.per_layer_adapter, ids,
                                           scale, rows);
    };
    const bool is_visible = where.device().isHostVisible();
    MutF32 all;
    if (!is_visible && table == nullptr) {
        all = per_layer_upload_.take(ple.rows, ple.cols);
        ENGINE_TRY(gather(0, all));
    }
    const int64_t at_once = where.size(Buffer::PleToken) / model_->perLayerWidth();
    for (int64_t first = 0; first < ple.rows; first += at_once) {
        const int64_t count = std::min(at_once, ple.rows - first);
        const MutF32 token = where.matrix(Buffer::PleToken, count, ple.cols);
        if (table != nullptr) {
            const int32_t* ids = where.ints(Buffer::Ids) + first_row + first;
            ENGINE_KERNEL(ops.gather_rows(queue, *table, ids, count, 0, scale, token),
                          "gather rows", name);
        } else {
            ENGINE_TRY(is_visible ? gather(first, token)
                                  : per_layer_upload_.send(rowsOf(all, first, count), token));
        }
        const MutF32 part = rowsOf(ple, first, count);
        if (is_fused) {
            ENGINE_KERNEL(ops.per_layer_rows(queue, part, token, weights.per_layer_norm,
                                             static_cast<float>(text.rms_norm_eps), before, after),
                          "norm and sum", name);
        } else {
            ENGINE_KERNEL(ops.add_scaled(queue, token, 1.0F, part), "add", name);
        }
    }
    return is_fused ? Result<void>() : checkStatus(ops.scale(queue, ple, after), "scale", name);
}

} // namespace engine
