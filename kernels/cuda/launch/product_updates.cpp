// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch/product_updates.h"

#include "kernels/cuda/launch/launch_args.h"

namespace kernels::cuda {

namespace {

constexpr int64_t kRankRows = 16; // of a block

static_assert(kMaxProductUpdates == 3 * ProductArgs::kMaxUpdates);
static_assert(int64_t{kMaxUpdatePieces} * kUpdatePiece ==
              int64_t{3} * ProductArgs::kMaxUpdateRanks);
static_assert(ProductArgs::kMaxUpdateRanks % kUpdateBlock == 0);
static_assert(kNoUpdate >= kMaxProductUpdates);

} // namespace

bool areUpdates(const ProductArgs& a) {
    if (a.update_count < 0 || a.update_count > kMaxProductUpdates) {
        return false;
    }
    for (int i = 0; i < a.update_count; ++i) {
        const ProjectLora& update = a.updates[i];
        if (update.weight < (i > 0 ? a.updates[i - 1].weight : 0) || update.weight >= a.count ||
            update.factor == nullptr || update.a.data == nullptr || update.b.data == nullptr ||
            update.a.rows <= 0 || update.b.cols != update.a.rows ||
            update.a.cols != a.w[update.weight].cols || update.b.rows != a.w[update.weight].rows) {
            return false;
        }
    }
    return true;
}

bool layOutUpdates(const ProductArgs& a, ProductUpdatesArgs& updates) {
    updates.x = a.x;
    updates.m = a.rows;
    updates.k = static_cast<int32_t>(a.w[0].cols);
    int64_t column = 0;
    int next = 0;
    for (int weight = 0; weight < 3; ++weight) {
        updates.in_low[weight] = a.bounds[weight].in_low;
        updates.in_high[weight] = a.bounds[weight].in_high;
        updates.first_block[weight] = static_cast<int32_t>(column / kUpdateBlock);
        const int64_t begin = column;
        const int first_update = next;
        for (; next < a.update_count && a.updates[next].weight == weight; ++next) {
            const ProjectLora& update = a.updates[next];
            const int64_t rank = update.a.rows;
            const int64_t end = column + (rank + kUpdatePiece - 1) / kUpdatePiece * kUpdatePiece;
            if (next - first_update >= ProductArgs::kMaxUpdates ||
                end - begin > ProductArgs::kMaxUpdateRanks || !isAligned(update.a.data, 16)) {
                return false;
            }
            const bool is_whole = rank % 4 == 0 && isAligned(update.b.data, 8);
            updates.update[next] = {update.a.data,
                                    update.b.data,
                                    update.factor,
                                    static_cast<int32_t>(rank),
                                    static_cast<int32_t>(column),
                                    static_cast<int32_t>(update.a.type),
                                    static_cast<int32_t>(update.b.type),
                                    weight,
                                    is_whole ? 1 : 0};
            for (; column < end; column += kUpdatePiece) {
                updates.owner[column / kUpdatePiece] = static_cast<uint8_t>(next);
            }
        }
        if (column % kUpdateBlock != 0) {
            updates.owner[column / kUpdatePiece] = kNoUpdate;
            column += kUpdatePiece;
        }
    }
    updates.first_block[3] = static_cast<int32_t>(column / kUpdateBlock);
    return true;
}

int64_t updateBytes(const ProductUpdatesArgs& updates) {
    return updates.m * updates.first_block[3] * kUpdateBlock * 2;
}

Status makeRanks(Stream& s, const ProductUpdatesArgs& updates) {
    return s.launch(KernelId::product_ranks, tiles(updates.m, kRankRows),
                    static_cast<unsigned>(updates.first_block[3]), 1, kThreads, 0, updates);
}

ProductUpdatesArgs updatesFrom(const ProductUpdatesArgs& updates, int64_t first) {
    ProductUpdatesArgs shifted = updates;
    for (ProductUpdateArgs& update : shifted.update) {
        if (update.b != nullptr) {
            update.b = static_cast<const char*>(update.b) +
                       first * update.rank * elementBytes(update.b_type);
        }
    }
    return shifted;
}

} // namespace kernels::cuda
