// SPDX-License-Identifier: Apache-2.0
// What holds of an adapter whose keys were sorted out against a model.
#pragma once

#include "engine/lora/adapter_index.h"
#include "tests/fuzz/require.h"

#include <algorithm>
#include <cmath>

namespace fuzz {

inline void checkShape(const engine::TensorSource& source,
                       const engine::AdapterTensor& tensor,
                       const std::vector<int64_t>& shape) {
    require(tensor.present && tensor.shape == shape);
    require(tensor.source_index >= 0 &&
            static_cast<size_t>(tensor.source_index) < source.tensors().size());
    const auto& info = source.tensors()[static_cast<size_t>(tensor.source_index)];
    require(info.name == tensor.key && info.size_bytes == tensor.size_bytes);
    uint64_t elements = 1;
    for (const int64_t size : shape) {
        require(size > 0);
        elements *= static_cast<uint64_t>(size);
    }
    require(elements * engine::tensorTypeSize(tensor.type) == tensor.size_bytes);
}

inline void checkIndex(const engine::AdapterIndex& index) {
    const engine::CoverageReport& c = index.coverage;
    require(c.active + c.inert + c.ignored + c.errors == c.tensors);
    require(c.tensors == static_cast<int64_t>(index.source->tensors().size()));
    require(c.unmatched.size() == static_cast<size_t>(c.inert + c.ignored + c.errors));
    for (const engine::KeyReport& row : c.unmatched) {
        require(!row.reason.sentence.isEmpty());
    }
    require(c.errors == 0 || index.refusal.has_value());
    if (index.refusal.has_value()) {
        require(!index.refusal->message.empty());
        return;
    }
    require(c.active > 0);
    for (const engine::LowRankUpdate& update : index.updates) {
        require(update.rank > 0 && update.rank <= engine::kMaxRank);
        require(std::isfinite(update.scaling) && std::isfinite(update.alpha));
        const int64_t experts = std::max<int64_t>(update.experts, 1);
        checkShape(*index.source, update.a, {experts * update.rank, update.in});
        checkShape(*index.source, update.b, {update.out, update.rank * experts});
        if (update.b_bias.present) {
            checkShape(*index.source, update.b_bias, {update.out});
        }
    }
    for (const engine::RowReplacement& rows : index.rows) {
        checkShape(*index.source, rows.rows, {static_cast<int64_t>(rows.ids.size()), rows.dim});
    }
    for (const engine::TensorReplacement& value : index.replacements) {
        checkShape(*index.source, value.value, value.shape);
    }
    uint64_t bytes = 0;
    for (const engine::TensorFootprint& row : index.footprint.tensors) {
        bytes += row.bytes;
        require(row.update_bytes <= row.bytes);
    }
    require(bytes == index.footprint.total_bytes);
}

} // namespace fuzz
