// SPDX-License-Identifier: Apache-2.0
// Low-rank updates whose A h is made once in the grid: which part of which A a unit is
// (ProjectKernelArgs::lora_units).
#pragma once

#include "kernels/cuda/device/args.h"
#include "kernels/cuda/device/common.cuh"

namespace kernels::cuda {

/// A of a unit: `bytes` from `at` on, which are `columns` elements of `type` from column `column`
/// on, of row `rank` of update `term`.
struct UnitPiece {
    const char* at = nullptr;
    int bytes = 0;
    int column = 0;
    int columns = 0; ///< Not above 0: there is nothing of this row in so late a chunk.
    int type = 0;
    int term = 0;
    int rank = 0;
    const float* factor = nullptr;

    UnitPiece() = default;
    /// row: among those of all updates.
    __device__ __forceinline__ UnitPiece(const ProjectKernelArgs& a, int row, int chunk) {
        while (row >= a.lora[term].first + a.lora[term].rank) {
            ++term;
        }
        const LoraArgs& update = a.lora[term];
        rank = row - update.first;
        factor = update.factor;
        type = update.a_type;
        column = chunk * a.lora_columns;
        columns = a.cols - column < a.lora_columns ? a.cols - column : a.lora_columns;
        const int width = elementBytes(type);
        bytes = columns * width;
        at = static_cast<const char*>(update.a) +
             (static_cast<int64_t>(rank) * a.cols + column) * width;
    }
};

} // namespace kernels::cuda
