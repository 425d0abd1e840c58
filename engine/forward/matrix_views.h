// SPDX-License-Identifier: Apache-2.0
// Views of matrices that the executors share.
#pragma once

#include "kernels/views.h"

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace engine {

/// Rows [first, first + rows) of a matrix.
inline kernels::MutF32 rowsOf(kernels::MutF32 m, int64_t first, int64_t rows) {
    return {m.data + first * m.stride, rows, m.cols, m.stride};
}

/// [rows, n] seen as [rows * n / width, width].
inline kernels::MutF32 reshaped(kernels::MutF32 m, int64_t width) {
    assert(m.stride == m.cols && m.cols % width == 0);
    return {m.data, m.rows * (m.cols / width), width, width};
}

/// What q makes with gates, [rows, heads * 2 * head_dim]: its queries or its gates, [rows * heads,
/// head_dim].
inline kernels::MutF32 queriesOf(kernels::MutF32 q, int64_t head_dim) {
    const kernels::MutF32 heads = reshaped(q, 2 * head_dim);
    return {heads.data, heads.rows, head_dim, heads.stride};
}
inline kernels::MutF32 gatesOf(kernels::MutF32 q, int64_t head_dim) {
    kernels::MutF32 gates = queriesOf(q, head_dim);
    gates.data += head_dim;
    return gates;
}

inline size_t sizeBytes(kernels::MatF32 m) {
    return static_cast<size_t>(m.rows * m.cols) * sizeof(float);
}

} // namespace engine
