// SPDX-License-Identifier: Apache-2.0
// The arithmetic of adapter_runtime.h in terms of kernels. Inputs longer than the workspace are
// worked through in blocks of rows; rows are independent, so that the result does not depend on it.
#include "engine/lora/adapter_site.h"

#include "engine/lora/tensor_values.h"

#include <algorithm>
#include <vector>

namespace engine {

namespace {

using kernels::MatF32;
using kernels::MutF32;
using kernels::Queue;
using kernels::Status;

MatF32 rowsOf(MatF32 m, int64_t first, int64_t count) {
    return {m.data + first * m.stride, count, m.cols, m.stride};
}
MutF32 rowsOf(MutF32 m, int64_t first, int64_t count) {
    return {m.data + first * m.stride, count, m.cols, m.stride};
}

Result<void> check(Status status, const AdapterSite& site) {
    if (status != Status::Ok) {
        return kernelError(status, said("the adapter at %1", site.tensor));
    }
    return {};
}

/// Calls body(first, count) for blocks of rows that need `floats_per_row` of workspace each.
template <typename Body>
Result<void>
forBlocks(const AdapterSite& site, int64_t rows, int64_t floats_per_row, const Body& body) {
    const int64_t step = site.scratch_floats / std::max<int64_t>(floats_per_row, 1);
    if (step < 1) {
        return Error{ErrorCode::Internal,
                     "the adapter at " + site.tensor + ": the workspace is too small"};
    }
    for (int64_t first = 0; first < rows; first += step) {
        ENGINE_TRY(check(body(first, std::min(step, rows - first)), site));
    }
    return {};
}

/// y <- y + t (x W'^T - y); for t = 1 exactly the product with W'.
Result<void> replaceProduct(const AdapterSite& site,
                            const ActiveTensor& active,
                            int64_t expert,
                            Queue q,
                            MatF32 x,
                            MutF32 y) {
    const auto& ops = site.device->ops();
    const kernels::WeightView weight = active.placed->weight(expert);
    const float t = active.strength;
    if (t == 1.0F) {
        return check(ops.linear(q, x, weight, y), site);
    }
    return forBlocks(site, x.rows, y.cols, [&](int64_t first, int64_t count) {
        const MutF32 other{site.scratch, count, y.cols, y.cols};
        const MutF32 target = rowsOf(y, first, count);
        Status status = ops.linear(q, rowsOf(x, first, count), weight, other);
        if (status == Status::Ok) {
            status = ops.scale(q, target, 1.0F - t);
        }
        return status == Status::Ok ? ops.add_scaled(q, other, t, target) : status;
    });
}

/// Logits of replaced rows of the tied head: y[:, ids] <- blend with x rows'^T.
Result<void>
replaceHeadRows(const AdapterSite& site, const ActiveRows& active, Queue q, MatF32 x, MutF32 y) {
    const auto& ops = site.device->ops();
    const kernels::WeightView weight = active.placed->weight();
    const int64_t count = weight.rows;
    if (count == 0) {
        return {};
    }
    const float t = active.strength;
    const int32_t* ids = active.placed->ids();
    if (site.scratch_floats < 2 * count) {
        return Error{ErrorCode::Internal,
                     "the adapter at " + site.tensor + ": the workspace is too small"};
    }
    for (int64_t row = 0; row < x.rows; ++row) {
        float* logits = y.data + row * y.stride;
        // The same numbers once as a row (product) and once as a column (scatter).
        const MutF32 product{site.scratch, 1, count, count};
        const MutF32 column{site.scratch, count, 1, 1};
        ENGINE_TRY(check(ops.linear(q, rowsOf(x, row, 1), weight, product), site));
        if (t != 1.0F) {
            const MutF32 old{site.scratch + count, count, 1, 1};
            kernels::WeightView table;
            table.data = logits;
            table.format = kernels::WeightFormat::F32;
            table.rows = y.cols;
            table.cols = 1;
            ENGINE_TRY(check(ops.gather_rows(q, table, ids, count, 0, 1.0F, old), site));
            ENGINE_TRY(check(ops.scale(q, column, t), site));
            ENGINE_TRY(check(ops.add_scaled(q, old, 1.0F - t, column), site));
        }
        ENGINE_TRY(
            check(ops.store_rows(q, column, ids, kernels::KvType::F32, 1, logits, y.cols), site));
    }
    return {};
}

/// One batch: in one call where the device's table has it, else term by term.
Result<void> addBatch(const AdapterSite& site,
                      const UpdateBatch& batch,
                      std::span<const kernels::LoraTerm> terms,
                      Queue q,
                      MatF32 x,
                      MutF32 y) {
    const auto& ops = site.device->ops();
    if (batch.columns != nullptr) {
        ENGINE_TRY(check(ops.scale_columns(q, y, batch.columns), site));
    }
    if (ops.lora_accumulate_all != nullptr) {
        return forBlocks(site, x.rows, batch.rank, [&](int64_t first, int64_t count) {
            return ops.lora_accumulate_all(
                q, rowsOf(x, first, count), terms.data(), static_cast<int64_t>(terms.size()),
                {site.scratch, count, batch.rank, batch.rank}, rowsOf(y, first, count));
        });
    }
    for (const kernels::LoraTerm& term : terms) {
        const int64_t rank = term.a.rows;
        ENGINE_TRY(forBlocks(site, x.rows, rank, [&](int64_t first, int64_t count) {
            return ops.lora_accumulate(q, rowsOf(x, first, count), term.a, term.b, term.b_bias,
                                       term.scaling, {site.scratch, count, rank, rank},
                                       rowsOf(y, first, count));
        }));
    }
    return {};
}

// ---- embeddings: host memory --------------------------------------------------------------

Result<void> replaceGather(const AdapterSite& site,
                           const ActiveTensor& active,
                           std::span<const int32_t> ids,
                           int64_t col_offset,
                           float scale,
                           MutF32 rows) {
    const auto& ops = site.device->ops();
    const Queue q = site.device->queue();
    const kernels::WeightView table = active.placed->weight();
    const float t = active.strength;
    const auto count = static_cast<int64_t>(ids.size());
    if (t == 1.0F) {
        return check(ops.gather_rows(q, table, ids.data(), count, col_offset, scale, rows), site);
    }
    return forBlocks(site, count, rows.cols, [&](int64_t first, int64_t n) {
        const MutF32 other{site.scratch, n, rows.cols, rows.cols};
        const MutF32 target = rowsOf(rows, first, n);
        Status status = ops.gather_rows(q, table, ids.data() + first, n, col_offset, scale, other);
        if (status == Status::Ok) {
            status = ops.scale(q, target, 1.0F - t);
        }
        return status == Status::Ok ? ops.add_scaled(q, other, t, target) : status;
    });
}

/// Few rows, so plain loops; a replaced row is scaled as a base row is.
void replaceRows(const ActiveRows& active,
                 std::span<const int32_t> ids,
                 int64_t col_offset,
                 float scale,
                 MutF32 rows) {
    const PlacedRows& placed = *active.placed;
    const TensorType type = placed.rows->rows.type;
    const size_t size = tensorTypeSize(type);
    const auto* data = static_cast<const std::byte*>(placed.weight().data);
    const float t = active.strength;
    std::vector<float> values(static_cast<size_t>(rows.cols));
    for (size_t i = 0; i < ids.size(); ++i) {
        const auto it = placed.row_of.find(ids[i]);
        if (it == placed.row_of.end()) {
            continue;
        }
        const auto first = static_cast<size_t>(it->second * placed.rows->dim + col_offset);
        expandToFloats(type, {data + first * size, values.size() * size}, values);
        float* row = rows.data + static_cast<int64_t>(i) * rows.stride;
        for (size_t c = 0; c < values.size(); ++c) {
            const float replaced = scale * values[c];
            row[c] = t == 1.0F ? replaced : (1.0F - t) * row[c] + t * replaced;
        }
    }
}

Result<void> addGathered(const AdapterSite& site,
                         const ActiveUpdate& active,
                         std::span<const int32_t> ids,
                         int64_t col_offset,
                         float scale,
                         MutF32 rows) {
    const auto& ops = site.device->ops();
    const Queue q = site.device->queue();
    const PlacedUpdate& placed = *active.placed;
    const int64_t rank = placed.update->rank;
    if (placed.update->isDora()) {
        ENGINE_TRY(check(ops.scale_columns(q, rows, placed.columns() + col_offset), site));
    }
    const kernels::WeightView table = placed.table();
    kernels::MatView b = placed.b();
    const size_t element = b.type == kernels::DType::F32 ? 4 : 2;
    b.data =
        static_cast<const std::byte*>(b.data) + static_cast<size_t>(col_offset * rank) * element;
    b.rows = rows.cols;
    return forBlocks(
        site, static_cast<int64_t>(ids.size()), 2 * rank, [&](int64_t first, int64_t n) {
            const MutF32 hidden{site.scratch, n, rank, rank};
            const MutF32 work{site.scratch + n * rank, n, rank, rank};
            const Status status = ops.gather_rows(q, table, ids.data() + first, n, 0, 1.0F, hidden);
            if (status != Status::Ok) {
                return status;
            }
            // The rows of A are gathered already: the identity stands in for A.
            return ops.lora_accumulate(q, hidden, placed.identity(), b, {}, active.scaling * scale,
                                       work, rowsOf(rows, first, n));
        });
}

} // namespace

Result<void>
applyAtLinear(const AdapterSite& site, int64_t expert, Queue queue, MatF32 x, MutF32 y) {
    for (const ActiveTensor& active : site.tensors) {
        ENGINE_TRY(replaceProduct(site, active, expert, queue, x, y));
    }
    for (const ActiveRows& active : site.rows) {
        ENGINE_TRY(replaceHeadRows(site, active, queue, x, y));
    }
    for (const UpdateBatch& batch : site.batches) {
        if (expert == 0) {
            ENGINE_TRY(addBatch(site, batch, batch.terms, queue, x, y));
            continue;
        }
        std::vector<kernels::LoraTerm> terms = batch.terms;
        for (size_t i = 0; i < terms.size(); ++i) {
            terms[i].a = batch.placed[i]->a(expert);
            terms[i].b = batch.placed[i]->b(expert);
        }
        ENGINE_TRY(addBatch(site, batch, terms, queue, x, y));
    }
    return {};
}

void makeBatches(AdapterSite& site) {
    site.batches.clear();
    for (const ActiveUpdate& active : site.updates) {
        const PlacedUpdate& placed = *active.placed;
        if (placed.update->kind == TensorKind::Embedding) {
            continue;
        }
        const bool is_dora = placed.update->isDora();
        if (is_dora || site.batches.empty()) {
            site.batches.emplace_back();
            site.batches.back().columns = is_dora ? placed.columns() : nullptr;
        }
        UpdateBatch& batch = site.batches.back();
        batch.terms.push_back({placed.a(), placed.b(), placed.bias(), active.scaling});
        batch.placed.push_back(&placed);
        batch.rank += placed.update->rank;
    }
}

Result<void> applyAtEmbedding(const AdapterSite& site,
                              std::span<const int32_t> ids,
                              int64_t col_offset,
                              float scale,
                              MutF32 rows) {
    for (const ActiveTensor& active : site.tensors) {
        ENGINE_TRY(replaceGather(site, active, ids, col_offset, scale, rows));
    }
    for (const ActiveRows& active : site.rows) {
        replaceRows(active, ids, col_offset, scale, rows);
    }
    for (const ActiveUpdate& active : site.updates) {
        ENGINE_TRY(addGathered(site, active, ids, col_offset, scale, rows));
    }
    return {};
}

} // namespace engine
