// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/layers/call_rows.h"

#include <algorithm>

namespace engine {

Result<void> CallRows::open(const BoundModel& model,
                            const KvCache& kv,
                            int64_t rows,
                            std::span<const int32_t> block,
                            int64_t logits_rows) {
    logits_rows_ = logits_rows;
    has_blocks_ = model.config.text.is_vision_bidirectional && !block.empty();
    block_.assign(static_cast<size_t>(rows), -1);
    if (has_blocks_) {
        block_.assign(block.begin(), block.end());
    }
    position_.resize(static_cast<size_t>(rows));
    for (size_t i = 0; i < position_.size(); ++i) {
        position_[i] = static_cast<int32_t>(kv.size() + static_cast<int64_t>(i));
    }
    uploaded_.clear();
    stage_slots_.clear();
    stage_positions_.clear();
    stage_blocks_.clear();
    held_ = 0;
    is_staged_ = kv.needsStage(rows);
    if (!is_staged_) {
        return {};
    }
    if (logits_rows > model.ring_rows) {
        return Error{ErrorCode::Internal,
                     "forward: logits of " + std::to_string(logits_rows) + " rows asked for, " +
                         std::to_string(model.ring_rows) + " are possible in a long call"};
    }
    held_ = kv.slidingSlotsInUse();
    const auto held = static_cast<std::ptrdiff_t>(held_);
    const std::vector<int32_t>& positions = kv.slidingPositions();
    const std::vector<int32_t>& blocks = kv.slidingBlocks();
    stage_positions_.assign(positions.begin(), positions.begin() + held);
    stage_positions_.insert(stage_positions_.end(), position_.begin(), position_.end());
    stage_blocks_.assign(blocks.begin(), blocks.begin() + held);
    stage_blocks_.insert(stage_blocks_.end(), block_.begin(), block_.end());
    for (int64_t row = 0; row < rows; ++row) {
        stage_slots_.push_back(static_cast<int32_t>(held_ + row));
    }
    return {};
}

Result<void> CallRows::uploadTo(DeviceScratch& where, const KvCache& kv) {
    if (std::find(uploaded_.begin(), uploaded_.end(), &where) != uploaded_.end()) {
        return {};
    }
    const auto put = [&where](Buffer buffer, std::span<const int32_t> values) {
        return checkStatus(
            where.device().copyIn(where.buffer(buffer), values.data(), values.size_bytes()),
            "copy in", "positions");
    };
    ENGINE_TRY(put(Buffer::QueryPosition, position_));
    ENGINE_TRY(put(Buffer::QueryBlock, block_));
    if (is_staged_) {
        ENGINE_TRY(put(Buffer::SlotsStage, stage_slots_));
        ENGINE_TRY(put(Buffer::KeyPositionStage, stage_positions_));
        ENGINE_TRY(put(Buffer::KeyBlockStage, stage_blocks_));
    }
    ENGINE_TRY(put(Buffer::SlotsSliding, kv.slidingSlots()));
    ENGINE_TRY(put(Buffer::SlotsFull, kv.fullSlots()));
    ENGINE_TRY(put(Buffer::KeyPositionSliding, kv.slidingPositions()));
    ENGINE_TRY(put(Buffer::KeyBlockSliding, kv.slidingBlocks()));
    uploaded_.push_back(&where);
    return {};
}

kernels::AttentionArgs
CallRows::attention(const LayerStack& stack, int index, const KvCache& kv, int64_t rows) const {
    const TextConfig& text = *stack.text;
    const LayerConfig& shape = stack.shape(index);
    const DecoderLayer& layer = stack.layer(index);
    const DeviceScratch& where = *layer.attention;
    const int64_t first_row = firstOf(rows);
    const bool is_full = shape.type == LayerType::Full;
    const KvCache::Buffer& buffer = kv.bufferOn(layer.kv_layer, where.id());
    // Layers behind the owners have few rows, whose window the ring still holds.
    const bool is_staged = is_staged_ && !is_full && layer.kv_layer == index;
    kernels::AttentionArgs args;
    args.k = is_staged ? where.buffer(Buffer::StageK) : buffer.k;
    args.v = is_staged ? where.buffer(Buffer::StageV) : buffer.v;
    args.kv_type = kv.type();
    args.queries = rows;
    args.keys = is_full ? kv.size() : is_staged ? stageRows() : kv.slidingSlotsInUse();
    args.num_heads = text.num_heads;
    args.num_kv_heads = shape.num_kv_heads;
    args.head_dim = shape.head_dim;
    args.scale = text.recipe.attentionScale(shape.head_dim);
    args.mask.query_position = where.ints(stack.position) + stack.seen_from + first_row;
    args.mask.key_position = where.ints(is_full     ? Buffer::KeyPositionFull
                                        : is_staged ? Buffer::KeyPositionStage
                                                    : Buffer::KeyPositionSliding);
    args.mask.window = is_full ? 0 : text.sliding_window;
    if (has_blocks_ && !is_full) {
        args.mask.query_block = where.ints(Buffer::QueryBlock) + first_row;
        args.mask.key_block =
            where.ints(is_staged ? Buffer::KeyBlockStage : Buffer::KeyBlockSliding);
    }
    return args;
}

Result<void> updateMirrors(const BoundModel& model, int owner, const KvCache& kv) {
    const KvCache::LayerKv& cache = kv.owner(owner);
    if (cache.mirrors.empty()) {
        return {};
    }
    ComputeContext& context = *model.context;
    const bool is_full =
        model.config.text.layers[static_cast<size_t>(owner)].type == LayerType::Full;
    const std::vector<int32_t>& slots = is_full ? kv.fullSlots() : kv.slidingSlots();
    DeviceScratch& cache_home = *model.text.layers[static_cast<size_t>(owner)].attention;
    for (const KvCache::Buffer& mirror : cache.mirrors) {
        DeviceScratch& mirror_home = *context.scratch(mirror.device);
        for (size_t first = 0; first < slots.size();) {
            size_t count = 1;
            while (first + count < slots.size() &&
                   slots[first + count] == slots[first] + static_cast<int32_t>(count)) {
                ++count;
            }
            const auto offset = static_cast<size_t>(slots[first] * cache.row_bytes);
            const size_t bytes = count * static_cast<size_t>(cache.row_bytes);
            for (const bool is_k : {true, false}) {
                const auto* from =
                    static_cast<const std::byte*>(is_k ? cache.primary.k : cache.primary.v);
                auto* to = static_cast<std::byte*>(is_k ? mirror.k : mirror.v);
                ENGINE_TRY(
                    context.move(cache_home, from + offset, mirror_home, to + offset, bytes));
            }
            first += count;
        }
    }
    return {};
}

} // namespace engine
