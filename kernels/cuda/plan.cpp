// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/plan.h"

#include <algorithm>

namespace kernels::cuda {

namespace {

constexpr int64_t kWarps = 16; // of a projection block
constexpr int64_t kSlab = 512; // weights a warp takes at a time

} // namespace

ProjectPlan
planProject(int multiprocessors, int64_t rows, int64_t cols, int64_t unit, bool is_pair) {
    const int64_t slabs = (cols + kSlab - 1) / kSlab;
    ProjectPlan best;
    double lowest = -1.0;
    for (const int rows_per_warp : {4, 2, 1}) {
        const int64_t needed = is_pair ? rows_per_warp / 2 : rows_per_warp;
        if ((is_pair && rows_per_warp == 1) || needed < 1 || unit % needed != 0) {
            continue;
        }
        // One read of the input row from shared memory serves all rows of a group: fewer rows cost
        // relatively more (measured by count: table reads 8 cycles a slab and row, input reads 8).
        const double per_row = rows_per_warp == 4 ? 1.0 : rows_per_warp == 2 ? 1.2 : 1.6;
        const int64_t groups = is_pair ? rows / rows_per_warp : rows / needed;
        for (const int k_split : {1, 2, 4, 8, 16}) {
            const int64_t slots = multiprocessors * (kWarps / k_split);
            const int64_t turns = (groups + slots - 1) / slots;
            const int64_t depth = (slabs + k_split - 1) / k_split;
            const double cost =
                static_cast<double>(turns) *
                (static_cast<double>(depth * rows_per_warp) * per_row + (k_split > 1 ? 0.6 : 0.3));
            if (lowest < 0 || cost < lowest) {
                lowest = cost;
                best = {rows_per_warp, k_split};
            }
        }
    }
    return best;
}

unsigned projectSharedBytes(bool is_four_bit, int64_t cols, bool has_residual) {
    const int64_t elements = (cols + kSlab - 1) / kSlab * kSlab;
    int64_t bytes = is_four_bit ? 256 * 32 * 4 + 3 * 1024 : 0;
    bytes += elements * 2;       // fp16 input
    bytes += 2 * kWarps * 4 * 4; // partial sums
    bytes += 36 * 4;             // block reductions
    bytes += has_residual ? cols * 4 : 0;
    return static_cast<unsigned>(bytes);
}

int attendSplits(int multiprocessors, int64_t num_heads, int64_t capacity) {
    const int64_t blocks = std::max<int64_t>(1, num_heads / 4);
    const int64_t fill = std::max<int64_t>(1, multiprocessors / blocks);
    const int64_t useful = std::max<int64_t>(1, capacity / 32);
    return static_cast<int>(std::min<int64_t>({fill, useful, kMaxSplits}));
}

bool usesLargeTiles(int multiprocessors, int64_t m, int64_t n) {
    const int64_t tiles = ((m + 127) / 128) * ((n + 127) / 128);
    return m > 64 && tiles >= multiprocessors / 2;
}

} // namespace kernels::cuda
