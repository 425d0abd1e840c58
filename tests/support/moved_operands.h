// SPDX-License-Identifier: Apache-2.0
// Arguments of an OpTable's functions with other addresses in place of those that they hold: of a
// card's copies, or of what a device hides.
#pragma once

#include "kernels/ops.h"

#include <type_traits>
#include <utility>

namespace support {

/// at(p): the address in place of p, for pointers of any type; nullptr where p is.
template <typename At>
class MovedOperands {
public:
    explicit MovedOperands(At at) : at_(std::move(at)) {}

    /// Pointers, matrices, weights, arguments; all else stays as it is.
    template <typename T>
    T operator()(T value) const {
        using namespace kernels;
        if constexpr (std::is_pointer_v<T>) {
            return at_(value);
        } else if constexpr (std::is_same_v<T, MatF32> || std::is_same_v<T, MutF32> ||
                             std::is_same_v<T, MatView>) {
            value.data = at_(value.data);
        } else if constexpr (std::is_same_v<T, WeightView>) {
            value.data = at_(value.data);
            value.row_scale = at_(value.row_scale);
            value.absmax = at_(value.absmax);
            value.absmax_q = at_(value.absmax_q);
            value.nested_absmax = at_(value.nested_absmax);
            value.nested_code = at_(value.nested_code);
        } else if constexpr (std::is_same_v<T, AttentionArgs>) {
            value.q = at_(value.q);
            value.k = at_(value.k);
            value.v = at_(value.v);
            value.out = at_(value.out);
            value.mask.query_position = at_(value.mask.query_position);
            value.mask.key_position = at_(value.mask.key_position);
            value.mask.query_block = at_(value.mask.query_block);
            value.mask.key_block = at_(value.mask.key_block);
        } else if constexpr (std::is_same_v<T, AudioAttentionArgs>) {
            value.q = at_(value.q);
            value.k = at_(value.k);
            value.v = at_(value.v);
            value.rel = at_(value.rel);
            value.out = at_(value.out);
        } else if constexpr (std::is_same_v<T, SubsampleConvArgs>) {
            value.in = at_(value.in);
            value.weight = at_(value.weight);
            value.norm = at_(value.norm);
            value.out = at_(value.out);
        } else if constexpr (std::is_same_v<T, ProjectArgs>) {
            value.x = at_(value.x);
            value.t = at_(value.t);
            value.t_norm = (*this)(value.t_norm);
            value.norm = (*this)(value.norm);
            value.x_out = at_(value.x_out);
            value.multiply = at_(value.multiply);
            for (int i = 0; i < value.count; ++i) {
                value.w[i] = (*this)(value.w[i]);
                value.y[i] = at_(value.y[i]);
            }
            for (int i = 0; i < value.lora_count; ++i) {
                value.lora[i] = (*this)(value.lora[i]);
            }
            for (int i = 0; i < value.tap_count; ++i) {
                value.tap[i] = (*this)(value.tap[i]);
            }
            value.lora_sums = at_(value.lora_sums);
            value.tap_sums = at_(value.tap_sums);
        } else if constexpr (std::is_same_v<T, kernels::TokenInputArgs>) {
            value.token = at_(value.token);
            value.embedding = (*this)(value.embedding);
            value.x = at_(value.x);
            value.table = (*this)(value.table);
            value.token_part = at_(value.token_part);
            value.t = at_(value.t);
            value.projection = (*this)(value.projection);
            value.norm = (*this)(value.norm);
            value.y = at_(value.y);
        } else if constexpr (std::is_same_v<T, ProductArgs>) {
            value.x = at_(value.x);
            value.multiply = (*this)(value.multiply);
            for (int i = 0; i < value.count; ++i) {
                value.w[i] = (*this)(value.w[i]);
                value.y[i] = at_(value.y[i]);
            }
            for (int i = 0; i < value.update_count; ++i) {
                value.updates[i] = (*this)(value.updates[i]);
            }
        } else if constexpr (std::is_same_v<T, ProjectLora>) {
            value.a = (*this)(value.a);
            value.b = (*this)(value.b);
            value.factor = at_(value.factor);
        } else if constexpr (std::is_same_v<T, ExpertsStepArgs>) {
            value.x = at_(value.x);
            value.t = at_(value.t);
            value.router = (*this)(value.router);
            value.router_scale = at_(value.router_scale);
            value.expert_scale = at_(value.expert_scale);
            value.gate_up = (*this)(value.gate_up);
            value.down = (*this)(value.down);
            value.t_norm = (*this)(value.t_norm);
            value.norm = (*this)(value.norm);
            value.out_norm = (*this)(value.out_norm);
            value.scores = at_(value.scores);
            value.chosen = at_(value.chosen);
            value.act = at_(value.act);
            value.sum = at_(value.sum);
        } else if constexpr (std::is_same_v<T, AttendStepArgs>) {
            value.q = at_(value.q);
            value.k = at_(value.k);
            value.v = at_(value.v);
            value.q_norm = (*this)(value.q_norm);
            value.k_norm = (*this)(value.k_norm);
            value.inv_freq = at_(value.inv_freq);
            value.position = at_(value.position);
            value.slot = at_(value.slot);
            value.key_position = at_(value.key_position);
            value.key_count = at_(value.key_count);
            value.cache_k = at_(value.cache_k);
            value.cache_v = at_(value.cache_v);
            value.out = at_(value.out);
        }
        return value;
    }

private:
    At at_;
};

} // namespace support
