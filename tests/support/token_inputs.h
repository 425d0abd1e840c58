// SPDX-License-Identifier: Apache-2.0
// OpTable::token_inputs from the single functions of a CPU table, and the numbers that
// OpTable::cap_argmax makes of a token's: what they must equal.
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

/// The numbers of the token that `key` chose, the ring's positions behind them.
inline void nextNumbers(kernels::TokenNumbers& numbers, uint64_t key, int32_t ring) {
    auto* const positions = reinterpret_cast<int32_t*>(&numbers + 1);
    ++numbers.position;
    numbers.full_slot = numbers.position;
    numbers.full_count = numbers.position + 1;
    numbers.sliding_slot = numbers.position % ring;
    numbers.sliding_count = std::max(numbers.sliding_count, std::min(numbers.full_count, ring));
    numbers.token = static_cast<int32_t>(0xffffffffU - static_cast<uint32_t>(key));
    positions[numbers.sliding_slot] = numbers.position;
}

} // namespace support
