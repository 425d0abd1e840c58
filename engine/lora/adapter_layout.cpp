// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/adapter_layout.h"

#include <algorithm>
#include <map>

namespace engine {

namespace {

class BlockBuilder {
public:
    void add(AdapterBlock::Part& part, uint64_t bytes) {
        part.offset = block.total;
        part.bytes = bytes;
        block.total += (bytes + 63) / 64 * 64;
    }
    AdapterBlock block;
};

uint64_t floats(int64_t count) {
    return static_cast<uint64_t>(count) * sizeof(float);
}

} // namespace

AdapterBlock blockOf(const LowRankUpdate& update) {
    BlockBuilder builder;
    AdapterBlock& block = builder.block;
    builder.add(block.a, update.a.size_bytes);
    builder.add(block.b, update.isDora() ? floats(update.out * update.rank) : update.b.size_bytes);
    builder.add(block.bias, update.b_bias.size_bytes);
    builder.add(block.columns, update.isDora() ? floats(update.out) : 0);
    builder.add(block.factor,
                update.kind == TensorKind::Linear && !update.isDora() ? floats(1) : 0);
    builder.add(block.identity,
                update.kind == TensorKind::Embedding ? floats(update.rank * update.rank) : 0);
    return block;
}

AdapterBlock blockOf(const RowReplacement& rows, bool on_head) {
    BlockBuilder builder;
    builder.add(builder.block.ids, on_head ? rows.ids.size() * sizeof(int32_t) : 0);
    builder.add(builder.block.value, rows.rows.size_bytes);
    return builder.block;
}

AdapterBlock blockOf(const TensorReplacement& replacement) {
    BlockBuilder builder;
    const bool is_small =
        replacement.kind == TensorKind::Vector || replacement.kind == TensorKind::ClipScalar;
    uint64_t bytes = replacement.value.size_bytes;
    if (is_small) {
        int64_t count = 1;
        for (const int64_t size : replacement.shape) {
            count *= size;
        }
        bytes = replacement.place == VectorPlace::Tables ? 0 : floats(count);
    }
    builder.add(builder.block.value, bytes);
    return builder.block;
}

AdapterFootprint footprintOf(const std::vector<LowRankUpdate>& updates,
                             const std::vector<RowReplacement>& rows,
                             const std::vector<TensorReplacement>& replacements) {
    AdapterFootprint footprint;
    std::map<std::pair<std::string, bool>, uint64_t> bytes;
    std::map<std::string, uint64_t> update_bytes;
    int64_t scratch_floats = 0;
    const std::string head(kHeadTensor);
    for (const LowRankUpdate& update : updates) {
        const bool is_embedding = update.kind == TensorKind::Embedding;
        const uint64_t block = blockOf(update).total;
        bytes[{update.tensor, is_embedding}] += block;
        if (!is_embedding) {
            update_bytes[update.tensor] += block;
        }
        footprint.max_rank = std::max(footprint.max_rank, update.rank);
    }
    for (const RowReplacement& entry : rows) {
        const auto count = static_cast<int64_t>(entry.ids.size());
        if (entry.tensor != kHeadTensor) {
            bytes[{entry.tensor, true}] += blockOf(entry, false).total;
            scratch_floats = std::max(scratch_floats, entry.dim);
        }
        if (entry.replaces_head || entry.tensor == kHeadTensor) {
            bytes[{head, false}] += blockOf(entry, true).total;
            scratch_floats = std::max(scratch_floats, 2 * count);
        }
    }
    for (const TensorReplacement& entry : replacements) {
        const uint64_t block = blockOf(entry).total;
        if (block == 0) {
            continue;
        }
        const bool is_small =
            entry.kind == TensorKind::Vector || entry.kind == TensorKind::ClipScalar;
        const bool is_on_host =
            is_small ? entry.place == VectorPlace::Host : entry.kind == TensorKind::Embedding;
        bytes[{entry.tensor, is_on_host}] += block;
        if (is_small) {
            continue; // blended on the host
        }
        if (entry.replaces_head) {
            bytes[{head, false}] += block;
            scratch_floats = std::max(scratch_floats, entry.shape.front());
        }
        // Blending with the base needs one row of output at a time.
        const size_t axis = entry.kind == TensorKind::Linear    ? 0
                            : entry.kind == TensorKind::Experts ? 1
                                                                : entry.shape.size() - 1;
        scratch_floats = std::max(scratch_floats, entry.shape[axis]);
    }
    scratch_floats = std::max(scratch_floats, kAdapterBlockRows * footprint.max_rank);
    for (const auto& [key, count] : bytes) {
        const auto travelling = update_bytes.find(key.first);
        const bool has_updates = !key.second && travelling != update_bytes.end();
        footprint.tensors.push_back(
            {key.first, count, key.second, has_updates ? travelling->second : 0});
        footprint.total_bytes += count;
    }
    footprint.scratch_bytes = floats(scratch_floats);
    return footprint;
}

} // namespace engine
