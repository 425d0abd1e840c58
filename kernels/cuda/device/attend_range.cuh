// SPDX-License-Identifier: Apache-2.0
// How the cache rows of an attention step are split into parts: the same sum in the step that makes
// the parts and in the one that merges them.
#pragma once

#include "kernels/cuda/device/common.cuh"

namespace kernels::cuda {

/// Cache rows in reach of the new token, its own included.
__device__ __forceinline__ int attendRows(const AttendRange& a) {
    const int rows = *a.from + a.more;
    return a.limit > 0 && rows > a.limit ? a.limit : rows;
}

/// Rows of one part when `rows` are in reach. Few rows: as many parts as their reader merges
/// itself; else all parts there may be.
__device__ __forceinline__ int attendChunk(const AttendRange& a, int rows) {
    const int unit = a.tile > 0 ? 16 : 32;
    const int most = a.tile > 0 ? 2 * a.tile : kDirectKeys;
    if (a.direct_splits > 0) {
        const int chunk = (rows + a.direct_splits * unit - 1) / (a.direct_splits * unit) * unit;
        if (chunk <= most) {
            const int least = a.tile > 0 ? a.tile : 32;
            return chunk < least ? least : chunk;
        }
    }
    const int chunk = (rows + a.splits * unit - 1) / (a.splits * unit) * unit;
    const int least = a.tile > 0 ? 32 : 64;
    return chunk < least ? least : chunk;
}

__device__ __forceinline__ int attendParts(const AttendRange& a) {
    const int rows = attendRows(a);
    const int chunk = attendChunk(a, rows);
    return (rows + chunk - 1) / chunk;
}

} // namespace kernels::cuda
