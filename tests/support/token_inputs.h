// SPDX-License-Identifier: Apache-2.0
// OpTable::token_inputs from the single functions of a CPU table: what it must equal.
#pragma once

#include "kernels/ops.h"

#include <algorithm>
#include <cstdint>

namespace support {

inline kernels::Status composedTokenInputs(const kernels::OpTable& ops,
                                           kernels::Queue q,
                                           const kernels::TokenInputArgs& a) {
    using kernels::Status;
    const int64_t hidden = a.projection.cols;
    const int64_t all = a.projection.rows;
    const int64_t width = a.norm.rows * a.norm.cols;
    const kernels::MutF32 x{a.x, 1, hidden, hidden};
    const kernels::MutF32 y{a.y, 1, all, all};
    const kernels::MutF32 slices{a.y, all / width, width, width};
    auto status = a.embedding.data == nullptr // then x holds the row
                      ? Status::Ok
                      : ops.gather_rows(q, a.embedding, a.token, 1, 0, a.embedding_scale, x);
    if (a.token_part == a.t) {
        // It is there.
    } else if (a.token_part != nullptr) {
        std::copy(a.token_part, a.token_part + all, a.t);
    } else if (status == Status::Ok) {
        status = ops.gather_rows(q, a.table, a.token, 1, 0, a.table_scale, {a.t, 1, all, all});
    }
    const auto next = [&status](const auto& call) {
        status = status == Status::Ok ? call() : status;
    };
    next([&] { return ops.linear(q, x, a.projection, y); });
    next([&] { return ops.scale(q, y, a.before); });
    next([&] { return ops.rms_norm(q, slices, a.norm, a.eps, slices); });
    next([&] { return ops.add_scaled(q, {a.t, 1, all, all}, 1.0F, y); });
    next([&] { return ops.scale(q, y, a.after); });
    return status;
}

} // namespace support
